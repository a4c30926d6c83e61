//! The options of `tail`, old and new.

use std::time::Duration;

use bstr::{BStr, BString, ByteSlice};

use crate::arguments::{self, Arguments, OptionSpec, Order, both, flag, long};
use crate::builtins::choice::choose;
use crate::builtins::head::{Unit, count};
use crate::builtins::{ToolError, input, sleep};
use crate::status::ExitStatus;

pub static OPTIONS: [OptionSpec; 12] = [
    both('c', "c", "bytes", "the last NUM bytes; with a plus, from byte NUM on").takes("NUM"),
    flag('f', "f", "go on printing what is added to the files"),
    long("follow", "the same; by name (name) or by what is open now (descriptor)").may_take("HOW"),
    flag('F', "F", "the same as --follow=name --retry"),
    both('n', "n", "lines", "the last NUM lines; with a plus, from line NUM on").takes("NUM"),
    long("max-unchanged-stats", "accepted and without effect: names are looked up every time")
        .takes("N"),
    both('q', "q", "quiet", "no headers with the names of files"),
    OptionSpec { id: "q", ..long("silent", "the same as --quiet") },
    long("retry", "keep trying to open a file that is not there"),
    both('s', "s", "sleep-interval", "seconds between two looks at the files").takes("N"),
    both('v', "v", "verbose", "always headers with the names of files"),
    both('z', "z", "zero-terminated", "lines end with NUL, not newline"),
];

/// Without `-s`: short enough to seem immediate, long enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Settings {
    pub unit: Unit,
    pub count: u64,
    /// `count` lines or bytes are skipped at the start, instead of printed at the end.
    pub from_start: bool,
    pub follow: Option<Follow>,
    pub retry: bool,
    pub interval: Duration,
    pub separator: u8,
    pub headers: Option<&'static str>,
    pub warnings: Vec<&'static str>,
    pub operands: Vec<BString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    Descriptor,
    Name,
}

const FOLLOW_WORDS: [(&str, Follow); 2] =
    [("descriptor", Follow::Descriptor), ("name", Follow::Name)];

impl Settings {
    pub fn parse(words: &[BString]) -> Result<Self, ToolError> {
        let old = obsolete(words)?;
        let rest = if old.is_some() { words.get(1..).unwrap_or_default() } else { words };
        let arguments = arguments::parse(&OPTIONS, rest, Order::Anywhere).map_err(wrong_use)?;
        let mut settings = old.unwrap_or_else(Settings::usual);
        for option in &arguments.options {
            settings.apply(option.id, option.value.as_ref().map(|value| value.as_bstr()))?;
        }
        if settings.from_start {
            settings.count = settings.count.saturating_sub(1);
        }
        settings.finish(arguments);
        Ok(settings)
    }

    fn usual() -> Self {
        Settings {
            unit: Unit::Lines,
            count: 10,
            from_start: false,
            follow: None,
            retry: false,
            interval: INTERVAL,
            separator: b'\n',
            headers: None,
            warnings: Vec::new(),
            operands: Vec::new(),
        }
    }

    fn apply(&mut self, id: &'static str, value: Option<&BStr>) -> Result<(), ToolError> {
        match (id, value) {
            ("n", Some(value)) => self.set_count(value, Unit::Lines)?,
            ("c", Some(value)) => self.set_count(value, Unit::Bytes)?,
            ("follow", Some(value)) => {
                self.follow = Some(choose("tail", "follow", value, &FOLLOW_WORDS)?);
            }
            ("f" | "follow", None) => self.follow = Some(Follow::Descriptor),
            ("F", None) => (self.follow, self.retry) = (Some(Follow::Name), true),
            ("retry", None) => self.retry = true,
            ("max-unchanged-stats", Some(value))
                if value.is_empty() || !value.iter().all(u8::is_ascii_digit) =>
            {
                return Err(ToolError::usage(format!(
                    "invalid maximum number of unchanged stats between opens: {}",
                    input::shown(value)
                )));
            }
            ("s", Some(value)) => {
                self.interval = sleep::seconds(value).ok_or_else(|| {
                    let text = input::shown(value);
                    ToolError::usage(format!("invalid number of seconds: {text}"))
                })?;
            }
            ("q" | "v", None) => self.headers = Some(id),
            ("z", None) => self.separator = 0,
            _ => {}
        }
        Ok(())
    }

    fn set_count(&mut self, value: &BStr, unit: Unit) -> Result<(), ToolError> {
        self.from_start = value.starts_with(b"+");
        let digits = value.strip_prefix(b"-").unwrap_or(value);
        self.count = count(digits.as_bstr(), unit)?;
        self.unit = unit;
        Ok(())
    }

    fn finish(&mut self, arguments: Arguments) {
        self.operands = arguments.operands;
        match (self.retry, self.follow) {
            (true, None) => self
                .warnings
                .push("warning: --retry ignored; --retry is useful only when following"),
            (true, Some(Follow::Descriptor)) => {
                self.warnings.push("warning: --retry only effective for the initial open");
            }
            _ => {}
        }
    }
}

fn wrong_use(error: ToolError) -> ToolError {
    match error {
        ToolError::Unsupported(letter) if letter.bytes().all(|byte| byte.is_ascii_digit()) => {
            ToolError::usage(format!("option used in invalid context -- {letter}"))
        }
        other => other.with_hint("tail", ExitStatus::FAILURE),
    }
}

/// The first word may be `-5`, `+3c` or `-f`, if at most one file follows it.
fn obsolete(words: &[BString]) -> Result<Option<Settings>, ToolError> {
    let fits = match words {
        [_] => true,
        [_, file] => file == "--" || !file.starts_with(b"-") || file == "-",
        [_, dashes, _] => dashes == "--",
        _ => false,
    };
    let Some(word) = words.first().filter(|_| fits) else { return Ok(None) };
    let (from_start, text) = match word.split_first() {
        Some((b'+', text)) => (true, text),
        Some((b'-', text)) if !matches!(text, b"" | b"c") => (false, text),
        _ => return Ok(None),
    };
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, letters) = text.split_at(length);
    let (unit, factor, letters) = match letters.split_first() {
        Some((b'b', rest)) => (Unit::Bytes, "b", rest),
        Some((b'c', rest)) => (Unit::Bytes, "", rest),
        Some((b'l', rest)) => (Unit::Lines, "", rest),
        _ => (Unit::Lines, "", letters),
    };
    let follow = match letters {
        b"" => None,
        b"f" => Some(Follow::Descriptor),
        _ => return Ok(None),
    };
    let digits: &[u8] = if digits.is_empty() { b"10" } else { digits };
    let number = [digits, factor.as_bytes()].concat();
    let count = count(number.as_bstr(), unit)?;
    Ok(Some(Settings { unit, count, from_start, follow, ..Settings::usual() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Settings {
        let words: Vec<BString> = words.iter().map(|word| BString::from(*word)).collect();
        Settings::parse(&words).unwrap()
    }

    #[test]
    fn old_and_new_forms() {
        let cases: [(&[&str], Unit, u64, bool); 8] = [
            (&["-5"], Unit::Lines, 5, false),
            (&["+5", "a"], Unit::Lines, 4, true),
            (&["-2c"], Unit::Bytes, 2, false),
            (&["-1b", "--", "x"], Unit::Bytes, 512, false),
            (&["-n", "+3"], Unit::Lines, 2, true),
            (&["-n", "-3"], Unit::Lines, 3, false),
            (&["-c+0"], Unit::Bytes, 0, true),
            (&["-l", "a"], Unit::Lines, 10, false),
        ];
        for (words, unit, count, from_start) in cases {
            let settings = parse(words);
            let got = (settings.unit, settings.count, settings.from_start);
            assert_eq!(got, (unit, count, from_start), "{words:?}");
        }
        assert_eq!(parse(&["+5", "a", "b"]).operands, ["+5", "a", "b"]);
        assert_eq!(parse(&["-2f"]).follow, Some(Follow::Descriptor));
    }
}

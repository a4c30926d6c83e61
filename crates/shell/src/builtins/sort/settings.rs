//! The options of `sort`.

use bstr::{BStr, BString, ByteSlice};

use super::gather::USUAL_BUDGET;
use super::key::{Blanks, Flags, Key};
use super::table::Rules;
use crate::arguments::{self, GivenOption, OptionSpec, Order, both, flag, long};
use crate::builtins::choice::choose;
use crate::builtins::{ToolError, input};
use crate::status::ExitStatus;

pub static OPTIONS: [OptionSpec; 28] = [
    both('b', "b", "ignore-leading-blanks", "skip blanks at the start of lines or keys"),
    both('d', "d", "dictionary-order", "only blanks, letters and digits count"),
    both('f', "f", "ignore-case", "small letters count as large ones"),
    both('g', "g", "general-numeric-sort", "compare floating-point numbers"),
    both('h', "h", "human-numeric-sort", "compare sizes such as 2K and 1G"),
    both('i', "i", "ignore-nonprinting", "only printable characters count"),
    both('M', "M", "month-sort", "compare names of months: JAN before DEC"),
    both('n', "n", "numeric-sort", "compare numbers"),
    both('R', "R", "random-sort", "a random order that keeps equal keys together"),
    both('r', "r", "reverse", "the other way round"),
    both('V', "V", "version-sort", "compare numbers within text, as in versions"),
    long("sort", "the same by name: general-numeric, human-numeric, month, …").takes("WORD"),
    long("batch-size", "accepted and without effect: all runs are merged at once").takes("N"),
    flag('c', "c", "only check whether the input is sorted"),
    OptionSpec { id: "c", ..long("check", "the same; quiet: without a message").may_take("HOW") },
    flag('C', "C", "the same without a message"),
    long("compress-program", "accepted and without effect: there are no temporary files")
        .takes("P"),
    long("files0-from", "read NUL-terminated names of files from F").takes("F"),
    both('k', "k", "key", "compare by a part of the line: FIELD[.CHAR][LETTERS][,…]")
        .takes("KEYDEF"),
    both('m', "m", "merge", "merge files that are sorted already"),
    both('o', "o", "output", "write to FILE, which may also be read").takes("FILE"),
    both('s', "s", "stable", "lines with equal keys keep their order"),
    both('S', "S", "buffer-size", "use no more memory than SIZE, but temporary files")
        .takes("SIZE"),
    both('t', "t", "field-separator", "fields are separated by SEP").takes("SEP"),
    both('T', "T", "temporary-directory", "accepted: temporary files are always in /tmp")
        .takes("DIR"),
    long("parallel", "accepted and without effect").takes("N"),
    both('u', "u", "unique", "print only the first of equal lines"),
    both('z', "z", "zero-terminated", "lines end with NUL, not newline"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Says where.
    Diagnose,
    Quiet,
}

#[derive(Debug, Default)]
pub struct Settings {
    pub rules: Rules,
    pub check: Option<Check>,
    pub merge: bool,
    pub unique: bool,
    pub separator: u8,
    /// Bytes that may be held in memory.
    pub budget: usize,
    pub output: Option<BString>,
    pub list: Option<BString>,
    pub operands: Vec<BString>,
}

impl Settings {
    pub fn parse(words: &[BString]) -> Result<Self, ToolError> {
        let words = translate_obsolete(words);
        let arguments = arguments::parse(&OPTIONS, &words, Order::Anywhere)
            .map_err(|error| error.with_hint("sort", ExitStatus::USAGE))?;
        let mut settings =
            Settings { separator: b'\n', budget: USUAL_BUDGET, ..Settings::default() };
        let mut flags = Flags::default();
        for option in &arguments.options {
            settings.apply(option, &mut flags)?;
        }
        settings.operands = arguments.operands;
        settings.complete_keys(flags)?;
        settings.check_consistency()?;
        Ok(settings)
    }

    fn apply(&mut self, option: &GivenOption, flags: &mut Flags) -> Result<(), ToolError> {
        let value = option.value.as_ref().map(|value| value.as_bstr());
        match (option.id, value) {
            ("c", value) => self.set_check(match value {
                None => Check::Diagnose,
                Some(how) => choose("sort", "check", how, &CHECK_WORDS)?,
            })?,
            ("C", _) => self.set_check(Check::Quiet)?,
            ("k", Some(spec)) => self.rules.keys.push(Key::parse(spec).map_err(trouble)?),
            ("m", _) => self.merge = true,
            ("o", Some(file)) => {
                if self.output.as_ref().is_some_and(|before| before != file) {
                    return Err(trouble("multiple output files specified"));
                }
                self.output = Some(file.into());
            }
            ("s", _) => self.rules.keys_only = true,
            ("t", Some(tab)) => self.set_tab(tab)?,
            ("u", _) => self.unique = true,
            ("z", _) => self.separator = 0,
            ("sort", Some(word)) => {
                flags.set(choose("sort", "sort", word, &SORT_WORDS)?, Blanks::Both);
            }
            ("files0-from", Some(file)) => self.list = Some(file.into()),
            ("S", Some(size)) => self.budget = budget(size)?,
            ("parallel", Some(number)) => check_parallel(number)?,
            ("batch-size", Some(number)) => check_batch(number)?,
            (letter, None) => {
                flags.set(letter.bytes().next().unwrap_or(0), Blanks::Both);
            }
            _ => {}
        }
        Ok(())
    }

    fn set_check(&mut self, check: Check) -> Result<(), ToolError> {
        if self.check.is_some_and(|before| before != check) {
            return Err(incompatible("cC"));
        }
        self.check = Some(check);
        Ok(())
    }

    fn set_tab(&mut self, text: &BStr) -> Result<(), ToolError> {
        let tab = match text.as_bytes() {
            b"" => return Err(trouble("empty tab")),
            b"\\0" => 0,
            [tab] => *tab,
            _ => {
                let text = input::shown(text);
                return Err(trouble(format!("multi-character tab {text}")));
            }
        };
        if self.rules.tab.is_some_and(|before| before != tab) {
            return Err(trouble("incompatible tabs"));
        }
        self.rules.tab = Some(tab);
        Ok(())
    }

    /// Keys without letters of their own take the global ones; without keys the whole line is one.
    fn complete_keys(&mut self, flags: Flags) -> Result<(), ToolError> {
        for key in &mut self.rules.keys {
            if key.flags == Flags::default() {
                key.flags = flags.clone();
            }
        }
        self.rules.reverse = flags.reverse;
        if self.rules.keys.is_empty() && !flags.is_default() {
            self.rules.keys.push(Key { flags, ..Key::default() });
        }
        self.rules.keys_only |= self.unique;
        for key in &self.rules.keys {
            if let Some(letters) = key.flags.conflict() {
                return Err(incompatible(&letters));
            }
        }
        Ok(())
    }

    fn check_consistency(&self) -> Result<(), ToolError> {
        if let (Some(_), Some(extra)) = (&self.list, self.operands.first()) {
            let message = format!(
                "extra operand {}\nfile operands cannot be combined with --files0-from",
                input::shown(extra.as_bstr())
            );
            return Err(ToolError::hinted("sort", message, ExitStatus::USAGE));
        }
        let Some(check) = self.check else { return Ok(()) };
        let letter = if check == Check::Quiet { 'C' } else { 'c' };
        if let Some(extra) = self.operands.get(1) {
            let extra = input::shown(extra.as_bstr());
            return Err(trouble(format!("extra operand {extra} not allowed with -{letter}")));
        }
        if self.output.is_some() {
            return Err(incompatible(&format!("{letter}o")));
        }
        Ok(())
    }
}

/// Failure of `sort` itself: status 2.
pub fn trouble(message: impl Into<String>) -> ToolError {
    ToolError::Usage(message.into(), ExitStatus::USAGE)
}

fn incompatible(letters: &str) -> ToolError {
    trouble(format!("options '-{letters}' are incompatible"))
}

const CHECK_WORDS: [(&str, Check); 3] =
    [("quiet", Check::Quiet), ("silent", Check::Quiet), ("diagnose-first", Check::Diagnose)];

const SORT_WORDS: [(&str, u8); 6] = [
    ("general-numeric", b'g'),
    ("human-numeric", b'h'),
    ("month", b'M'),
    ("numeric", b'n'),
    ("random", b'R'),
    ("version", b'V'),
];

/// `-S 1G`; without a unit, in kilobytes. A share of all memory (`-S 50%`) is as much as usual.
fn budget(size: &BStr) -> Result<usize, ToolError> {
    let length = size.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, suffix) = size.split_at(length);
    let shift = match suffix {
        b"b" => 0,
        b"" | b"k" | b"K" => 10,
        b"m" | b"M" => 20,
        b"G" => 30,
        b"T" => 40,
        b"P" => 50,
        b"%" | b"E" | b"Z" | b"Y" => 64,
        _ => return Err(trouble(format!("invalid -S argument {}", input::shown(size)))),
    };
    if digits.is_empty() {
        return Err(trouble(format!("invalid -S argument {}", input::shown(size))));
    }
    let number: usize = digits.to_str_lossy().parse().unwrap_or(usize::MAX);
    let bytes = 1_usize.checked_shl(shift).and_then(|unit| number.checked_mul(unit));
    Ok(bytes.unwrap_or(USUAL_BUDGET).clamp(LEAST_BUDGET, USUAL_BUDGET))
}

/// Less would only make more temporary files.
const LEAST_BUDGET: usize = 256 << 10;

fn check_parallel(number: &BStr) -> Result<(), ToolError> {
    if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
        return Err(trouble(format!("invalid --parallel argument {}", input::shown(number))));
    }
    if number.iter().all(|digit| *digit == b'0') {
        return Err(trouble("number in parallel must be nonzero"));
    }
    Ok(())
}

fn check_batch(number: &BStr) -> Result<(), ToolError> {
    let shown = input::shown(number);
    if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
        return Err(trouble(format!("invalid --batch-size argument {shown}")));
    }
    if matches!(number.trim_start_with(|c| c == '0'), b"" | b"1") {
        return Err(trouble(format!(
            "invalid --batch-size argument {shown}\nsort: minimum --batch-size argument is '2'"
        )));
    }
    Ok(())
}

/// `+1 -2` is an old way to write `-k 2,2`, `+1.2n` for `-k 2.3n`.
fn translate_obsolete(words: &[BString]) -> Vec<BString> {
    let mut translated = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            translated.push(word.clone());
            translated.extend(rest.cloned());
            break;
        }
        let Some(mut key) = word.strip_prefix(b"+").and_then(obsolete_start) else {
            translated.push(word.clone());
            continue;
        };
        let end = rest.peek().and_then(|word| obsolete_end(word.strip_prefix(b"-")?));
        if let Some(end) = end {
            key.extend_from_slice(&end);
            rest.next();
        }
        translated.push("-k".into());
        translated.push(key);
    }
    translated
}

/// `F.C` counted from 0, and letters.
fn obsolete_position(text: &[u8]) -> Option<(usize, usize, &BStr)> {
    let number = |text: &mut &[u8]| -> Option<usize> {
        let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = text.split_at(length);
        *text = rest;
        digits.to_str().ok()?.parse().ok()
    };
    let mut rest = text;
    let field = number(&mut rest)?;
    let mut byte = 0;
    if let Some(behind) = rest.strip_prefix(b".") {
        rest = behind;
        byte = number(&mut rest)?;
    }
    rest.iter().all(|letter| b"bdfghiMnRrV".contains(letter)).then_some((
        field,
        byte,
        rest.as_bstr(),
    ))
}

fn obsolete_start(text: &[u8]) -> Option<BString> {
    let (field, byte, letters) = obsolete_position(text)?;
    let position = format!("{}.{}{letters}", field.checked_add(1)?, byte.checked_add(1)?);
    Some(position.into())
}

/// The key ends before this position: a whole field before it, unless there is an offset.
fn obsolete_end(text: &[u8]) -> Option<BString> {
    let (field, byte, letters) = obsolete_position(text)?;
    let field = if byte == 0 { field } else { field.checked_add(1)? };
    if field == 0 {
        return None;
    }
    Some(format!(",{field}.{byte}{letters}").into())
}

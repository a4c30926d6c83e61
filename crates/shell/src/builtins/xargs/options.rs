//! The command line of `xargs`.

use bstr::{BStr, BString, ByteSlice};

use super::ToolError;
use crate::arguments::{self, Arguments, OptionSpec, Order, both, flag, long};

pub(super) static OPTIONS: [OptionSpec; 18] = [
    both('0', "0", "null", "items end with NUL; nothing is special"),
    both('a', "a", "arg-file", "read items from a file").takes("FILE"),
    both('d', "d", "delimiter", "items end with this character; nothing is special").takes("CHAR"),
    flag('E', "E", "a word that ends the input").takes("END"),
    both('e', "e", "eof", "the same; without a word there is none").may_take("END"),
    flag('I', "I", "run the command for every line, put in place of this").takes("R"),
    both('i', "i", "replace", "the same, {} by default").may_take("R"),
    flag('L', "L", "at most this many lines for each command").takes("LINES"),
    both('l', "l", "max-lines", "the same, one by default").may_take("LINES"),
    both('n', "n", "max-args", "at most this many arguments for each command").takes("ARGS"),
    both('P', "P", "max-procs", "accepted; commands run one after the other").takes("PROCS"),
    long("process-slot-var", "a variable that is set to 0").takes("VAR"),
    both('r', "r", "no-run-if-empty", "run nothing if there are no items"),
    both('s', "s", "max-chars", "at most this many bytes for each command").takes("CHARS"),
    both('t', "t", "verbose", "show every command before it runs"),
    both('x', "x", "exit", "end if a command line would be too long"),
    OptionSpec { id: "L", ..long("lines", "the same as -L").takes("LINES") },
    OptionSpec { id: "0", ..long("nul", "the same as --null") },
];

/// Bytes of a command line unless `-s` says otherwise.
const USUAL_SIZE: usize = 128 << 10;
/// What `-s` may ask for at most.
const MOST_SIZE: usize = 2 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Split {
    /// As many as fit.
    Size,
    Arguments(u64),
    Lines(u64),
    Replace(BString),
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) split: Split,
    /// A byte that alone separates items.
    pub(super) delimiter: Option<u8>,
    pub(super) end: Option<BString>,
    pub(super) file: Option<BString>,
    pub(super) size: usize,
    pub(super) exit_if_long: bool,
    pub(super) no_run_if_empty: bool,
    pub(super) verbose: bool,
    pub(super) slot_variable: Option<BString>,
}

/// The options, and the command with its first arguments: `echo` if there is none.
pub(super) fn read(words: &[BString]) -> Result<(Options, Vec<BString>), ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::OptionsFirst)?;
    number(&arguments, "P", 'P', 0)?;
    let split = split(&arguments)?;
    let size = match number(&arguments, "s", 's', 1)? {
        None => USUAL_SIZE,
        Some(size) => usize::try_from(size).unwrap_or(MOST_SIZE).min(MOST_SIZE),
    };
    let end = match arguments.last_of(&["E", "e"]) {
        None => None,
        Some(id) => arguments.value(id).filter(|word| !word.is_empty()).map(BString::from),
    };
    let delimiter = delimiter(&arguments)?;
    let mut command = arguments.operands.clone();
    if command.is_empty() {
        command.push("echo".into());
    }
    let options = Options {
        exit_if_long: arguments.has("x") || matches!(split, Split::Lines(_)),
        split,
        end: end.filter(|_| delimiter.is_none()),
        delimiter,
        file: arguments.value("a").map(BString::from).filter(|name| *name != "-"),
        size,
        no_run_if_empty: arguments.has("r"),
        verbose: arguments.has("t"),
        slot_variable: arguments.value("process-slot-var").map(BString::from),
    };
    Ok((options, command))
}

fn parse_number(text: &BStr, letter: char, least: u64) -> Result<u64, ToolError> {
    let digits = text.to_str().ok().map(str::trim_start);
    let digits = digits.map(|text| text.strip_prefix('+').unwrap_or(text));
    let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number: Option<u64> = digits.and_then(|digits| digits.parse().ok());
    match number {
        None => Err(ToolError::usage(format!("invalid number \"{text}\" for -{letter} option"))),
        Some(number) if number < least => Err(ToolError::usage(format!(
            "value {number} for -{letter} option should be >= {least}"
        ))),
        Some(number) => Ok(number),
    }
}

fn number(
    arguments: &Arguments,
    id: &str,
    letter: char,
    least: u64,
) -> Result<Option<u64>, ToolError> {
    arguments.value(id).map(|text| parse_number(text, letter, least)).transpose()
}

/// Of `-I`, `-L` and `-n` the last holds; `-n 1` changes nothing about `-I`.
fn split(arguments: &Arguments) -> Result<Split, ToolError> {
    let mut split = Split::Size;
    for option in &arguments.options {
        let value = option.value.as_ref().map(|value| value.as_bstr());
        split = match (option.id, value) {
            ("I" | "i", value) => {
                let pattern = value.filter(|pattern| !pattern.is_empty());
                Split::Replace(pattern.unwrap_or(b"{}".as_bstr()).into())
            }
            ("L" | "l", Some(text)) => Split::Lines(parse_number(text, 'L', 1)?),
            ("L" | "l", None) => Split::Lines(1),
            ("n", Some(text)) => match (parse_number(text, 'n', 1)?, split) {
                (1, Split::Replace(pattern)) => Split::Replace(pattern),
                (count, _) => Split::Arguments(count),
            },
            _ => continue,
        };
    }
    Ok(split)
}

fn delimiter(arguments: &Arguments) -> Result<Option<u8>, ToolError> {
    let last = arguments.last_of(&["0", "d"]);
    if last != Some("d") {
        return Ok(last.map(|_| 0));
    }
    let text = arguments.value("d").unwrap_or_default();
    let wrong = || {
        ToolError::usage(format!(
            "Invalid input delimiter specification {text}: the delimiter must be either a single character \
             or an escape sequence starting with \\."
        ))
    };
    match text.as_bytes() {
        [only] => Ok(Some(*only)),
        [b'\\', rest @ ..] => escape(rest).map(Some).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn escape(text: &[u8]) -> Option<u8> {
    let radix = |digits: &[u8], radix| u8::from_str_radix(digits.to_str().ok()?, radix).ok();
    match text {
        [b'a'] => Some(0x07),
        [b'b'] => Some(0x08),
        [b'f'] => Some(0x0c),
        [b'n'] => Some(b'\n'),
        [b'r'] => Some(b'\r'),
        [b't'] => Some(b'\t'),
        [b'v'] => Some(0x0b),
        [b'\\'] => Some(b'\\'),
        [b'x', digits @ ..] => radix(digits, 16),
        digits => radix(digits, 8),
    }
}

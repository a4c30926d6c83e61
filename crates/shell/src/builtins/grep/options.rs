//! The command line of `grep`.

use bstr::{BStr, BString, ByteSlice};

use super::color::Colors;
use super::select::Selection;
use super::{Context, ToolError, trouble};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, flag, long};
use crate::errno;

pub(super) static OPTIONS: [OptionSpec; 50] = [
    both('E', "E", "extended-regexp", "patterns are extended regular expressions"),
    both('F', "F", "fixed-strings", "patterns are plain text"),
    both('G', "G", "basic-regexp", "patterns are basic regular expressions (default)"),
    both('P', "P", "perl-regexp", "patterns are Perl regular expressions"),
    both('e', "e", "regexp", "a pattern to look for").takes("PATTERNS"),
    both('f', "f", "file", "read patterns from a file, one per line").takes("FILE"),
    both('i', "i", "ignore-case", "upper and lower case are the same").also(&['y']),
    long("no-ignore-case", "case matters (default)"),
    both('w', "w", "word-regexp", "match whole words only"),
    both('x', "x", "line-regexp", "match whole lines only"),
    both('z', "z", "null-data", "lines end with NUL instead of a newline"),
    both('s', "s", "no-messages", "say nothing about files that cannot be read"),
    both('v', "v", "invert-match", "print the lines that do not match"),
    both('m', "m", "max-count", "stop after this many lines of a file").takes("NUM"),
    both('b', "b", "byte-offset", "print the byte offset of every line"),
    both('n', "n", "line-number", "print the number of every line"),
    long("line-buffered", "write every line at once"),
    both('H', "H", "with-filename", "print the name of the file with every line"),
    both('h', "h", "no-filename", "print no names of files"),
    long("label", "the name to print for standard input").takes("LABEL"),
    both('o', "o", "only-matching", "print only the parts that match"),
    both('q', "q", "quiet", "print nothing; the status says whether anything matched"),
    OptionSpec { id: "q", ..long("silent", "the same as --quiet") },
    long("binary-files", "what binary files are: binary, text or without-match").takes("TYPE"),
    both('a', "a", "text", "binary files are text"),
    flag('I', "I", "binary files do not match"),
    both('d', "d", "directories", "what to do with directories: read, recurse or skip")
        .takes("ACTION"),
    both('D', "D", "devices", "what to do with devices: read or skip").takes("ACTION"),
    both('r', "r", "recursive", "search whole directories"),
    both('R', "R", "dereference-recursive", "the same, following all symbolic links"),
    long("include", "search only files with names like this").takes("GLOB"),
    long("exclude", "skip files with names like this").takes("GLOB"),
    long("exclude-from", "skip files with names like those in a file").takes("FILE"),
    long("exclude-dir", "skip directories with names like this").takes("GLOB"),
    both('L', "L", "files-without-match", "print the names of files without a match"),
    both('l', "l", "files-with-matches", "print the names of files with a match"),
    both('c', "c", "count", "print how many lines match in each file"),
    both('T', "T", "initial-tab", "let the text of lines begin at a tab stop"),
    both('Z', "Z", "null", "print NUL after names of files"),
    both('B', "B", "before-context", "print this many lines before").takes("NUM"),
    both('A', "A", "after-context", "print this many lines after").takes("NUM"),
    both('C', "C", "context", "print this many lines before and after").takes("NUM"),
    flag('0', "digit", "-NUM is the same as -C NUM")
        .also(&['1', '2', '3', '4', '5', '6', '7', '8', '9']),
    long("group-separator", "what to print between groups of lines").takes("SEP"),
    long("no-group-separator", "print nothing between groups of lines"),
    long("color", "mark what matches: always, never or auto").may_take("WHEN"),
    OptionSpec { id: "color", ..long("colour", "the same as --color").may_take("WHEN") },
    both('U', "U", "binary", "no effect here"),
    both('u', "u", "unix-byte-offsets", "no effect here"),
    OptionSpec { id: "F", ..long("fixed-regexp", "the same as --fixed-strings") },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Basic,
    Extended,
    Fixed,
    Perl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Anything,
    Words,
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryFiles {
    Report,
    Text,
    WithoutMatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directories {
    Read,
    Skip,
    Recurse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Devices {
    /// Those named on the command line are read.
    CommandLine,
    Read,
    Skip,
}

/// What is printed of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    Lines,
    Count,
    Matching,
    NonMatching,
    Nothing,
}

/// What was asked for.
pub(super) struct Request {
    pub(super) dialect: Dialect,
    /// One pattern per line.
    pub(super) patterns: Vec<BString>,
    pub(super) fold: bool,
    pub(super) whole: Whole,
    pub(super) operands: Vec<BString>,
    pub(super) directories: Directories,
    pub(super) devices: Devices,
    /// `-R`
    pub(super) follow: bool,
    pub(super) selection: Selection,
    pub(super) no_messages: bool,
    pub(super) output: Output,
}

impl Request {
    /// Is it known before any file is read that no line is selected?
    pub(super) fn selects_nothing(&self) -> bool {
        let invert = self.output.invert;
        let none = match self.patterns.as_slice() {
            _ if self.output.max_count == 0 => true,
            [] => !invert,
            [only] => only.is_empty() && invert && self.whole == Whole::Anything,
            _ => false,
        };
        none && self.output.report != Report::NonMatching
    }
}

/// How a file is searched and what is printed: all that a searching thread needs.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub(super) report: Report,
    pub(super) invert: bool,
    pub(super) only_matching: bool,
    pub(super) line_numbers: bool,
    pub(super) byte_offsets: bool,
    /// `None`: as many operands and directories there are.
    pub(super) names: Option<bool>,
    pub(super) null_after_name: bool,
    pub(super) initial_tab: bool,
    pub(super) line_buffered: bool,
    pub(super) max_count: u64,
    pub(super) before: Option<u64>,
    pub(super) after: Option<u64>,
    pub(super) separator: Option<BString>,
    pub(super) binary: BinaryFiles,
    /// What ends a line.
    pub(super) end: u8,
    pub(super) colors: Option<Colors>,
    pub(super) label: BString,
}

/// `None`: there is not even a pattern.
pub(super) fn read(
    context: &mut Context<'_>,
    words: &[BString],
) -> Result<Option<Request>, ToolError> {
    let mut arguments =
        arguments::parse(&OPTIONS, words, Order::Anywhere).map_err(|error| match error {
            ToolError::Usage(message, _) => trouble(message),
            other => other,
        })?;
    let mut patterns = patterns(context, &arguments)?;
    if patterns.is_none() {
        if arguments.operands.is_empty() {
            return Ok(None);
        }
        let text = arguments.operands.remove(0);
        patterns = Some(split(text.as_bstr()).map(BString::from).collect());
    }
    let (directories, follow) = directories(&arguments)?;
    let operands = std::mem::take(&mut arguments.operands);
    let last = arguments.last_of(&["i", "no-ignore-case"]);
    Ok(Some(Request {
        dialect: dialect(&arguments)?,
        patterns: patterns.unwrap_or_default(),
        fold: last == Some("i"),
        whole: whole(&arguments),
        directories,
        follow,
        devices: devices(&arguments)?,
        selection: Selection::read(context, &arguments)?,
        no_messages: arguments.has("s"),
        output: output(context, &arguments)?,
        operands,
    }))
}

/// Every line is a pattern; a newline at the very end adds none.
fn split(text: &BStr) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

fn patterns(
    context: &mut Context<'_>,
    arguments: &Arguments,
) -> Result<Option<Vec<BString>>, ToolError> {
    let mut all = None;
    for option in &arguments.options {
        let Some(value) = &option.value else { continue };
        match option.id {
            "e" => {
                all.get_or_insert_with(Vec::new).extend(split(value.as_bstr()).map(BString::from));
            }
            "f" => {
                let text = read_file(context, value.as_bstr())?;
                let all = all.get_or_insert_with(Vec::new);
                // An empty file has no patterns at all; an empty line is one that matches everything.
                if !text.is_empty() {
                    let lines = text.strip_suffix(b"\n").unwrap_or(&text);
                    all.extend(split(lines.as_bstr()).map(BString::from));
                }
            }
            _ => {}
        }
    }
    Ok(all)
}

/// A file of the command line's own: patterns, names to exclude.
pub(super) fn read_file(context: &mut Context<'_>, name: &BStr) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let control = context.control();
    match context.open(name).and_then(|file| file.read_within(&control, &mut bytes)) {
        Ok(()) => Ok(bytes),
        Err(error) => {
            context.interrupted(&error)?;
            let shown = context.as_written(name).to_str_lossy().into_owned();
            Err(trouble(format!("{shown}: {}", errno::text(&error))))
        }
    }
}

fn dialect(arguments: &Arguments) -> Result<Dialect, ToolError> {
    let mut chosen = None;
    for option in &arguments.options {
        let dialect = match option.id {
            "G" => Dialect::Basic,
            "E" => Dialect::Extended,
            "F" => Dialect::Fixed,
            "P" => Dialect::Perl,
            _ => continue,
        };
        if chosen.is_some_and(|chosen| chosen != dialect) {
            return Err(trouble("conflicting matchers specified"));
        }
        chosen = Some(dialect);
    }
    Ok(chosen.unwrap_or(Dialect::Basic))
}

fn whole(arguments: &Arguments) -> Whole {
    match (arguments.has("x"), arguments.has("w")) {
        (true, _) => Whole::Lines,
        (false, true) => Whole::Words,
        (false, false) => Whole::Anything,
    }
}

fn directories(arguments: &Arguments) -> Result<(Directories, bool), ToolError> {
    let mut chosen = (Directories::Read, false);
    for option in &arguments.options {
        chosen = match (option.id, option.value.as_ref().map(|value| value.as_bytes())) {
            ("r", _) => (Directories::Recurse, false),
            ("R", _) => (Directories::Recurse, true),
            ("d", Some(b"read")) => (Directories::Read, chosen.1),
            ("d", Some(b"skip")) => (Directories::Skip, chosen.1),
            ("d", Some(b"recurse")) => (Directories::Recurse, chosen.1),
            ("d", Some(other)) => {
                let other = other.to_str_lossy();
                let message = format!("invalid argument ‘{other}’ for ‘--directories’");
                return Err(ToolError::usage(message));
            }
            _ => continue,
        };
    }
    Ok(chosen)
}

fn devices(arguments: &Arguments) -> Result<Devices, ToolError> {
    match arguments.value("D").map(|value| value.as_bytes()) {
        None => Ok(Devices::CommandLine),
        Some(b"read") => Ok(Devices::Read),
        Some(b"skip") => Ok(Devices::Skip),
        Some(_) => Err(trouble("unknown devices method")),
    }
}

fn output(context: &Context<'_>, arguments: &Arguments) -> Result<Output, ToolError> {
    let (before, after) = around(arguments)?;
    let label = arguments.value("label").unwrap_or(b"(standard input)".as_bstr());
    let separator = match arguments.last_of(&["group-separator", "no-group-separator"]) {
        None => Some(BString::from("--")),
        Some("group-separator") => arguments.value("group-separator").map(BString::from),
        Some(_) => None,
    };
    let names = arguments.last_of(&["H", "h"]).map(|id| id == "H");
    Ok(Output {
        report: report(arguments),
        invert: arguments.has("v"),
        only_matching: arguments.has("o"),
        line_numbers: arguments.has("n"),
        byte_offsets: arguments.has("b"),
        names,
        null_after_name: arguments.has("Z"),
        initial_tab: arguments.has("T"),
        line_buffered: arguments.has("line-buffered"),
        max_count: max_count(arguments)?,
        before,
        after,
        separator,
        binary: binary_files(arguments)?,
        end: if arguments.has("z") { 0 } else { b'\n' },
        colors: Colors::read(context, arguments)?,
        label: label.into(),
    })
}

fn report(arguments: &Arguments) -> Report {
    if arguments.has("q") {
        return Report::Nothing;
    }
    match arguments.last_of(&["l", "L"]) {
        Some("l") => Report::Matching,
        Some(_) => Report::NonMatching,
        None if arguments.has("c") => Report::Count,
        None => Report::Lines,
    }
}

/// Digits in any of the ways to write them; too many are as many as can be.
fn count(text: &BStr) -> Option<u64> {
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        digits.iter().fold(0_u64, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        }),
    )
}

fn max_count(arguments: &Arguments) -> Result<u64, ToolError> {
    match arguments.value("m") {
        None => Ok(u64::MAX),
        // A negative count is no limit.
        Some(text)
            if text.strip_prefix(b"-").is_some_and(|rest| count(rest.as_bstr()).is_some()) =>
        {
            Ok(u64::MAX)
        }
        Some(text) => count(text).ok_or_else(|| trouble("invalid max count")),
    }
}

fn around(arguments: &Arguments) -> Result<(Option<u64>, Option<u64>), ToolError> {
    let parse = |text: &BStr| {
        count(text).ok_or_else(|| {
            trouble(format!("{}: invalid context length argument", text.to_str_lossy()))
        })
    };
    let (mut before, mut after, mut both) = (None, None, None);
    let mut digits = BString::default();
    for option in &arguments.options {
        if option.id == "digit" {
            digits.extend(option.letter.map(|letter| letter as u8));
            both = Some(parse(digits.as_bstr())?);
            continue;
        }
        digits.clear();
        let Some(value) = &option.value else { continue };
        match option.id {
            "B" => before = Some(parse(value.as_bstr())?),
            "A" => after = Some(parse(value.as_bstr())?),
            "C" => both = Some(parse(value.as_bstr())?),
            _ => {}
        }
    }
    Ok((before.or(both), after.or(both)))
}

fn binary_files(arguments: &Arguments) -> Result<BinaryFiles, ToolError> {
    match arguments.last_of(&["a", "I", "binary-files"]) {
        None => Ok(BinaryFiles::Report),
        Some("a") => Ok(BinaryFiles::Text),
        Some("I") => Ok(BinaryFiles::WithoutMatch),
        Some(_) => match arguments.value("binary-files").map(|value| value.as_bytes()) {
            Some(b"binary") => Ok(BinaryFiles::Report),
            Some(b"text") => Ok(BinaryFiles::Text),
            Some(b"without-match") => Ok(BinaryFiles::WithoutMatch),
            _ => Err(trouble("unknown binary-files type")),
        },
    }
}

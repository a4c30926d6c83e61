//! `head`: the beginning of files, by lines or bytes, or all but their end.

use std::io::{self, SeekFrom};
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use memchr::memchr_iter;

use super::backwards::{extent, start_of_lines};
use super::input::{self, Wording};
use super::sizes::{self, SizeError};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, long};
use crate::filesystem::OpenFile;
use crate::lines::LineReader;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 6] = [
    both('c', "c", "bytes", "the first NUM bytes; with a minus, all but the last NUM").takes("NUM"),
    both('n', "n", "lines", "the first NUM lines; with a minus, all but the last NUM").takes("NUM"),
    both('q', "q", "quiet", "no headers with the names of files"),
    OptionSpec { id: "q", ..long("silent", "the same as --quiet") },
    both('v', "v", "verbose", "always headers with the names of files"),
    both('z', "z", "zero-terminated", "lines end with NUL, not newline"),
];

pub static COMMAND: Command = Command {
    name: "head",
    synopsis: "head [OPTION]... [FILE]...",
    summary: "print the first ten lines of each file, or as many as are asked for",
    options: &OPTIONS,
    run: Run::Tool(run),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    unit: Unit,
    count: u64,
    /// All but the last `count`.
    from_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Lines,
    Bytes,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let (wanted, arguments) = settings(words).map_err(|error| match error {
        ToolError::Unsupported(letter) if letter.bytes().all(|byte| byte.is_ascii_digit()) => {
            trailing_option(&letter)
        }
        other => other,
    })?;
    let separator = if arguments.has("z") { 0 } else { b'\n' };
    let headers = arguments.last_of(&["q", "v"]);
    let operands = input::or_standard_input(arguments.operands);
    let mut headers = Headers::new(headers, operands.len());
    let mut status = ExitStatus::SUCCESS;
    for operand in &operands {
        let operand = operand.as_bstr();
        let Some(file) = input::open(context, operand, Wording::Sentence)? else {
            status = ExitStatus::FAILURE;
            continue;
        };
        headers.print(context, operand)?;
        let wanted = match known_size(context, &file, wanted, separator) {
            Ok(wanted) => wanted,
            Err(error) => {
                input::read_failed(context, operand, &error, Wording::Sentence)?;
                status = ExitStatus::FAILURE;
                continue;
            }
        };
        let mut reader = input::reader(context, &file).separated_by(separator);
        if let Err(error) = copy(context, &mut reader, wanted, separator)? {
            input::read_failed(context, operand, &error, Wording::Sentence)?;
            status = ExitStatus::FAILURE;
        }
        reader.unread();
    }
    Ok(status)
}

fn settings(words: &[BString]) -> Result<(Wanted, Arguments), ToolError> {
    let hint = |error: ToolError| error.with_hint("head", ExitStatus::FAILURE);
    let obsolete = words.first().map(|word| obsolete(word.as_bstr())).transpose()?.flatten();
    let rest = if obsolete.is_some() { words.get(1..).unwrap_or_default() } else { words };
    let mut arguments = arguments::parse(&OPTIONS, rest, Order::Anywhere).map_err(hint)?;
    let mut wanted = Wanted { unit: Unit::Lines, count: 10, from_end: false };
    if let Some((first, flags)) = obsolete {
        wanted = first;
        arguments.options.splice(0..0, flags);
    }
    for option in &arguments.options {
        let (unit, Some(value)) = (option.id, &option.value) else { continue };
        let unit = if unit == "c" { Unit::Bytes } else { Unit::Lines };
        let (from_end, digits) = match value.strip_prefix(b"-") {
            Some(digits) => (true, digits.as_bstr()),
            None => (false, value.as_bstr()),
        };
        wanted = Wanted { unit, count: count(digits, unit)?, from_end };
    }
    Ok((wanted, arguments))
}

/// The number of an option of `head` or `tail`, or the complaint about it.
pub fn count(text: &BStr, unit: Unit) -> Result<u64, ToolError> {
    sizes::parse(text).map_err(|error| invalid_count(text, unit, error))
}

pub fn invalid_count(text: &BStr, unit: Unit, error: SizeError) -> ToolError {
    let noun = if unit == Unit::Bytes { "bytes" } else { "lines" };
    let reason = match error {
        SizeError::Invalid => "",
        SizeError::TooLarge => ": Value too large for defined data type",
    };
    ToolError::usage(format!("invalid number of {noun}: {}{reason}", input::shown(text)))
}

type Obsolete = (Wanted, Vec<arguments::GivenOption>);

/// The first word may be `-NUM` with letters behind: `-5`, `-2c`, `-3qz`.
fn obsolete(word: &BStr) -> Result<Option<Obsolete>, ToolError> {
    let Some(text) = word.strip_prefix(b"-") else { return Ok(None) };
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return Ok(None);
    }
    let (digits, letters) = text.split_at(length);
    let mut unit = Unit::Lines;
    let mut suffix: &[u8] = b"";
    let mut flags = Vec::new();
    for letter in letters {
        let id = match letter {
            b'c' => {
                (unit, suffix) = (Unit::Bytes, b"");
                continue;
            }
            b'b' | b'k' | b'm' => {
                (unit, suffix) = (Unit::Bytes, std::slice::from_ref(letter));
                continue;
            }
            b'l' => {
                unit = Unit::Lines;
                continue;
            }
            b'q' => "q",
            b'v' => "v",
            b'z' => "z",
            other => return Err(trailing_option(&char::from(*other).to_string())),
        };
        flags.push(arguments::GivenOption { id, letter: None, value: None });
    }
    let number = [digits, suffix].concat();
    let wanted = Wanted { unit, count: count(number.as_bstr(), unit)?, from_end: false };
    Ok(Some((wanted, flags)))
}

fn trailing_option(letter: &str) -> ToolError {
    let message = format!("invalid trailing option -- {letter}");
    ToolError::hinted("head", message, ExitStatus::FAILURE)
}

/// `==> name <==` in front of each file, for `head` and `tail`.
pub struct Headers {
    wanted: bool,
    first: bool,
}

impl Headers {
    /// `option` is `q`, `v` or nothing: then there are headers if there are several files.
    pub fn new(option: Option<&str>, files: usize) -> Self {
        Headers { wanted: option == Some("v") || (option.is_none() && files > 1), first: true }
    }

    pub fn print(&mut self, context: &mut Context<'_>, operand: &BStr) -> Result<(), ToolError> {
        if !self.wanted {
            return Ok(());
        }
        let name: &[u8] = if operand == "-" { b"standard input" } else { operand };
        let before: &[u8] = if self.first { b"==> " } else { b"\n==> " };
        self.first = false;
        context.output.write(before)?;
        context.output.write(name)?;
        context.output.line(b" <==")
    }
}

/// Of a file that can seek, all but the end is so many bytes from here on.
fn known_size(
    context: &Context<'_>,
    file: &Arc<dyn OpenFile>,
    wanted: Wanted,
    separator: u8,
) -> io::Result<Wanted> {
    let Some((position, size)) = extent(file).filter(|_| wanted.from_end) else {
        return Ok(wanted);
    };
    let end = match wanted.unit {
        Unit::Bytes => size.saturating_sub(wanted.count).max(position),
        Unit::Lines => {
            let control = context.control();
            let end = start_of_lines(&control, file, position, size, wanted.count, separator)?;
            file.seek(SeekFrom::Start(position))?;
            end
        }
    };
    Ok(Wanted { unit: Unit::Bytes, count: end - position, from_end: false })
}

/// The outer error ends the tool, the inner one only this file.
type Copied = Result<io::Result<()>, ToolError>;

fn copy(
    context: &mut Context<'_>,
    reader: &mut LineReader,
    wanted: Wanted,
    separator: u8,
) -> Copied {
    match (wanted.from_end, wanted.unit) {
        (false, unit) => copy_first(context, reader, wanted.count, unit, separator),
        (true, unit) => copy_all_but(context, reader, wanted.count, unit, separator),
    }
}

fn copy_first(
    context: &mut Context<'_>,
    reader: &mut LineReader,
    mut left: u64,
    unit: Unit,
    separator: u8,
) -> Copied {
    while left > 0 {
        let chunk = match reader.peek() {
            Ok(b"") => break,
            Ok(chunk) => chunk,
            Err(error) => return Ok(Err(error)),
        };
        let length = match unit {
            Unit::Bytes => {
                let length = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
                left -= length as u64;
                length
            }
            Unit::Lines => length_of_lines(chunk, &mut left, separator),
        };
        context.output.write(chunk.get(..length).unwrap_or(chunk))?;
        reader.consume(length);
    }
    Ok(Ok(()))
}

/// How many bytes at the start of the chunk hold the lines still wanted, which are counted down.
fn length_of_lines(chunk: &[u8], left: &mut u64, separator: u8) -> usize {
    for at in memchr_iter(separator, chunk) {
        *left -= 1;
        if *left == 0 {
            return at + 1;
        }
    }
    chunk.len()
}

/// Holds back the last `count` lines or bytes of what has been read, and writes what is before them.
fn copy_all_but(
    context: &mut Context<'_>,
    reader: &mut LineReader,
    count: u64,
    unit: Unit,
    separator: u8,
) -> Copied {
    let mut held: Vec<u8> = Vec::new();
    let control = context.control();
    let mut written = 0;
    let mut lines = 0_u64;
    loop {
        let next = if unit == Unit::Lines { reader.next_block() } else { reader.next_chunk() };
        let chunk = match next {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        };
        held.extend_from_slice(chunk);
        if let Err(error) = control.may_hold(held.len()) {
            return Ok(Err(error));
        }
        let kept = held.get(written..).unwrap_or_default();
        let ready = match unit {
            Unit::Bytes => usize::try_from((kept.len() as u64).saturating_sub(count)).unwrap_or(0),
            Unit::Lines => {
                // An unfinished last line is a line too.
                let unfinished = u64::from(!chunk.ends_with(&[separator]));
                lines += memchr_iter(separator, chunk).count() as u64 + unfinished;
                let mut excess = lines.saturating_sub(count);
                lines -= excess;
                if excess == 0 { 0 } else { length_of_lines(kept, &mut excess, separator) }
            }
        };
        context.output.write(kept.get(..ready).unwrap_or_default())?;
        written += ready;
        // Moving what is kept each time would be quadratic when much is kept.
        if written > held.len() / 2 {
            held.drain(..written);
            written = 0;
        }
    }
}

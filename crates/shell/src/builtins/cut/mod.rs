//! `cut`: parts of each line, by bytes or by fields.

mod list;

use bstr::{BString, ByteSlice};
use memchr::{memchr, memchr_iter};

use self::list::{Range, Unit};
use super::input::{self, Wording};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, flag, long};
use crate::lines::LineReader;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 9] = [
    both('b', "b", "bytes", "only these bytes").takes("LIST"),
    both('c', "c", "characters", "only these characters, which are bytes").takes("LIST"),
    both('d', "d", "delimiter", "fields are separated by DELIM, not by tabs").takes("DELIM"),
    both('f', "f", "fields", "only these fields").takes("LIST"),
    flag('n', "n", "accepted and without effect"),
    long("complement", "everything but what the list names"),
    both('s', "s", "only-delimited", "no lines without a delimiter"),
    long("output-delimiter", "put STRING between the parts").takes("STRING"),
    both('z', "z", "zero-terminated", "lines end with NUL, not newline"),
];

pub static COMMAND: Command = Command {
    name: "cut",
    synopsis: "cut OPTION... [FILE]...",
    summary: "print chosen parts of each line",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::Anywhere)
        .map_err(|error| error.with_hint("cut", ExitStatus::FAILURE))?;
    let mut cutter = Cutter::new(&arguments)?;
    let mut status = ExitStatus::SUCCESS;
    for operand in input::or_standard_input(arguments.operands) {
        let operand = operand.as_bstr();
        let Some(file) = input::open(context, operand, Wording::Plain)? else {
            status = ExitStatus::FAILURE;
            continue;
        };
        let mut reader = input::reader(context, &file).separated_by(cutter.separator);
        if let Err(error) = cutter.copy(context, &mut reader)? {
            input::read_failed(context, operand, &error, Wording::Plain)?;
            status = ExitStatus::FAILURE;
        }
    }
    Ok(status)
}

struct Cutter {
    unit: Unit,
    ranges: Vec<Range>,
    delimiter: u8,
    /// Between the parts; with bytes only if it was asked for.
    between: Option<Vec<u8>>,
    only_delimited: bool,
    separator: u8,
    /// What is ready to be written.
    text: Vec<u8>,
}

/// The outer error ends the tool, the inner one only this file.
type Copied = Result<std::io::Result<()>, ToolError>;

impl Cutter {
    fn new(arguments: &Arguments) -> Result<Self, ToolError> {
        let hint = |message: &str| ToolError::hinted("cut", message, ExitStatus::FAILURE);
        let lists: Vec<_> = arguments
            .options
            .iter()
            .filter(|option| matches!(option.id, "b" | "c" | "f"))
            .collect();
        if lists.len() > 1 {
            return Err(hint("only one list may be specified"));
        }
        let delimiter = match arguments.value("d").map(|value| value.as_bytes()) {
            None => b'\t',
            Some(b"") => 0,
            Some([delimiter]) => *delimiter,
            Some(_) => return Err(hint("the delimiter must be a single character")),
        };
        let Some((id, Some(list))) = lists.first().map(|option| (option.id, &option.value)) else {
            return Err(hint("you must specify a list of bytes, characters, or fields"));
        };
        let unit = if id == "f" { Unit::Fields } else { Unit::Bytes };
        if unit == Unit::Bytes && arguments.has("d") {
            return Err(hint("an input delimiter may be specified only when operating on fields"));
        }
        if unit == Unit::Bytes && arguments.has("s") {
            return Err(hint(
                "suppressing non-delimited lines makes sense\n\tonly when operating on fields",
            ));
        }
        let mut ranges = list::parse(list, unit).map_err(|message| hint(&message))?;
        if arguments.has("complement") {
            ranges = list::complement(&ranges);
        }
        let between = arguments
            .value("output-delimiter")
            .map(|text| if text.is_empty() { vec![0] } else { text.to_vec() });
        let between =
            if unit == Unit::Fields { between.or(Some(vec![delimiter])) } else { between };
        let separator = if arguments.has("z") { 0 } else { b'\n' };
        let only_delimited = arguments.has("s");
        Ok(Cutter { unit, ranges, delimiter, between, only_delimited, separator, text: Vec::new() })
    }

    fn copy(&mut self, context: &mut Context<'_>, reader: &mut LineReader) -> Copied {
        if self.unit == Unit::Fields && self.delimiter == self.separator {
            return self.copy_lines_as_fields(context, reader);
        }
        loop {
            let block = match reader.next_block() {
                Ok(Some(block)) => block,
                Ok(None) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            };
            match self.unit {
                Unit::Fields => self.cut_fields(block),
                Unit::Bytes => self.cut_bytes(block),
            }
            context.output.write(&self.text)?;
            self.text.clear();
        }
    }

    fn cut_bytes(&mut self, block: &[u8]) {
        for line in lines(block, self.separator) {
            let start = self.text.len();
            for range in &self.ranges {
                let first = usize::try_from(range.first - 1).unwrap_or(usize::MAX);
                let last = usize::try_from(range.last).unwrap_or(usize::MAX).min(line.len());
                let Some(part) = line.get(first..last).filter(|part| !part.is_empty()) else {
                    break;
                };
                if let Some(between) = self.between.as_ref().filter(|_| self.text.len() > start) {
                    self.text.extend_from_slice(between);
                }
                self.text.extend_from_slice(part);
            }
            self.text.push(self.separator);
        }
    }

    fn cut_fields(&mut self, block: &[u8]) {
        for line in lines(block, self.separator) {
            if memchr(self.delimiter, line).is_none() {
                if !self.only_delimited {
                    self.text.extend_from_slice(line);
                    self.text.push(self.separator);
                }
                continue;
            }
            self.cut_fields_of(line);
            self.text.push(self.separator);
        }
    }

    fn cut_fields_of(&mut self, line: &[u8]) {
        let mut ends = memchr_iter(self.delimiter, line);
        let mut number = 0;
        let mut start = 0;
        let mut first = true;
        let between = self.between.as_deref().unwrap_or_default();
        for range in &self.ranges {
            // Only the last range may be open: nothing in it needs looking at, unless its delimiters change.
            while number < range.last {
                if start > line.len() {
                    return;
                }
                number += 1;
                if number >= range.first && range.last == u64::MAX && between == [self.delimiter] {
                    if !first {
                        self.text.push(self.delimiter);
                    }
                    self.text.extend_from_slice(line.get(start..).unwrap_or_default());
                    return;
                }
                let end = ends.next().unwrap_or(line.len());
                if number >= range.first {
                    if !first {
                        self.text.extend_from_slice(between);
                    }
                    first = false;
                    self.text.extend_from_slice(line.get(start..end).unwrap_or_default());
                }
                start = end + 1;
            }
        }
    }

    /// The delimiter ends lines: all lines are the fields of one.
    fn copy_lines_as_fields(
        &mut self,
        context: &mut Context<'_>,
        reader: &mut LineReader,
    ) -> Copied {
        let mut number = 0;
        let mut any = false;
        let mut undelimited = false;
        loop {
            let line = match reader.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => return Ok(Err(error)),
            };
            number += 1;
            undelimited = number == 1 && !line.ends_with(&[self.separator]);
            let selected =
                self.ranges.iter().any(|range| (range.first..=range.last).contains(&number));
            let printed = if undelimited { !self.only_delimited } else { selected };
            if printed {
                if let Some(between) = self.between.as_ref().filter(|_| any) {
                    context.output.write(between)?;
                }
                any = true;
                context.output.write(line.strip_suffix(&[self.separator]).unwrap_or(line))?;
            }
        }
        let is_dropped = number == 1 && self.only_delimited && (undelimited || !any);
        if number > 0 && !is_dropped {
            context.output.write(&[self.separator])?;
        }
        Ok(Ok(()))
    }
}

/// The lines of a block without their separators.
fn lines(block: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = block;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(separator, rest).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.get(1..).unwrap_or_default();
        Some(line)
    })
}

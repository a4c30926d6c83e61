//! `cat`: copies files to standard output, perhaps with numbers and visible control characters.

use std::io::SeekFrom;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use memchr::memchr;

use super::digits::Counter;
use super::input::{self, Wording};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, flag};
use crate::errno;
use crate::filesystem::{Metadata, OpenFile};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 10] = [
    both('A', "A", "show-all", "the same as -vET"),
    both('b', "b", "number-nonblank", "number the lines that are not empty"),
    flag('e', "e", "the same as -vE"),
    both('E', "E", "show-ends", "show $ at the end of each line"),
    both('n', "n", "number", "number all lines"),
    both('s', "s", "squeeze-blank", "one empty line in place of several"),
    flag('t', "t", "the same as -vT"),
    both('T', "T", "show-tabs", "show tabs as ^I"),
    flag('u', "u", "accepted and without effect"),
    both('v', "v", "show-nonprinting", "show control characters as ^X and high bytes as M-x"),
];

pub static COMMAND: Command = Command {
    name: "cat",
    synopsis: "cat [OPTION]... [FILE]...",
    summary: "copy files, or standard input, to standard output",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::Anywhere)
        .map_err(|error| error.with_hint(context.name, ExitStatus::FAILURE))?;
    let mut page = Page::new(&arguments);
    let target = match context.output.file().metadata() {
        Ok(target) => Some(target).filter(Metadata::is_file),
        // Asked before anything is read, as GNU's does.
        Err(error) => {
            return Err(ToolError::usage(format!("standard output: {}", errno::text(&error))));
        }
    };
    let mut status = ExitStatus::SUCCESS;
    let operands = input::or_standard_input(arguments.operands);
    for operand in &operands {
        let done = cat(context, operand.as_bstr(), page.as_mut(), target.as_ref())?;
        if !done {
            status = ExitStatus::FAILURE;
        }
    }
    if let Some(page) = &mut page {
        page.finish();
        context.output.write(&page.text)?;
    }
    if let Err(error) = context.input.metadata()
        && operands.iter().any(|operand| operand == "-")
    {
        context.output.flush()?;
        context.complain(format!("closing standard input: {}", errno::text(&error)));
        status = ExitStatus::FAILURE;
    }
    Ok(status)
}

/// Copies one file; false if something about it was reported.
fn cat(
    context: &mut Context<'_>,
    operand: &BStr,
    mut page: Option<&mut Page>,
    target: Option<&Metadata>,
) -> Result<bool, ToolError> {
    let Some(file) = input::open(context, operand, Wording::Plain)? else { return Ok(false) };
    if target.is_some_and(|target| is_same_file(&file, target)) {
        input::complain(context, &[operand, b": input file is output file"], None);
        return Ok(false);
    }
    // What comes from a pipe or a terminal goes on at once: somebody may be waiting for it.
    let passes_on = !file.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut reader = input::reader(context, &file);
    loop {
        match reader.next_chunk() {
            Ok(None) => return Ok(true),
            Ok(Some(chunk)) => match page.as_deref_mut() {
                None => context.output.write(chunk)?,
                Some(page) => {
                    page.add(chunk);
                    context.output.write(&page.text)?;
                    page.text.clear();
                }
            },
            Err(error) => {
                input::read_failed(context, operand, &error, Wording::Plain)?;
                return Ok(false);
            }
        }
        if passes_on {
            context.output.flush()?;
        }
    }
}

/// Copying a file to its own end would never stop.
fn is_same_file(file: &Arc<dyn OpenFile>, target: &Metadata) -> bool {
    let Ok(source) = file.metadata() else { return false };
    source.is_file()
        && (source.device, source.inode) == (target.device, target.inode)
        && source.inode != 0
        && file.seek(SeekFrom::Current(0)).is_ok_and(|position| position < source.size)
}

/// What the options do to the text. One for all files: they are one text.
struct Page {
    numbers: Numbers,
    squeeze: bool,
    show_ends: bool,
    show_tabs: bool,
    show_nonprinting: bool,
    number: Counter,
    at_line_start: bool,
    /// Empty lines in a row just before.
    empty_lines: u8,
    /// A carriage return that is shown as `^M` only if a newline follows.
    pending_return: bool,
    /// What is ready to be written.
    text: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    None,
    All,
    NonEmpty,
}

impl Page {
    /// `None` if the text is copied as it is.
    fn new(arguments: &Arguments) -> Option<Self> {
        let any = |ids: &[&str]| ids.iter().any(|id| arguments.has(id));
        let numbers = match (arguments.has("b"), arguments.has("n")) {
            (true, _) => Numbers::NonEmpty,
            (false, true) => Numbers::All,
            (false, false) => Numbers::None,
        };
        let page = Page {
            numbers,
            squeeze: any(&["s"]),
            show_ends: any(&["A", "e", "E"]),
            show_tabs: any(&["A", "t", "T"]),
            show_nonprinting: any(&["A", "e", "t", "v"]),
            number: Counter::new(b"1", 6, b' ', b"\t"),
            at_line_start: true,
            empty_lines: 0,
            pending_return: false,
            text: Vec::new(),
        };
        let changes = numbers != Numbers::None
            || page.squeeze
            || page.show_ends
            || page.show_tabs
            || page.show_nonprinting;
        changes.then_some(page)
    }

    fn add(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            let end = memchr(b'\n', chunk);
            let (line, rest) = chunk.split_at(end.unwrap_or(chunk.len()));
            if !line.is_empty() {
                self.add_text(line);
            }
            if end.is_some() {
                self.end_line();
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
    }

    /// Part of a line, or all of it, without its newline.
    fn add_text(&mut self, text: &[u8]) {
        if self.at_line_start {
            self.at_line_start = false;
            self.empty_lines = 0;
            self.add_number(true);
        }
        if self.pending_return {
            self.pending_return = false;
            self.text.push(b'\r');
        }
        if self.show_nonprinting || self.show_tabs {
            for &byte in text {
                self.add_visible(byte);
            }
        } else {
            self.text.extend_from_slice(text);
        }
        // Without -v a carriage return stays as it is, except before the $ it would hide.
        if self.show_ends && !self.show_nonprinting && text.ends_with(b"\r") {
            self.text.pop();
            self.pending_return = true;
        }
    }

    fn end_line(&mut self) {
        if self.at_line_start {
            self.empty_lines = (self.empty_lines + 1).min(2);
            if self.squeeze && self.empty_lines == 2 {
                return;
            }
            self.add_number(false);
        }
        if self.pending_return {
            self.pending_return = false;
            self.text.extend_from_slice(b"^M");
        }
        if self.show_ends {
            self.text.push(b'$');
        }
        self.text.push(b'\n');
        self.at_line_start = true;
    }

    fn add_number(&mut self, has_text: bool) {
        if self.numbers == Numbers::All || (self.numbers == Numbers::NonEmpty && has_text) {
            self.text.extend_from_slice(self.number.text());
            self.number.increment();
        }
    }

    fn add_visible(&mut self, byte: u8) {
        if byte == b'\t' {
            self.text.extend_from_slice(if self.show_tabs { b"^I" } else { b"\t" });
        } else if self.show_nonprinting {
            let low = if byte >= 128 {
                self.text.extend_from_slice(b"M-");
                byte - 128
            } else {
                byte
            };
            match low {
                0..32 => self.text.extend_from_slice(&[b'^', low + 64]),
                127 => self.text.extend_from_slice(b"^?"),
                _ => self.text.push(low),
            }
        } else {
            self.text.push(byte);
        }
    }

    fn finish(&mut self) {
        if self.pending_return {
            self.text.push(b'\r');
        }
    }
}

//! Splitting the input into items: by blanks, lines and quotes, or at one byte.

use std::io;
use std::sync::Arc;

use bstr::BString;

use super::options::{Options, Split};
use crate::control::Control;
use crate::errno;
use crate::filesystem::OpenFile;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Argument(BString),
    /// A line with arguments is over, and not continued by a blank at its end.
    EndOfLine,
    End,
}

#[derive(Debug)]
pub(super) enum Failure {
    Read(io::Error),
    /// `single` or `double`
    Quote(&'static str),
}

pub(super) struct Input {
    file: Arc<dyn OpenFile>,
    control: Arc<Control>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    delimiter: Option<u8>,
    /// Whole lines are items (`-I`).
    by_line: bool,
    end_word: Option<BString>,
    /// The item that was just given was the last of its line.
    line_ended: bool,
    /// The last byte that was read, for lines that end in a blank.
    last: u8,
    done: bool,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_space(byte: u8) -> bool {
    is_blank(byte) || byte == b'\n'
}

impl Input {
    pub(super) fn new(file: Arc<dyn OpenFile>, control: Arc<Control>, options: &Options) -> Self {
        Input {
            file,
            control,
            buffer: vec![0; 16 << 10],
            start: 0,
            end: 0,
            delimiter: options.delimiter,
            by_line: matches!(options.split, Split::Replace(_)),
            end_word: options.end.clone(),
            line_ended: false,
            last: b'\n',
            done: false,
        }
    }

    fn byte(&mut self) -> Result<Option<u8>, Failure> {
        if self.start == self.end {
            if self.control.check().is_err() {
                return Err(Failure::Read(errno::error(errno::EINTR)));
            }
            self.start = 0;
            self.end = self.file.read(&mut self.buffer).map_err(Failure::Read)?;
            if self.end == 0 {
                return Ok(None);
            }
        }
        let byte = self.buffer.get(self.start).copied();
        self.start += 1;
        Ok(byte)
    }

    pub(super) fn next(&mut self) -> Result<Item, Failure> {
        if self.line_ended {
            self.line_ended = false;
            return Ok(Item::EndOfLine);
        }
        if self.done {
            return Ok(Item::End);
        }
        let item = match self.delimiter {
            Some(delimiter) => self.until(delimiter)?,
            None => self.word()?,
        };
        match item {
            Some(text) if self.end_word.as_ref() == Some(&text) => {
                self.done = true;
                self.line_ended = false;
                Ok(Item::End)
            }
            Some(text) => Ok(Item::Argument(text)),
            None => {
                self.done = true;
                Ok(Item::End)
            }
        }
    }

    /// Up to one byte; every item is a line of its own.
    fn until(&mut self, delimiter: u8) -> Result<Option<BString>, Failure> {
        let mut text = BString::default();
        let mut any = false;
        loop {
            match self.byte()? {
                Some(byte) if byte == delimiter => break,
                Some(byte) => {
                    any = true;
                    text.push(byte);
                }
                None if any => break,
                None => return Ok(None),
            }
        }
        self.line_ended = true;
        Ok(Some(text))
    }

    /// A word with its quotes and backslashes taken away; with `-I`, a whole line.
    fn word(&mut self) -> Result<Option<BString>, Failure> {
        let mut text = BString::default();
        let mut seen = false;
        loop {
            let before = self.last;
            let Some(byte) = self.byte()? else {
                // Empty quotes are an argument, but not at the very end.
                return Ok((!text.is_empty()).then_some(text));
            };
            self.last = byte;
            match byte {
                b'\n' if seen => {
                    self.line_ended = !is_blank(before);
                    return Ok(Some(text));
                }
                byte if is_space(byte) && !seen => {}
                byte if is_space(byte) && !self.by_line => {
                    // A blank continues the line, even at its end.
                    return Ok(Some(text));
                }
                b'\\' => {
                    seen = true;
                    if let Some(escaped) = self.byte()? {
                        self.last = escaped;
                        text.push(escaped);
                    }
                }
                b'\'' | b'"' => {
                    seen = true;
                    self.quoted(byte, &mut text)?;
                }
                byte => {
                    seen = true;
                    text.push(byte);
                }
            }
        }
    }

    fn quoted(&mut self, quote: u8, text: &mut BString) -> Result<(), Failure> {
        let which = if quote == b'\'' { "single" } else { "double" };
        loop {
            match self.byte()? {
                None | Some(b'\n') => return Err(Failure::Quote(which)),
                Some(byte) if byte == quote => {
                    self.last = byte;
                    return Ok(());
                }
                Some(byte) => text.push(byte),
            }
        }
    }
}

//! Taking no more from an input than is asked for: what follows is for the next command.
//!
//! A file that can seek is read in pieces, and what was too much is given back; a pipe is read byte by byte.

use std::io::{self, SeekFrom};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Request;
use super::split::Line;
use crate::control::Control;
use crate::filesystem::OpenFile;

/// How reading a line came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Ended {
    Complete,
    EndOfInput,
    TimedOut,
}

pub(in crate::builtins) struct Input {
    file: Arc<dyn OpenFile>,
    control: Arc<Control>,
    deadline: Option<Instant>,
    in_pieces: bool,
    buffer: Vec<u8>,
    at: usize,
}

/// Most lines are shorter; what is read in vain is cheap.
const PIECE: usize = 1024;
/// For whoever wants many lines.
const LARGE_PIECE: usize = 64 << 10;

impl Input {
    pub fn new(file: Arc<dyn OpenFile>, control: Arc<Control>, deadline: Option<Instant>) -> Self {
        let in_pieces = file.seek(SeekFrom::Current(0)).is_ok();
        Input { file, control, deadline, in_pieces, buffer: Vec::new(), at: 0 }
    }

    /// `read -t 0`
    pub fn is_ready(&self) -> bool {
        self.file.wait_readable(Duration::ZERO).unwrap_or(false)
    }

    /// All of the input will be taken: there is nothing to give back.
    pub fn take_all(&mut self) {
        self.in_pieces = true;
    }

    /// More bytes in the buffer. `Some`: there are none.
    fn fill(&mut self, piece: usize) -> io::Result<Option<Ended>> {
        self.control.check().map_err(|_| crate::errno::error(crate::errno::EINTR))?;
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if !self.file.wait_readable(left)? {
                return Ok(Some(Ended::TimedOut));
            }
        }
        self.at = 0;
        self.buffer.resize(if self.in_pieces { piece } else { 1 }, 0);
        let count = match self.file.read(&mut self.buffer) {
            Ok(count) => count,
            Err(error) => {
                self.buffer.clear();
                return Err(error);
            }
        };
        self.buffer.truncate(count);
        Ok((count == 0).then_some(Ended::EndOfInput))
    }

    /// Gives back what was read and not used.
    pub fn finish(&mut self) {
        let left = self.buffer.len().saturating_sub(self.at);
        if left > 0 && self.in_pieces {
            let _ = self.file.seek(SeekFrom::Current(-(left as i64)));
        }
        self.buffer.clear();
        self.at = 0;
    }

    /// Bytes up to and with the delimiter, as they are; `false` at the end of the input.
    pub fn read_raw(&mut self, delimiter: u8, into: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let pending = self.buffer.get(self.at..).unwrap_or_default();
            if let Some(found) = memchr::memchr(delimiter, pending) {
                into.extend_from_slice(pending.get(..=found).unwrap_or_default());
                self.at += found + 1;
                return Ok(true);
            }
            into.extend_from_slice(pending);
            self.control.may_hold(into.len())?;
            if self.fill(LARGE_PIECE)?.is_some() {
                self.at = self.buffer.len();
                return Ok(!into.is_empty());
            }
        }
    }

    /// One line as `read` wants it; gives back the rest.
    pub fn read(&mut self, request: &Request) -> io::Result<(Line, Ended)> {
        let mut line = Line::default();
        let ended = match (request.raw, request.characters) {
            (true, None) => self.read_plain(request.delimiter, &mut line.text),
            _ => self.read_characters(request, &mut line),
        };
        self.finish();
        Ok((line, ended?))
    }

    /// `read -r`: a piece at a time.
    fn read_plain(&mut self, delimiter: u8, text: &mut Vec<u8>) -> io::Result<Ended> {
        loop {
            let pending = self.buffer.get(self.at..).unwrap_or_default();
            let found = memchr::memchr(delimiter, pending);
            let line = pending.get(..found.unwrap_or(pending.len())).unwrap_or_default();
            match memchr::memchr(0, line) {
                None => text.extend_from_slice(line),
                Some(_) => text.extend(line.iter().filter(|byte| **byte != 0)),
            }
            if let Some(found) = found {
                self.at += found + 1;
                return Ok(Ended::Complete);
            }
            self.control.may_hold(text.len())?;
            if let Some(ended) = self.fill(PIECE)? {
                return Ok(ended);
            }
        }
    }

    fn read_characters(&mut self, request: &Request, line: &mut Line) -> io::Result<Ended> {
        let mut counter = Counter { wanted: request.characters, missing: 0 };
        if counter.is_done() {
            return Ok(Ended::Complete);
        }
        let mut escaped = false;
        loop {
            let Some(&byte) = self.buffer.get(self.at) else {
                self.control.may_hold(line.text.len())?;
                if let Some(ended) = self.fill(PIECE)? {
                    return Ok(ended);
                }
                continue;
            };
            self.at += 1;
            if escaped {
                escaped = false;
                // A backslash and a newline together are nothing.
                if byte == b'\n' {
                    continue;
                }
                line.escaped.push(line.text.len());
            } else if byte == b'\\' && !request.raw {
                escaped = true;
                continue;
            } else if byte == request.delimiter && !request.exactly {
                return Ok(Ended::Complete);
            }
            if byte == 0 {
                continue;
            }
            line.text.push(byte);
            counter.count(byte);
            if counter.is_done() {
                return Ok(Ended::Complete);
            }
        }
    }
}

/// Counts characters of UTF-8; bytes that are none count one each.
struct Counter {
    wanted: Option<usize>,
    /// Bytes of the current character still to come.
    missing: u32,
}

impl Counter {
    fn count(&mut self, byte: u8) {
        let Some(wanted) = &mut self.wanted else { return };
        if self.missing > 0 && byte & 0xc0 == 0x80 {
            self.missing -= 1;
            return;
        }
        *wanted = wanted.saturating_sub(1);
        self.missing = match byte {
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
    }

    fn is_done(&self) -> bool {
        self.wanted == Some(0) && self.missing == 0
    }
}

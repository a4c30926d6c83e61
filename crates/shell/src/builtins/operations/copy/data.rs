//! The content of regular files.

use std::io::{self, SeekFrom};
use std::sync::Arc;

use bstr::BStr;

use super::super::super::{Context, ToolError};
use super::super::quote::quoted;
use super::super::{fail, replace, say};
use super::{Copier, Pair, Sparse};
use crate::errno;
use crate::filesystem::{OpenFile, OpenOptions};

/// Large enough that system calls do not count, small enough for many copies at once.
const CHUNK: usize = 128 << 10;

/// Zeros shorter than this are written: a hole needs a block.
const HOLE: usize = 4 << 10;

/// Why a copy ended early: which of the two names the error is about.
enum Failure {
    Reading(io::Error),
    Writing(io::Error),
}

impl Copier {
    pub(super) fn copy_data(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
    ) -> Result<bool, ToolError> {
        if self.options.attributes_only && pair.to.is_some() {
            return Ok(self.keep_attributes(context, pair));
        }
        let input = match context.open(pair.source) {
            Ok(input) => input,
            Err(error) => {
                context.interrupted(&error)?;
                fail_to_open(context, pair.source, &error);
                return Ok(false);
            }
        };
        let copied = if self.replaces(pair) {
            self.replace_with_copy(context, pair, &input)?
        } else {
            self.write_copy(context, pair, &input)?
        };
        Ok(copied && self.keep_attributes(context, pair))
    }

    /// Opens the target and writes; with `-f`, what cannot be opened is replaced.
    fn write_copy(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        input: &Arc<dyn OpenFile>,
    ) -> Result<bool, ToolError> {
        let options = OpenOptions {
            create: pair.to.is_none(),
            exclusive: pair.to.is_none() && !self.options.force,
            ..OpenOptions::writing(self.new_mode(context, pair))
        };
        let output = match context.open_with(pair.target, options) {
            Ok(output) => output,
            Err(_) if self.options.force && pair.to.is_some() => {
                return self.replace_with_copy(context, pair, input);
            }
            Err(error) => {
                context.interrupted(&error)?;
                let error = without_directory(pair.target, error);
                fail(context, "cannot create regular file", pair.target, &error);
                return Ok(false);
            }
        };
        let transferred = self.transfer(context, pair, input, &output)?;
        Ok(report(context, pair, transferred))
    }

    fn replace_with_copy(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        input: &Arc<dyn OpenFile>,
    ) -> Result<bool, ToolError> {
        let mode = self.new_mode(context, pair);
        let mut transferred = None;
        let replaced = replace::replace(context, pair.target, |beside| {
            let options = OpenOptions { exclusive: true, ..OpenOptions::writing(mode) };
            let output = context.open_with(beside, options)?;
            let result = self.transfer(context, pair, input, &output);
            let failed = !matches!(result, Ok(Ok(())));
            transferred = Some(result);
            if failed { Err(errno::error(errno::EIO)) } else { Ok(()) }
        });
        match transferred {
            Some(Err(error)) => return Err(error),
            Some(Ok(Err(failure))) => return Ok(report(context, pair, Err(failure))),
            Some(Ok(Ok(()))) | None => {}
        }
        if let Err(error) = &replaced {
            fail(context, "cannot create regular file", pair.target, error);
        }
        Ok(replaced.is_ok())
    }

    fn transfer(
        &self,
        context: &Context<'_>,
        pair: &Pair<'_>,
        input: &Arc<dyn OpenFile>,
        output: &Arc<dyn OpenFile>,
    ) -> Result<Result<(), Failure>, ToolError> {
        if self.options.attributes_only {
            return Ok(output.finish().map_err(Failure::Writing));
        }
        let has_holes = pair.from.is_file() && pair.from.blocks * 512 < pair.from.size;
        let sparse = match self.options.sparse {
            Sparse::Never => false,
            Sparse::Always => true,
            Sparse::Auto => has_holes,
        };
        let control = context.control();
        let mut writer = Writer { file: output, position: 0, hole_at_end: false };
        let mut buffer = vec![0; CHUNK.min(pair.from.size.max(HOLE as u64) as usize + 1)];
        loop {
            control.check()?;
            let count = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => return Ok(Err(Failure::Reading(error))),
            };
            let chunk = buffer.get(..count).unwrap_or_default();
            let written = if sparse { writer.write_sparsely(chunk) } else { writer.write(chunk) };
            if let Err(error) = written {
                control.check()?;
                return Ok(Err(Failure::Writing(error)));
            }
        }
        Ok(writer.finish().map_err(Failure::Writing))
    }
}

struct Writer<'a> {
    file: &'a Arc<dyn OpenFile>,
    position: u64,
    hole_at_end: bool,
}

impl Writer<'_> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.file.write_all(chunk)?;
        self.position += chunk.len() as u64;
        self.hole_at_end = false;
        Ok(())
    }

    /// Skips blocks of zeros. Where the output cannot seek they are written after all.
    fn write_sparsely(&mut self, chunk: &[u8]) -> io::Result<()> {
        for block in chunk.chunks(HOLE) {
            let is_hole = block.len() == HOLE && block.iter().all(|byte| *byte == 0);
            let length = block.len() as i64;
            if is_hole && self.file.seek(SeekFrom::Current(length)).is_ok() {
                self.position += block.len() as u64;
                self.hole_at_end = true;
            } else {
                self.write(block)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        if self.hole_at_end {
            self.file.truncate(self.position)?;
        }
        self.file.finish()
    }
}

fn report(context: &mut Context<'_>, pair: &Pair<'_>, done: Result<(), Failure>) -> bool {
    match done {
        Ok(()) => true,
        Err(Failure::Reading(error)) => {
            fail(context, "error reading", pair.source, &error);
            false
        }
        Err(Failure::Writing(error)) => {
            fail(context, "error writing", pair.target, &error);
            false
        }
    }
}

/// `cp a missing/` fails because nothing there is a directory, whatever the open said.
fn without_directory(target: &BStr, error: io::Error) -> io::Error {
    if target.ends_with(b"/") && errno::is(&error, errno::EISDIR) {
        return errno::error(errno::ENOTDIR);
    }
    error
}

fn fail_to_open(context: &mut Context<'_>, source: &BStr, error: &io::Error) {
    if errno::is(error, errno::ENOENT) {
        context.complain_of(source, error);
        return;
    }
    let reason = errno::text(error);
    say(context, &[b"cannot open ", &quoted(source), b" for reading: ", reason.as_bytes()]);
}

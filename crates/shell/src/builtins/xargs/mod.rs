//! `xargs`
//!
//! Arguments are run as soon as a command line is full; nothing but that line is kept in memory.

mod input;
mod options;

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice, ByteVec};

use super::{Command, Context, Run, ToolError};
use crate::errno;
use crate::filesystem::OpenFile;
use crate::pipe::Bytes;
use crate::status::ExitStatus;

use input::{Input, Item};
use options::{Options, Split};

pub static COMMAND: Command = Command {
    name: "xargs",
    synopsis: "xargs [OPTION]... [COMMAND [INITIAL-ARGS]...]",
    summary: "run a command with arguments from standard input",
    options: &options::OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let (options, command) = options::read(words)?;
    let file = match &options.file {
        None => Arc::clone(&context.input),
        Some(name) => match context.open(name.as_bstr()) {
            Ok(file) => file,
            Err(error) => {
                context.complain_of(name.as_bstr(), &error);
                return Ok(ExitStatus::FAILURE);
            }
        },
    };
    let mut input = Input::new(file, context.control(), &options);
    let mut line = Line {
        size: command.iter().map(|word| word.len() + 1).sum(),
        context,
        options: &options,
        command: &command,
        arguments: Vec::new(),
        lines: 0,
        status: ExitStatus::SUCCESS,
        ran: false,
    };
    match line.feed(&mut input)? {
        Ended::Now(status) => Ok(status),
        Ended::AfterAll => Ok(line.status),
    }
}

/// How the work ended.
enum Ended {
    AfterAll,
    /// A command could not be run, asked to stop, or the input is wrong.
    Now(ExitStatus),
}

/// A command of a child that asks to stop everything.
const STOP: u8 = 255;

/// The command line that is being filled.
struct Line<'a, 'c> {
    context: &'a mut Context<'c>,
    options: &'a Options,
    command: &'a [BString],
    arguments: Vec<BString>,
    size: usize,
    lines: u64,
    status: ExitStatus,
    ran: bool,
}

impl Line<'_, '_> {
    fn feed(&mut self, input: &mut Input) -> Result<Ended, ToolError> {
        loop {
            let item = match input.next() {
                Ok(item) => item,
                Err(input::Failure::Read(error)) => {
                    self.context.interrupted(&error)?;
                    let text = errno::text(&error);
                    self.context.complain(text);
                    return Ok(Ended::Now(ExitStatus::FAILURE));
                }
                Err(input::Failure::Quote(which)) => {
                    // What was complete before is still run, unless lines matter.
                    if !self.arguments.is_empty()
                        && !self.options.exit_if_long
                        && let Some(ended) = self.execute()?
                    {
                        return Ok(ended);
                    }
                    self.context.complain(format_args!(
                        "unmatched {which} quote; by default quotes are special to xargs unless you use the -0 option"
                    ));
                    return Ok(Ended::Now(self.status.max(ExitStatus::FAILURE)));
                }
            };
            let ended = match item {
                Item::Argument(text) => self.argument(text)?,
                Item::EndOfLine => self.end_of_line()?,
                Item::End => break,
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
        let idle = !self.ran && !self.options.no_run_if_empty;
        let replaces = matches!(self.options.split, Split::Replace(_));
        if (!self.arguments.is_empty() || (idle && !replaces))
            && let Some(ended) = self.execute()?
        {
            return Ok(ended);
        }
        Ok(Ended::AfterAll)
    }

    fn argument(&mut self, text: BString) -> Result<Option<Ended>, ToolError> {
        if let Split::Replace(pattern) = &self.options.split {
            return self.replace(pattern, text.as_bstr());
        }
        let size = text.len() + 1;
        if self.size + size > self.options.size {
            let counted = matches!(self.options.split, Split::Lines(_) | Split::Arguments(_));
            if self.arguments.is_empty() || (self.options.exit_if_long && counted) {
                return Ok(Some(self.too_long()));
            }
            if let Some(ended) = self.execute()? {
                return Ok(Some(ended));
            }
            if self.size + size > self.options.size {
                return Ok(Some(self.too_long()));
            }
        }
        self.size += size;
        self.arguments.push(text);
        match self.options.split {
            Split::Arguments(count) if self.arguments.len() as u64 >= count => self.execute(),
            _ => Ok(None),
        }
    }

    fn end_of_line(&mut self) -> Result<Option<Ended>, ToolError> {
        self.lines += 1;
        match self.options.split {
            Split::Lines(count) if self.lines >= count && !self.arguments.is_empty() => {
                self.execute()
            }
            _ => Ok(None),
        }
    }

    fn too_long(&mut self) -> Ended {
        self.context.complain("argument line too long");
        Ended::Now(ExitStatus::FAILURE)
    }

    /// `-I`: the command once for every line.
    fn replace(&mut self, pattern: &BString, text: &BStr) -> Result<Option<Ended>, ToolError> {
        let words: Vec<BString> =
            self.command.iter().map(|word| word.replace(pattern, text).into()).collect();
        let size: usize = words.iter().map(|word| word.len() + 1).sum();
        if size > self.options.size {
            return Ok(Some(self.too_long()));
        }
        self.run(&words)
    }

    fn execute(&mut self) -> Result<Option<Ended>, ToolError> {
        let mut words = self.command.to_vec();
        words.append(&mut self.arguments);
        self.size = self.command.iter().map(|word| word.len() + 1).sum();
        self.lines = 0;
        self.run(&words)
    }

    fn run(&mut self, words: &[BString]) -> Result<Option<Ended>, ToolError> {
        self.ran = true;
        // An argument ends at a NUL, as it would on its way to a program.
        let words: Vec<BString> = words
            .iter()
            .map(|word| word.split(|byte| *byte == 0).next().unwrap_or_default().into())
            .collect();
        let words = words.as_slice();
        if self.options.verbose {
            self.show(words);
        }
        let name = words.first().map_or(b"".as_bstr(), |name| name.as_bstr());
        if !self.context.has_command(name) {
            self.context.complain_of(name, &errno::error(errno::ENOENT));
            return Ok(Some(Ended::Now(ExitStatus::NOT_FOUND)));
        }
        if name.contains(&b'/') && self.context.program_places(name).is_empty() {
            self.context.complain_of(name, &errno::error(errno::EACCES));
            return Ok(Some(Ended::Now(ExitStatus::REFUSED)));
        }
        // With a file of arguments, standard input is still the command's.
        let nothing: Arc<dyn OpenFile> = Arc::new(Bytes::new(Vec::new()));
        let input = if self.options.file.is_some() { None } else { Some(nothing) };
        let status = match &self.options.slot_variable {
            None => self.context.run(words, input)?,
            Some(variable) => {
                let mut environment = self.context.environment();
                environment.retain(|(name, _)| name != variable);
                environment.push((variable.clone(), "0".into()));
                self.context.run_with(words, input, environment)?
            }
        };
        if status.0 == STOP {
            self.context.complain(format_args!("{name}: exited with status 255; aborting"));
            return Ok(Some(Ended::Now(ExitStatus(124))));
        }
        if !status.success() {
            self.status = ExitStatus(123);
        }
        Ok(None)
    }

    /// `-t`: what is run, as it could be typed.
    fn show(&mut self, words: &[BString]) {
        let mut text = Vec::new();
        for word in words {
            if !text.is_empty() {
                text.push(b' ');
            }
            let plain = |byte: &u8| {
                byte.is_ascii_alphanumeric() || b"-_./,:+@%=".contains(byte) || *byte >= 0x80
            };
            if !word.is_empty() && word.iter().all(plain) {
                text.push_str(word);
            } else {
                text.push(b'\'');
                text.push_str(word.replace(b"'", b"'\\''"));
                text.push(b'\'');
            }
        }
        text.push(b'\n');
        self.context.error_bytes(&text);
    }
}

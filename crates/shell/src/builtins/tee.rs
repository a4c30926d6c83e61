//! `tee`: copies standard input to standard output and to files.

use std::io;
use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::choice::choose;
use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, flag, long};
use crate::errno;
use crate::filesystem::{OpenFile, OpenOptions};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 4] = [
    both('a', "a", "append", "add to the files instead of replacing them"),
    both('i', "i", "ignore-interrupts", "accepted: nothing interrupts a tool but the end of all"),
    flag('p', "p", "go on when a reader is gone; report other failed writes"),
    long("output-error", "what to do when a write fails: warn, warn-nopipe, exit, exit-nopipe")
        .may_take("MODE"),
];

pub static COMMAND: Command = Command {
    name: "tee",
    synopsis: "tee [OPTION]... [FILE]...",
    summary: "copy standard input to standard output and to each FILE",
    options: &OPTIONS,
    run: Run::Tool(run),
};

/// What a failed write means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnError {
    /// A reader that is gone ends the tool as the signal would; anything else is reported.
    Usual,
    Warn,
    WarnExceptPipes,
    Exit,
    ExitExceptPipes,
}

struct Sink {
    name: BString,
    file: Arc<dyn OpenFile>,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::Anywhere)
        .map_err(|error| error.with_hint("tee", ExitStatus::FAILURE))?;
    let on_error = on_error(&arguments)?;
    let standard_output = Arc::clone(context.output.file());
    let mut sinks = vec![Sink { name: "'standard output'".into(), file: standard_output }];
    let mut status = ExitStatus::SUCCESS;
    let mode = context.masked(0o666);
    let options =
        if arguments.has("a") { OpenOptions::appending(mode) } else { OpenOptions::writing(mode) };
    for name in &arguments.operands {
        match context.open_with(name.as_bstr(), options) {
            Ok(file) => sinks.push(Sink { name: name.clone(), file }),
            Err(error) => {
                context.control().check()?;
                context.complain_of(name.as_bstr(), &error);
                status = ExitStatus::FAILURE;
                if matches!(on_error, OnError::Exit | OnError::ExitExceptPipes) {
                    return Ok(status);
                }
            }
        }
    }
    copy(context, sinks, on_error, status)
}

fn on_error(arguments: &Arguments) -> Result<OnError, ToolError> {
    const MODES: [(&str, OnError); 4] = [
        ("warn", OnError::Warn),
        ("warn-nopipe", OnError::WarnExceptPipes),
        ("exit", OnError::Exit),
        ("exit-nopipe", OnError::ExitExceptPipes),
    ];
    match arguments.value("output-error") {
        Some(value) => choose("tee", "output-error", value, &MODES),
        None if arguments.has("p") || arguments.has("output-error") => Ok(OnError::WarnExceptPipes),
        None => Ok(OnError::Usual),
    }
}

fn copy(
    context: &mut Context<'_>,
    mut sinks: Vec<Sink>,
    on_error: OnError,
    mut status: ExitStatus,
) -> Result<ExitStatus, ToolError> {
    let file = Arc::clone(&context.input);
    let mut reader = input::reader(context, &file);
    while !sinks.is_empty() {
        let chunk = match reader.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(error) => {
                context.interrupted(&error)?;
                context.complain(format!("read error: {}", errno::text(&error)));
                return Ok(ExitStatus::FAILURE);
            }
        };
        let mut at = 0;
        while let Some(sink) = sinks.get(at) {
            match sink.file.write_all(chunk) {
                Ok(()) => at += 1,
                Err(error) => {
                    let sink = sinks.remove(at);
                    if !write_failed(context, &sink, error, on_error)? {
                        continue;
                    }
                    status = ExitStatus::FAILURE;
                    if matches!(on_error, OnError::Exit | OnError::ExitExceptPipes) {
                        return Ok(status);
                    }
                }
            }
        }
    }
    Ok(status)
}

/// Reports a failed write, if that is wanted; true if the tool has failed by it.
fn write_failed(
    context: &mut Context<'_>,
    sink: &Sink,
    error: io::Error,
    on_error: OnError,
) -> Result<bool, ToolError> {
    context.control().check()?;
    let is_pipe = errno::is(&error, errno::EPIPE);
    match on_error {
        OnError::Usual if is_pipe => Err(ToolError::Output(error)),
        OnError::WarnExceptPipes | OnError::ExitExceptPipes if is_pipe => Ok(false),
        _ => {
            context.complain_of(sink.name.as_bstr(), &error);
            Ok(true)
        }
    }
}

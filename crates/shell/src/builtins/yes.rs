//! `yes`: the same line until nobody reads it any more.

use bstr::BString;

use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, Order};
use crate::errno;
use crate::status::ExitStatus;

pub static COMMAND: Command = Command {
    name: "yes",
    synopsis: "yes [STRING]...",
    summary: "print a line with all STRINGs, or y, again and again",
    options: &[],
    run: Run::Tool(run),
};

/// As much as a pipe holds.
const PIECE: usize = 64 << 10;

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(COMMAND.options, words, Order::Anywhere)?;
    let mut line = bstr::join(" ", &arguments.operands);
    if arguments.operands.is_empty() {
        line.push(b'y');
    }
    line.push(b'\n');
    let piece = line.repeat((PIECE / line.len()).max(1));
    loop {
        match context.output.write(&piece) {
            Ok(()) => {}
            Err(ToolError::Output(error)) if !errno::is(&error, errno::EPIPE) => {
                context.control().check()?;
                context.complain_of("standard output".into(), &error);
                return Ok(ExitStatus::FAILURE);
            }
            Err(error) => return Err(error),
        }
    }
}

//! `grep`
//!
//! Whole buffers are scanned for lines that may match; only those are looked at. Trees are searched on several
//! threads, their output comes in the order of the walk.

mod color;
mod files;
mod options;
mod patterns;
mod print;
mod search;
mod select;

use bstr::BString;

use super::{Command, Context, Run, ToolError};
use crate::status::ExitStatus;

pub static COMMAND: Command = Command {
    name: "grep",
    synopsis: "grep [OPTION]... PATTERNS [FILE]...",
    summary: "print the lines that match a pattern",
    options: &options::OPTIONS,
    run: Run::Tool(run),
};

/// Status of wrong use and of any trouble.
const TROUBLE: ExitStatus = ExitStatus(2);

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let Some(request) = options::read(context, words)? else {
        context.error_bytes(
            b"Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n",
        );
        return Ok(TROUBLE);
    };
    if request.selects_nothing() {
        return Ok(ExitStatus::FAILURE);
    }
    let matcher = patterns::compile(context, &request)?;
    files::search_all(context, &request, &matcher)
}

fn trouble(message: impl Into<String>) -> ToolError {
    ToolError::Usage(message.into(), TROUBLE)
}

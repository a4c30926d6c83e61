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
mod tree;

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

/// `grep -E`
pub static EGREP: Command = Command {
    name: "egrep",
    synopsis: "egrep [OPTION]... PATTERNS [FILE]...",
    summary: "the same as grep -E",
    options: &options::OPTIONS,
    run: Run::Tool(run_extended),
};

/// `grep -F`
pub static FGREP: Command = Command {
    name: "fgrep",
    synopsis: "fgrep [OPTION]... PATTERNS [FILE]...",
    summary: "the same as grep -F",
    options: &options::OPTIONS,
    run: Run::Tool(run_fixed),
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

fn run_extended(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    run(context, &with_option("-E", words))
}

fn run_fixed(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    run(context, &with_option("-F", words))
}

fn with_option(option: &str, words: &[BString]) -> Vec<BString> {
    std::iter::once(BString::from(option)).chain(words.iter().cloned()).collect()
}

fn trouble(message: impl Into<String>) -> ToolError {
    ToolError::Usage(message.into(), TROUBLE)
}

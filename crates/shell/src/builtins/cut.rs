//! `cut`

use bstr::BString;

use super::{Command, Context, Run, ToolError};
use crate::status::ExitStatus;

pub static COMMAND: Command =
    Command { name: "cut", synopsis: "cut", summary: "", options: &[], run: Run::Tool(run) };

fn run(_context: &mut Context<'_>, _words: &[BString]) -> Result<ExitStatus, ToolError> {
    Err(ToolError::Unsupported("stub".into()))
}

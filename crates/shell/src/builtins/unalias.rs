//! `unalias`

use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 1] = [flag('a', "a", "remove all aliases")];

pub static COMMAND: Command = Command {
    name: "unalias",
    synopsis: "unalias [-a] name [name ...]",
    summary: "Remove aliases.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("a") {
        shell.aliases = Arc::default();
        return Ok(ExitStatus::SUCCESS);
    }
    if arguments.operands.is_empty() {
        usage::print(shell, &COMMAND);
        return Ok(ExitStatus::USAGE);
    }
    let mut status = ExitStatus::SUCCESS;
    for name in &arguments.operands {
        if Arc::make_mut(&mut shell.aliases).remove(name).is_none() {
            shell.complain(format!("unalias: {}: not found", name.to_str_lossy()));
            status = ExitStatus::FAILURE;
        }
    }
    Ok(status)
}

//! `builtin`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "builtin",
    synopsis: "builtin [shell-builtin [arg ...]]",
    summary: "Run a shell builtin, even if a function has its name.",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let Some(name) = arguments.operands.first() else { return Ok(ExitStatus::SUCCESS) };
    let Some(command) = shell.find_builtin(name.as_bstr()) else {
        shell.complain(format!("builtin: {}: not a shell builtin", name.to_str_lossy()));
        return Ok(ExitStatus::FAILURE);
    };
    shell.nested(|shell| shell.invoke(command, &arguments.operands))
}

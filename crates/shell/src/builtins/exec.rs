//! `exec`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::interpret::is_path;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

static OPTIONS: [OptionSpec; 3] = [
    flag('c', "c", "run the command with an empty environment"),
    flag('l', "l", "put a dash in front of the command's name"),
    flag('a', "a", "give the command this name").takes("name"),
];

pub static COMMAND: Command = Command {
    name: "exec",
    synopsis: "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
    summary: "Replace the shell with a command; without one, make redirects permanent.",
    options: &OPTIONS,
    run: Run::Builtin { special: true, run },
};

/// In process nothing is replaced: the command runs, then the shell ends with its status, without its traps.
fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let Some(name) = arguments.operands.first() else { return Ok(ExitStatus::SUCCESS) };
    if !shell.is_program(name.as_bstr()) {
        let status = if is_path(name.as_bstr()) {
            shell.run_as_program(&arguments.operands, None, None)?
        } else {
            shell.complain(format!("exec: {}: not found", name.to_str_lossy()));
            ExitStatus::NOT_FOUND
        };
        return if shell.options.execfail || shell.options.interactive {
            Ok(status)
        } else {
            Err(Interrupt::Exit(status))
        };
    }
    let environment = arguments.has("c").then(Vec::new);
    let name = arguments.value("a").map(ToOwned::to_owned);
    let status = shell.run_as(&arguments.operands, name, environment)?;
    shell.forget_traps();
    Err(Interrupt::Exit(status))
}

//! `local`

use super::declare::{self, OPTIONS};
use super::{Command, DeclarationArgument, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "local",
    synopsis: "local [option] name[=value] ...",
    summary: "Declare variables of the function that is running",
    options: &OPTIONS,
    run: Run::Declaration { special: false, run },
};

fn run(shell: &mut Shell, arguments: &[DeclarationArgument<'_>]) -> Flow {
    if !shell.variables.in_function() {
        shell.complain("local: can only be used in a function");
        // Bash assigns lists before it finds that out.
        for argument in arguments {
            if let DeclarationArgument::Array(assignment) = argument {
                shell.assign(assignment)?;
            }
        }
        return Ok(ExitStatus::FAILURE);
    }
    declare::run(shell, &COMMAND, arguments)
}

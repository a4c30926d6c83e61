//! `exit`

use bstr::BString;

use super::{Command, Run, number, without_dashes};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "exit",
    synopsis: "exit [n]",
    summary: "Leave the shell with status n, or that of the last command.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let status = match without_dashes(words) {
        [] => shell.status_for_exit(),
        [word] => {
            number::required(shell, "exit", word).map_or(ExitStatus::USAGE, ExitStatus::from_number)
        }
        _ => {
            shell.complain("exit: too many arguments");
            return Err(shell.drop_all_texts());
        }
    };
    Err(Interrupt::Exit(status))
}

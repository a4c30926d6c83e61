//! `return`

use bstr::BString;

use super::{Command, Run, number, without_dashes};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "return",
    synopsis: "return [n]",
    summary: "Leave a function or a sourced file with status n, or that of the last command.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let status = match without_dashes(words) {
        [] => shell.status_for_return(),
        [word] => number::required(shell, "return", word)
            .map_or(ExitStatus::USAGE, ExitStatus::from_number),
        _ => {
            shell.complain("return: too many arguments");
            return Err(shell.drop_all_texts());
        }
    };
    if shell.frames.is_empty() {
        shell.complain("return: can only `return' from a function or sourced script");
        return Ok(ExitStatus::USAGE);
    }
    Err(Interrupt::Return(status))
}

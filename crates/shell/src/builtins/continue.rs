//! `continue`

use bstr::BString;

use super::{Command, Run, levels};
use crate::shell::Shell;
use crate::status::{Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "continue",
    synopsis: "continue [n]",
    summary: "Go on with the next iteration of a loop, or of the n-th around it.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    levels::leave(shell, &COMMAND, words, Interrupt::Continue)
}

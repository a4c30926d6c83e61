//! `break`

use bstr::BString;

use super::{Command, Run, levels};
use crate::shell::Shell;
use crate::status::{Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "break",
    synopsis: "break [n]",
    summary: "Leave a loop, or n loops.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    levels::leave(shell, &COMMAND, words, Interrupt::Break)
}

//! `declare`

use super::{Command, DeclarationArgument, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "declare",
    synopsis: "declare",
    summary: "",
    options: &[],
    run: Run::Declaration { special: false, run },
};

pub static TYPESET: Command = Command {
    name: "typeset",
    synopsis: "typeset",
    summary: "",
    options: &[],
    run: Run::Declaration { special: false, run },
};

fn run(_shell: &mut Shell, _arguments: &[DeclarationArgument<'_>]) -> Flow {
    Ok(ExitStatus::SUCCESS)
}

//! `local`

use super::{Command, DeclarationArgument, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "local",
    synopsis: "local",
    summary: "",
    options: &[],
    run: Run::Declaration { special: false, run },
};

fn run(_shell: &mut Shell, _arguments: &[DeclarationArgument<'_>]) -> Flow {
    Ok(ExitStatus::SUCCESS)
}

//! `:`

use bstr::BString;

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: ":",
    synopsis: ":",
    summary: "Do nothing, successfully.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(_shell: &mut Shell, _words: &[BString]) -> Flow {
    Ok(ExitStatus::SUCCESS)
}

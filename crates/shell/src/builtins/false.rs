//! `false`

use bstr::BString;

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "false",
    synopsis: "false",
    summary: "Do nothing, unsuccessfully.",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(_shell: &mut Shell, _words: &[BString]) -> Flow {
    Ok(ExitStatus::FAILURE)
}

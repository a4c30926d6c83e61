//! `mapfile`

use bstr::BString;

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "mapfile",
    synopsis: "mapfile",
    summary: "",
    options: &[],
    run: Run::Builtin { special: false, run },
};

pub static READARRAY: Command = Command {
    name: "readarray",
    synopsis: "readarray",
    summary: "",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(_shell: &mut Shell, _words: &[BString]) -> Flow {
    Ok(ExitStatus::SUCCESS)
}

//! `pwd`

use bstr::{BString, ByteSlice};

use super::directory::Way;
use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::errno;
use crate::filesystem::MayMiss;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 2] = [
    flag('L', "L", "as one came here, through symbolic links (the default)"),
    flag('P', "P", "without symbolic links"),
];

pub static COMMAND: Command = Command {
    name: "pwd",
    synopsis: "pwd [-LP]",
    summary: "Write the working directory",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let mut directory = shell.directory.clone();
    if Way::chosen(shell, arguments.last_of(&["L", "P"])) == Way::Physical {
        match shell.host.files().canonicalize(directory.as_bstr(), MayMiss::Nothing) {
            Ok(physical) => directory = physical,
            Err(error) => {
                let text = errno::text(&error);
                shell.complain(format!("pwd: error retrieving current directory: {text}"));
                return Ok(ExitStatus::FAILURE);
            }
        }
    }
    directory.push(b'\n');
    shell.print("pwd", &directory)
}

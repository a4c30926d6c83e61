//! `command`

use bstr::{BString, ByteSlice};

use super::describe::{Scope, meanings};
use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::interpret::Found;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 3] = [
    flag('p', "p", "look only where the standard programs are"),
    flag('v', "v", "print what would run, in a word"),
    flag('V', "V", "print what would run, in a sentence"),
];

pub static COMMAND: Command = Command {
    name: "command",
    synopsis: "command [-pVv] command [arg ...]",
    summary: "Run a command and no function of its name, or say what it is.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

const STANDARD_PATH: &str = "/bin:/usr/bin";

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let before = arguments.has("p").then(|| shell.variables.scalar("PATH").cloned());
    if before.is_some() {
        shell.variables.set("PATH", STANDARD_PATH);
    }
    let flow = match arguments.last_of(&["v", "V"]) {
        Some(form) => describe(shell, &arguments.operands, form == "V"),
        None => run_command(shell, &arguments.operands),
    };
    if let Some(path) = before {
        match path {
            Some(path) => shell.variables.set("PATH", path),
            None => drop(shell.variables.remove("PATH".into())),
        }
    }
    flow
}

fn run_command(shell: &mut Shell, words: &[BString]) -> Flow {
    let Some(name) = words.first() else { return Ok(ExitStatus::SUCCESS) };
    let found = match shell.find_builtin(name.as_bstr()) {
        Some(command) => Found::Builtin(command),
        None => shell.find_program(name.as_bstr()),
    };
    shell.nested(|shell| shell.run_found(found, words))
}

fn describe(shell: &mut Shell, names: &[BString], sentence: bool) -> Flow {
    let scope = Scope { all: false, functions: true, only_files: false };
    // As in bash, one name that is found is enough.
    let mut status = if names.is_empty() { ExitStatus::SUCCESS } else { ExitStatus::FAILURE };
    for name in names {
        match meanings(shell, name.as_bstr(), scope).first() {
            Some(meaning) => {
                let text = if sentence {
                    meaning.sentence(shell, name.as_bstr())
                } else {
                    meaning.reusable(name.as_bstr())
                };
                shell.print("command", &text)?;
                status = ExitStatus::SUCCESS;
            }
            None if sentence => {
                shell.complain(format!("command: {}: not found", name.to_str_lossy()));
            }
            None => {}
        }
    }
    Ok(status)
}

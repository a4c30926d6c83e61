//! `enable`

use std::fmt::Write;
use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, TABLE, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 4] = [
    flag('a', "a", "list all builtins with their state"),
    flag('n', "n", "switch off, or list those that are off"),
    flag('p', "p", "list"),
    flag('s', "s", "only special builtins"),
];

pub static COMMAND: Command = Command {
    name: "enable",
    synopsis: "enable [-a] [-nps] [name ...]",
    summary: "Switch builtins on and off.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.operands.is_empty() {
        let text = list(shell, &arguments);
        return shell.print("enable", text.as_bytes());
    }
    let mut status = ExitStatus::SUCCESS;
    for name in &arguments.operands {
        let builtin = super::find(name).filter(|command| !matches!(command.run, Run::Tool(_)));
        let Some(command) = builtin else {
            shell.complain(format!("enable: {}: not a shell builtin", name.to_str_lossy()));
            status = ExitStatus::FAILURE;
            continue;
        };
        let disabled = Arc::make_mut(&mut shell.disabled);
        if arguments.has("n") {
            disabled.insert(command.name);
        } else {
            disabled.remove(command.name);
        }
    }
    Ok(status)
}

fn list(shell: &Shell, arguments: &Arguments) -> String {
    let mut text = String::new();
    for command in TABLE {
        let special = match command.run {
            Run::Tool(_) => continue,
            Run::Builtin { special, .. } | Run::Declaration { special, .. } => special,
        };
        let off = shell.disabled.contains(command.name);
        let shown = arguments.has("a") || off == arguments.has("n");
        if shown && (special || !arguments.has("s")) {
            let switch = if off { "enable -n" } else { "enable" };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{switch} {}", command.name);
        }
    }
    text
}

//! `trap`

use bstr::{BString, ByteSlice};

use super::{Command, Run, signal_table, usage};
use crate::arguments::{OptionSpec, flag};
use crate::expand::quote;
use crate::interpret::Condition;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 2] = [
    flag('l', "l", "list signals by name and number"),
    flag('p', "p", "print traps as commands that can be run again"),
];

pub static COMMAND: Command = Command {
    name: "trap",
    synopsis: "trap [-lp] [[arg] signal_spec ...]",
    summary: "Run a command at the end, on errors, before commands or on signals.",
    options: &OPTIONS,
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("l") {
        return shell.print("trap", signal_table::list().as_bytes());
    }
    let operands = &arguments.operands;
    if operands.is_empty() || arguments.has("p") {
        return print(shell, operands);
    }
    let (action, names) = match operands.as_slice() {
        [only] if Condition::parse(only).is_some() => (None, operands.as_slice()),
        [_] => {
            usage::print(shell, &COMMAND);
            return Ok(ExitStatus::USAGE);
        }
        // A number in the place of the action: all of them are signals to reset.
        [first, ..] if first.iter().all(u8::is_ascii_digit) && !first.is_empty() => {
            (None, operands.as_slice())
        }
        [action, names @ ..] => (Some(action), names),
        [] => return Ok(ExitStatus::SUCCESS),
    };
    let action = action.filter(|action| *action != "-");
    let mut status = ExitStatus::SUCCESS;
    for name in names {
        let Some(condition) = Condition::parse(name) else {
            let name = name.to_str_lossy();
            shell.complain(format!("trap: {name}: invalid signal specification"));
            status = ExitStatus::FAILURE;
            continue;
        };
        shell.traps.set(condition, action.cloned(), &shell.control);
    }
    Ok(status)
}

fn print(shell: &mut Shell, names: &[BString]) -> Flow {
    let mut status = ExitStatus::SUCCESS;
    let mut text = Vec::new();
    let mut wanted = Vec::new();
    for name in names {
        if let Some(condition) = Condition::parse(name) {
            wanted.push(condition);
        } else {
            let name = name.to_str_lossy();
            shell.complain(format!("trap: {name}: invalid signal specification"));
            status = ExitStatus::FAILURE;
        }
    }
    let shown = shell.traps.shown();
    let chosen: Vec<_> = if names.is_empty() {
        shown.iter().collect()
    } else {
        wanted.iter().filter_map(|condition| shown.get_key_value(condition)).collect()
    };
    for (condition, action) in chosen {
        {
            text.extend_from_slice(b"trap -- ");
            text.extend_from_slice(&quote::single(action));
            let name = condition.name();
            let name = if shell.options.posix { name.trim_start_matches("SIG") } else { &name };
            text.extend_from_slice(format!(" {name}\n").as_bytes());
        }
    }
    shell.print("trap", &text)?;
    Ok(status)
}

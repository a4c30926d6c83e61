//! `shopt`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::options::{SET_SWITCHES, SHOPT_SWITCHES, Switch};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 5] = [
    flag('p', "p", "print as commands that can be run again"),
    flag('q', "q", "print nothing, only the status tells"),
    flag('s', "s", "switch on"),
    flag('u', "u", "switch off"),
    flag('o', "o", "only the switches of `set -o`"),
];

pub static COMMAND: Command = Command {
    name: "shopt",
    synopsis: "shopt [-pqsu] [-o] [optname ...]",
    summary: "Switch shell options on and off, or list them.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("s") && arguments.has("u") {
        shell.complain("shopt: cannot set and unset shell options simultaneously");
        return Ok(ExitStatus::FAILURE);
    }
    let family = if arguments.has("o") {
        Family { switches: &SET_SWITCHES, name: "option" }
    } else {
        Family { switches: &SHOPT_SWITCHES, name: "shell option" }
    };
    let wanted = (arguments.has("s") || arguments.has("u")).then(|| arguments.has("s"));
    match wanted {
        Some(on) if !arguments.operands.is_empty() => turn(shell, &family, &arguments, on),
        _ => list(shell, &family, &arguments, wanted),
    }
}

/// The switches of `shopt`, or with `-o` those of `set`.
struct Family {
    switches: &'static [Switch],
    name: &'static str,
}

fn turn(shell: &mut Shell, family: &Family, arguments: &Arguments, on: bool) -> Flow {
    let mut status = ExitStatus::SUCCESS;
    for name in &arguments.operands {
        let Some(switch) = find(shell, family, name) else {
            status = ExitStatus::FAILURE;
            continue;
        };
        if matches!(switch.name, "login_shell" | "restricted_shell") {
            continue;
        }
        if on && switch.name.starts_with("compat") {
            for other in SHOPT_SWITCHES.iter().filter(|other| other.name.starts_with("compat")) {
                (other.set)(&mut shell.options, false);
            }
        }
        if arguments.has("o") {
            shell.options.set_named(name, on);
        } else {
            (switch.set)(&mut shell.options, on);
        }
    }
    Ok(status)
}

fn list(shell: &mut Shell, family: &Family, arguments: &Arguments, only: Option<bool>) -> Flow {
    let mut status = ExitStatus::SUCCESS;
    let mut text = String::new();
    let mut show = |shell: &Shell, switch: &Switch| {
        let on = (switch.get)(&shell.options);
        if !arguments.has("q") {
            text.push_str(&line(switch, on, arguments));
        }
        on
    };
    if arguments.operands.is_empty() {
        for switch in family.switches {
            if only.is_none_or(|only| (switch.get)(&shell.options) == only) {
                show(shell, switch);
            }
        }
    }
    for name in &arguments.operands {
        let on = find(shell, family, name).is_some_and(|switch| show(shell, switch));
        if !on {
            status = ExitStatus::FAILURE;
        }
    }
    shell.print("shopt", text.as_bytes())?;
    Ok(status)
}

fn line(switch: &Switch, on: bool, arguments: &Arguments) -> String {
    let name = switch.name;
    if !arguments.has("p") {
        return format!("{name:<15}\t{}\n", if on { "on" } else { "off" });
    }
    if arguments.has("o") {
        return format!("set {}o {name}\n", if on { '-' } else { '+' });
    }
    format!("shopt -{} {name}\n", if on { 's' } else { 'u' })
}

fn find(shell: &Shell, family: &Family, name: &BString) -> Option<&'static Switch> {
    let found = family.switches.iter().find(|switch| name == switch.name);
    if found.is_none() {
        let (name, kind) = (name.to_str_lossy(), family.name);
        shell.complain(format!("shopt: {name}: invalid {kind} name"));
    }
    found
}

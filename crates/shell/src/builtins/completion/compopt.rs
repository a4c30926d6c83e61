//! `compopt`

use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::specification::OPTIONS;
use crate::arguments::{OptionSpec, flag};
use crate::builtins::{Command, Run, usage};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static SWITCHES: [OptionSpec; 4] = [
    flag('o', "o", "switch this on; with +o, off").takes("option"),
    flag('D', "D", "the default"),
    flag('E', "E", "for an empty line"),
    flag('I', "I", "for the first word"),
];

pub static COMMAND: Command = Command {
    name: "compopt",
    synopsis: "compopt [-o|+o option] [-DEI] [name ...]",
    summary: "Change how completions of commands are treated.",
    options: &SWITCHES,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let mut names = Vec::new();
    let mut changes = Vec::new();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        match word.as_slice() {
            b"--" => {
                rest = after;
                break;
            }
            b"-o" | b"+o" => {
                let Some((value, after)) = after.split_first() else {
                    let what = "-o: option requires an argument";
                    return Ok(usage::complain(shell, &COMMAND, what));
                };
                let Some(option) = OPTIONS.iter().find(|option| value == **option) else {
                    let value = value.to_str_lossy();
                    shell.complain(format!("compopt: {value}: invalid option name"));
                    return Ok(ExitStatus::USAGE);
                };
                changes.push((*option, word.starts_with(b"-")));
                rest = after;
            }
            b"-D" | b"-E" | b"-I" => {
                names.push(word.clone());
                rest = after;
            }
            [b'-', letter, ..] => {
                let what = format!("-{}: invalid option", char::from(*letter));
                return Ok(usage::complain(shell, &COMMAND, &what));
            }
            _ => break,
        }
    }
    names.extend_from_slice(rest);
    if names.is_empty() {
        shell.complain("compopt: not currently executing completion function");
        return Ok(ExitStatus::FAILURE);
    }
    let mut status = ExitStatus::SUCCESS;
    for name in &names {
        if !apply(shell, name, &changes)? {
            let name = name.to_str_lossy();
            shell.complain(format!("compopt: {name}: no completion specification"));
            status = ExitStatus::FAILURE;
        }
    }
    Ok(status)
}

/// Changes the options of one name, or prints them if nothing changes. `false`: the name is not known.
fn apply(
    shell: &mut Shell,
    name: &BString,
    changes: &[(&'static str, bool)],
) -> Result<bool, crate::status::Interrupt> {
    let Some(specification) = Arc::make_mut(&mut shell.completions).get_mut(name) else {
        return Ok(false);
    };
    for (option, on) in changes {
        specification.options.retain(|one| one != option);
        if *on {
            specification.options.push(option);
        }
    }
    specification.options.sort_unstable();
    if !changes.is_empty() {
        return Ok(true);
    }
    let mut text = BString::from("compopt ");
    for option in OPTIONS {
        let sign = if specification.options.contains(&option) { '-' } else { '+' };
        text.extend_from_slice(format!("{sign}o {option} ").as_bytes());
    }
    text.extend_from_slice(name);
    text.push(b'\n');
    Ok(shell.print("compopt", &text)?.success())
}

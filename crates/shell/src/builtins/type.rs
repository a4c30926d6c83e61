//! `type`

use bstr::{BString, ByteSlice};

use super::describe::{Scope, meanings};
use super::{Command, Run, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 5] = [
    flag('a', "a", "every meaning, not only the one in force"),
    flag('f', "f", "leave functions out"),
    flag('t', "t", "one word: alias, keyword, function, builtin or file"),
    flag('p', "p", "only the path, if it is a file"),
    flag('P', "P", "only the path, whatever else it is"),
];

pub static COMMAND: Command = Command {
    name: "type",
    synopsis: "type [-afptP] name [name ...]",
    summary: "Say what a name means as a command.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let mut status = ExitStatus::SUCCESS;
    for name in &arguments.operands {
        if !describe(shell, &arguments, name)? {
            status = ExitStatus::FAILURE;
        }
    }
    Ok(status)
}

fn describe(
    shell: &mut Shell,
    arguments: &Arguments,
    name: &BString,
) -> Result<bool, crate::status::Interrupt> {
    let scope = Scope {
        all: arguments.has("a"),
        functions: !arguments.has("f"),
        only_files: arguments.has("P"),
    };
    let form = arguments.last_of(&["t", "p", "P"]);
    let found = meanings(shell, name.as_bstr(), scope);
    if found.is_empty() {
        if form.is_none() {
            shell.complain(format!("type: {}: not found", name.to_str_lossy()));
        }
        return Ok(false);
    }
    let mut text = BString::default();
    for meaning in &found {
        match form {
            None => text.extend_from_slice(&meaning.sentence(shell, name.as_bstr())),
            Some("t") => text.extend_from_slice(format!("{}\n", meaning.word()).as_bytes()),
            Some(_) => {
                if let Some(path) = meaning.path() {
                    text.extend_from_slice(path);
                    text.push(b'\n');
                }
            }
        }
    }
    Ok(shell.print("type", &text)?.success())
}

//! `alias`

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::expand::quote;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 1] = [flag('p', "p", "print all aliases as commands")];

pub static COMMAND: Command = Command {
    name: "alias",
    synopsis: "alias [-p] [name[=value] ... ]",
    summary: "Define aliases, or print them.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let mut status = ExitStatus::SUCCESS;
    if arguments.operands.is_empty() || arguments.has("p") {
        let mut text = Vec::new();
        for (name, value) in shell.aliases.iter() {
            text.extend_from_slice(&definition(name.as_bstr(), value.as_bstr()));
        }
        shell.print("alias", &text)?;
    }
    for word in &arguments.operands {
        if !define_or_print(shell, word)? {
            status = ExitStatus::FAILURE;
        }
    }
    Ok(status)
}

fn define_or_print(shell: &mut Shell, word: &BString) -> Result<bool, crate::status::Interrupt> {
    if let Some(at) = word.find_byte(b'=').filter(|at| *at > 0) {
        let (name, value) = (word.get(..at).unwrap_or_default(), word.get(at + 1..));
        if !is_valid(name) {
            shell.complain(format!("alias: `{}': invalid alias name", name.to_str_lossy()));
            return Ok(false);
        }
        let value = BString::from(value.unwrap_or_default());
        Arc::make_mut(&mut shell.aliases).insert(name.into(), value);
        return Ok(true);
    }
    let Some(value) = shell.aliases.get(word) else {
        shell.complain(format!("alias: {}: not found", word.to_str_lossy()));
        return Ok(false);
    };
    let text = definition(word.as_bstr(), value.as_bstr());
    Ok(shell.print("alias", &text)?.success())
}

/// `alias ll='ls -l'`
pub(super) fn definition(name: &BStr, value: &BStr) -> BString {
    let mut text = BString::from(if name.starts_with(b"-") { "alias -- " } else { "alias " });
    text.extend_from_slice(name);
    text.push(b'=');
    text.extend_from_slice(&quote::single(value));
    text.push(b'\n');
    text
}

fn is_valid(name: &[u8]) -> bool {
    !name.iter().any(|byte| b" \t\n&|;()<>/$`\\\"'".contains(byte))
}

//! `complete`

use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::specification;
use crate::builtins::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "complete",
    synopsis: "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
    summary: "Say how the arguments of commands are completed.",
    options: &super::compgen::OPTIONS,
    run: Run::Builtin { special: false, run },
};

/// `-D`, `-E` and `-I` stand for names of their own: they cannot be names of commands.
const SPECIAL: [u8; 3] = *b"DEI";

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let parsed = match specification::parse(shell, &COMMAND, words, b"prDEI") {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let special = parsed.letters.iter().filter(|letter| SPECIAL.contains(letter));
    let mut names: Vec<BString> =
        special.map(|letter| BString::from(vec![b'-', *letter])).collect();
    names.extend_from_slice(parsed.operands);
    if parsed.letters.contains(&b'r') {
        return Ok(remove(shell, &names));
    }
    if parsed.letters.contains(&b'p') || (parsed.is_empty && names.is_empty()) {
        return print(shell, &names);
    }
    if names.is_empty() {
        super::super::usage::print(shell, &COMMAND);
        return Ok(ExitStatus::USAGE);
    }
    let completions = Arc::make_mut(&mut shell.completions);
    for name in names {
        completions.insert(name, parsed.specification.clone());
    }
    Ok(ExitStatus::SUCCESS)
}

fn remove(shell: &mut Shell, names: &[BString]) -> ExitStatus {
    if names.is_empty() {
        shell.completions = Arc::default();
    }
    let mut status = ExitStatus::SUCCESS;
    // Where there are none at all, bash does not look.
    if shell.completions.is_empty() {
        return status;
    }
    for name in names {
        if Arc::make_mut(&mut shell.completions).remove(name).is_none() {
            status = missing(shell, name);
        }
    }
    status
}

fn print(shell: &mut Shell, names: &[BString]) -> Flow {
    let mut status = ExitStatus::SUCCESS;
    let mut text = Vec::new();
    if names.is_empty() {
        for (name, specification) in shell.completions.iter() {
            text.extend_from_slice(&specification.print(name.as_bstr()));
        }
    }
    for name in names {
        match shell.completions.get(name) {
            Some(specification) => text.extend_from_slice(&specification.print(name.as_bstr())),
            None => status = missing(shell, name),
        }
    }
    shell.print("complete", &text)?;
    Ok(status)
}

fn missing(shell: &Shell, name: &BString) -> ExitStatus {
    let name = name.to_str_lossy();
    shell.complain(format!("complete: {name}: no completion specification"));
    ExitStatus::FAILURE
}

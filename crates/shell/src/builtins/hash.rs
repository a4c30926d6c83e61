//! `hash`

use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::interpret::{Found, is_path};
use crate::shell::{Hashed, Shell};
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 5] = [
    flag('l', "l", "print as commands that can be run again"),
    flag('r', "r", "forget everything"),
    flag('p', "p", "remember this path for the name").takes("pathname"),
    flag('d', "d", "forget the names"),
    flag('t', "t", "print where the names were found"),
];

pub static COMMAND: Command = Command {
    name: "hash",
    synopsis: "hash [-lr] [-p pathname] [-dt] [name ...]",
    summary: "Remember where commands are, or show it.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if !shell.options.hashall {
        shell.complain("hash: hashing disabled");
        return Ok(ExitStatus::FAILURE);
    }
    shell.renew_hash();
    if arguments.has("r") {
        shell.hashed = Arc::default();
    } else if arguments.operands.is_empty() {
        if arguments.has("t") || arguments.has("d") {
            let letter = if arguments.has("t") { 't' } else { 'd' };
            shell.complain(format!("hash: -{letter}: option requires an argument"));
            return Ok(ExitStatus::FAILURE);
        }
        let text = list(shell, arguments.has("l"));
        return shell.print("hash", &text);
    }
    let mut status = ExitStatus::SUCCESS;
    let several = arguments.operands.len() > 1;
    for name in &arguments.operands {
        if !treat(shell, &arguments, name, several)? {
            shell.complain(format!("hash: {}: not found", name.to_str_lossy()));
            status = ExitStatus::FAILURE;
        }
    }
    Ok(status)
}

/// One name, as the options say. `false`: it is not there.
fn treat(
    shell: &mut Shell,
    arguments: &Arguments,
    name: &BString,
    several: bool,
) -> Result<bool, crate::status::Interrupt> {
    if let Some(path) = arguments.value("p") {
        let hashed = Hashed { path: path.into(), hits: 0 };
        Arc::make_mut(&mut shell.hashed).insert(name.clone(), hashed);
        return Ok(true);
    }
    if arguments.has("d") {
        return Ok(Arc::make_mut(&mut shell.hashed).remove(name).is_some());
    }
    if arguments.has("t") {
        let Some(hashed) = shell.hashed.get(name) else { return Ok(false) };
        let text = located(name, &hashed.path, arguments.has("l"), several);
        shell.print("hash", &text)?;
        return Ok(true);
    }
    if is_path(name.as_bstr()) || shell.find_builtin(name.as_bstr()).is_some() {
        return Ok(true);
    }
    Arc::make_mut(&mut shell.hashed).remove(name);
    let found = !matches!(shell.find_program(name.as_bstr()), Found::Nothing);
    if let Some(hashed) = Arc::make_mut(&mut shell.hashed).get_mut(name) {
        hashed.hits = 0;
    }
    Ok(found)
}

fn located(name: &BString, path: &BString, reusable: bool, several: bool) -> BString {
    let mut text = BString::default();
    if reusable {
        return reusable_line(name, path);
    }
    if several {
        text.extend_from_slice(name);
        text.push(b'\t');
    }
    text.extend_from_slice(path);
    text.push(b'\n');
    text
}

fn reusable_line(name: &BString, path: &BString) -> BString {
    let mut text = BString::from("builtin hash -p ");
    text.extend_from_slice(path);
    text.push(b' ');
    text.extend_from_slice(name);
    text.push(b'\n');
    text
}

fn list(shell: &Shell, reusable: bool) -> Vec<u8> {
    if shell.hashed.is_empty() && !reusable {
        return b"hash: hash table empty\n".to_vec();
    }
    let mut text = Vec::new();
    if !reusable {
        text.extend_from_slice(b"hits\tcommand\n");
    }
    for (name, hashed) in shell.hashed.iter() {
        if reusable {
            text.extend_from_slice(&reusable_line(name, &hashed.path));
        } else {
            text.extend_from_slice(format!("{:>4}\t", hashed.hits).as_bytes());
            text.extend_from_slice(&hashed.path);
            text.push(b'\n');
        }
    }
    text
}

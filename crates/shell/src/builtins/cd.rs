//! `cd`

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};

use super::directory::Way;
use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::errno;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 3] = [
    flag(
        'L',
        "L",
        "follow symbolic links by name: `..` goes back where one came from (the default)",
    ),
    flag('P', "P", "resolve symbolic links first"),
    flag('e', "e", "with -P: fail if the new directory cannot be named"),
];

pub static COMMAND: Command = Command {
    name: "cd",
    synopsis: "cd [-L|[-P [-e]]] [dir]",
    summary: "Change the working directory",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let way = Way::chosen(shell, arguments.last_of(&["L", "P"]));
    match arguments.operands.as_slice() {
        [] => to_variable(shell, "HOME", way, false),
        [operand] if operand == "-" => to_variable(shell, "OLDPWD", way, true),
        [operand] => to_operand(shell, operand.as_bstr(), way),
        _ => {
            shell.complain("cd: too many arguments");
            Ok(ExitStatus::FAILURE)
        }
    }
}

/// `cd` and `cd -`
fn to_variable(shell: &mut Shell, name: &str, way: Way, announce: bool) -> Flow {
    let Some(path) = shell.scalar_of(name.into()).map(Cow::into_owned) else {
        shell.complain(format!("cd: {name} not set"));
        return Ok(ExitStatus::FAILURE);
    };
    to_path(shell, path.as_bstr(), way, announce)
}

fn to_operand(shell: &mut Shell, operand: &BStr, way: Way) -> Flow {
    if let Some((directory, announce)) = search(shell, operand, way) {
        return enter(shell, directory, announce);
    }
    if shell.options.cdable_vars
        && shell.find_directory(operand, way).is_err()
        && let Some(path) = shell.scalar_of(operand).map(Cow::into_owned)
        && let Ok(directory) = shell.find_directory(path.as_bstr(), way)
    {
        shell.print("cd", &[path.as_slice(), b"\n"].concat())?;
        return enter(shell, directory, false);
    }
    to_path(shell, operand, way, false)
}

/// The first directory of `CDPATH` that has the operand, and whether to say where that is.
fn search(shell: &Shell, operand: &BStr, way: Way) -> Option<(BString, bool)> {
    let first = operand.split(|byte| *byte == b'/').next().unwrap_or_default();
    if operand.is_empty() || matches!(first, b"" | b"." | b"..") {
        return None;
    }
    let paths = shell.scalar_of("CDPATH".into()).filter(|paths| !paths.is_empty())?;
    paths.split(|byte| *byte == b':').find_map(|path| {
        let joined = match path {
            b"" => operand.to_vec(),
            _ => [path, b"/", operand.as_bytes()].concat(),
        };
        let directory = shell.find_directory(joined.as_bstr(), way).ok()?;
        Some((directory, !path.is_empty()))
    })
}

fn to_path(shell: &mut Shell, path: &BStr, way: Way, announce: bool) -> Flow {
    // An empty name is where one is already.
    let path = if path.is_empty() { ".".into() } else { path };
    match shell.find_directory(path, way) {
        Ok(directory) => enter(shell, directory, announce),
        Err(error) => {
            shell.control.check()?;
            let text = format!(": {}\n", errno::text(&error));
            shell.write_error(
                &[b"cd: ", shell.as_written(path).as_bytes(), text.as_bytes()].concat(),
            );
            Ok(ExitStatus::FAILURE)
        }
    }
}

fn enter(shell: &mut Shell, directory: BString, announce: bool) -> Flow {
    let kept = shell.enter_directory(directory)?;
    if announce {
        shell.print("cd", &[shell.directory.as_bytes(), b"\n"].concat())?;
    }
    Ok(ExitStatus::from_bool(kept))
}

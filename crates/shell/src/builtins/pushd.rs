//! `pushd`

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};

use super::directory::{Place, Way, parse_place};
use super::{Command, Run, dirs, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 1] = [flag('n', "n", "change the stack only, not the directory")];

pub static COMMAND: Command = Command {
    name: "pushd",
    synopsis: "pushd [-n] [+N | -N | dir]",
    summary: "Put the working directory on the stack and go to another",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

enum Request<'a> {
    Exchange,
    Rotate(Place, &'a BStr),
    Push(&'a BStr),
}

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let (request, stay) = match parse(shell, words) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    match request {
        Request::Exchange => exchange(shell, stay),
        Request::Rotate(place, operand) => rotate(shell, place, operand, stay),
        Request::Push(operand) => push(shell, operand, stay),
    }
}

fn parse<'a>(shell: &Shell, words: &'a [BString]) -> Result<(Request<'a>, bool), ExitStatus> {
    let mut stay = false;
    let mut request = None;
    let mut rest = words;
    let mut only_operands = false;
    while let Some((word, after)) = rest.split_first() {
        let operand = word.as_bstr();
        rest = after;
        match operand.as_bytes() {
            b"-n" if !only_operands => stay = true,
            b"--" if !only_operands => only_operands = true,
            text => {
                if !after.is_empty() && request.is_none() && !is_signed(text) {
                    shell.complain("pushd: too many arguments");
                    return Err(ExitStatus::FAILURE);
                }
                request = Some(match parse_place(operand).filter(|_| !only_operands) {
                    Some(place) => Request::Rotate(place, operand),
                    None if is_signed(text) && text != b"-" && !only_operands => {
                        let what = format!("{operand}: invalid number");
                        return Err(usage::complain(shell, &COMMAND, &what));
                    }
                    None => Request::Push(operand),
                });
            }
        }
    }
    Ok((request.unwrap_or(Request::Exchange), stay))
}

fn is_signed(text: &[u8]) -> bool {
    text.starts_with(b"-") || text.starts_with(b"+")
}

fn exchange(shell: &mut Shell, stay: bool) -> Flow {
    let Some(top) = shell.directory_stack.last().cloned() else {
        shell.complain("pushd: no other directory");
        return Ok(ExitStatus::FAILURE);
    };
    if stay {
        return dirs::print(shell, "pushd");
    }
    let current = shell.directory.clone();
    go(shell, top.as_bstr(), |shell| {
        if let Some(top) = shell.directory_stack.last_mut() {
            *top = current;
        }
    })
}

fn rotate(shell: &mut Shell, place: Place, operand: &BStr, stay: bool) -> Flow {
    if shell.directory_stack.is_empty() && place.number > 0 {
        shell.complain("pushd: directory stack empty");
        return Ok(ExitStatus::FAILURE);
    }
    let mut all: Vec<BString> = std::iter::once(shell.directory.clone())
        .chain(shell.directory_stack.iter().rev().cloned())
        .collect();
    let Some(at) = place.within(all.len()) else {
        let reason = b": directory stack index out of range";
        shell.complain([b"pushd: ", operand.as_bytes(), reason].concat());
        return Ok(ExitStatus::FAILURE);
    };
    all.rotate_left(at);
    let stack: Vec<BString> = all.iter().skip(1).rev().cloned().collect();
    let target = all.first().cloned().unwrap_or_default();
    if stay {
        shell.directory_stack = stack;
        return Ok(ExitStatus::SUCCESS);
    }
    go(shell, target.as_bstr(), |shell| shell.directory_stack = stack)
}

fn push(shell: &mut Shell, operand: &BStr, stay: bool) -> Flow {
    if stay {
        shell.directory_stack.push(operand.into());
        return dirs::print(shell, "pushd");
    }
    let before = shell.directory.clone();
    let target = match operand.as_bytes() {
        b"-" => shell.scalar_of("OLDPWD".into()).map(Cow::into_owned),
        _ => Some(operand.into()),
    };
    let Some(target) = target else {
        shell.complain("pushd: OLDPWD not set");
        return Ok(ExitStatus::FAILURE);
    };
    go(shell, target.as_bstr(), |shell| {
        // `pushd -` says where it goes, as `cd -` does.
        if operand == "-" {
            let _ = shell.print("pushd", &[shell.directory.as_bytes(), b"\n"].concat());
        }
        shell.directory_stack.push(before);
    })
}

/// Goes there, changes the stack, and shows it. If there is no way there, nothing changes.
fn go(shell: &mut Shell, target: &BStr, change: impl FnOnce(&mut Shell)) -> Flow {
    let way = Way::chosen(shell, None);
    match shell.find_directory(target, way) {
        Ok(directory) => {
            shell.enter_directory(directory)?;
            change(shell);
            dirs::print(shell, "pushd")
        }
        Err(error) => {
            shell.control.check()?;
            shell.complain_of_directory("pushd", target, &error);
            Ok(ExitStatus::FAILURE)
        }
    }
}

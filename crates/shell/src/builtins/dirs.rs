//! `dirs`

use bstr::{BString, ByteSlice};

use super::directory::{Place, parse_place};
use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 4] = [
    flag('c', "c", "empty the stack"),
    flag('l', "l", "no ~ for the home directory"),
    flag('p', "p", "one directory per line"),
    flag('v', "v", "one directory per line, with its place"),
];

pub static COMMAND: Command = Command {
    name: "dirs",
    synopsis: "dirs [-clpv] [+N] [-N]",
    summary: "Write the stack of directories",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

#[derive(Default)]
struct Request {
    clear: bool,
    long: bool,
    lines: bool,
    numbers: bool,
    place: Option<Place>,
}

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let request = match parse(shell, words) {
        Ok(request) => request,
        Err(status) => return Ok(status),
    };
    if request.clear {
        shell.directory_stack.clear();
        return Ok(ExitStatus::SUCCESS);
    }
    let all = shell.shown_directory_stack(request.long);
    let mut text = Vec::new();
    match request.place {
        Some(place) => {
            let Some((at, path)) = place.within(all.len()).and_then(|at| Some((at, all.get(at)?)))
            else {
                let number = place.number;
                shell.complain(format!("dirs: {number}: directory stack index out of range"));
                return Ok(ExitStatus::FAILURE);
            };
            add_line(&mut text, at, path, request.numbers);
        }
        None if request.lines || request.numbers => {
            for (at, path) in all.iter().enumerate() {
                add_line(&mut text, at, path, request.numbers);
            }
        }
        None => {
            text = bstr::join(" ", &all);
            text.push(b'\n');
        }
    }
    shell.print("dirs", &text)
}

/// Each option is a word of its own: `-1` is a place.
fn parse(shell: &Shell, words: &[BString]) -> Result<Request, ExitStatus> {
    let mut request = Request::default();
    for word in words {
        match word.as_slice() {
            b"--" => break,
            b"-c" => request.clear = true,
            b"-l" => request.long = true,
            b"-p" => request.lines = true,
            b"-v" => request.numbers = true,
            b"-" | b"+" => {}
            text => {
                request.place = parse_place(text.as_bstr());
                if request.place.is_none() {
                    let signed = text.starts_with(b"-") || text.starts_with(b"+");
                    let reason = if signed { "invalid number" } else { "invalid option" };
                    let what = format!("{}: {reason}", text.as_bstr());
                    return Err(usage::complain(shell, &COMMAND, &what));
                }
            }
        }
    }
    Ok(request)
}

fn add_line(text: &mut Vec<u8>, at: usize, path: &BString, numbered: bool) {
    if numbered {
        text.extend_from_slice(format!("{at:2}  ").as_bytes());
    }
    text.extend_from_slice(path);
    text.push(b'\n');
}

/// After `pushd` and `popd`.
pub(super) fn print(shell: &Shell, builtin: &str) -> Flow {
    let mut text = bstr::join(" ", shell.shown_directory_stack(false));
    text.push(b'\n');
    shell.print(builtin, &text)
}

//! `bash` and `sh`: a shell of its own inside this one.

use bstr::{BString, ByteSlice};

use super::{Command, Context, Run, ToolError};
use crate::arguments::{OptionSpec, both, flag, long};
use crate::errno;
use crate::filesystem::OpenOptions;
use crate::options::{SET_SWITCHES, SHOPT_SWITCHES};
use crate::shell::Shell;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 14] = [
    flag('c', "c", "run the first argument as a script; the next is its name"),
    flag('s', "s", "read the script from standard input"),
    flag('i', "i", "interactive"),
    both('l', "l", "login", "a login shell"),
    flag('e', "e", "leave when a command fails"),
    flag('u', "u", "fail on parameters that are not set"),
    flag('x', "x", "print commands before they run"),
    flag('o', "o", "a switch of `set -o`").takes("option-name"),
    flag('O', "O", "a switch of `shopt`").takes("shopt-option"),
    long("posix", "posix mode"),
    long("norc", "without the file of --rcfile; no other is ever read"),
    long("noprofile", "accepted: no start-up file is ever read"),
    long("rcfile", "what an interactive shell runs first").takes("file"),
    long("version", "print the version"),
];

pub static COMMAND: Command = Command {
    name: "bash",
    synopsis: "bash [options] [-c command [name [argument ...]] | file [argument ...]]",
    summary: "Run a script in a shell of its own.",
    options: &OPTIONS,
    run: Run::Tool(run_bash),
};

pub static SH: Command = Command {
    name: "sh",
    synopsis: "sh [options] [-c command [name [argument ...]] | file [argument ...]]",
    summary: "Run a script in a shell of its own, in posix mode.",
    options: &OPTIONS,
    run: Run::Tool(run_sh),
};

fn run_bash(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    run(context, words, false)
}

fn run_sh(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    run(context, words, true)
}

/// Options as bash takes them: `+o` and `-euo pipefail` are not GNU's.
#[derive(Default)]
struct Invocation {
    command: bool,
    from_input: bool,
    interactive: bool,
    /// `--rcfile`
    startup: Option<BString>,
    no_startup: bool,
    changes: Vec<Change>,
}

enum Change {
    Letter(u8, bool),
    Set(BString, bool),
    Shopt(BString, bool),
}

fn run(context: &mut Context<'_>, words: &[BString], posix: bool) -> Result<ExitStatus, ToolError> {
    let (invocation, operands) = parse(words)?;
    let name = context.name;
    let shell = context.shell_mut();
    let mut operands = operands.iter();
    let (text, name, script) = if invocation.command {
        let Some(text) = operands.next() else {
            let message = "-c: option requires an argument";
            return Err(ToolError::Usage(message.into(), ExitStatus::USAGE));
        };
        (text.clone(), operands.next().cloned().unwrap_or_else(|| name.into()), None)
    } else if let (false, Some(path)) = (invocation.from_input, operands.as_slice().first()) {
        operands.next();
        match read(shell, path) {
            Ok(text) if is_binary(&text) => {
                let mut message = format!("{name}: ").into_bytes();
                message.extend_from_slice(path);
                message.extend_from_slice(b": cannot execute binary file\n");
                shell.write_error(&message);
                return Ok(ExitStatus::REFUSED);
            }
            Ok(text) => (text.into(), path.clone(), Some(path.clone())),
            Err(problem) => {
                shell.control.check()?;
                let mut message = format!("{name}: ").into_bytes();
                message.extend_from_slice(path);
                message.extend_from_slice(format!(": {problem}\n").as_bytes());
                shell.write_error(&message);
                return Ok(ExitStatus::NOT_FOUND);
            }
        }
    } else {
        return Ok(shell.run_fresh_from_input(name.into(), operands.as_slice(), |fresh| {
            configure(fresh, &invocation, posix);
            fresh.options.from_stdin = true;
        })?);
    };
    let mut fresh = shell.fresh_shell(name.as_bstr(), operands.as_slice());
    fresh.options.command_string = invocation.command;
    fresh.script = script.unwrap_or_default();
    configure(&mut fresh, &invocation, posix);
    Ok(shell.run_fresh(fresh, text.as_bstr())?)
}

fn configure(shell: &mut Shell, invocation: &Invocation, posix: bool) {
    shell.options.posix |= posix;
    if invocation.interactive {
        shell.become_interactive();
        shell.startup_file = invocation.startup.clone().filter(|_| !invocation.no_startup);
    }
    for change in &invocation.changes {
        match change {
            Change::Letter(letter, on) => drop(shell.options.set_letter(*letter, *on)),
            Change::Set(name, on) => {
                shell.options.set_named(name, *on);
                if *on && name == "history" {
                    shell.begin_history();
                }
            }
            Change::Shopt(name, on) => {
                if let Some(switch) = SHOPT_SWITCHES.iter().find(|switch| name == switch.name) {
                    (switch.set)(&mut shell.options, *on);
                }
            }
        }
    }
}

fn parse(words: &[BString]) -> Result<(Invocation, &[BString]), ToolError> {
    let mut invocation = Invocation::default();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        let on = match word.as_slice() {
            b"-" | b"--" => {
                rest = after;
                break;
            }
            b"--posix" => {
                invocation.changes.push(Change::Set("posix".into(), true));
                rest = after;
                continue;
            }
            b"--login" | b"--noprofile" | b"--noediting" => {
                rest = after;
                continue;
            }
            b"--norc" => {
                invocation.no_startup = true;
                rest = after;
                continue;
            }
            b"--rcfile" | b"--init-file" => {
                let [file, rest_after @ ..] = after else {
                    let message = format!("{}: option requires an argument", word.to_str_lossy());
                    return Err(ToolError::Usage(message, ExitStatus::USAGE));
                };
                invocation.startup = Some(file.clone());
                rest = rest_after;
                continue;
            }
            [b'-', b'-', ..] => return Err(ToolError::Unsupported(word.to_str_lossy().into())),
            [b'-', _, ..] => true,
            [b'+', _, ..] => false,
            _ => break,
        };
        rest = parse_letters(word.get(1..).unwrap_or_default(), on, after, &mut invocation)?;
    }
    Ok((invocation, rest))
}

fn parse_letters<'a>(
    letters: &[u8],
    on: bool,
    mut after: &'a [BString],
    invocation: &mut Invocation,
) -> Result<&'a [BString], ToolError> {
    for &letter in letters {
        match letter {
            b'c' => invocation.command = true,
            b's' => invocation.from_input = true,
            b'l' => {}
            b'i' => invocation.interactive = true,
            b'o' | b'O' => {
                let [name, rest @ ..] = after else {
                    let message = format!("-{}: option requires an argument", char::from(letter));
                    return Err(ToolError::Usage(message, ExitStatus::USAGE));
                };
                let family = if letter == b'o' { &SET_SWITCHES[..] } else { &SHOPT_SWITCHES[..] };
                if !family.iter().any(|switch| name == switch.name) {
                    let message = format!("{}: invalid option name", name.to_str_lossy());
                    return Err(ToolError::Usage(message, ExitStatus::USAGE));
                }
                let change = if letter == b'o' { Change::Set } else { Change::Shopt };
                invocation.changes.push(change(name.clone(), on));
                after = rest;
            }
            letter if SET_SWITCHES.iter().any(|switch| switch.letter == letter) => {
                invocation.changes.push(Change::Letter(letter, on));
            }
            letter => return Err(ToolError::Unsupported(char::from(letter).to_string())),
        }
    }
    Ok(after)
}

fn read(shell: &Shell, path: &BString) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let file = shell.open(path.as_bstr(), OpenOptions::reading());
    match file.and_then(|file| file.read_within(&shell.control, &mut text)) {
        Ok(()) => Ok(text),
        Err(error) => Err(errno::text(&error)),
    }
}

/// A NUL in the first line: no script.
fn is_binary(text: &[u8]) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.iter().take(80).any(|byte| *byte == 0)
}

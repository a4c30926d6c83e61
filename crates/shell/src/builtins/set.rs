//! `set`

use std::fmt::Write;
use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::options::{Options, SET_SWITCHES};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 20] = [
    flag('a', "a", "export every variable that is set"),
    flag('b', "b", "report ended jobs at once"),
    flag('e', "e", "leave the shell when a command fails"),
    flag('f', "f", "do not expand path names"),
    flag('h', "h", "remember where commands are"),
    flag('k', "k", "take assignments anywhere as environment"),
    flag('m', "m", "job control"),
    flag('n', "n", "read commands, do not run them"),
    flag('o', "o", "the switch of this name").takes("option-name"),
    flag('p', "p", "privileged mode"),
    flag('t', "t", "leave after one command"),
    flag('u', "u", "fail on parameters that are not set"),
    flag('v', "v", "print input lines as they are read"),
    flag('x', "x", "print commands before they run"),
    flag('B', "B", "expand braces"),
    flag('C', "C", "do not overwrite files by redirects"),
    flag('E', "E", "functions and subshells inherit the ERR trap"),
    flag('H', "H", "expand `!` history references"),
    flag('P', "P", "do not keep symbolic links in the working directory"),
    flag('T', "T", "functions and subshells inherit DEBUG and RETURN"),
];

pub static COMMAND: Command = Command {
    name: "set",
    synopsis: "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
    summary: "Set shell options and positional parameters, or list variables.",
    options: &OPTIONS,
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    if words.is_empty() {
        let listing = list_variables(shell);
        return shell.print("set", &listing);
    }
    // Nothing is set if any letter is wrong.
    if let Some(letter) = wrong_letter(words) {
        return Ok(usage::complain(shell, &COMMAND, &format!("{letter}: invalid option")));
    }
    let mut rest = words;
    while let [word, after @ ..] = rest {
        rest = after;
        match word.as_slice() {
            b"--" => {
                replace(shell, after.to_vec());
                return Ok(ExitStatus::SUCCESS);
            }
            b"-" => {
                shell.options.xtrace = false;
                shell.options.verbose = false;
                if !after.is_empty() {
                    replace(shell, after.to_vec());
                }
                return Ok(ExitStatus::SUCCESS);
            }
            b"+" => {}
            [sign @ (b'-' | b'+'), letters @ ..] => {
                let taken = set_letters(shell, *sign == b'-', letters, after)?;
                match taken {
                    Taken::Words(count) => rest = after.get(count..).unwrap_or_default(),
                    Taken::Failed(status) => return Ok(status),
                }
            }
            _ => {
                let mut all = vec![word.clone()];
                all.extend_from_slice(after);
                replace(shell, all);
                return Ok(ExitStatus::SUCCESS);
            }
        }
    }
    Ok(ExitStatus::SUCCESS)
}

fn replace(shell: &mut Shell, parameters: Vec<BString>) {
    shell.positional = Arc::new(parameters.into());
    shell.transient.parameters_set = true;
}

/// How many further words a cluster of letters took.
enum Taken {
    Words(usize),
    Failed(ExitStatus),
}

fn set_letters(
    shell: &mut Shell,
    on: bool,
    letters: &[u8],
    after: &[BString],
) -> Result<Taken, crate::status::Interrupt> {
    let mut taken = 0;
    for &letter in letters {
        if letter != b'o' {
            shell.options.set_letter(letter, on);
            continue;
        }
        let Some(name) = after.get(taken).filter(|name| !name.starts_with(b"-") && *name != "+")
        else {
            shell.print("set", list(&shell.options, on).as_bytes())?;
            continue;
        };
        taken += 1;
        let had_history = shell.options.history;
        let known = shell.options.set_named(name, on);
        if shell.options.history && !had_history {
            shell.begin_history();
        }
        if !known {
            let name = name.to_str_lossy();
            shell.complain(format!("set: {name}: invalid option name"));
            return Ok(Taken::Failed(ExitStatus::USAGE));
        }
    }
    Ok(Taken::Words(taken))
}

fn wrong_letter(words: &[BString]) -> Option<String> {
    let mut names = 0;
    for word in words {
        if names > 0 {
            names -= 1;
            continue;
        }
        match word.as_slice() {
            b"--" | b"-" => return None,
            [sign @ (b'-' | b'+'), letters @ ..] => {
                let known = |letter: u8| {
                    letter == b'o' || SET_SWITCHES.iter().any(|switch| switch.letter == letter)
                };
                if let Some(letter) =
                    letters.iter().find(|letter| **letter == 0 || !known(**letter))
                {
                    return Some(format!("{}{}", char::from(*sign), char::from(*letter)));
                }
                names = letters.find_iter(b"o").count();
            }
            _ => return None,
        }
    }
    None
}

/// `set -o` for people, `set +o` to be run again.
pub(super) fn list(options: &Options, readable: bool) -> String {
    let mut text = String::new();
    for switch in &SET_SWITCHES {
        let on = (switch.get)(options);
        let name = switch.name;
        // Writing to a String cannot fail.
        let _ = if readable {
            writeln!(text, "{name:<15}\t{}", if on { "on" } else { "off" })
        } else {
            writeln!(text, "set {}o {name}", if on { '-' } else { '+' })
        };
    }
    text
}

/// Every variable with a value and, outside posix mode, every function, to be read by the shell again.
fn list_variables(shell: &Shell) -> Vec<u8> {
    let mut text = Vec::new();
    for name in shell.variables.names() {
        if let Some(variable) = shell.variables.get(name.as_bstr()) {
            text.extend_from_slice(&shell.listing_of(name.as_bstr(), variable));
        }
    }
    if !shell.options.posix {
        for function in shell.functions.values() {
            let name = function.name.as_bstr();
            text.extend_from_slice(&exacta_syntax::print_function(name, &function.body));
            text.push(b'\n');
        }
    }
    text
}

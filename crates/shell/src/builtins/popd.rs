//! `popd`

use bstr::{BString, ByteSlice};

use super::directory::{Way, parse_place};
use super::{Command, Run, dirs, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 1] = [flag('n', "n", "change the stack only, not the directory")];

pub static COMMAND: Command = Command {
    name: "popd",
    synopsis: "popd [-n] [+N | -N]",
    summary: "Take a directory from the stack and go to it",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let mut stay = false;
    let mut chosen = None;
    for word in words {
        match word.as_slice() {
            b"--" => break,
            b"-n" => stay = true,
            text => {
                chosen = parse_place(text.as_bstr()).map(|place| (place, word));
                if chosen.is_none() {
                    let signed = text.starts_with(b"-") || text.starts_with(b"+");
                    let reason = if signed { "invalid number" } else { "invalid argument" };
                    let what = format!("{word}: {reason}");
                    return Ok(usage::complain(shell, &COMMAND, &what));
                }
            }
        }
    }
    if shell.directory_stack.is_empty() {
        shell.complain("popd: directory stack empty");
        return Ok(ExitStatus::FAILURE);
    }
    let count = shell.directory_stack.len() + 1;
    let Some((place, word)) = chosen else { return remove(shell, 0, stay) };
    let Some(at) = place.within(count) else {
        let reason = b": directory stack index out of range";
        shell.complain([b"popd: ", word.as_bytes(), reason].concat());
        return Ok(ExitStatus::FAILURE);
    };
    remove(shell, at, stay)
}

/// `at` is counted from the left of what `dirs` shows: 0 is the working directory itself.
fn remove(shell: &mut Shell, at: usize, stay: bool) -> Flow {
    if at > 0 || stay {
        let from_end = at.max(1);
        let slot = shell.directory_stack.len().checked_sub(from_end);
        if let Some(slot) = slot {
            shell.directory_stack.remove(slot);
        }
        return dirs::print(shell, "popd");
    }
    let target = shell.directory_stack.last().cloned().unwrap_or_default();
    let way = Way::chosen(shell, None);
    match shell.find_directory(target.as_bstr(), way) {
        Ok(directory) => {
            shell.enter_directory(directory)?;
            shell.directory_stack.pop();
            dirs::print(shell, "popd")
        }
        Err(error) => {
            shell.control.check()?;
            shell.complain_of_directory("popd", target.as_bstr(), &error);
            Ok(ExitStatus::FAILURE)
        }
    }
}

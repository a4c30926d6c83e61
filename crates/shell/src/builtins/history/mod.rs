//! `history`: the list of earlier commands, which a shell keeps that is interactive or has `set -o history`.

pub(super) mod fc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, number, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::errno;
use crate::filesystem::OpenOptions;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 8] = [
    flag('c', "c", "forget everything"),
    flag('d', "d", "forget the entry of this number").takes("offset"),
    flag('a', "a", "append to the file"),
    flag('n', "n", "read what is new in the file"),
    flag('r', "r", "read the file"),
    flag('w', "w", "write the file"),
    flag('p', "p", "print the arguments"),
    flag('s', "s", "add the arguments as one entry"),
];

pub static COMMAND: Command = Command {
    name: "history",
    synopsis: "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
    summary: "Show or change the list of earlier commands.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("c") {
        shell.history_mut().clear();
    }
    if arguments.has("s") {
        if !arguments.operands.is_empty() {
            shell.history_mut().forget_current();
            shell.add_to_history(bstr::join(" ", &arguments.operands).into());
        }
        return Ok(ExitStatus::SUCCESS);
    }
    if arguments.has("p") {
        shell.history_mut().forget_current();
        let mut text = bstr::join("\n", &arguments.operands);
        text.push(b'\n');
        return shell.print("history", &text);
    }
    if let Some(offset) = arguments.value("d") {
        return Ok(forget(shell, &offset.into()));
    }
    if arguments.last_of(&["a", "n", "r", "w"]).is_some() {
        return Ok(transfer(shell, &arguments));
    }
    if arguments.has("c") {
        return Ok(ExitStatus::SUCCESS);
    }
    list(shell, &arguments)
}

fn list(shell: &mut Shell, arguments: &Arguments) -> Flow {
    let total = shell.history.entries.len();
    let shown = match arguments.operands.as_slice() {
        [] => total,
        [count] => {
            let Some(count) = number::required(shell, "history", count) else {
                return Ok(ExitStatus::FAILURE);
            };
            usize::try_from(count.unsigned_abs()).unwrap_or(total)
        }
        _ => {
            shell.complain("history: too many arguments");
            return Ok(ExitStatus::FAILURE);
        }
    };
    let format = shell.variables.scalar("HISTTIMEFORMAT").cloned();
    let mut text = Vec::new();
    let base = shell.history.base();
    for (at, entry) in shell.history.entries.iter().enumerate().skip(total.saturating_sub(shown)) {
        text.extend_from_slice(format!("{:>5}  ", at + base).as_bytes());
        if let Some(format) = format.as_ref().filter(|format| !format.is_empty()) {
            text.extend_from_slice(shell.time_as(format, entry.time).as_bytes());
        }
        text.extend_from_slice(&entry.text);
        text.push(b'\n');
    }
    shell.print("history", &text)
}

/// `-d 3`, `-d -2`, `-d 3-5`
fn forget(shell: &mut Shell, offset: &BString) -> ExitStatus {
    let range = match offset.get(1..).and_then(|rest| rest.find_byte(b'-')) {
        Some(at) => {
            let (first, last) = offset.split_at(at + 1);
            (place(shell, first), place(shell, last.get(1..).unwrap_or_default()))
        }
        None => (place(shell, offset), place(shell, offset)),
    };
    match range {
        (Some(first), Some(last)) if first <= last => {
            let history = shell.history_mut();
            history.holds_current &= last + 1 < history.entries.len();
            history.entries.drain(first..=last);
            ExitStatus::SUCCESS
        }
        _ => {
            let offset = offset.to_str_lossy();
            shell.complain(format!("history: {offset}: history position out of range"));
            ExitStatus::FAILURE
        }
    }
}

/// Which entry a number means; a negative one counts from the end.
fn place(shell: &Shell, number: &[u8]) -> Option<usize> {
    let (total, base) = (shell.history.entries.len(), shell.history.base());
    let number = number::parse(&number.into())?;
    let place = if number < 0 { total as i64 + number } else { number - base as i64 };
    usize::try_from(place).ok().filter(|place| *place < total)
}

/// To and from the file that is named, or `HISTFILE`.
fn transfer(shell: &mut Shell, arguments: &Arguments) -> ExitStatus {
    let named = arguments.operands.first().cloned();
    let file = named.or_else(|| shell.variables.scalar("HISTFILE").cloned());
    let Some(path) = file else { return ExitStatus::SUCCESS };
    let mode = 0o600 & !shell.umask;
    let total = shell.history.entries.len();
    let done = match arguments.last_of(&["a", "n", "r", "w"]) {
        Some("r") => shell.read_history(path.as_bstr(), 0),
        Some("n") => shell.read_history(path.as_bstr(), shell.history.lines_in_file),
        Some("a") => {
            let count = shell.history.unsaved.min(total);
            if count == 0 {
                return ExitStatus::SUCCESS;
            }
            shell.write_history(path.as_bstr(), count, OpenOptions::appending(mode))
        }
        _ => shell.write_history(path.as_bstr(), total, OpenOptions::writing(mode)),
    };
    match done {
        Ok(()) => ExitStatus::SUCCESS,
        Err(error) => {
            let path = path.to_str_lossy();
            shell.complain(format!("history: {path}: {}", errno::text(&error)));
            ExitStatus::FAILURE
        }
    }
}

//! `history` and `fc`: a list that a script may keep; a shell without a line editor adds nothing by itself.

use std::sync::Arc;

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

static LIST_OPTIONS: [OptionSpec; 3] = [
    flag('l', "l", "list entries"),
    flag('n', "n", "without numbers"),
    flag('r', "r", "the newest first"),
];

pub static LIST: Command = Command {
    name: "fc",
    synopsis: "fc -l [-nr] [first] [last]",
    summary: "List earlier commands.",
    options: &LIST_OPTIONS,
    run: Run::Builtin { special: false, run: run_list },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("c") {
        shell.history = Arc::default();
    }
    if arguments.has("s") {
        let entry = BString::from(bstr::join(" ", &arguments.operands));
        Arc::make_mut(&mut shell.history).push(entry);
        return Ok(ExitStatus::SUCCESS);
    }
    if arguments.has("p") {
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
    let total = shell.history.len();
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
    let mut text = Vec::new();
    for (at, entry) in shell.history.iter().enumerate().skip(total.saturating_sub(shown)) {
        text.extend_from_slice(format!("{:>5}  ", at + 1).as_bytes());
        text.extend_from_slice(entry);
        text.push(b'\n');
    }
    shell.print("history", &text)
}

fn forget(shell: &mut Shell, offset: &BString) -> ExitStatus {
    let total = shell.history.len() as i64;
    let place =
        number::parse(offset).map(|place| if place < 0 { total + place } else { place - 1 });
    let place = place.and_then(|place| usize::try_from(place).ok());
    match place.filter(|place| *place < shell.history.len()) {
        Some(place) => {
            Arc::make_mut(&mut shell.history).remove(place);
            ExitStatus::SUCCESS
        }
        None => {
            let offset = offset.to_str_lossy();
            shell.complain(format!("history: {offset}: history position out of range"));
            ExitStatus::FAILURE
        }
    }
}

/// To and from the file that is named, or `HISTFILE`.
fn transfer(shell: &mut Shell, arguments: &Arguments) -> ExitStatus {
    let named = arguments.operands.first().cloned();
    let file = named.or_else(|| shell.variables.scalar("HISTFILE").cloned());
    let Some(path) = file else { return ExitStatus::SUCCESS };
    let mode = 0o600 & !shell.umask;
    let done = match arguments.last_of(&["a", "n", "r", "w"]) {
        Some("r" | "n") => {
            let mut text = Vec::new();
            let read = shell
                .open(path.as_bstr(), OpenOptions::reading())
                .and_then(|file| file.read_to_end(&mut text));
            Arc::make_mut(&mut shell.history).extend(text.lines().map(BString::from));
            read
        }
        way => {
            let mut text = bstr::join("\n", shell.history.iter());
            if !text.is_empty() {
                text.push(b'\n');
            }
            let options = if way == Some("a") {
                OpenOptions::appending(mode)
            } else {
                OpenOptions::writing(mode)
            };
            shell.open(path.as_bstr(), options).and_then(|file| file.write_all(&text))
        }
    };
    match done {
        Ok(()) => ExitStatus::SUCCESS,
        Err(error) => {
            let path = path.to_str_lossy();
            shell.complain(format!("history: {path}: cannot use: {}", errno::text(&error)));
            ExitStatus::FAILURE
        }
    }
}

fn run_list(shell: &mut Shell, words: &[BString]) -> Flow {
    // `-2` is an entry, not an option.
    let mut words = words.to_vec();
    if let Some(at) = words.iter().position(|word| number::parse(word).is_some()) {
        words.insert(at, "--".into());
    }
    let arguments = match usage::parse(shell, &LIST, &words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if shell.history.is_empty() {
        return Ok(ExitStatus::SUCCESS);
    }
    if !arguments.has("l") {
        shell.complain("fc: there is no editor; use -l to list");
        return Ok(ExitStatus::FAILURE);
    }
    let total = shell.history.len() as i64;
    let place = |word: Option<&BString>, default: i64| {
        let number = word.and_then(number::parse).unwrap_or(default);
        (if number < 0 { total + number + 1 } else { number }).clamp(1, total)
    };
    let first = place(arguments.operands.first(), -16);
    let last = place(arguments.operands.get(1), -1);
    let mut chosen: Vec<i64> = (first.min(last)..=first.max(last)).collect();
    if arguments.has("r") != (first > last) {
        chosen.reverse();
    }
    let mut text = Vec::new();
    for number in chosen {
        let entry = shell.history.get((number - 1) as usize).cloned().unwrap_or_default();
        if !arguments.has("n") {
            text.extend_from_slice(number.to_string().as_bytes());
        }
        text.extend_from_slice(b"\t ");
        text.extend_from_slice(&entry);
        text.push(b'\n');
    }
    shell.print("fc", &text)
}

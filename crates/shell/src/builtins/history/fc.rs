//! `fc`: lists earlier commands, or runs one of them again.

use bstr::{BString, ByteSlice};

use super::super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 5] = [
    flag('e', "e", "only `-`: run again without an editor").takes("ename"),
    flag('l', "l", "list entries"),
    flag('n', "n", "without numbers"),
    flag('r', "r", "the newest first"),
    flag('s', "s", "run an entry again, with `old=new` replaced in it"),
];

pub static COMMAND: Command = Command {
    name: "fc",
    synopsis: "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
    summary: "List earlier commands, or run one again.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

/// `fc -l` without numbers shows so many.
const LISTED: usize = 16;

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    // `-2` is an entry, not an option.
    let mut words = words.to_vec();
    let first = words.iter().position(|word| !word.starts_with(b"-") || is_number(word));
    if let Some(at) = first.filter(|at| words.get(*at).is_some_and(is_number)) {
        words.insert(at, "--".into());
    }
    let arguments = match usage::parse(shell, &COMMAND, &words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("s") || arguments.value("e").is_some_and(|editor| editor == "-") {
        return run_again(shell, &arguments.operands);
    }
    if shell.history.entries.is_empty() {
        return Ok(ExitStatus::SUCCESS);
    }
    if !arguments.has("l") {
        shell.complain("fc: there is no editor; use -l to list or -s to run again");
        return Ok(ExitStatus::FAILURE);
    }
    list(shell, &arguments.operands, arguments.has("n"), arguments.has("r"))
}

fn list(shell: &mut Shell, operands: &[BString], bare: bool, newest_first: bool) -> Flow {
    let Some(last) = last_place(shell) else { return Ok(ExitStatus::SUCCESS) };
    let first = match operands.first() {
        Some(word) => place(shell, word),
        None => Some((last + 1).saturating_sub(LISTED)),
    };
    let end = match operands.get(1) {
        Some(word) => place(shell, word),
        None => Some(last),
    };
    let (Some(first), Some(end)) = (first, end) else {
        shell.complain("fc: history specification out of range");
        return Ok(ExitStatus::FAILURE);
    };
    let mut chosen: Vec<usize> = (first.min(end)..=first.max(end)).collect();
    if newest_first || first > end {
        chosen.reverse();
    }
    let mut text = Vec::new();
    for place in chosen {
        if !bare {
            text.extend_from_slice((place + shell.history.base()).to_string().as_bytes());
        }
        text.extend_from_slice(b"\t ");
        if let Some(entry) = shell.history.entries.get(place) {
            text.extend_from_slice(&entry.text);
        }
        text.push(b'\n');
    }
    shell.print("fc", &text)
}

/// `fc -s old=new command`
fn run_again(shell: &mut Shell, operands: &[BString]) -> Flow {
    let is_change = |word: &&BString| word.contains(&b'=');
    let changes: Vec<&BString> = operands.iter().take_while(is_change).collect();
    let found = match operands.get(changes.len()) {
        Some(word) => place(shell, word),
        None => last_place(shell),
    };
    let entry = found.and_then(|place| shell.history.entries.get(place));
    let Some(entry) = entry else {
        shell.complain("fc: no command found");
        return Ok(ExitStatus::FAILURE);
    };
    let mut text = entry.text.clone();
    for change in changes {
        if let Some((old, new)) = change.split_once_str("=")
            && !old.is_empty()
        {
            text = text.replace(old, new).into();
        }
    }
    shell.write_error(&[text.as_slice(), b"\n"].concat());
    shell.history_mut().forget_current();
    if shell.options.history {
        shell.remember_command(text.clone());
    }
    shell.evaluate_script(text.as_bstr())
}

/// The entry before the command that is being run.
fn last_place(shell: &Shell) -> Option<usize> {
    let current = usize::from(shell.history.holds_current);
    shell.history.entries.len().checked_sub(1 + current)
}

/// A number, one that counts back from the end, or how an entry begins.
fn place(shell: &Shell, word: &BString) -> Option<usize> {
    let last = last_place(shell)?;
    if is_number(word) {
        let number: i64 = word.to_str().ok()?.parse().ok()?;
        return match usize::try_from(number) {
            Ok(0) => Some(last),
            Ok(number) => Some(number.saturating_sub(shell.history.base()).min(last)),
            Err(_) => {
                let back = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
                Some((last + 1).saturating_sub(back))
            }
        };
    }
    let entries = shell.history.entries.get(..=last)?;
    entries.iter().rposition(|entry| entry.text.starts_with(word))
}

fn is_number(word: &BString) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

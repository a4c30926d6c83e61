//! `kill`

use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, number, signal_table, usage};
use crate::arguments::{OptionSpec, flag};
use crate::control::Control;
use crate::interpret::{signal_name, signal_number};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 3] = [
    flag('s', "s", "the signal by name").takes("sigspec"),
    flag('n', "n", "the signal by number").takes("signum"),
    flag('l', "l", "list signals, or translate between names and numbers").also(&['L']),
];

pub static COMMAND: Command = Command {
    name: "kill",
    synopsis: "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
    summary: "Send a signal to jobs and processes of this shell.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let (signal, targets) = match words {
        [] => {
            usage::print(shell, &COMMAND);
            return Ok(ExitStatus::USAGE);
        }
        [first, rest @ ..] if first == "-l" || first == "-L" => return list(shell, rest),
        [first] if first == "-s" || first == "-n" => {
            shell.complain(format!("kill: {}: option requires an argument", first.to_str_lossy()));
            return Ok(ExitStatus::FAILURE);
        }
        [first, name, rest @ ..] if first == "-s" || first == "-n" => (name.as_bytes(), rest),
        [first, rest @ ..] if first == "--" => (b"TERM".as_slice(), rest),
        [first, rest @ ..] => match first.strip_prefix(b"-") {
            Some(name) => (name, rest),
            None => (b"TERM".as_slice(), words),
        },
    };
    let Some(signal) = parse_signal(signal) else {
        return Ok(invalid(shell, signal));
    };
    let targets = super::without_dashes(targets);
    if targets.is_empty() {
        usage::print(shell, &COMMAND);
        return Ok(ExitStatus::USAGE);
    }
    let mut status = ExitStatus::SUCCESS;
    for target in targets {
        if !send(shell, signal, target) {
            status = ExitStatus::FAILURE;
        }
    }
    // To itself: what the signal does happens before the next command.
    shell.control.check()?;
    Ok(status)
}

/// A name or a number; 0 only asks whether the process is there.
fn parse_signal(text: &[u8]) -> Option<i32> {
    if let Some(number) = number::parse(&text.into()) {
        let number = i32::try_from(number).ok()?;
        return (number == 0 || signal_name(number).is_some()).then_some(number);
    }
    if text.eq_ignore_ascii_case(b"EXIT") {
        return Some(0);
    }
    signal_number(text)
}

fn invalid(shell: &Shell, name: &[u8]) -> ExitStatus {
    shell.complain(format!("kill: {}: invalid signal specification", name.to_str_lossy()));
    ExitStatus::FAILURE
}

fn send(shell: &mut Shell, signal: i32, target: &BString) -> bool {
    let text = target.to_str_lossy();
    let control = if target.starts_with(b"%") {
        let Ok(Some(job)) = shell.jobs.by_specification(target.as_bstr()) else {
            shell.complain(format!("kill: {text}: no such job"));
            return false;
        };
        Some(Arc::clone(&job.control))
    } else {
        let Some(number) = number::parse(target) else {
            shell.complain(format!("kill: {text}: arguments must be process or job IDs"));
            return false;
        };
        find_process(shell, number)
    };
    let Some(control) = control else {
        shell.complain(format!("kill: ({text}) - No such process"));
        return false;
    };
    if signal != 0 {
        control.deliver(signal);
    }
    true
}

/// A process of this script: the shell itself, those around it, its jobs. Nothing else exists.
fn find_process(shell: &Shell, number: i64) -> Option<Arc<Control>> {
    if number == 0 {
        return Some(Arc::clone(&shell.control));
    }
    let process_id = u32::try_from(number.unsigned_abs()).ok()?;
    if let Some(job) = shell.jobs.by_process(process_id) {
        return job.status().is_none().then(|| Arc::clone(&job.control));
    }
    let process = process_id.checked_sub(shell.host.identity().process_id)?;
    shell.control.ancestor(process)
}

fn list(shell: &mut Shell, words: &[BString]) -> Flow {
    if words.is_empty() {
        return shell.print("kill", signal_table::list().as_bytes());
    }
    let mut status = ExitStatus::SUCCESS;
    for word in words {
        let translated = match number::parse(word) {
            // A status above 128 is that of a process a signal ended.
            Some(number) => {
                let number = if number > 128 { number - 128 } else { number };
                let name = i32::try_from(number).ok().and_then(signal_name);
                if number == 0 { Some("EXIT".into()) } else { name }
            }
            None => parse_signal(word).map(|number| number.to_string()),
        };
        match translated {
            Some(text) => {
                shell.print("kill", format!("{text}\n").as_bytes())?;
            }
            None => status = invalid(shell, word),
        }
    }
    Ok(status)
}

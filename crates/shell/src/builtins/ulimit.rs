//! `ulimit`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 20] = [
    flag('S', "S", "the soft limit"),
    flag('H', "H", "the hard limit"),
    flag('a', "a", "all limits"),
    flag('R', "R", "time a real-time process may run without blocking"),
    flag('c', "c", "size of core files"),
    flag('d', "d", "size of a process's data"),
    flag('e', "e", "scheduling priority"),
    flag('f', "f", "size of files"),
    flag('i', "i", "pending signals"),
    flag('l', "l", "locked memory"),
    flag('m', "m", "resident memory"),
    flag('n', "n", "open files"),
    flag('p', "p", "size of pipes"),
    flag('q', "q", "POSIX message queues"),
    flag('r', "r", "real-time priority"),
    flag('s', "s", "size of the stack"),
    flag('t', "t", "processor time"),
    flag('u', "u", "processes"),
    flag('v', "v", "virtual memory"),
    flag('x', "x", "file locks"),
];

pub static COMMAND: Command = Command {
    name: "ulimit",
    synopsis: "ulimit [-SHacdefilmnpqrstuvxR] [limit]",
    summary: "Show the limits of the request.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

/// What a script is told where the request has no limit of its own: nothing is unlimited by number.
static RESOURCES: [(&str, &str, &str, Source); 17] = [
    ("R", "real-time non-blocking time", "microseconds, ", Source::Unlimited),
    ("c", "core file size", "blocks, ", Source::Fixed(0)),
    ("d", "data seg size", "kbytes, ", Source::Unlimited),
    ("e", "scheduling priority", "", Source::Fixed(0)),
    ("f", "file size", "blocks, ", Source::Unlimited),
    ("i", "pending signals", "", Source::Unlimited),
    ("l", "max locked memory", "kbytes, ", Source::Unlimited),
    ("m", "max memory size", "kbytes, ", Source::Unlimited),
    ("n", "open files", "", Source::OpenFiles),
    ("p", "pipe size", "512 bytes, ", Source::Fixed(8)),
    ("q", "POSIX message queues", "bytes, ", Source::Unlimited),
    ("r", "real-time priority", "", Source::Fixed(0)),
    ("s", "stack size", "kbytes, ", Source::Unlimited),
    ("t", "cpu time", "seconds, ", Source::Unlimited),
    ("u", "max user processes", "", Source::Processes),
    ("v", "virtual memory", "kbytes, ", Source::Unlimited),
    ("x", "file locks", "", Source::Unlimited),
];

#[derive(Clone, Copy)]
enum Source {
    Unlimited,
    Fixed(u32),
    OpenFiles,
    Processes,
}

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let chosen: Vec<_> = RESOURCES
        .iter()
        .filter(|(letter, ..)| arguments.has("a") || arguments.has(letter))
        .collect();
    let chosen = if chosen.is_empty() {
        RESOURCES.iter().filter(|(letter, ..)| *letter == "f").collect()
    } else {
        chosen
    };
    if let Some(wanted) = arguments.operands.first().filter(|_| !arguments.has("a")) {
        return Ok(change(shell, &chosen, wanted));
    }
    let mut text = String::new();
    for (letter, name, unit, source) in &chosen {
        let value = value(shell, *source);
        if chosen.len() == 1 {
            text.push_str(&format!("{value}\n"));
        } else {
            let unit = format!("({unit}-{letter})");
            let width = 41_usize.saturating_sub(name.len() + 1);
            text.push_str(&format!("{name} {unit:>width$} {value}\n"));
        }
    }
    shell.print("ulimit", text.as_bytes())
}

/// The limits are the operator's: a script can only ask for what is already so.
fn change(shell: &Shell, chosen: &[&(&str, &str, &str, Source)], wanted: &BString) -> ExitStatus {
    let known = ["hard", "soft", "unlimited"].iter().any(|word| wanted == *word);
    if !known && !wanted.iter().all(u8::is_ascii_digit) {
        shell.complain(format!("ulimit: {}: invalid number", wanted.to_str_lossy()));
        return ExitStatus::FAILURE;
    }
    for (_, name, _, source) in chosen {
        let same = wanted == "hard" || wanted == "soft" || *wanted == value(shell, *source);
        if !same {
            let problem = "cannot modify limit: Operation not permitted";
            shell.complain(format!("ulimit: {name}: {problem}"));
            return ExitStatus::FAILURE;
        }
    }
    ExitStatus::SUCCESS
}

fn value(shell: &Shell, source: Source) -> String {
    match source {
        Source::Unlimited => "unlimited".into(),
        Source::Fixed(value) => value.to_string(),
        Source::OpenFiles => shell.control.limits.open_files.to_string(),
        Source::Processes => shell.control.limits.processes.to_string(),
    }
}

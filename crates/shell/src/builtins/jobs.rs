//! `jobs`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::interpret::{Job, signal_description};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 5] = [
    flag('l', "l", "with process ids"),
    flag('n', "n", "only those whose state has changed"),
    flag('p', "p", "only process ids"),
    flag('r', "r", "only those that run"),
    flag('s', "s", "only those that are stopped"),
];

pub static COMMAND: Command = Command {
    name: "jobs",
    synopsis: "jobs [-lnprs] [jobspec ...]",
    summary: "List background jobs.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let mut status = ExitStatus::SUCCESS;
    let mut text = BString::default();
    if arguments.operands.is_empty() {
        for job in shell.jobs.listed() {
            text.extend_from_slice(&line(shell, job, &arguments));
        }
    }
    for word in &arguments.operands {
        let found = shell.jobs.by_specification(word.as_bstr());
        if let Ok(Some(job)) = found {
            text.extend_from_slice(&line(shell, job, &arguments));
        } else {
            if found.is_err() {
                let name = word.strip_prefix(b"%").unwrap_or(word).to_str_lossy();
                shell.complain(format!("jobs: {name}: ambiguous job spec"));
            }
            shell.complain(format!("jobs: {}: no such job", word.to_str_lossy()));
            status = ExitStatus::FAILURE;
        }
    }
    shell.print("jobs", &text)?;
    shell.jobs.remember_ended();
    Ok(status)
}

/// `[1]+  Running                 sleep 9 &`
fn line(shell: &Shell, job: &Job, arguments: &Arguments) -> BString {
    let ended = job.status();
    // A script is not told of jobs that have ended: bash forgets them before its next command.
    let watched = shell.options.interactive || shell.options.monitor;
    let hidden = (ended.is_some() && !watched)
        || (arguments.has("r") && ended.is_some())
        || arguments.has("s")
        || (arguments.has("n") && ended.is_none());
    if hidden {
        return BString::default();
    }
    if arguments.has("p") {
        return format!("{}\n", job.process_id).into();
    }
    let is = |other: Option<&Job>| other.is_some_and(|other| other.number == job.number);
    let mark = if is(shell.jobs.current()) {
        '+'
    } else if is(shell.jobs.previous()) {
        '-'
    } else {
        ' '
    };
    let state = match ended {
        None => "Running".into(),
        Some(status) if status.success() => "Done".into(),
        Some(status) if status.0 > 128 => signal_description(i32::from(status.0) - 128),
        Some(status) => format!("Exit {status}"),
    };
    let id = if arguments.has("l") { format!(" {} ", job.process_id) } else { "  ".into() };
    let mut text = BString::from(format!("[{}]{mark}{id}{state:<24}", job.number));
    text.extend_from_slice(&job.text);
    text.extend_from_slice(if ended.is_none() { b" &\n" } else { b"\n" });
    text
}

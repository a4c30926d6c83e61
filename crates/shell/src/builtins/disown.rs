//! `disown`

use bstr::{BString, ByteSlice};

use super::{Command, Run, number, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 3] = [
    flag('h', "h", "keep the job in the list"),
    flag('a', "a", "all jobs"),
    flag('r', "r", "all that run"),
];

pub static COMMAND: Command = Command {
    name: "disown",
    synopsis: "disown [-h] [-ar] [jobspec ... | pid ...]",
    summary: "Take jobs off the list.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let mut status = ExitStatus::SUCCESS;
    let mut chosen = Vec::new();
    if arguments.operands.is_empty() {
        if arguments.has("a") || arguments.has("r") {
            let all = shell.jobs.listed();
            let wanted = all.filter(|job| !arguments.has("r") || job.status().is_none());
            chosen.extend(wanted.map(|job| job.process_id));
        } else if let Some(job) = shell.jobs.current() {
            chosen.push(job.process_id);
        } else {
            shell.complain("disown: current: no such job");
            return Ok(ExitStatus::FAILURE);
        }
    }
    for word in &arguments.operands {
        let job = match number::parse(word).and_then(|number| u32::try_from(number).ok()) {
            Some(process_id) => shell.jobs.by_process(process_id),
            None => shell.jobs.by_specification(word.as_bstr()).unwrap_or(None),
        };
        if let Some(job) = job {
            chosen.push(job.process_id);
        } else {
            shell.complain(format!("disown: {}: no such job", word.to_str_lossy()));
            status = ExitStatus::FAILURE;
        }
    }
    if !arguments.has("h") {
        for process_id in chosen {
            shell.jobs.remember(process_id);
        }
    }
    Ok(status)
}

//! `wait`

use bstr::{BString, ByteSlice};

use super::{Command, Run, number, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};

static OPTIONS: [OptionSpec; 3] = [
    flag('f', "f", "wait until the job has ended"),
    flag('n', "n", "wait for the next job that ends"),
    flag('p', "p", "put the id of the job into this variable").takes("var"),
];

pub static COMMAND: Command = Command {
    name: "wait",
    synopsis: "wait [-fn] [-p var] [id ...]",
    summary: "Wait until jobs have ended.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.has("n") {
        return wait_for_next(shell, &arguments);
    }
    if arguments.operands.is_empty() {
        let own: Vec<u32> = shell.jobs.listed().map(|job| job.process_id).collect();
        for process_id in own {
            if let Waited::Interrupted(signal) = wait_for(shell, &[process_id])? {
                return Ok(ExitStatus::from_signal(signal));
            }
            shell.jobs.remember(process_id);
        }
        return Ok(ExitStatus::SUCCESS);
    }
    let mut status = ExitStatus::SUCCESS;
    for word in &arguments.operands {
        let Some(process_id) = resolve(shell, word, &mut status) else { continue };
        match wait_for(shell, &[process_id])? {
            Waited::Interrupted(signal) => return Ok(ExitStatus::from_signal(signal)),
            Waited::Ended(process_id, ended) => {
                status = ended;
                shell.jobs.remember(process_id);
                note(shell, &arguments, Some(process_id))?;
            }
        }
    }
    Ok(status)
}

enum Waited {
    Ended(u32, ExitStatus),
    /// A signal with a trap arrived.
    Interrupted(i32),
}

/// Until one of them has ended.
fn wait_for(shell: &mut Shell, process_ids: &[u32]) -> Running<Waited> {
    let ended = |shell: &Shell| {
        process_ids.iter().find_map(|process_id| {
            let status = shell.jobs.by_process(*process_id)?.status()?;
            Some((*process_id, status))
        })
    };
    let control = std::sync::Arc::clone(&shell.control);
    control.wait_until(None, || ended(shell).is_some() || control.has_pending())?;
    match ended(shell) {
        Some((process_id, status)) if !control.has_pending() => {
            Ok(Waited::Ended(process_id, status))
        }
        _ => Ok(Waited::Interrupted(control.first_pending())),
    }
}

fn wait_for_next(shell: &mut Shell, arguments: &Arguments) -> Flow {
    let mut status = ExitStatus::NOT_FOUND;
    let mut candidates = Vec::new();
    if arguments.operands.is_empty() {
        candidates.extend(shell.jobs.listed().map(|job| job.process_id));
    }
    for word in &arguments.operands {
        candidates.extend(resolve(shell, word, &mut status));
    }
    if candidates.is_empty() {
        note(shell, arguments, None)?;
        return Ok(status);
    }
    match wait_for(shell, &candidates)? {
        Waited::Interrupted(signal) => Ok(ExitStatus::from_signal(signal)),
        Waited::Ended(process_id, ended) => {
            shell.jobs.remember(process_id);
            note(shell, arguments, Some(process_id))?;
            Ok(ended)
        }
    }
}

/// `-p var`: which one it was; unset if none.
fn note(shell: &mut Shell, arguments: &Arguments, process_id: Option<u32>) -> Running<()> {
    let Some(name) = arguments.value("p") else { return Ok(()) };
    if let Some(process_id) = process_id {
        return shell.assign_scalar(name, process_id.to_string().into());
    }
    shell.variables.remove(name);
    Ok(())
}

/// The process a word means; what is wrong with it is printed.
fn resolve(shell: &mut Shell, word: &BString, status: &mut ExitStatus) -> Option<u32> {
    let text = word.to_str_lossy();
    if word.starts_with(b"%") {
        if let Ok(Some(job)) = shell.jobs.by_specification(word.as_bstr()) {
            return Some(job.process_id);
        }
        shell.complain(format!("wait: {text}: no such job"));
        *status = ExitStatus::NOT_FOUND;
        return None;
    }
    let Some(process_id) = number::parse(word).and_then(|number| u32::try_from(number).ok()) else {
        shell.complain(format!("wait: `{text}': not a pid or valid job spec"));
        *status = ExitStatus::FAILURE;
        return None;
    };
    if shell.jobs.owns(process_id) {
        return Some(process_id);
    }
    shell.complain(format!("wait: pid {process_id} is not a child of this shell"));
    *status = ExitStatus::NOT_FOUND;
    None
}

//! `fg` and `bg`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::interpret::Job;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "fg",
    synopsis: "fg [job_spec]",
    summary: "Wait for a job as if it had been started in the foreground.",
    options: &[],
    run: Run::Builtin { special: false, run: run_foreground },
};

pub static BACKGROUND: Command = Command {
    name: "bg",
    synopsis: "bg [job_spec ...]",
    summary: "Let stopped jobs go on in the background.",
    options: &[],
    run: Run::Builtin { special: false, run: run_background },
};

fn run_foreground(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let Some(job) = find(shell, &COMMAND, arguments.operands.first()) else {
        return Ok(ExitStatus::FAILURE);
    };
    let mut text = (*job.text).clone();
    text.push(b'\n');
    shell.print("fg", &text)?;
    let control = std::sync::Arc::clone(&shell.control);
    control.wait_until(None, || job.status().is_some())?;
    shell.jobs.remember(job.process_id);
    Ok(job.status().unwrap_or_default())
}

/// No job is ever stopped here: all of them are in the background already.
fn run_background(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &BACKGROUND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let Some(job) = find(shell, &BACKGROUND, arguments.operands.first()) else {
        return Ok(ExitStatus::FAILURE);
    };
    shell.complain(format!("bg: job {} already in background", job.number));
    Ok(ExitStatus::SUCCESS)
}

/// The job that is meant; what is wrong is printed.
fn find(shell: &Shell, command: &Command, word: Option<&BString>) -> Option<Job> {
    let name = command.name;
    if !shell.options.monitor {
        shell.complain(format!("{name}: no job control"));
        return None;
    }
    let found = match word {
        Some(word) => shell.jobs.by_specification(word.as_bstr()).unwrap_or(None),
        None => shell.jobs.current(),
    };
    if found.is_none() {
        let word = word.map_or("current".into(), |word| word.to_str_lossy());
        shell.complain(format!("{name}: {word}: no such job"));
    }
    found.cloned()
}

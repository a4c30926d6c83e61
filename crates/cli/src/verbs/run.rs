//! `exacta run`: one request, its result for people or as JSON.

use std::time::SystemTime;

use bstr::ByteSlice;
use exacta::{Outcome, Request, Session, SessionOptions};
use exacta_shell::status::{ExitStatus, Stop};
use serde_json::{Value, json};

use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, RunInvocation};
use crate::signals::Interrupts;
use crate::{launch, output, streams};

/// Bytes of output kept in the report; what `full-auto` allows (S3).
const MAX_OUTPUT: u64 = 10 << 20;

pub fn perform(global: &Global, run: RunInvocation) -> Exit {
    let mut options = match launch::options(global) {
        Ok(options) => options,
        Err(problem) => return failed(&problem),
    };
    place(&mut options, &run);
    if run.clear_environment {
        options.environment.clone_from(&global.environment);
    }
    options.limits.wall_time = run.timeout;
    options.record_steps = global.json;
    let root = options.root.clone();
    let mut session = match Session::new(options) {
        Ok(session) => session,
        Err(problem) => return failed(&problem),
    };
    let interrupts = match Interrupts::listen() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(&format!("cannot listen for signals: {error}")),
    };
    interrupts.watch(session.prepare());
    let directory = session.shell().directory.to_string();
    let started = SystemTime::now();
    let outcome = session.run_script(&request(global, &run));
    let status = match (&outcome.stopped, interrupts.received()) {
        (Some(Stop::Cancelled), Some(signal)) => ExitStatus::from_signal(signal),
        (Some(Stop::TimedOut), _) => ExitStatus(124),
        _ => outcome.status,
    };
    if global.json {
        let limit = run.max_output.unwrap_or(MAX_OUTPUT);
        let report = report(&run, &root, &directory, started, status, outcome, limit);
        output::print(&format!("{report}\n"));
    }
    Exit::Script(status)
}

/// `run` starts at the root unless told otherwise.
fn place(options: &mut SessionOptions, run: &RunInvocation) {
    options.directory = run.directory.as_ref().map(|directory| options.root.join(directory));
}

/// Nothing to read: a command that waits for input nobody gives would hang. Output goes straight through
/// unless it is to be reported.
fn request(global: &Global, run: &RunInvocation) -> Request {
    let request = Request::new(run.command.clone());
    if global.json {
        return request;
    }
    streams::own_output(request)
}

fn report(
    run: &RunInvocation,
    root: &std::path::Path,
    directory: &str,
    started: SystemTime,
    status: ExitStatus,
    outcome: Outcome,
    limit: u64,
) -> Value {
    let id = uuid::Uuid::now_v7();
    let stdout = exacta::report::clip(&outcome.stdout, limit);
    let stderr = exacta::report::clip(&outcome.stderr, limit);
    let truncated = stdout.cut || stderr.cut;
    let spill = truncated
        .then(|| {
            exacta::report::spill(root, &id.to_string(), &outcome.stdout, &outcome.stderr).ok()
        })
        .flatten();
    json!({
        "schema_version": 1,
        "correlation_id": id.to_string(),
        "command": run.command.to_str_lossy(),
        "args": exacta::report::words_of_simple_command(run.command.as_bstr()),
        "working_dir": directory,
        "exit_code": status.0,
        "stdout": stdout.text,
        "stderr": stderr.text,
        "duration_ms": outcome.duration.as_secs_f64() * 1000.0,
        "resource_usage": { "cpu_ms": Value::Null, "memory_peak_bytes": Value::Null },
        "policy_rule_matched": Value::Null,
        "timestamp": exacta::report::timestamp(started),
        "decision": "allow",
        "reason": outcome.stopped.as_ref().map(ToString::to_string),
        "hint": Value::Null,
        "timed_out": outcome.stopped == Some(Stop::TimedOut),
        "truncated": truncated,
        "spill_path": spill,
        "isolation": { "level": "in-process", "walls": ["confined-filesystem"] },
        "undo": Value::Null,
        "approval": Value::Null,
        "steps": outcome.steps.iter().map(|step| json!({
            "argv": step.argv.iter().map(|word| word.to_str_lossy()).collect::<Vec<_>>(),
            "rule": Value::Null,
            "exit_code": step.status.0,
            "builtin": step.builtin,
            "duration_ms": step.duration.as_secs_f64() * 1000.0,
        })).collect::<Vec<_>>(),
    })
}

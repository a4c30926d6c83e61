//! `exacta run`: one request, its result for people or as JSON.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bstr::ByteSlice;
use exacta::approvals::{Answer, Approver, Standard};
use exacta::gate::Face;
use exacta::policy::{Decision, Place, Surroundings as _};
use exacta::{Outcome, OutputLimit, Request, Session, SessionOptions};
use exacta_shell::status::{ExitStatus, Stop};
use serde_json::{Value, json};

use super::{failed, isolation, not_recorded};
use crate::exit::Exit;
use crate::invocation::{Global, RunInvocation, Trial};
use crate::launch::Launch;
use crate::prompt::Prompt;
use crate::signals::Interrupts;
use crate::terminal::visible;
use crate::{foresight, output, streams};

pub fn perform(global: &Global, run: RunInvocation) -> Exit {
    // First of all: what comes after this is the time that it saves.
    foresight::prepare(&run.command);
    let launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    let known = uuid::Uuid::now_v7();
    let id = known.to_string();
    let limit = run.max_output.unwrap_or_else(|| launch.output_bytes());
    let mut options = launch.session(Face::Run, approver(&run));
    let name = format!("output-{id}");
    options.output = Some(OutputLimit { bytes: limit, root: Some(options.root.clone()), name });
    adjust(&mut options, global, &run);
    let root = options.root.clone();
    let mut session = match Session::new(options) {
        Ok(session) => session,
        Err(problem) => return failed(&problem),
    };
    if let Some(wanted) = &run.directory
        && let Some(exit) = not_there(&session, &root.join(wanted))
    {
        return exit;
    }
    let interrupts = match Interrupts::listen() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(&format!("cannot listen for signals: {error}")),
    };
    interrupts.watch(session.prepare());
    let directory = session.shell().directory.to_string();
    let started = SystemTime::now();
    let mut outcome = session.run_script(&request(global, &run).known_as(known.into_bytes()));
    let changes = run.trial.map(|trial| {
        let held = outcome.undo.as_ref().map(|undo| undo.id);
        if trial == Trial::DryRun {
            outcome.undo = None;
        }
        super::records::trial::perform(global, trial, held)
    });
    let status = match (&outcome.stopped, interrupts.received()) {
        (Some(Stop::Cancelled), Some(signal)) => ExitStatus::from_signal(signal),
        (Some(Stop::TimedOut), _) => ExitStatus(124),
        _ => outcome.status,
    };
    if global.json {
        let mut report = report(&run, &id, &directory, started, status, &outcome);
        if let (Some(changes), Some(report)) = (changes, report.as_object_mut()) {
            report.insert("changes".to_owned(), changes);
        }
        output::print(&format!("{report}\n"));
    } else if outcome.truncated {
        warn_of_cut(limit, outcome.spill.as_deref());
    }
    match session.leave() {
        Ok(()) => Exit::Script(status),
        Err(error) => not_recorded(&error),
    }
}

/// Whoever is there to ask.
fn approver(run: &RunInvocation) -> Arc<dyn Approver> {
    match (run.yes, run.no_input) {
        (true, _) => Arc::new(Standard { answer: Answer::Once, name: "--yes" }),
        (_, true) => Arc::new(Standard { answer: Answer::No, name: "--no-input" }),
        _ => Arc::new(Prompt),
    }
}

/// As the command line says. `run` starts at the root unless told otherwise.
fn adjust(options: &mut SessionOptions, global: &Global, run: &RunInvocation) {
    options.directory = run.directory.as_ref().map(|directory| options.root.join(directory));
    if run.clear_environment {
        options.environment.clone_from(&global.environment);
    }
    if let Some(programs) = &mut options.programs {
        programs.direct = run.direct;
    }
    options.limits.wall_time = run.timeout;
    options.record_steps = global.json;
}

/// A command for another directory must not run in this one.
fn not_there(session: &Session, wanted: &Path) -> Option<Exit> {
    let wanted = wanted.as_os_str().as_encoded_bytes().as_bstr();
    if session.shell().directory == wanted {
        return None;
    }
    let shown = visible(&wanted.to_str_lossy());
    Some(match session.world().place(wanted) {
        Place::Project | Place::Scratch => failed(&format!("{shown}: No such directory")),
        _ => {
            output::error(&format!(
                "exacta: refused by policy: {shown}: leads out of the project\n"
            ));
            Exit::Refused
        }
    })
}

/// Nothing to read: a command that waits for input nobody gives would hang. Output goes straight through
/// unless it is to be reported.
fn request(global: &Global, run: &RunInvocation) -> Request {
    let mut request = Request::new(run.command.clone());
    if run.trial.is_some() {
        request = request.held();
    }
    if global.json {
        return request;
    }
    streams::own_output(request)
}

/// S3: truncate and warn.
fn warn_of_cut(limit: u64, spill: Option<&str>) {
    let place = spill.map(|path| format!("; the whole is in {path}")).unwrap_or_default();
    output::error(&format!("exacta: output over the limit of {limit} bytes was left out{place}\n"));
}

fn report(
    run: &RunInvocation,
    id: &str,
    directory: &str,
    started: SystemTime,
    status: ExitStatus,
    outcome: &Outcome,
) -> Value {
    // A report says no more than the command itself would.
    let finding = outcome.judged.finding.as_ref().filter(|_| !is_concealed(outcome));
    json!({
        "schema_version": 1,
        "correlation_id": id,
        "command": run.command.to_str_lossy(),
        "args": exacta::report::words_of_simple_command(run.command.as_bstr()),
        "working_dir": directory,
        "exit_code": status.0,
        "stdout": exacta::report::without_escapes(&outcome.stdout),
        "stderr": exacta::report::without_escapes(&outcome.stderr),
        "duration_ms": outcome.duration.as_secs_f64() * 1000.0,
        "resource_usage": isolation::usage(outcome),
        "policy_rule_matched": (!is_concealed(outcome)).then(|| outcome.judged.rule()),
        "timestamp": exacta::report::timestamp(started),
        "decision": finding.map_or(Decision::Allow, |finding| finding.decision).name(),
        "reason": reason(outcome),
        "hint": finding.map(|finding| &*finding.hint).filter(|hint| !hint.is_empty()),
        "timed_out": outcome.stopped == Some(Stop::TimedOut),
        "truncated": outcome.truncated,
        "spill_path": outcome.spill,
        "isolation": isolation::walls(outcome),
        "limits": isolation::limits(outcome),
        "undo": outcome.undo.as_ref().map(|undo| json!({
            "id": undo.id.0,
            "strategy": undo.strategy,
        })),
        "approval": approval(outcome),
        "redacted": outcome.redacted.kinds,
        "steps": outcome.steps.iter().map(|step| json!({
            "argv": step.argv.iter().map(|word| word.to_str_lossy()).collect::<Vec<_>>(),
            "rule": step.rule.as_deref(),
            "exit_code": step.status.0,
            "builtin": step.builtin,
            "duration_ms": step.duration.as_secs_f64() * 1000.0,
        })).collect::<Vec<_>>(),
    })
}

/// The agent is told that there is no such command.
fn is_concealed(outcome: &Outcome) -> bool {
    matches!(&outcome.stopped, Some(Stop::Refused(refusal)) if refusal.concealed)
}

/// Why it was stopped, else why it was allowed.
fn reason(outcome: &Outcome) -> Option<String> {
    match &outcome.stopped {
        Some(stop) => Some(stop.to_string()),
        None => Some(outcome.judged.reason().to_owned()),
    }
}

/// What a person has decided, or still has to.
fn approval(outcome: &Outcome) -> Value {
    if let Some(Stop::Refused(refusal)) = &outcome.stopped {
        return refusal.approval.as_ref().map_or(
            Value::Null,
            |id| json!({ "id": id, "by": Value::Null, "scope": Value::Null, "state": "pending" }),
        );
    }
    outcome.judged.grant.as_ref().map_or(Value::Null, |grant| {
        json!({ "id": grant.id, "by": grant.by, "scope": grant.scope.name(), "state": "used" })
    })
}

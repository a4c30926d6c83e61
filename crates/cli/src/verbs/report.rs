//! A request and what became of it, as one JSON object (S3 §8 and more): what `exacta run --json` prints and every door answers.

use std::time::SystemTime;

use bstr::{BString, ByteSlice};
use exacta::Outcome;
use exacta::policy::Decision;
use exacta_shell::status::{ExitStatus, Stop};
use serde_json::{Value, json};

use super::isolation;

/// The status that the caller gets.
pub fn status(outcome: &Outcome) -> ExitStatus {
    match &outcome.stopped {
        Some(Stop::TimedOut) => ExitStatus(124),
        _ => outcome.status,
    }
}

/// What was asked, and when.
pub struct Asked<'a> {
    pub command: &'a BString,
    pub id: &'a str,
    pub directory: String,
    pub started: SystemTime,
}

/// Of a request with this exit status.
pub fn of(asked: &Asked<'_>, outcome: &Outcome, status: ExitStatus) -> Value {
    let Asked { command, id, directory, started } = asked;
    // A report says no more than the command itself would.
    let finding = outcome.judged.finding.as_ref().filter(|_| !is_concealed(outcome));
    json!({
        "schema_version": 1,
        "correlation_id": id,
        "command": command.to_str_lossy(),
        "args": exacta::report::words_of_simple_command(command.as_bstr()),
        "working_dir": directory,
        "exit_code": status.0,
        "stdout": exacta::report::without_escapes(&outcome.stdout),
        "stderr": exacta::report::without_escapes(&outcome.stderr),
        "duration_ms": outcome.duration.as_secs_f64() * 1000.0,
        "resource_usage": isolation::usage(outcome),
        "policy_rule_matched": (!is_concealed(outcome)).then(|| outcome.judged.rule()),
        "timestamp": exacta::report::timestamp(*started),
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

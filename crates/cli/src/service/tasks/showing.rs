//! A task for clients: a row of a list, or all of it. What others have written is without secrets.

use std::time::Duration;

use exacta::approvals::{Pending, PendingStore};
use exacta::redaction::Rules;
use exacta::tasks::{Attempt, Check, LogEntry, State, StepState, Task, report};
use serde_json::{Value, json};

use super::Opened;
use crate::planner::written;

/// What it is about and how far it has come.
pub fn row(opened: &Opened, task: &Task) -> Value {
    let done = task.steps.iter().filter(|step| step.state == StepState::Done).count();
    let current = task.steps.iter().position(|step| step.state == StepState::Running);
    json!({
        "id": task.id,
        "project": opened.project.root.display().to_string(),
        "agent": task.agent,
        "goal": plain(&opened.rules, &task.goal),
        "state": task.state.name(),
        "reason": plain(&opened.rules, &task.reason),
        "progress": { "done": done, "total": task.steps.len() },
        "step": current.map(|step| step + 1),
        "approval": task.approval.as_ref().filter(|_| task.state == State::PendingApproval),
        "created": task.created,
        "changed": task.changed,
    })
}

/// All of it: each step with what was planned, tried and found, and S4's notification while it waits at the gate.
pub fn whole(opened: &Opened, task: &Task) -> Value {
    let rules = &opened.rules;
    let mut view = row(opened, task);
    let steps = (0..task.steps.len()).map(|number| step(rules, task, number));
    let moves = opened.tasks.moves(&task.id).unwrap_or_default();
    let moves = moves.iter().map(|it| {
        json!({ "timestamp": it.timestamp, "from": it.from.map(State::name), "to": it.to.name(), "why": it.why })
    });
    let more = json!({
        "steps": steps.collect::<Vec<_>>(),
        "moves": moves.collect::<Vec<_>>(),
        "notification": question(opened, task).map(|pending| notification(&pending)),
        "rollback_on_failure": task.rollback_on_failure,
        "step_by_step": task.step_by_step,
        "rolled_back": task.rolled_back,
        "approved_by": task.approved_by,
        "round": task.round + 1,
        "report": plain(rules, &report::report(task)),
    });
    if let (Some(view), Value::Object(more)) = (view.as_object_mut(), more) {
        view.extend(more);
    }
    view
}

fn question(opened: &Opened, task: &Task) -> Option<Pending> {
    let id = task.approval.as_ref().filter(|_| task.state == State::PendingApproval)?;
    PendingStore::of(&opened.project.root).get(id).ok()
}

/// S4's three parts by their names, of the question as it was filed: what is shown is what is decided about.
fn notification(pending: &Pending) -> Value {
    let why = pending.asks.iter().map(
        |asked| json!({ "command": asked.command, "rule": asked.rule, "reason": asked.reason }),
    );
    json!({
        "Goal": pending.goal,
        "Plan": pending.plan,
        "Irreversible Command": pending.irreversible,
        "why": why.collect::<Vec<_>>(),
        "approval": pending.id,
        "state": pending.state.name(),
        "expires": pending.expires,
    })
}

fn step(rules: &Rules, task: &Task, number: usize) -> Value {
    let planned = task.plan.as_ref().and_then(|plan| plan.steps.get(number));
    let written = planned.map(written::step).unwrap_or_default();
    let text = |name: &str| plain(rules, written[name].as_str().unwrap_or_default());
    let run = task.steps.get(number);
    let attempts = run.map(|run| run.attempts.iter().map(|it| attempt(rules, it)).collect());
    let checks = run.map(|run| run.checks.iter().map(|it| check(rules, it)).collect());
    let (attempts, checks): (Vec<Value>, Vec<Value>) =
        (attempts.unwrap_or_default(), checks.unwrap_or_default());
    json!({
        "number": number + 1,
        "command": text("command"),
        "why": text("why"),
        "state": run.map(|run| run.state).unwrap_or_default().name(),
        "reason": plain(rules, run.map(|run| run.why.as_str()).unwrap_or_default()),
        "needs_approval": task.asks.contains(&number),
        "approved": task.approved.contains(&number),
        "idempotent": planned.is_some_and(|planned| planned.idempotent),
        "timeout_ms": planned.map(|planned| milliseconds(planned.time_limit())),
        "attempts": attempts,
        "checks": checks,
    })
}

/// Its output is kept without secrets.
fn attempt(rules: &Rules, attempt: &Attempt) -> Value {
    json!({
        "request": attempt.request,
        "started": attempt.started,
        "ended": attempt.ended,
        "exit_code": attempt.exit_code,
        "timed_out": attempt.timed_out,
        "stdout": attempt.stdout,
        "stderr": attempt.stderr,
        "truncated": attempt.truncated,
        "undo": attempt.undo,
        "irreversible": attempt.irreversible,
        "rolled_back": attempt.rolled_back,
        "interrupted": attempt.interrupted,
        "refused": attempt.refused.as_ref().map(|text| plain(rules, text)),
        "failed": attempt.failed.as_ref().map(|text| plain(rules, text)),
    })
}

fn check(rules: &Rules, check: &Check) -> Value {
    json!({
        "what": check.what,
        "expected": plain(rules, &check.expected),
        "found": plain(rules, &check.found),
        "held": check.held,
    })
}

/// S4's entry to the letter, and its number before it.
pub fn line(number: u64, entry: &LogEntry) -> Value {
    let LogEntry { timestamp, kind, content } = entry;
    json!({ "number": number, "timestamp": timestamp, "type": kind.name(), "content": content })
}

fn plain(rules: &Rules, text: &str) -> String {
    rules.redact_text(text).0
}

pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

//! A task for programs: one shape for the command line and the served doors.

use exacta::tasks::{Attempt, LogEntry, Move, PlannedStep, State, StepRun, Task};
use serde_json::{Value, json};

use crate::planner::written;

/// Goes up when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// One of many.
pub fn summary(task: &Task) -> Value {
    let count = |state: &str| task.steps.iter().filter(|run| run.state.name() == state).count();
    json!({
        "id": task.id,
        "agent": task.agent,
        "goal": task.goal,
        "state": task.state.name(),
        "reason": task.reason,
        "denied": task.refused,
        "steps": task.steps.len(),
        "done": count("done"),
        "created": task.created,
        "changed": task.changed,
        "next": next(task),
    })
}

/// All of it, with the way it has come and S4's `executionLog`.
pub fn whole(task: &Task, moves: &[Move], log: &[(u64, LogEntry)]) -> Value {
    let planned = task.plan.iter().flat_map(|plan| &plan.steps);
    let steps: Vec<Value> =
        planned.enumerate().map(|(at, planned)| step(at, planned, task.steps.get(at))).collect();
    let entries: Vec<&LogEntry> = log.iter().map(|(_, entry)| entry).collect();
    json!({
        "schema_version": SCHEMA_VERSION,
        "id": task.id,
        "agent": task.agent,
        "goal": task.goal,
        "state": task.state.name(),
        "reason": task.reason,
        "denied": task.refused,
        "approval": task.approval,
        "asks": counted(&task.asks),
        "approved": counted(&task.approved),
        "approved_by": task.approved_by,
        "rollback_on_failure": task.rollback_on_failure,
        "step_by_step": task.step_by_step,
        "rolled_back": task.rolled_back,
        "round": task.round,
        "created": task.created,
        "changed": task.changed,
        "plan": task.plan.as_ref().map(written::json),
        "steps": steps,
        "moves": moves.iter().map(moved).collect::<Vec<_>>(),
        "executionLog": entries,
        "next": next(task),
    })
}

/// Steps are counted from 1 on, as people do.
fn counted(steps: &[usize]) -> Vec<usize> {
    steps.iter().map(|step| step + 1).collect()
}

fn step(at: usize, planned: &PlannedStep, run: Option<&StepRun>) -> Value {
    let usual = StepRun::default();
    let run = run.unwrap_or(&usual);
    json!({
        "number": at + 1,
        "command": planned.command,
        "why": planned.why,
        "state": run.state.name(),
        "problem": run.why,
        "checks": run.checks,
        "attempts": run.attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn attempt(attempt: &Attempt) -> Value {
    json!({
        "request": attempt.request,
        "round": attempt.round,
        "started": attempt.started,
        "ended": attempt.ended,
        "exit_code": attempt.exit_code,
        "timed_out": attempt.timed_out,
        "interrupted": attempt.interrupted,
        "failed": attempt.failed,
        "refused": attempt.refused,
        "stdout": attempt.stdout,
        "stderr": attempt.stderr,
        "truncated": attempt.truncated,
        "undo": attempt.undo,
        "irreversible": attempt.irreversible,
        "rolled_back": attempt.rolled_back,
    })
}

fn moved(moved: &Move) -> Value {
    json!({
        "timestamp": moved.timestamp,
        "from": moved.from.map(State::name),
        "to": moved.to.name(),
        "why": moved.why,
    })
}

/// What a person can do about it now.
pub fn next(task: &Task) -> Vec<String> {
    let id = &task.id;
    let verbs: &[&str] = match task.state {
        // It has done all it does: there is nothing left to end.
        State::Evaluating if task.left => &["run"],
        State::Evaluating => &["log -f"],
        State::Planning | State::Validating | State::Running if !task.left => &["log -f", "cancel"],
        // Nobody works on it, or whoever did has died.
        State::Pending | State::Planning | State::Validating | State::Running => &["run", "cancel"],
        State::PendingApproval => &["approve", "reject", "cancel"],
        State::Failed | State::Cancelled => &["retry"],
        State::NeedsReview => &["show", "retry --force", "cancel"],
        State::Completed => &[],
    };
    verbs.iter().map(|verb| format!("exacta task {verb} {id}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_has_not_ended_can_be_cancelled() {
        for state in State::ALL {
            let task: Task = serde_json::from_value(json!({
                "id": "1", "agent": "a", "goal": "g", "state": state, "plan": null, "steps": [],
                "approval": null, "reason": "", "created": 0, "changed": 0,
            }))
            .expect("a task");
            let cancel = next(&task).contains(&"exacta task cancel 1".to_owned());
            assert_eq!(cancel, !state.is_final() && state != State::Evaluating, "{state:?}");
        }
    }
}

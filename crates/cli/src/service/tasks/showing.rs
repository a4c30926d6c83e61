//! A task for clients: as the command line has it for programs, with its project, S4's notification while it waits at the
//! gate, and without secrets.

use exacta::approvals::{Pending, PendingStore};
use exacta::redaction::Rules;
use exacta::tasks::{LogEntry, Notification, State, StepState, Task, report};
use serde_json::{Map, Value, json};

use super::Opened;
use crate::task_json;

/// Names, numbers and what is kept without secrets anyway.
const AS_IT_IS: &[&str] =
    &["id", "project", "state", "approval", "request", "next", "stdout", "stderr"];

/// How much of it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    WithLog,
    /// Whoever follows it has the lines by another way.
    WithoutLog,
}

/// What it is about and how far it has come.
pub fn row(opened: &Opened, task: &Task) -> Value {
    let mut row = task_json::summary(task);
    row["project"] = json!(opened.project.root.display().to_string());
    row["approval"] =
        json!(task.approval.as_ref().filter(|_| task.state == State::PendingApproval));
    row["step"] = current(task);
    hidden(&opened.rules, &mut row);
    row
}

/// All of it: each step with what was planned, tried and found.
pub fn whole(opened: &Opened, task: &Task, extent: Extent) -> Value {
    let moves = opened.tasks.moves(&task.id).unwrap_or_default();
    let log = match extent {
        Extent::WithLog => opened.tasks.log(&task.id, 0).unwrap_or_default(),
        Extent::WithoutLog => Vec::new(),
    };
    let mut view = task_json::whole(task, &moves, &log);
    let more = json!({
        "project": opened.project.root.display().to_string(),
        "step": current(task),
        "done": task.steps.iter().filter(|step| step.state == StepState::Done).count(),
        "report": report::report(task),
        "notification": question(opened, task).map(|pending| notification(&pending, task)),
    });
    if let (Some(view), Value::Object(more)) = (view.as_object_mut(), more) {
        view.extend(more);
        if extent == Extent::WithoutLog {
            view.remove("executionLog");
        }
    }
    hidden(&opened.rules, &mut view);
    view
}

/// The step that runs, counted from 1 on.
fn current(task: &Task) -> Value {
    let running = task.steps.iter().position(|step| step.state == StepState::Running);
    json!(running.map(|step| step + 1))
}

fn question(opened: &Opened, task: &Task) -> Option<Pending> {
    let id = task.approval.as_ref().filter(|_| task.state == State::PendingApproval)?;
    PendingStore::of(&opened.project.root).get(id).ok()
}

/// Of the question as it is on file: what is shown is what is decided about.
fn notification(pending: &Pending, task: &Task) -> Value {
    let mut told = json!(Notification::of_question(pending, task));
    told["approval"] = json!(pending.id);
    told["state"] = json!(pending.state.name());
    told["expires"] = json!(pending.expires);
    told
}

/// S4's entry to the letter, and its number before it.
pub fn line(number: u64, entry: &LogEntry) -> Value {
    let mut line = json!({ "number": number });
    if let (Some(line), Value::Object(entry)) = (line.as_object_mut(), json!(entry)) {
        line.extend(entry);
    }
    line
}

fn hidden(rules: &Rules, value: &mut Value) {
    match value {
        Value::String(text) => *text = rules.redact_text(text).0,
        Value::Array(all) => all.iter_mut().for_each(|one| hidden(rules, one)),
        Value::Object(fields) => hide_in(rules, fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hide_in(rules: &Rules, fields: &mut Map<String, Value>) {
    for (name, value) in fields {
        if !AS_IT_IS.contains(&name.as_str()) {
            hidden(rules, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_shown() {
        let secret = "ghp_abcdefghij0123456789ABCDEFGHIJklmnop";
        let id = "01980a3c-5b1e-7c3a-9d7e-1f2a3b4c5d6e";
        let mut value = json!({ "id": id, "steps": [{ "command": format!("echo {secret}") }] });
        hidden(&Rules::new(), &mut value);
        assert_eq!(value["id"], id);
        assert!(!value.to_string().contains(secret), "{value}");
    }
}

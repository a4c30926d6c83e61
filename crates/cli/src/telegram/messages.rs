//! What is said about a question: the goal, the plan, the command that cannot be undone (S4). Plain text: nothing in it is
//! ever taken for markup.

use std::fmt::Write as _;

use exacta::approvals::Pending;
use serde_json::{Value, json};

use crate::service::Project;
use crate::terminal::visible;

/// A message has at most 4096 characters; this leaves room for the rest of it.
const LONGEST: usize = 2_500;
const LONGEST_STEP: usize = 200;
const LONGEST_RESULT: usize = 1_200;
const SHOWN: usize = 10;

pub fn question(project: &Project, pending: &Pending) -> String {
    // Writing to a String cannot fail.
    let mut text = String::new();
    let agent = if pending.agent.is_empty() { "an agent" } else { &pending.agent };
    let _ = writeln!(text, "{} asks, in {}", short(agent, 100), project.name());
    let _ = writeln!(text, "\nGoal: {}", or_unsaid(&pending.goal));
    let _ = writeln!(text, "\nPlan:");
    if pending.plan.is_empty() {
        let _ = writeln!(text, "{}", short(&pending.command, LONGEST));
    }
    for (number, step) in pending.plan.iter().enumerate().take(SHOWN) {
        let _ = writeln!(text, "{}. {}", number + 1, short(step, LONGEST_STEP));
    }
    more(&mut text, pending.plan.len());
    match &pending.irreversible {
        Some(command) => {
            let _ = writeln!(text, "\nIrreversible Command: {}", short(command, 500));
        }
        None => text.push_str("\nWhat it changes in the project can be undone.\n"),
    }
    if let Some(tried) = &pending.tried {
        let _ = writeln!(
            text,
            "\nIt has run apart (exit code {}), and nothing of it is in the project yet. It would change {} paths:\n{}",
            tried.exit,
            tried.paths,
            short(&tried.changes, LONGEST_RESULT)
        );
        let _ = writeln!(text, "It said:\n{}", short(&tried.stdout, LONGEST_STEP));
    }
    let _ = writeln!(text, "\nWhy it asks:");
    for asked in pending.asks.iter().take(SHOWN) {
        let (reason, rule) = (short(&asked.reason, LONGEST_STEP), short(&asked.rule, 60));
        let _ = writeln!(text, "- {reason} [{rule}]");
    }
    more(&mut text, pending.asks.len());
    if let Some(always) = &pending.always {
        let _ = writeln!(text, "\n\"Always\" stores exactly: {}", short(always, LONGEST_STEP));
    }
    cut(&text, 4_000)
}

pub fn buttons(pending: &Pending) -> Value {
    let button = |text: &str, choice: &str| json!({ "text": text, "callback_data": format!("{choice} {}", pending.id) });
    // A task asks once, and for itself.
    if pending.task.is_some() {
        return json!([[button("Approve", "once")], [button("Reject", "no")]]);
    }
    let mut yes = vec![button("Once", "once"), button("Session", "session")];
    if pending.always.is_some() {
        yes.push(button("Always", "always"));
    }
    json!([yes, [button("Deny", "no")]])
}

pub fn decided(pending: &Pending) -> String {
    let mut text = pending.state.name().to_uppercase();
    if let Some(by) = &pending.by {
        let door = pending.door.as_deref().unwrap_or_default();
        let _ = write!(text, " by {} ({door})", short(by, 100));
    }
    if let Some(scope) = &pending.scope {
        let _ = write!(text, ", {scope}");
    }
    let _ = write!(text, "\n\n{}", short(&pending.command, LONGEST));
    text
}

fn or_unsaid(goal: &str) -> String {
    if goal.is_empty() { "not said".to_owned() } else { short(goal, 500) }
}

fn more(text: &mut String, count: usize) {
    if let Some(left @ 1..) = count.checked_sub(SHOWN) {
        let _ = writeln!(text, "… and {left} more");
    }
}

/// What an agent has written, with nothing in it that could make it look like something else.
fn short(text: &str, longest: usize) -> String {
    cut(&text.lines().map(visible).collect::<Vec<_>>().join("\n"), longest)
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

//! What became of a task, for people.

use std::fmt::Write as _;

use super::evaluation::in_words;
use super::{PlannedStep, StepRun, StepState, Task};

impl StepState {
    pub fn name(self) -> &'static str {
        match self {
            StepState::Waiting => "waiting",
            StepState::Running => "running",
            StepState::Done => "done",
            StepState::Failed => "failed",
            StepState::Skipped => "skipped",
            StepState::Undone => "undone",
        }
    }
}

/// Goal, state, and every step with what was expected of it and found.
pub fn report(task: &Task) -> String {
    let mut text = format!("Goal: {}\n", on_lines(&task.goal, "      "));
    // Writing to a String cannot fail.
    let _ = write!(text, "State: {}", task.state.name());
    if !task.reason.is_empty() {
        let _ = write!(text, " ({})", on_lines(&task.reason, "  "));
    }
    text.push('\n');
    let planned = task.plan.iter().flat_map(|plan| &plan.steps);
    for (number, step) in planned.enumerate() {
        let _ = write!(text, "{:>3}. ", number + 1);
        describe(&mut text, step, task.steps.get(number));
    }
    if task.rolled_back {
        text.push_str("What was done was undone.\n");
    }
    text
}

fn describe(text: &mut String, step: &PlannedStep, run: Option<&StepRun>) {
    let command = on_lines(&step.command, "     ");
    let state = run.map(|run| run.state).unwrap_or_default();
    let _ = write!(text, "{command}\n     {}", state.name());
    let Some(run) = run else { return text.push('\n') };
    if run.attempts.len() > 1 {
        let _ = write!(text, " after {} attempts", run.attempts.len());
    }
    let last = run.attempts.last();
    if let Some(milliseconds) = last.and_then(|last| Some(last.ended?.saturating_sub(last.started)))
    {
        let _ = write!(text, " in {}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100);
    }
    if last.is_some_and(|last| last.truncated) {
        text.push_str(", output shortened");
    }
    text.push('\n');
    for check in &run.checks {
        let mark = if check.held { "ok" } else { "NO" };
        let _ = writeln!(text, "     {mark} {}", on_lines(&in_words(check), "        "));
    }
}

/// Nothing that a terminal would obey, and further lines set in.
pub(super) fn on_lines(text: &str, margin: &str) -> String {
    let text = crate::report::without_escapes(text.as_bytes());
    let plain = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let lines: Vec<String> =
        text.trim_end().lines().map(|it| it.chars().map(plain).collect()).collect();
    lines.join(&format!("\n{margin}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Attempt, Check};
    use super::*;

    #[test]
    fn every_step_is_told_with_what_was_found() {
        let step = |command: &str| json!({ "command": command });
        let attempt = Attempt { started: 1_000, ended: Some(2_340), ..Attempt::default() };
        let check = |held, found: &str| Check {
            what: "exit_code".into(),
            expected: "0".into(),
            found: found.into(),
            held,
        };
        let run = |state: &str, attempts: &[Attempt], checks: &[Check]| json!({ "state": state, "attempts": attempts, "checks": checks });
        let steps = [
            run("done", std::slice::from_ref(&attempt), &[check(true, "0")]),
            run("failed", &[attempt.clone(), attempt.clone()], &[check(false, "1")]),
            run("skipped", &[], &[]),
        ];
        let planned = [step("ls"), step("npm test\n# twice \x1b[31mred"), step("npm run build")];
        let task: Task = serde_json::from_value(json!({
            "id": "1",
            "agent": "a",
            "goal": "the tests pass",
            "state": "failed",
            "plan": { "goal": "the tests pass", "steps": planned },
            "steps": steps,
            "approval": null,
            "reason": "exit_code: expected 0, found 1",
            "rolled_back": true,
            "created": 0,
            "changed": 0,
        }))
        .unwrap();
        let expected = "Goal: the tests pass
State: failed (exit_code: expected 0, found 1)
  1. ls
     done in 1.3 s
     ok exit_code: expected 0, found 0
  2. npm test
     # twice red
     failed after 2 attempts in 1.3 s
     NO exit_code: expected 0, found 1
  3. npm run build
     skipped
What was done was undone.
";
        assert_eq!(report(&task), expected);
    }
}

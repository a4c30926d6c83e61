//! `exacta task show`, and what is said of a task when this process has done what it can.

use std::fmt::Write as _;

use exacta::records::Zone;
use exacta::tasks::{Attempt, Move, State, StepRun, Task, TaskError, report};

use super::{Asked, Done, gate};
use crate::exit::Exit;
use crate::output;
use crate::task_json;
use crate::terminal::visible_line;

/// Of what a step that failed has written, so many lines.
const TAIL: usize = 10;

pub(super) fn perform(asked: &Asked<'_>, id: &str) -> Done {
    let task = asked.tasks.get(id)?;
    if asked.global.json {
        return in_json(asked, &task).map(|()| Exit::Success);
    }
    let zone = Zone::of_operator();
    let mut text = format!("Task: {}\n", task.id);
    // Writing to a String cannot fail.
    if !task.agent.is_empty() {
        let _ = writeln!(text, "Agent: {}", task.agent);
    }
    text.push_str(&report::report(&task));
    if task.state == State::PendingApproval {
        let told = gate::notification(asked, &task).unwrap_or_default();
        // Goal and plan are above.
        let dangers = told.lines().skip_while(|line| !is_danger(line));
        text.extend(dangers.flat_map(|line| [line, "\n"]));
    }
    text.push_str(&attempts(&task, &zone));
    text.push_str(&way(&asked.tasks.moves(&task.id)?, &zone));
    output::print(&shown(asked, &text));
    hints(&task);
    Ok(Exit::Success)
}

fn is_danger(line: &str) -> bool {
    ["Irreversible Command: ", "Needs Approval: "].iter().any(|it| line.starts_with(it))
}

/// After it was worked on, or decided about.
pub(super) fn ended(asked: &Asked<'_>, task: &Task) -> Result<(), TaskError> {
    if asked.global.json {
        return in_json(asked, task);
    }
    if task.state == State::PendingApproval {
        output::print(&gate::notification(asked, task).unwrap_or_default());
        output::error(&waits(task));
        return Ok(());
    }
    output::print(&shown(asked, &format!("{}{}", report::report(task), tail(task))));
    hints(task);
    Ok(())
}

fn in_json(asked: &Asked<'_>, task: &Task) -> Result<(), TaskError> {
    let (moves, log) = (asked.tasks.moves(&task.id)?, asked.tasks.log(&task.id, 0)?);
    output::print(&format!("{}\n", task_json::whole(task, &moves, &log)));
    Ok(())
}

/// How it can be decided.
fn waits(task: &Task) -> String {
    let id = &task.id;
    let mut text = format!(
        "exacta: task {id} waits for an approval\n\
         hint: exacta task approve {id}, or exacta task reject {id}\n"
    );
    if let Some(question) = &task.approval {
        let _ = writeln!(
            text,
            "hint: any other door will do: exacta approvals approve {question}, then exacta task run {id}; or the \
             page of exacta serve"
        );
    }
    text
}

fn hints(task: &Task) {
    let id = &task.id;
    output::error(&match task.state {
        State::PendingApproval => waits(task),
        State::Completed => format!("hint: exacta task log {id} shows what was written\n"),
        State::Failed if task.refused && task.approval.is_none() => format!(
            "hint: tasks.allow in your configuration extends what tasks may run; then exacta task retry {id}\n"
        ),
        _ => match task_json::next(task).join(", or ") {
            next if next.is_empty() => String::new(),
            next => format!("hint: {next}\n"),
        },
    });
}

/// What the step that failed has written last.
fn tail(task: &Task) -> String {
    let failed = task.steps.iter().position(|run| !run.why.is_empty());
    let Some(step) = failed.filter(|_| task.state != State::Completed) else {
        return String::new();
    };
    let last = task.steps.get(step).and_then(|run: &StepRun| run.attempts.last());
    let mut text = String::new();
    for (name, written) in
        last.iter().flat_map(|last| [("stdout", &last.stdout), ("stderr", &last.stderr)])
    {
        let lines: Vec<&str> = written.lines().collect();
        let from = lines.len().saturating_sub(TAIL);
        if !lines.is_empty() {
            let _ = writeln!(text, "What step {} wrote last to {name}:", step + 1);
        }
        for line in lines.iter().skip(from) {
            let _ = writeln!(text, "  | {line}");
        }
    }
    text
}

fn attempts(task: &Task, zone: &Zone) -> String {
    let mut text = String::new();
    for (number, run) in task.steps.iter().enumerate() {
        for (count, attempt) in run.attempts.iter().enumerate() {
            let (step, count) = (number + 1, count + 1);
            let _ = writeln!(text, "  {step}.{count}  {}", came_of(attempt, zone));
        }
    }
    if text.is_empty() { text } else { format!("\nAttempts:\n{text}") }
}

fn came_of(attempt: &Attempt, zone: &Zone) -> String {
    let mut text = time(zone, attempt.started);
    let _ = match (attempt.exit_code, attempt.ended) {
        (Some(code), _) => write!(text, "  exit code {code}"),
        (None, Some(_)) => write!(text, "  ended"),
        (None, None) => write!(text, "  not ended"),
    };
    for (held, said) in [
        (attempt.timed_out, "timed out"),
        (attempt.interrupted, "interrupted"),
        (attempt.truncated, "output shortened"),
        (attempt.rolled_back, "taken back"),
        (attempt.irreversible, "some of it cannot be undone"),
    ] {
        if held {
            let _ = write!(text, ", {said}");
        }
    }
    if let Some(undo) = attempt.undo.filter(|_| !attempt.rolled_back) {
        let _ = write!(text, ", record {undo}");
    }
    for (name, said) in [("refused", &attempt.refused), ("failed", &attempt.failed)] {
        if let Some(said) = said {
            let _ = write!(text, ", {name}: {said}");
        }
    }
    text
}

fn way(moves: &[Move], zone: &Zone) -> String {
    let mut text = String::from("\nThe way it came:\n");
    for moved in moves {
        let why = if moved.why.is_empty() { String::new() } else { format!(": {}", moved.why) };
        let _ = writeln!(text, "  {}  {}{why}", time(zone, moved.timestamp), moved.to.name());
    }
    text
}

pub(super) fn time(zone: &Zone, milliseconds: u64) -> String {
    zone.show(i64::try_from(milliseconds / 1_000).unwrap_or(i64::MAX))
}

/// Nothing that a terminal would obey; the state in its colour.
fn shown(asked: &Asked<'_>, text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        let line = visible_line(line);
        let _ = match line.strip_prefix("State: ") {
            Some(rest) => {
                let (state, why) = rest.split_once(' ').unwrap_or((rest, ""));
                let gap = if why.is_empty() { "" } else { " " };
                let colour = State::from_name(state).map_or("0", colour);
                writeln!(shown, "State: {}{gap}{why}", asked.look.painted(state, colour))
            }
            None if line.starts_with("     NO ") => {
                writeln!(shown, "{}", asked.look.painted(&line, "31"))
            }
            None => writeln!(shown, "{line}"),
        };
    }
    shown
}

pub(super) fn colour(state: State) -> &'static str {
    match state {
        State::Completed => "32",
        State::Failed | State::NeedsReview => "31",
        State::PendingApproval => "33",
        State::Cancelled => "2",
        _ => "36",
    }
}

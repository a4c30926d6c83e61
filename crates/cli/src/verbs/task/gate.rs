//! The approval gate at the terminal: S4's notification, and the answer of whoever sits there.

use exacta::approvals::{self, Pending, PendingStore};
use exacta::tasks::{About, Answer, Notification, State, Task};

use super::Asked;
use crate::launch;
use crate::prompt::cut;
use crate::terminal::{self, Said, visible_line};

/// A plan of S4's has fewer.
const SHOWN_LINES: usize = 120;

pub(super) enum Verdict {
    Answer(Answer),
    /// Another door has answered, or somebody has ended it.
    Overtaken,
    /// Nobody is there, or has not said anything clear: the question stays on file.
    Later,
}

/// What is asked, if it is on file.
pub(super) fn question(asked: &Asked<'_>, task: &Task) -> Option<Pending> {
    let root = launch::root(asked.global).ok()?;
    PendingStore::of(&root).get(task.approval.as_deref()?).ok()
}

/// It waits for an answer.
pub(super) fn is_open(asked: &Asked<'_>, task: &Task) -> bool {
    let waits = |task: Task| task.state == State::PendingApproval && task.cancelled_by.is_none();
    asked.tasks.get(&task.id).is_ok_and(waits)
        && question(asked, task).is_some_and(|pending| pending.state == approvals::State::Pending)
}

/// What is asked about, as whoever decides is told it. Without anything that a terminal would obey.
pub(super) fn notification(asked: &Asked<'_>, task: &Task) -> Option<String> {
    let text = Notification::of_question(&question(asked, task)?, task).text();
    Some(text.lines().map(visible_line).collect::<Vec<_>>().join("\n") + "\n")
}

pub(super) fn ask(asked: &Asked<'_>, task: &Task, open: &mut dyn FnMut() -> bool) -> Verdict {
    let Some(told) = notification(asked, task) else { return Verdict::Later };
    let first = several(task);
    let only = first.map(|step| format!("[o]nly step {}, ", step + 1)).unwrap_or_default();
    let offered = format!("[y]es, {only}[n]o, [l]ater: ");
    let told = readable(&told, &task.id);
    let question = format!("\nexacta asks before it goes on:\n\n{told}\n{offered}");
    match terminal::ask_while(&question, open) {
        Said::Answer(answer) => understood(&answer, first),
        Said::Overtaken => Verdict::Overtaken,
        Said::Nobody => Verdict::Later,
    }
}

/// As much as people read: of more lines and longer ones the beginning and the end, and how to see all of it.
fn readable(told: &str, id: &str) -> String {
    let lines: Vec<&str> = told.lines().collect();
    let left_out = lines.len().saturating_sub(SHOWN_LINES);
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        if left_out > 0 && number == SHOWN_LINES / 2 {
            text.push_str(&format!("[… {left_out} lines left out: exacta task show {id} …]\n"));
        }
        if left_out == 0 || !(SHOWN_LINES / 2..SHOWN_LINES / 2 + left_out).contains(&number) {
            text.push_str(&cut(line));
            text.push('\n');
        }
    }
    text
}

/// The first of several steps that are asked about at once.
fn several(task: &Task) -> Option<usize> {
    let whole = task.asking.as_ref().is_some_and(|asking| asking.about == About::Plan);
    task.asks.first().copied().filter(|_| whole && task.asks.len() > 1)
}

/// Nothing runs without a clear yes, and nothing ends without a clear no.
fn understood(answer: &str, first: Option<usize>) -> Verdict {
    match (answer.trim().to_lowercase().as_str(), first) {
        ("y" | "yes", _) => Verdict::Answer(Answer::Approve),
        ("o" | "only", Some(step)) => Verdict::Answer(Answer::ApproveStep(step)),
        ("n" | "no", _) => Verdict::Answer(Answer::Reject),
        _ => Verdict::Later,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_is_shown_with_its_beginning_and_its_end() {
        let told = format!("Goal: g\n{}Irreversible Command: rm x", "line\n".repeat(5_000));
        let shown = readable(&told, "01");
        assert!(shown.starts_with("Goal: g\n") && shown.ends_with("Irreversible Command: rm x\n"));
        assert!(shown.contains("[… 4882 lines left out: exacta task show 01 …]"), "{shown}");
        assert_eq!(shown.lines().count(), SHOWN_LINES + 1);
        assert_eq!(readable("Goal: g\n", "01"), "Goal: g\n");
        assert!(readable(&"x".repeat(100_000), "01").len() < 3_000);
    }

    #[test]
    fn nothing_runs_without_a_clear_yes() {
        let clear = |answer, first| match understood(answer, first) {
            Verdict::Answer(answer) => Some(answer),
            _ => None,
        };
        assert_eq!(clear("yes\n", None), Some(Answer::Approve));
        assert_eq!(clear("o\n", Some(2)), Some(Answer::ApproveStep(2)));
        assert_eq!(clear("n\n", None), Some(Answer::Reject));
        for unclear in ["", "\n", "yeah", "o\n", "l\n"] {
            assert_eq!(clear(unclear, None), None, "{unclear:?}");
        }
    }
}

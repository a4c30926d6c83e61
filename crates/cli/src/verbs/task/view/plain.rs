//! A task as lines, for logs and pipes.

use std::sync::atomic::{AtomicUsize, Ordering};

use exacta::tasks::{Event, LogKind, State, Task};

use super::board::{Board, seconds};
use crate::output;
use crate::terminal::{visible, visible_line};

pub(super) struct Plain {
    /// Of the plan, once it is known.
    steps: AtomicUsize,
}

impl Plain {
    pub(super) fn begin(board: &Board) -> Self {
        Plain { steps: AtomicUsize::new(board.steps()) }
    }

    /// The plan may have been made meanwhile.
    pub(super) fn replace(&self, task: &Task) {
        self.steps.store(task.steps.len(), Ordering::Relaxed);
    }

    pub(super) fn notice(&self, event: &Event<'_>) {
        if let Some(text) = self.said(event) {
            output::error(&format!("{text}\n"));
        }
    }

    fn said(&self, event: &Event<'_>) -> Option<String> {
        let of = |step: usize| match self.steps.load(Ordering::Relaxed) {
            0 => format!("[{}]", step + 1),
            steps => format!("[{}/{steps}]", step + 1),
        };
        Some(match event {
            Event::Moved { to: State::Planning, .. } => "exacta: a plan is made".to_owned(),
            Event::Moved { from: State::PendingApproval, to: State::Running, why } => {
                format!("exacta: {}", visible(why))
            }
            Event::Noted(text) => format!("exacta: {}", visible(text)),
            Event::Queued { ahead } => {
                format!("exacta: waits for its turn, {ahead} of the same agent come first")
            }
            Event::StepBegins { step, attempt: 0, command } => {
                format!("{} {}", of(*step), visible(command))
            }
            Event::StepBegins { step, attempt, command } => {
                format!("{} {} (attempt {})", of(*step), visible(command), attempt + 1)
            }
            Event::Logged { kind: LogKind::Output | LogKind::Error, content } => {
                format!("  | {}", visible_line(content))
            }
            Event::StepEnded { step, attempt, .. } => {
                let taken =
                    attempt.ended.unwrap_or(attempt.started).saturating_sub(attempt.started);
                let taken = seconds(taken);
                match &attempt.failed {
                    None => format!("{} done in {taken}", of(*step)),
                    Some(why) => format!("{} failed in {taken}: {}", of(*step), visible(why)),
                }
            }
            Event::Pausing { step, pause } => {
                format!("{} is tried again in {:.1} s", of(*step), pause.as_secs_f64())
            }
            Event::TakenBack { step } => format!("{} what it did was taken back", of(*step)),
            Event::Moved { .. }
            | Event::Logged { .. }
            | Event::StepRan { .. }
            | Event::Asked(_) => {
                return None;
            }
        })
    }
}

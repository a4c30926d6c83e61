//! The board: every step with its state and time, what the running one wrote last, and how far all of it is. As lines that fit;
//! nothing here writes anything.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use exacta::tasks::{Event, LogKind, State, StepState, Task};
use unicode_width::UnicodeWidthChar as _;

use crate::progress::bar;
use crate::terminal::visible;

/// Of what the running step wrote, so many lines at most.
const TAIL: usize = 5;
const LONGEST_BAR: usize = 30;

#[derive(Debug, Default)]
pub(super) struct Board {
    goal: String,
    state: Option<State>,
    lines: Vec<Line>,
    tail: VecDeque<String>,
    /// Beside the bar: why nothing moves.
    waits: String,
}

#[derive(Debug)]
struct Line {
    command: String,
    state: StepState,
    begun: Option<Instant>,
    /// Milliseconds of the last attempt.
    taken: Option<u64>,
    attempts: usize,
    asks: bool,
}

/// How much room there is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) colour: bool,
}

impl Board {
    pub(super) fn of(task: &Task) -> Self {
        let planned = task.plan.iter().flat_map(|plan| &plan.steps);
        let lines = planned.enumerate().map(|(at, planned)| {
            let run = task.steps.get(at);
            let last = run.and_then(|run| run.attempts.last());
            Line {
                command: visible(&planned.command),
                state: run.map(|run| run.state).unwrap_or_default(),
                begun: None,
                taken: last.and_then(|last| Some(last.ended?.saturating_sub(last.started))),
                attempts: run.map_or(0, |run| run.attempts.len()),
                asks: task.asks.contains(&at) && !task.approved.contains(&at),
            }
        });
        Board {
            goal: visible(&task.goal),
            state: Some(task.state),
            lines: lines.collect(),
            ..Board::default()
        }
    }

    pub(super) fn steps(&self) -> usize {
        self.lines.len()
    }

    /// There is something to be seen.
    pub(super) fn is_shown(&self) -> bool {
        let begun = matches!(self.state, Some(State::Running | State::Evaluating));
        !self.lines.is_empty() && (begun || !self.waits.is_empty())
    }

    pub(super) fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::Moved { to, .. } => {
                self.state = Some(*to);
                self.waits.clear();
            }
            Event::Queued { ahead } => {
                self.waits = match ahead {
                    0 => String::new(),
                    ahead => format!("{ahead} of the same agent come first"),
                };
            }
            Event::StepBegins { step, attempt, .. } => {
                self.tail.clear();
                self.waits.clear();
                if let Some(line) = self.lines.get_mut(*step) {
                    (line.state, line.begun) = (StepState::Running, Some(Instant::now()));
                    line.attempts = attempt + 1;
                }
            }
            Event::Logged { kind: LogKind::Output | LogKind::Error, content } => {
                self.tail.push_back(visible(&content.replace('\t', "  ")));
                while self.tail.len() > TAIL {
                    self.tail.pop_front();
                }
            }
            Event::StepEnded { step, attempt, .. } => {
                if let Some(line) = self.lines.get_mut(*step) {
                    let failed = attempt.failed.is_some();
                    line.state = if failed { StepState::Failed } else { StepState::Done };
                    line.begun = None;
                    line.taken = attempt.ended.map(|ended| ended.saturating_sub(attempt.started));
                }
            }
            Event::Pausing { pause, .. } => {
                self.waits = format!("tried again in {:.1} s", pause.as_secs_f64());
            }
            Event::TakenBack { step } => {
                if let Some(line) = self.lines.get_mut(*step) {
                    line.state = StepState::Undone;
                }
            }
            Event::Noted(_) | Event::Logged { .. } | Event::StepRan { .. } | Event::Asked(_) => {}
        }
    }

    /// At most as many lines as there is room for, none of them longer than that.
    pub(super) fn drawn(&self, room: Room, elapsed: Duration) -> Vec<String> {
        let width = room.width.saturating_sub(1).max(10);
        let height = room.height.saturating_sub(1).max(3);
        let mut drawn = vec![painted(&fitted(&format!("Goal: {}", self.goal), width), "1", room)];
        let current = self.current();
        let tail = if height > self.lines.len() + 2 { height - self.lines.len() - 2 } else { 0 };
        let tail = tail.min(TAIL).max(usize::from(height > 4)).min(self.tail.len());
        let window = window(self.lines.len(), current, height.saturating_sub(2 + tail).max(1));
        if window.start > 0 {
            drawn.push(fitted(&format!("  … {} before", window.start), width));
        }
        for at in window.clone() {
            drawn.extend(self.lines.get(at).map(|line| self.line(at, line, width, room)));
            if at == current {
                let from = self.tail.len() - tail;
                let tail = self.tail.iter().skip(from);
                drawn.extend(tail.map(|text| fitted(&format!("     | {text}"), width)));
            }
        }
        if window.end < self.lines.len() {
            drawn.push(fitted(&format!("  … {} more", self.lines.len() - window.end), width));
        }
        drawn.push(self.progress(width, elapsed));
        // The last lines are those that change.
        let over = drawn.len().saturating_sub(height);
        drawn.split_off(over)
    }

    /// The one that runs, else the first that is not over.
    fn current(&self) -> usize {
        let running = self.lines.iter().position(|line| line.state == StepState::Running);
        let waiting = || self.lines.iter().position(|line| line.state == StepState::Waiting);
        running.or_else(waiting).unwrap_or(self.lines.len().saturating_sub(1))
    }

    fn line(&self, at: usize, line: &Line, width: usize, room: Room) -> String {
        let (mark, colour) = mark(line.state);
        let mut told = match (line.begun, line.taken) {
            (Some(begun), _) => seconds(u64::try_from(begun.elapsed().as_millis()).unwrap_or(0)),
            (None, Some(taken)) => seconds(taken),
            (None, None) if line.asks => "needs a yes".to_owned(),
            (None, None) => String::new(),
        };
        if line.attempts > 1 {
            told = format!("attempt {}, {told}", line.attempts);
        }
        let number = (self.lines.len().to_string()).len();
        let told = if columns(&told) + 16 > width { String::new() } else { told };
        let left = width.saturating_sub(columns(&told) + 5);
        let text = fitted(&format!("{:>number$}. {}", at + 1, line.command), left);
        let gap = left.saturating_sub(columns(&text)) + 1;
        let text = format!("  {text}{}{told}", " ".repeat(gap));
        format!(" {}{}", painted(mark, colour, room), text.trim_end())
    }

    fn progress(&self, width: usize, elapsed: Duration) -> String {
        let over = |line: &&Line| line.state == StepState::Done;
        let done = self.lines.iter().filter(over).count();
        let state = self.state.map_or("", State::name);
        let beside = if self.waits.is_empty() { state } else { &self.waits };
        let after = format!("  {} s  {beside}", elapsed.as_secs());
        let numbers = columns(&bar(0, done, self.lines.len()));
        let long = width.saturating_sub(numbers + columns(&after)).min(LONGEST_BAR);
        fitted(&format!("{}{after}", bar(long, done, self.lines.len())), width)
    }
}

/// So many of the steps, with the current one among them.
fn window(steps: usize, current: usize, room: usize) -> std::ops::Range<usize> {
    if steps <= room {
        return 0..steps;
    }
    // Two lines say what is left out.
    let shown = room.saturating_sub(2).max(1);
    let start = current.saturating_sub(shown / 2).min(steps.saturating_sub(shown));
    start..(start + shown).min(steps)
}

fn mark(state: StepState) -> (&'static str, &'static str) {
    match state {
        StepState::Waiting => ("·", "2"),
        StepState::Running => ("▶", "36"),
        StepState::Done => ("✓", "32"),
        StepState::Failed => ("✗", "31"),
        StepState::Skipped => ("-", "2"),
        StepState::Undone => ("↶", "33"),
    }
}

fn painted(text: &str, colour: &str, room: Room) -> String {
    if room.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
}

/// As a terminal counts them.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

fn fitted(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut taken = 0;
    let mut cut = String::new();
    for character in text.chars() {
        taken += character.width().unwrap_or(0);
        if taken >= room {
            break;
        }
        cut.push(character);
    }
    cut.push('…');
    cut
}

pub(super) fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100)
}

#[cfg(test)]
mod tests {
    use exacta::tasks::Attempt;

    use super::*;

    fn board(commands: &[&str]) -> Board {
        let line = |command: &&str| Line {
            command: visible(command),
            state: StepState::Waiting,
            begun: None,
            taken: None,
            attempts: 0,
            asks: false,
        };
        let lines = commands.iter().map(line).collect();
        let goal = "be done".to_owned();
        Board { goal, state: Some(State::Running), lines, ..Board::default() }
    }

    fn room(width: usize, height: usize) -> Room {
        Room { width, height, colour: false }
    }

    #[test]
    fn a_board() {
        let mut board = board(&["ls", "npm test", "rm -r dist"]);
        board.notice(&Event::StepBegins { step: 0, attempt: 0, command: "ls" });
        let attempt = Attempt { started: 1_000, ended: Some(1_250), ..Attempt::default() };
        board.notice(&Event::StepEnded { step: 0, attempt: &attempt, checks: &[] });
        board.notice(&Event::StepBegins { step: 1, attempt: 1, command: "npm test" });
        for content in ["one\t1", "two\x1b[2J"] {
            board.notice(&Event::Logged { kind: LogKind::Output, content });
        }
        let drawn = board.drawn(room(60, 20), Duration::from_secs(7));
        assert_eq!(
            drawn,
            [
                "Goal: be done",
                " ✓  1. ls                                             0.2 s",
                " ▶  2. npm test                            attempt 2, 0.0 s",
                "     | one  1",
                r"     | two\u{1b}[2J",
                " ·  3. rm -r dist",
                "[##########                    ]  33% 1/3  7 s  running",
            ]
        );
    }

    #[test]
    fn it_fits_wherever_it_is() {
        let many: Vec<String> =
            (0..100).map(|at| format!("echo {at} 東京 {}", "x".repeat(300))).collect();
        let mut board = board(&many.iter().map(String::as_str).collect::<Vec<_>>());
        board.notice(&Event::StepBegins { step: 50, attempt: 0, command: "x" });
        for _ in 0..9 {
            let content = "東京 ".repeat(90);
            board.notice(&Event::Logged { kind: LogKind::Output, content: &content });
        }
        for width in [1, 12, 20, 40, 80, 300] {
            for height in [1, 3, 5, 10, 24, 200] {
                let drawn = board.drawn(room(width, height), Duration::from_secs(3));
                assert!(
                    drawn.len() <= height.saturating_sub(1).max(3),
                    "{width}x{height}: {drawn:#?}"
                );
                let widest = drawn.iter().map(|line| columns(line)).max().unwrap();
                assert!(widest < width.max(11), "{width}x{height}: {drawn:#?}");
                if height >= 5 && width >= 20 {
                    assert!(
                        drawn.iter().any(|line| line.contains("▶")),
                        "{width}x{height}: {drawn:#?}"
                    );
                }
            }
        }
    }
}

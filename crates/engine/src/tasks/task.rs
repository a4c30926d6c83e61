//! A task as it is kept.

use serde::{Deserialize, Serialize};

use super::{Plan, State};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// A UUID of version 7: ordered by the time it was asked for.
    pub id: String,
    pub agent: String,
    pub goal: String,
    pub state: State,
    /// Absent until it is planned.
    pub plan: Option<Plan>,
    /// One for each step of the plan.
    pub steps: Vec<StepRun>,
    /// The question at the approval gate, while and after it is asked.
    pub approval: Option<String>,
    /// The steps that a person has said yes to, by number.
    #[serde(default)]
    pub approved: Vec<usize>,
    /// Why it is in this state, for people: the rule that denies, what was found instead of what was expected.
    pub reason: String,
    /// Undo what was done when it fails.
    #[serde(default)]
    pub rollback_on_failure: bool,
    /// Every step is decided on its own.
    #[serde(default)]
    pub step_by_step: bool,
    /// What was done was undone.
    #[serde(default)]
    pub rolled_back: bool,
    /// It has failed because a rule or a person said no, or nobody said yes.
    #[serde(default)]
    pub refused: bool,
    /// The steps that need a yes, by number.
    #[serde(default)]
    pub asks: Vec<usize>,
    /// What the question at the gate is about.
    #[serde(default)]
    pub asking: Option<Asking>,
    /// What was asked while a step ran, and answered with yes: the digests of the questions.
    #[serde(default)]
    pub answered: Vec<String>,
    /// Who has said yes.
    #[serde(default)]
    pub approved_by: String,
    /// How often somebody has had it begin anew.
    #[serde(default)]
    pub round: u32,
    /// Milliseconds since 1970.
    pub created: u64,
    pub changed: u64,
    /// Somebody wants it to end.
    #[serde(skip)]
    pub cancelled_by: Option<String>,
    /// Whoever worked on it has died, and what was left is in order: it can be taken up.
    #[serde(default)]
    pub left: bool,
    /// Goes on with every change: whoever has seen an older one changes nothing.
    #[serde(skip)]
    pub fence: u64,
}

/// What a question at the gate is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    pub about: About,
    /// Of what a step has asked while it ran.
    #[serde(default)]
    pub question: Option<String>,
    /// A person has said yes to this step only.
    #[serde(default)]
    pub only: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// All steps that need a yes.
    Plan,
    Step(usize),
    /// Something that only showed when the step ran.
    Within(usize),
}

impl About {
    /// Does the question ask about this step? `asks`: those that need a yes.
    pub(super) fn includes(self, step: usize, asks: &[usize]) -> bool {
        match self {
            About::Plan => asks.contains(&step),
            About::Step(asked) | About::Within(asked) => asked == step,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepRun {
    pub state: StepState,
    pub attempts: Vec<Attempt>,
    /// What was expected of the last attempt, and what was found.
    pub checks: Vec<Check>,
    /// Why it has failed, and why it is not tried again.
    #[serde(default)]
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    #[default]
    Waiting,
    Running,
    Done,
    Failed,
    /// The task ended before it came to it.
    Skipped,
    Undone,
}

/// One run of a step: one request, one transaction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Attempt {
    /// The correlation id of the request, known before it runs.
    pub request: String,
    /// Milliseconds since 1970.
    pub started: u64,
    /// Absent: it runs, or whoever ran it has died.
    pub ended: Option<u64>,
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    /// Head and tail of it, without secrets.
    pub stdout: String,
    pub stderr: String,
    pub truncated: bool,
    /// What was expected of its output and found in all of it, before it was cut. Absent: nobody has looked.
    #[serde(default)]
    pub output: Option<Vec<Check>>,
    /// The record by which it can be undone.
    pub undo: Option<u64>,
    /// Some of it cannot be undone: it reached outside, or wrote directly.
    pub irreversible: bool,
    pub rolled_back: bool,
    /// It was refused: the rule and the reason.
    pub refused: Option<String>,
    /// Which time of the task it belongs to.
    #[serde(default)]
    pub round: u32,
    /// Known before it runs: it may do what no record can take back.
    #[serde(default)]
    pub may_last: bool,
    /// Why it counts as failed. Said before anything of it is taken back.
    #[serde(default)]
    pub failed: Option<String>,
    /// Whoever ran it has died, or it has asked for something: it is no failure of the step.
    #[serde(default)]
    pub interrupted: bool,
}

/// One expectation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The field of the plan: `exit_code`, `stdout_contains`, …
    pub what: String,
    pub expected: String,
    pub found: String,
    pub held: bool,
}

/// S4's entry of the `executionLog`, to the letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Milliseconds since 1970.
    pub timestamp: u64,
    #[serde(rename = "type")]
    pub kind: LogKind,
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    Command,
    Output,
    Error,
    Info,
}

impl LogKind {
    pub const ALL: [LogKind; 4] =
        [LogKind::Command, LogKind::Output, LogKind::Error, LogKind::Info];

    pub fn name(self) -> &'static str {
        match self {
            LogKind::Command => "command",
            LogKind::Output => "output",
            LogKind::Error => "error",
            LogKind::Info => "info",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        LogKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

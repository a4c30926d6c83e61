//! What is recorded, as plain data. A request leaves an [`Intent`] before its first effect, a [`Start`] before each real
//! program, and an [`Outcome`] when it has ended; one that only reads leaves the outcome alone. A task leaves a [`Moved`] each
//! time that its state changes.
//!
//! These are the words of the chain's version 1: fields are never changed, only a next version has others.

use std::sync::Arc;

use bstr::BString;
use serde::{Deserialize, Serialize};

/// One link of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    Intent(Box<Intent>),
    Start(Box<Start>),
    Outcome(Box<Outcome>),
    Answer(Box<Answer>),
    Cut(Cut),
    Moved(Box<Moved>),
}

/// The kinds of entries, as numbers that stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// None of ours.
    Unknown = 0,
    Intent = 1,
    Start = 2,
    Outcome = 3,
    Answer = 4,
    Cut = 5,
    Moved = 6,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unknown => "unknown",
            Kind::Intent => "intent",
            Kind::Start => "start",
            Kind::Outcome => "outcome",
            Kind::Answer => "answer",
            Kind::Cut => "cut",
            Kind::Moved => "task",
        }
    }

    pub(crate) fn from_number(number: i64) -> Self {
        let all = [Kind::Intent, Kind::Start, Kind::Outcome, Kind::Answer, Kind::Cut, Kind::Moved];
        all.into_iter().find(|kind| *kind as i64 == number).unwrap_or(Kind::Unknown)
    }
}

impl Entry {
    pub fn kind(&self) -> Kind {
        match self {
            Entry::Intent(_) => Kind::Intent,
            Entry::Start(_) => Kind::Start,
            Entry::Outcome(_) => Kind::Outcome,
            Entry::Answer(_) => Kind::Answer,
            Entry::Cut(_) => Kind::Cut,
            Entry::Moved(_) => Kind::Moved,
        }
    }
}

/// A UUID: the correlation id of a request.
pub type RequestId = [u8; 16];

/// Microseconds since 1970, UTC.
pub type Moment = i64;

/// Who asked for what, and where. In every record of a request, so that each says it by itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Asked {
    pub id: RequestId,
    pub session: Arc<str>,
    /// As the operator calls whoever asks; may be empty.
    pub agent: Arc<str>,
    /// The text, to the letter.
    pub command: BString,
    pub directory: BString,
    pub time: Moment,
    pub profile: Arc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Verdict {
    #[default]
    Allow,
    Confirm,
    Deny,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Confirm => "confirm",
            Verdict::Deny => "deny",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Verdict::Allow, Verdict::Confirm, Verdict::Deny].into_iter().find(|it| it.name() == name)
    }
}

/// What the judge has said, and what a person has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ruling {
    pub verdict: Verdict,
    pub rule: String,
    /// `file:line` of the rule; empty for one that is built in and has no line.
    pub source: String,
    pub reason: String,
    pub approval: Option<Approval>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Approval {
    /// Of the question, if it was filed.
    pub id: Option<String>,
    /// Empty: nobody has answered yet.
    pub by: String,
    pub scope: String,
}

/// Something will be changed, or a program will be started, for the first time in this request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Intent {
    pub asked: Asked,
    pub ruling: Ruling,
    /// What the effect is: `change`, `program`, `hold`.
    pub effect: String,
}

/// A program will be started with these words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Start {
    pub id: RequestId,
    pub argv: Vec<BString>,
    pub directory: BString,
    pub ruling: Ruling,
}

/// The request has ended, or was refused.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub asked: Asked,
    /// An intent was recorded before.
    pub intended: bool,
    pub ruling: Ruling,
    pub exit: i32,
    pub signal: Option<i32>,
    /// Why it was ended from outside; empty: it was not.
    pub stopped: String,
    pub timed_out: bool,
    /// In microseconds, as is the time of the processors.
    pub duration: u64,
    pub processor_time: u64,
    pub memory_peak: u64,
    pub isolation: Isolation,
    pub limits_hit: Vec<String>,
    pub steps: Vec<Step>,
    /// There were more of them than are kept.
    pub steps_left_out: u64,
    pub refusals: Vec<Refusal>,
    pub execs: Vec<Exec>,
    pub connections: Vec<Connection>,
    pub undo: Option<Undo>,
    pub stdout: Output,
    pub stderr: Output,
    /// Kinds of secrets that were taken out of what is kept here, and how many of each.
    pub redacted: Vec<(String, u32)>,
}

/// What held the programs; of a request without any, what holds builtins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Isolation {
    pub level: String,
    pub walls: Vec<String>,
    pub missing: Vec<String>,
}

/// A command after expansion.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    pub argv: Vec<BString>,
    pub rule: Option<Arc<str>>,
    pub builtin: bool,
    pub exit: i32,
    /// In microseconds.
    pub duration: u64,
}

/// A command that was not run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Refusal {
    pub argv: Vec<BString>,
    pub ruling: Ruling,
}

/// A program that anything in the tree of the request has started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Exec {
    pub path: BString,
    pub argv: Vec<BString>,
    pub process: u32,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Connection {
    pub host: String,
    pub port: u16,
    pub address: String,
    pub protocol: String,
    /// `reached`, `refused` or `failed`.
    pub fate: String,
    pub reason: String,
    pub sent: u64,
    pub received: u64,
    pub time: Moment,
    /// In microseconds.
    pub duration: u64,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Undo {
    pub id: u64,
    pub strategy: String,
}

/// What is kept of a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// Bytes that were written.
    pub total: u64,
    /// All of it if it is short, else how it began.
    pub head: BString,
    /// How it ended; empty if the head is all of it.
    pub tail: BString,
    /// What is kept beside the record.
    pub kept: Option<Kept>,
}

/// Content beside the chain, which the chain holds by its digest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Kept {
    /// SHA-256 of the compressed bytes.
    pub digest: [u8; 32],
    /// Of the content.
    pub length: u64,
    /// It is all that was written; else the head and the tail of it, with a mark between.
    pub whole: bool,
}

/// A person has decided about a question that was filed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    pub time: Moment,
    pub approval: String,
    pub command: BString,
    pub by: String,
    /// `approved` or `denied`.
    pub answer: String,
    pub scope: String,
}

/// Older records were removed, as the operator's limits say.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cut {
    /// The last one that is gone.
    pub upto: u64,
    /// Its hash: the next one goes on from there.
    pub hash: [u8; 32],
    /// The first one that was there.
    pub from: u64,
    pub time: Moment,
}

/// A task went from one state to another.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Moved {
    pub task: String,
    pub agent: String,
    /// The states by their names; empty: it was asked for.
    pub from: String,
    pub to: String,
    pub why: String,
    pub time: Moment,
}

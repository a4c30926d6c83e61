//! One record in a list.

use std::fmt;

use bstr::BString;
use exacta_store::{Journal, Phase, Record, RecordId, Tally, UndoError};

/// What a person wants to know of a record before deciding about it.
#[derive(Debug, Clone)]
pub struct Listed {
    pub id: RecordId,
    pub state: State,
    pub command: BString,
    pub directory: BString,
    pub session: String,
    /// Seconds since the epoch, if it is known.
    pub time: Option<i64>,
    /// Of what waits it is what committing it would change; `None` when that cannot be said.
    pub tally: Option<Tally>,
    pub exit: Option<i32>,
    pub strategy: Option<String>,
    /// Why some of it cannot be taken back.
    pub irreversible: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Applied,
    Undone,
    /// Waits for `commit` or `discard`.
    Held,
    Discarded,
    /// Somebody is working on it.
    Running,
    /// It cannot be read as a whole.
    Damaged,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Applied => "applied",
            State::Undone => "undone",
            State::Held => "held",
            State::Discarded => "discarded",
            State::Running => "running",
            State::Damaged => "damaged",
        }
    }

    fn of(record: &Record) -> Self {
        match record.phase {
            Phase::Recording
            | Phase::Staging
            | Phase::Applying
            | Phase::Undoing
            | Phase::Redoing => State::Running,
            // Whoever writes to it now has written half of an entry at worst.
            _ if record.is_damaged() => State::Damaged,
            Phase::Applied => State::Applied,
            Phase::Undone => State::Undone,
            Phase::Held => State::Held,
            Phase::Discarded => State::Discarded,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

pub(super) fn look(journal: &Journal, id: RecordId) -> Result<Listed, UndoError> {
    let record = match journal.record(id) {
        Err(UndoError::Damaged { .. }) => return Ok(unreadable(id)),
        record => record?,
    };
    let state = State::of(&record);
    let tally = match state {
        State::Held => journal.held_plan(id).ok().map(|plan| plan.tally()),
        State::Damaged => None,
        _ => Some(record.tally()),
    };
    Ok(Listed {
        id,
        state,
        tally,
        time: Some(record.about.time.seconds).filter(|seconds| *seconds != 0),
        command: record.about.command,
        directory: record.about.directory,
        session: record.about.session,
        exit: record.outcome.as_ref().map(|outcome| outcome.exit),
        strategy: record.outcome.map(|outcome| outcome.strategy),
        irreversible: record.irreversible,
    })
}

fn unreadable(id: RecordId) -> Listed {
    Listed {
        id,
        state: State::Damaged,
        command: BString::default(),
        directory: BString::default(),
        session: String::new(),
        time: None,
        tally: None,
        exit: None,
        strategy: None,
        irreversible: Vec::new(),
    }
}

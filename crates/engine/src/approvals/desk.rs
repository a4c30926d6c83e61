//! Where questions are decided, whichever door the decision comes through: the first decision wins, the others are told of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use exacta_store::audit::{Answer, now};

use super::{Pending, PendingError, PendingStore, Scope, State};
use crate::audit::Trail;
use crate::commands_file::{CommandsFile, Entered, NAME, Trust};

/// What a person says to a question, and how far it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    Approve(Scope),
    Deny,
    /// From now on not, in this project.
    Never,
}

/// Who has decided, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    pub door: &'static str,
    pub name: String,
}

/// Why a question was not decided.
#[derive(Debug)]
pub enum DecideError {
    Store(PendingError),
    /// What had to be done first could not be done.
    First(String),
}

/// The questions of one project, and what is done about them.
pub struct Desk {
    pub store: PendingStore,
    root: PathBuf,
    file: CommandsFile,
    trail: Trail,
    trust: Arc<dyn Trust>,
}

impl Desk {
    /// `trail`: where decisions are recorded.
    pub fn of(root: &Path, trail: Trail, trust: Arc<dyn Trust>) -> Self {
        let (store, file) = (PendingStore::of(root), CommandsFile::of(root));
        Desk { store, root: root.to_owned(), file, trail, trust }
    }

    /// Decides, and does what the decision means for what comes later. A decision that cannot be recorded is none.
    pub fn decide(&self, id: &str, ruling: Ruling, who: &Who) -> Result<Pending, DecideError> {
        self.store.decide(id, |pending| {
            (pending.state, pending.scope) = match ruling {
                Ruling::Approve(scope) => (State::Approved, Some(scope.name().to_owned())),
                Ruling::Deny | Ruling::Never => (State::Denied, None),
            };
            pending.by = Some(who.name.clone());
            pending.door = Some(who.door.to_owned());
            self.note(pending)?;
            self.settle(pending)?;
            match ruling {
                Ruling::Approve(Scope::Always) => self.always(pending),
                Ruling::Never => self.never(pending),
                _ => Ok(()),
            }
        })
    }

    /// What has run apart already comes into the project now, or is dropped.
    fn settle(&self, pending: &Pending) -> Result<(), String> {
        match &pending.tried {
            Some(tried) if pending.state == State::Approved => tried.apply(&self.root),
            Some(tried) => tried.discard(&self.root),
            None => Ok(()),
        }
    }

    fn note(&self, pending: &Pending) -> Result<(), String> {
        let (by, door) = (pending.by.as_deref(), pending.door.as_deref());
        let answer = Answer {
            time: now(),
            approval: pending.id.clone(),
            command: pending.command.as_str().into(),
            by: format!("{}: {}", door.unwrap_or_default(), by.unwrap_or_default()),
            answer: pending.state.name().to_owned(),
            scope: pending.scope.clone().unwrap_or_default(),
        };
        let noted = self.trail.note(answer);
        noted.map_err(|error| format!("the decision cannot be recorded: {error}"))
    }

    /// Stores exactly what was shown.
    fn always(&self, pending: &Pending) -> Result<(), String> {
        let Some(text) = &pending.always else {
            return Err("always is not offered for this: what it runs can be anything".into());
        };
        match self.file.allow(text, &*self.trust) {
            Ok(Entered::Allowed) => Ok(()),
            Ok(Entered::Blocked) => Err(format!("{text:?} is blocked in {NAME}")),
            Err(problem) => Err(problem.to_string()),
        }
    }

    fn never(&self, pending: &Pending) -> Result<(), String> {
        if pending.redacted {
            let secret = "the command has a secret in it, which no list is to keep: deny it once";
            return Err(secret.to_owned());
        }
        self.file.block(&pending.command, &*self.trust).map_err(|error| error.to_string())
    }
}

impl From<PendingError> for DecideError {
    fn from(problem: PendingError) -> Self {
        DecideError::Store(problem)
    }
}

impl fmt::Display for DecideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecideError::Store(problem) => problem.fmt(f),
            DecideError::First(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for DecideError {}

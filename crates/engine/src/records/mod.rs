//! The records of a project as a person meets them: listed, shown, taken back, made again, decided about.
//!
//! Reading makes nothing: a project without a journal has no records, and looking at them leaves it so.

pub mod diff;
mod fingerprint;
mod listed;
mod opening;
mod preview;
mod zone;

pub use exacta_store::{
    Conflict, ConflictKind, Facts, LayerPlan, Options, RecordId, Refusal, Report, Tally, UndoError,
    Watch, Which,
};
pub use listed::{Listed, State};
pub use preview::{Action, Effect};
pub use zone::Zone;

use std::path::Path;

use bstr::BString;

use exacta_store::{Change, Journal};

use crate::approvals::Digest;

/// Which way a record is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Undo,
    Redo,
}

/// What was recorded in a project.
pub struct Records {
    /// `None`: nothing was ever.
    journal: Option<Journal>,
}

impl Records {
    /// Those of the project with this root. `watch` is told how far it is with whatever takes long.
    pub fn open(root: &Path, watch: Watch) -> Result<Self, UndoError> {
        Ok(Records { journal: opening::open(root, watch)? })
    }

    /// There are some. What cannot be told counts as yes.
    pub fn exist(&self) -> bool {
        self.journal
            .as_ref()
            .is_some_and(|journal| journal.ids().map_or(true, |ids| !ids.is_empty()))
    }

    /// As of a project without any: for who has seen that there are none, and must not act on those that come meanwhile.
    pub fn none() -> Self {
        Records { journal: None }
    }

    /// The newest first, damaged ones too.
    pub fn list(&self, limit: Option<usize>) -> Result<Vec<Listed>, UndoError> {
        let Some(journal) = &self.journal else { return Ok(Vec::new()) };
        let ids = journal.ids()?.into_iter().take(limit.unwrap_or(usize::MAX));
        let listed = ids.map(|id| match listed::look(journal, id) {
            // Forgotten while we were looking.
            Err(UndoError::NoSuchRecord(_)) => Ok(None),
            listed => listed.map(Some),
        });
        listed.filter_map(Result::transpose).collect()
    }

    /// One of them.
    pub fn get(&self, id: RecordId) -> Result<Listed, UndoError> {
        listed::look(self.existing(UndoError::NoSuchRecord(id))?, id)
    }

    /// What a session has left that began then or later, in seconds since the epoch, the newest first. It has one of its own
    /// for each request whose records have to be found again.
    pub(crate) fn of_session(&self, session: &str, since: i64) -> Result<Vec<Listed>, UndoError> {
        /// A clock that was set in between must not hide anything.
        const SLACK: i64 = 24 * 60 * 60;
        let Some(journal) = &self.journal else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for id in journal.ids()? {
            let listed = match listed::look(journal, id) {
                Err(UndoError::NoSuchRecord(_)) => continue,
                listed => listed?,
            };
            if listed.time.is_some_and(|time| time.saturating_add(SLACK) < since) {
                break;
            }
            if listed.session == session {
                found.push(listed);
            }
        }
        Ok(found)
    }

    /// What `diff` shows when nobody says which: the newest that is applied or waits.
    pub fn newest(&self) -> Result<Option<RecordId>, UndoError> {
        let Some(journal) = &self.journal else { return Ok(None) };
        for id in journal.ids()? {
            let Ok(listed) = listed::look(journal, id) else { continue };
            if matches!(listed.state, State::Applied | State::Held) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Takes requests back or makes them again: all of them or none.
    pub fn turn(&self, turn: Turn, which: &Which, options: Options) -> Result<Report, UndoError> {
        let nothing = match (which, turn) {
            (Which::These(ids), _) if !ids.is_empty() => {
                UndoError::NoSuchRecord(ids.first().copied().unwrap_or(RecordId(0)))
            }
            (_, Turn::Undo) => UndoError::NothingToUndo,
            (_, Turn::Redo) => UndoError::NothingToRedo,
        };
        let journal = self.existing(nothing)?;
        match turn {
            Turn::Undo => journal.undo(which, options),
            Turn::Redo => journal.redo(which, options),
        }
    }

    /// What turning records would do to the tree, path by path.
    pub fn preview(&self, turn: Turn, ids: &[RecordId]) -> Result<Vec<Effect>, UndoError> {
        let mut effects = Vec::new();
        for id in ids {
            let changes = self.existing(UndoError::NoSuchRecord(*id))?.diff(*id)?;
            effects.extend(changes.iter().filter_map(|change| preview::effect(turn, change)));
        }
        Ok(effects)
    }

    /// The changes of a record, to be compared one by one with [`compare`](Self::compare).
    pub fn changes(&self, id: RecordId) -> Result<Vec<diff::Found>, UndoError> {
        let journal = self.existing(UndoError::NoSuchRecord(id))?;
        let changes: Vec<Change> = journal.diff(id)?;
        Ok(diff::pair(journal, changes))
    }

    /// One change with what differs in its content.
    pub fn compare(
        &self,
        found: &diff::Found,
        patience: &diff::Patience,
    ) -> Result<diff::FileDiff, UndoError> {
        let journal = self.existing(UndoError::NothingToUndo)?;
        diff::compare(journal, found, patience)
    }

    /// All of it as `git apply` takes it, and how many paths that are.
    pub fn patch(&self, id: RecordId) -> Result<(usize, BString), UndoError> {
        let (found, patience) = (self.changes(id)?, diff::Patience::default());
        let mut text = BString::default();
        for one in &found {
            for line in diff::patch::lines(&self.compare(one, &patience)?) {
                text.extend_from_slice(&line.text);
                text.push(b'\n');
            }
        }
        Ok((found.len(), text))
    }

    /// Another one if any byte of what it leaves behind is another.
    pub fn fingerprint(&self, id: RecordId) -> Result<Digest, UndoError> {
        fingerprint::of(self.existing(UndoError::NoSuchRecord(id))?, id)
    }

    /// What stands in the way of committing a record that is held.
    pub fn held_plan(&self, id: RecordId) -> Result<LayerPlan, UndoError> {
        self.existing(UndoError::NoSuchRecord(id))?.held_plan(id)
    }

    /// Applies what was held.
    pub fn commit(&self, id: RecordId) -> Result<LayerPlan, UndoError> {
        self.existing(UndoError::NoSuchRecord(id))?.commit(id)
    }

    /// Drops what was held.
    pub fn discard(&self, id: RecordId) -> Result<(), UndoError> {
        self.existing(UndoError::NoSuchRecord(id))?.discard(id)
    }

    fn existing(&self, otherwise: UndoError) -> Result<&Journal, UndoError> {
        self.journal.as_ref().ok_or(otherwise)
    }
}

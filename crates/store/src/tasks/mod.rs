//! Tasks as they lie in the project's database: a state with a fence, a body that somebody else understands, the moves from
//! state to state, and the last lines of a log.
//!
//! Whoever changes a task says which state and which fence he has seen: if either is another one meanwhile, nothing is
//! changed. A move is in the chain of records in the same transaction, or it has not happened; it is on the disk when the
//! call returns. Lines of the log are not waited for.

mod rows;
#[cfg(test)]
mod tests;

use std::os::fd::BorrowedFd;

use rusqlite::{Transaction, params};

use crate::audit::database::Database;
use crate::audit::error::database;
use crate::audit::{
    AuditError, Cleanser, Durability, Entry, Manner, Moved, Signing, cleanse, now, opening,
};

/// So many lines of a task's log are kept: the last ones.
pub const LINES: u64 = 1_000;

/// So many tasks that have ended are kept.
const MOST_ENDED: u64 = 1_000;

/// A task as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    pub agent: String,
    pub state: String,
    /// Goes on with every change.
    pub fence: u64,
    /// Milliseconds since 1970.
    pub created: u64,
    pub changed: u64,
    /// Somebody wants it to end, and this is who.
    pub cancelled_by: Option<String>,
    pub body: String,
}

/// What a task is to become.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    pub id: &'a str,
    pub agent: &'a str,
    /// As it was seen.
    pub from: &'a str,
    pub fence: u64,
    pub to: &'a str,
    pub why: &'a str,
    pub body: &'a str,
    /// Whoever wanted it to end has had his way, and it begins anew.
    pub begins_anew: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub number: u64,
    /// Milliseconds since 1970.
    pub stamp: u64,
    /// Empty: it was asked for.
    pub from: String,
    pub to: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Of this task's lines, from 1 on.
    pub number: u64,
    /// Milliseconds since 1970.
    pub stamp: u64,
    pub kind: String,
    pub content: String,
}

/// The tasks of one project.
pub struct TaskStore {
    database: Database,
}

impl TaskStore {
    /// Of the project whose state directory is open here; made if there is none.
    pub fn open(state: BorrowedFd<'_>, signing: &Signing) -> Result<Self, AuditError> {
        Ok(TaskStore { database: Database::open(state, signing)? })
    }

    /// The same where something was recorded before, else [`AuditError::Nothing`].
    pub fn existing(state: BorrowedFd<'_>, signing: &Signing) -> Result<Self, AuditError> {
        if opening::look(state)? {
            TaskStore::open(state, signing)
        } else {
            Err(AuditError::Nothing)
        }
    }

    /// A new one.
    pub fn insert(&mut self, row: &Row, why: &str, by: &dyn Cleanser) -> Result<(), AuditError> {
        let change = Change {
            id: &row.id,
            agent: &row.agent,
            from: "",
            fence: 0,
            to: &row.state,
            why,
            body: &row.body,
            begins_anew: false,
        };
        let inserted = self.record(&change, by, &mut |transaction| {
            rows::forget_old(transaction, MOST_ENDED)?;
            rows::insert(transaction, row)?;
            rows::insert_move(transaction, &change)?;
            Ok(true)
        })?;
        if inserted { Ok(()) } else { Err(AuditError::Nothing) }
    }

    /// Changes a task if it still is as it was seen. The new fence; `None`: it is not. On the disk when this returns.
    pub fn change(
        &mut self,
        change: &Change<'_>,
        by: &dyn Cleanser,
    ) -> Result<Option<u64>, AuditError> {
        if change.from == change.to {
            return self.rewrite(change);
        }
        let changed = self.record(change, by, &mut |transaction| {
            Ok(rows::update(transaction, change)? && {
                rows::insert_move(transaction, change)?;
                true
            })
        })?;
        Ok(changed.then_some(change.fence + 1))
    }

    /// The same state, and another body.
    fn rewrite(&mut self, change: &Change<'_>) -> Result<Option<u64>, AuditError> {
        self.database.set_durability(Durability::Disk)?;
        let changed = rows::update(&self.database.connection, change);
        Ok(changed.map_err(database("be written"))?.then_some(change.fence + 1))
    }

    fn record(
        &mut self,
        change: &Change<'_>,
        by: &dyn Cleanser,
        also: &mut dyn FnMut(&Transaction<'_>) -> rusqlite::Result<bool>,
    ) -> Result<bool, AuditError> {
        let mut entry = Entry::Moved(Box::new(Moved {
            task: change.id.to_owned(),
            agent: change.agent.to_owned(),
            from: change.from.to_owned(),
            to: change.to.to_owned(),
            why: change.why.to_owned(),
            time: now(),
        }));
        cleanse(&mut entry, None, by);
        let manner = Manner { durability: Durability::Disk, last: false };
        self.database.append_with(&[entry.into()], manner, also)
    }

    /// Somebody wants it to end; whoever works on it looks here. The first one counts. False: there is no such task.
    pub fn ask_to_cancel(&mut self, id: &str, who: &str) -> Result<bool, AuditError> {
        self.database.set_durability(Durability::Disk)?;
        let sql = "UPDATE tasks SET cancelled_by = ifnull(cancelled_by, ?) WHERE id = ?";
        let changed = self.database.connection.execute(sql, params![who, id]);
        Ok(changed.map_err(database("be written"))? > 0)
    }

    pub fn cancelled_by(&self, id: &str) -> Result<Option<String>, AuditError> {
        rows::cancelled_by(&self.database.connection, id).map_err(database("be read"))
    }

    pub fn get(&self, id: &str) -> Result<Option<Row>, AuditError> {
        rows::get(&self.database.connection, id).map_err(database("be read"))
    }

    /// Those whose id begins so: two at most.
    pub fn beginning_with(&self, beginning: &str) -> Result<Vec<Row>, AuditError> {
        rows::beginning_with(&self.database.connection, beginning).map_err(database("be read"))
    }

    /// All of them, the newest first.
    pub fn list(&self) -> Result<Vec<Row>, AuditError> {
        rows::list(&self.database.connection).map_err(database("be read"))
    }

    /// Those that have not ended, the oldest first.
    pub fn unfinished(&self) -> Result<Vec<Row>, AuditError> {
        rows::unfinished(&self.database.connection).map_err(database("be read"))
    }

    /// The way it has come, the first step first.
    pub fn moves(&self, id: &str) -> Result<Vec<Move>, AuditError> {
        rows::moves(&self.database.connection, id).map_err(database("be read"))
    }

    /// Adds to its log; the oldest lines go.
    pub fn write_log(&mut self, id: &str, lines: &[(u64, &str, &str)]) -> Result<(), AuditError> {
        self.database.set_durability(Durability::Process)?;
        rows::write_log(&self.database.connection, id, lines, LINES).map_err(database("be written"))
    }

    /// What is left of its log behind a line.
    pub fn log(&self, id: &str, after: u64) -> Result<Vec<Line>, AuditError> {
        rows::log(&self.database.connection, id, after).map_err(database("be read"))
    }
}

//! Forgetting: whole records, oldest first, never one that somebody works on or that is held.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::error::{At, UndoError};
use crate::ground::folder_name;
use crate::journal::{self, Journal};
use crate::record::{Phase, Record, RecordId};
use crate::system;
use crate::tree;

/// How much is remembered. `None`: as much as there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Seconds since the record last changed.
    pub age: Option<i64>,
    pub count: Option<usize>,
    /// Of everything that is kept for undo and redo, with the copy of the project if there is one.
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub forgotten: Vec<RecordId>,
    /// What is still kept.
    pub bytes: u64,
}

impl Journal {
    /// Forgets what is over a limit. Takes as long as deleting does: to be called in the background.
    pub fn clean(&self, limits: Limits) -> Result<Cleaned, UndoError> {
        let mut cleaned = Cleaned::default();
        if self.ground.existing()?.is_none() {
            return Ok(cleaned);
        }
        // Before the journal's lock: whoever has the copy may wait for that.
        cleaned.bytes = self.clean_mirror(limits.age)?;
        let _lock = self.ground.lock()?;
        let oldest = system::now().seconds.saturating_sub(limits.age.unwrap_or(i64::MAX));
        let mut doomed = Vec::new();
        for (index, record) in self.log()?.iter().filter(|record| is_settled(record)).enumerate() {
            cleaned.bytes += self.bytes(record.id)?;
            let many = limits.count.is_some_and(|count| index >= count);
            let large = limits.bytes.is_some_and(|bytes| cleaned.bytes > bytes);
            // Once one goes, all older ones go: what is left has no gaps.
            if many || large || !doomed.is_empty() || record.since.seconds < oldest {
                cleaned.bytes -= self.bytes(record.id)?;
                doomed.push(record.id);
            }
        }
        let count = doomed.len();
        for (done, id) in doomed.into_iter().rev().enumerate() {
            self.ground.watch.tell(done, count);
            journal::forget(&self.ground, id)?;
            cleaned.forgotten.push(id);
        }
        Ok(cleaned)
    }

    /// What a record keeps, in bytes on disk.
    pub fn bytes(&self, id: RecordId) -> Result<u64, UndoError> {
        let Some(folders) = self.ground.existing()? else { return Ok(0) };
        let mut bytes = 0;
        for keeping in folders.keeping()? {
            let name = folder_name(id);
            let folder = match system::open_directory(keeping.as_fd(), name.as_bytes()) {
                Err(Errno::NOENT) => continue,
                folder => folder.at("look at what is kept", name.as_bytes())?,
            };
            let entries = tree::entries(folder.as_fd()).at("look at what is kept", b"")?;
            bytes += entries.iter().map(|(_, facts)| facts.size).sum::<u64>();
        }
        Ok(bytes)
    }
}

fn is_settled(record: &Record) -> bool {
    matches!(record.phase, Phase::Applied | Phase::Undone | Phase::Discarded)
}

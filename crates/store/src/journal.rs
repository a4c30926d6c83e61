//! The journal: where requests are begun, listed and looked up, and how records move between its folders.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::io::Errno;

use crate::content;
use crate::error::{At, UndoError};
use crate::ground::{Folders, Ground, folder_name};
use crate::record::file;
use crate::record::{About, Record, RecordId};
use crate::recording::Recording;
use crate::recover;
use crate::system;
use crate::tree;
use crate::watch::Watch;

/// What was done in a project, and how to take it back.
pub struct Journal {
    pub(crate) ground: Arc<Ground>,
}

impl Journal {
    /// Opens the journal of a project. `root` is the project's directory, `state` its `.clada`, both on one file system.
    ///
    /// Makes nothing. Where a process died in the middle of something, that is brought to an end first; what could not
    /// be is left for the next time, and [`record`](Self::record) shows it.
    pub fn open(root: BorrowedFd<'_>, state: BorrowedFd<'_>) -> Result<Self, UndoError> {
        Journal::open_watched(root, state, Watch::default())
    }

    /// The same for somebody who wants to know how far it is with whatever takes long.
    pub fn open_watched(
        root: BorrowedFd<'_>,
        state: BorrowedFd<'_>,
        watch: Watch,
    ) -> Result<Self, UndoError> {
        let mut ground = Ground::new(root, state)?;
        ground.watch = watch;
        let journal = Journal { ground: Arc::new(ground) };
        recover::recover(&journal.ground)?;
        Ok(journal)
    }

    /// Asked between two stretches of a copy that a running request waits for; when the answer is no, the change is refused
    /// with `EINTR`. Undo, redo and apply are not asked: what they have begun comes to an end.
    pub fn ask_while_recording(&self, goes_on: impl Fn() -> bool + Send + Sync + 'static) {
        self.ground.going.ask(Arc::new(goes_on));
    }

    /// Whether its folder is still where it was, if it has been used: somebody may have cleared the project
    /// (`git clean -fdx`). If not, it is to be opened again.
    pub fn is_there(&self) -> bool {
        self.ground.is_there()
    }

    /// A request begins. Costs nothing until it changes something.
    pub fn begin(&self, about: About) -> Recording {
        Recording::new(Arc::clone(&self.ground), about)
    }

    /// All records that can be read, newest first.
    pub fn log(&self) -> Result<Vec<Record>, UndoError> {
        let mut records = Vec::new();
        for id in self.ids()? {
            match self.record(id) {
                Ok(record) => records.push(record),
                Err(UndoError::NoSuchRecord(_) | UndoError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(records)
    }

    /// The numbers of all records, damaged ones too, newest first.
    pub fn ids(&self) -> Result<Vec<RecordId>, UndoError> {
        let Some(folders) = self.ground.existing()? else { return Ok(Vec::new()) };
        let mut ids = Vec::new();
        for folder in [folders.log()?, &folders.busy] {
            ids.extend(ids_in(folder.as_fd())?);
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.dedup();
        Ok(ids)
    }

    /// Those of all records that are not among the readable ones.
    pub(crate) fn unreadable(&self, readable: &[Record]) -> Result<Vec<RecordId>, UndoError> {
        let mut ids = self.ids()?;
        ids.retain(|id| !readable.iter().any(|record| record.id == *id));
        // One that began just now is no damaged one.
        ids.retain(|id| matches!(self.record(*id), Err(UndoError::Damaged { .. })));
        Ok(ids)
    }

    /// One record, also while it is being worked on.
    pub fn record(&self, id: RecordId) -> Result<Record, UndoError> {
        let folders = self.ground.existing()?.ok_or(UndoError::NoSuchRecord(id))?;
        // It may move from one to the other just now.
        for folder in [folders.log()?, &folders.busy, folders.log()?] {
            if let Some(record) = file::read(folder, id)? {
                return Ok(record);
            }
        }
        Err(UndoError::NoSuchRecord(id))
    }
}

/// All settled records that can be read.
pub(crate) fn settled(ground: &Ground) -> Result<Vec<Record>, UndoError> {
    let Some(folders) = ground.existing()? else { return Ok(Vec::new()) };
    let mut records = Vec::new();
    for id in ids_in(folders.log()?.as_fd())? {
        match file::read(folders.log()?, id) {
            Ok(record) => records.extend(record),
            Err(UndoError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

pub(crate) fn ids_in(folder: BorrowedFd<'_>) -> Result<Vec<RecordId>, UndoError> {
    let names = system::list(folder).at("list the records", b"")?;
    Ok(names.iter().filter_map(|name| file::id(name)).collect())
}

const HEAD: &[u8] = b"head";

/// The last number that was given away, or one before it.
pub(crate) fn head(folders: &Folders) -> Result<RecordId, UndoError> {
    let read = system::open_reading(folders.undo(), HEAD).and_then(content::read_all);
    let text = read.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(id) = text.and_then(|text| text.trim().parse().ok()) {
        return Ok(RecordId(id));
    }
    let mut ids = ids_in(folders.log()?.as_fd())?;
    ids.extend(ids_in(folders.busy.as_fd())?);
    Ok(ids.into_iter().max().unwrap_or(RecordId(0)))
}

/// Only a hint: the file of a record says whether its number is free.
pub(crate) fn set_head(folders: &Folders, id: RecordId) {
    let opened = match system::open_writing(folders.undo(), HEAD) {
        Err(Errno::NOENT) => system::create_copy(folders.undo(), HEAD),
        opened => opened,
    };
    let text = format!("{:020}\n", id.0);
    let _hint = opened.and_then(|file| system::write_all_at(file, text.as_bytes(), 0));
}

/// From those being worked on to the settled ones.
pub(crate) fn settle(ground: &Ground, id: RecordId) -> Result<(), UndoError> {
    let (folders, name) = (ground.folders()?, file::name(id));
    system::rename(&folders.busy, name.as_bytes(), folders.log()?, name.as_bytes())
        .at("settle the record", name.as_bytes())
}

/// A record and everything it keeps. What is kept goes first: what is left after a crash is found again.
pub(crate) fn forget(ground: &Ground, id: RecordId) -> Result<(), UndoError> {
    let (folders, name, folder) = (ground.folders()?, file::name(id), folder_name(id));
    for keeping in folders.keeping()? {
        tree::remove(keeping.as_fd(), folder.as_bytes()).at("clear", folder.as_bytes())?;
    }
    for records in [&folders.busy, folders.log()?] {
        match system::unlink(records, name.as_bytes()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno).at("forget the record", name.as_bytes()),
        }
    }
    Ok(())
}

/// A record of which nothing can be read. If it keeps nothing, nothing had happened yet; else it stays, damaged.
pub(crate) fn forget_unread(ground: &Ground, id: RecordId) -> Result<(), UndoError> {
    let (folders, folder) = (ground.folders()?, folder_name(id));
    for keeping in folders.keeping()? {
        match system::remove_directory(keeping, folder.as_bytes()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(_) => return settle(ground, id),
        }
    }
    forget(ground, id)
}

//! A record's file: read as a whole, only ever appended to, and locked by whoever works on it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::{Entry, Record, RecordId, codec};
use crate::content;
use crate::error::{At, UndoError};
use crate::system;

pub(crate) fn name(id: RecordId) -> String {
    format!("{:09}.rec", id.0)
}

pub(crate) fn id(name: &[u8]) -> Option<RecordId> {
    let digits = name.strip_suffix(b".rec")?;
    Some(RecordId(std::str::from_utf8(digits).ok()?.parse().ok()?))
}

/// An open record: what is appended is in memory and on disk alike.
pub(crate) struct RecordFile {
    file: OwnedFd,
    pub record: Record,
}

impl RecordFile {
    /// A new one, locked. `None` when the number is taken.
    ///
    /// It has another name until it is locked and has begun: recovery must not take it for that of somebody dead.
    pub(crate) fn create(
        folder: BorrowedFd<'_>,
        record: Record,
    ) -> Result<Option<Self>, UndoError> {
        let (name, new) = (name(record.id), format!("{}.new", record.id.0));
        let file = match system::create_file(folder, new.as_bytes()) {
            Err(Errno::EXIST) => return Ok(None),
            file => file.at("make a record", name.as_bytes())?,
        };
        system::lock(&file).at("lock a record", name.as_bytes())?;
        let (about, tree) = (record.about.clone(), record.tree);
        let begin = Entry::Begin { version: super::VERSION, id: record.id, about, tree };
        let mut made = RecordFile { file, record };
        made.append(vec![begin])?;
        match system::rename(folder, new.as_bytes(), folder, name.as_bytes()) {
            Err(Errno::EXIST | Errno::NOENT) => {
                let _stray = system::unlink(folder, new.as_bytes());
                Ok(None)
            }
            renamed => renamed.at("make a record", name.as_bytes()).map(|()| Some(made)),
        }
    }

    /// One that nobody may be working on, locked. `None` when somebody is, or it is gone.
    pub(crate) fn open(folder: BorrowedFd<'_>, id: RecordId) -> Result<Option<Self>, UndoError> {
        let name = name(id);
        let file = match system::open_appending(folder, name.as_bytes()) {
            Err(Errno::NOENT) => return Ok(None),
            file => file.at("open a record", name.as_bytes())?,
        };
        if !system::try_lock(&file).at("lock a record", name.as_bytes())? {
            return Ok(None);
        }
        RecordFile::load(file, id).map(Some)
    }

    /// One that was settled until now. Whoever settled it may have started a program meanwhile, which has the lock until
    /// it runs: that is waited for.
    pub(crate) fn open_settled(folder: BorrowedFd<'_>, id: RecordId) -> Result<Self, UndoError> {
        let name = name(id);
        let file = system::open_appending(folder, name.as_bytes());
        let file = file.at("open a record", name.as_bytes())?;
        system::lock(&file).at("lock a record", name.as_bytes())?;
        RecordFile::load(file, id)
    }

    fn load(file: OwnedFd, id: RecordId) -> Result<Self, UndoError> {
        let name = name(id);
        let bytes = content::read_all(&file).at("read a record", name.as_bytes())?;
        let (mut record, good) = Record::read(&bytes).ok_or(UndoError::Damaged { id })?;
        if record.torn {
            system::truncate(&file, good as u64).at("repair a record", name.as_bytes())?;
            record.torn = false;
        }
        Ok(RecordFile { file, record })
    }

    /// All entries or none: what was written in part is cut off again.
    pub(crate) fn append(&mut self, entries: Vec<Entry>) -> Result<(), UndoError> {
        let failed = |errno| UndoError::System {
            doing: "write to the record",
            path: name(self.record.id).into(),
            errno,
        };
        let bytes = codec::encode(&entries).ok_or_else(|| failed(Errno::FBIG))?;
        let length = system::stat_handle(&self.file).map_err(failed)?.st_size as u64;
        if let Err(errno) = system::append(&self.file, &bytes) {
            let _torn_at_worst = system::truncate(&self.file, length);
            return Err(failed(errno));
        }
        for entry in entries {
            self.record.add(entry);
        }
        Ok(())
    }

    pub(crate) fn sync(&self) -> Result<(), UndoError> {
        system::sync_data(&self.file).at("sync the record", name(self.record.id).as_bytes())
    }
}

/// Reads a record that nobody has to have locked.
pub(crate) fn read(folder: impl AsFd, id: RecordId) -> Result<Option<Record>, UndoError> {
    let name = name(id);
    let file = match system::open_reading(folder, name.as_bytes()) {
        Err(Errno::NOENT) => return Ok(None),
        file => file.at("open a record", name.as_bytes())?,
    };
    let bytes = content::read_all(&file).at("read a record", name.as_bytes())?;
    let (record, _) = Record::read(&bytes).ok_or(UndoError::Damaged { id })?;
    Ok(Some(record))
}

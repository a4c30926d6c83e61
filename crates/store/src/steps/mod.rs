//! Taking steps back and making them again.
//!
//! Each step decides by looking on which side it is, so doing one twice is doing it once: that is what recovery after
//! a crash relies on. Nothing is ever deleted here.

mod across;
mod ahead;
mod append;
pub(crate) mod reach;
mod redo;
mod sweep;
mod sync;
mod undo;
pub(crate) mod write;

use rustix::io::Errno;

use crate::error::{At, UndoError};
use crate::facts::{self, Time};
use crate::ground::{Ground, Slots};
use crate::record::file::RecordFile;
use crate::record::{DirectoryTime, Numbered};
use crate::system;

/// Works on one record's steps.
pub(crate) struct Hand<'a> {
    pub ground: &'a Ground,
    pub slots: &'a Slots,
    pub file: &'a mut RecordFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Undo,
    Redo,
}

impl Direction {
    pub(crate) fn opposite(self) -> Self {
        match self {
            Direction::Undo => Direction::Redo,
            Direction::Redo => Direction::Undo,
        }
    }
}

impl Hand<'_> {
    /// All steps from a number on, in the order that fits, and then the times of directories.
    pub(crate) fn go(&mut self, direction: Direction) -> Result<(), UndoError> {
        let steps = self.file.record.steps.clone();
        match direction {
            Direction::Undo => self.undo_steps(&steps)?,
            Direction::Redo => self.redo_steps(&steps)?,
        }
        self.set_times(direction)
    }

    /// What the record says is on the disk, and so is its name.
    pub(crate) fn sync_record(&self) -> Result<(), UndoError> {
        self.file.sync()?;
        system::sync_directory(&self.ground.folders()?.busy).at("sync the journal", b"busy")
    }

    /// Only some of the steps, backwards.
    pub(crate) fn undo_steps(&mut self, steps: &[Numbered]) -> Result<(), UndoError> {
        for (done, step) in steps.iter().rev().enumerate() {
            self.ground.watch.tell(done, steps.len());
            self.undo(step)?;
        }
        Ok(())
    }

    /// Only some of the steps, forwards.
    pub(crate) fn redo_steps(&mut self, steps: &[Numbered]) -> Result<(), UndoError> {
        for (done, step) in steps.iter().enumerate() {
            self.ground.watch.tell(done, steps.len());
            self.redo(step)?;
        }
        Ok(())
    }

    /// Directories change their times whenever a name in them does, so theirs come last.
    pub(crate) fn set_times(&self, direction: Direction) -> Result<(), UndoError> {
        let record = &self.file.record;
        for pair in &record.made.times {
            let Some((path, modified)) = side(pair, direction) else { continue };
            if record.keep_times.contains(path) {
                continue;
            }
            if let Some(spot) = self.ground.spot(path)? {
                match facts::set_time(&spot.directory, &spot.name, *modified) {
                    Err(Errno::NOENT) => {}
                    done => done.at("set the time", path)?,
                }
            }
        }
        Ok(())
    }
}

/// Where a directory is and its time when a direction has been gone.
pub(crate) fn side(pair: &DirectoryTime, direction: Direction) -> Option<&(bstr::BString, Time)> {
    match direction {
        Direction::Undo => pair.before.as_ref(),
        Direction::Redo => pair.after.as_ref(),
    }
}

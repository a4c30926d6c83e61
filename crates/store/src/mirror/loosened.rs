//! Directories and files of the project that their owner may not read, opened for a moment so that they can be copied and compared.
//!
//! Each is written down first: if we die in between, whoever comes next gives it its mode back.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::ground::Ground;
use crate::system;

const NOTE: &[u8] = b"loosened";

pub(super) struct Loosening<'a> {
    ground: &'a Ground,
    folder: BorrowedFd<'a>,
    note: Option<OwnedFd>,
    opened: Vec<(BString, u32)>,
}

impl<'a> Loosening<'a> {
    /// What somebody has left open when he died is closed first.
    pub(super) fn new(ground: &'a Ground, folder: BorrowedFd<'a>) -> Result<Self, UndoError> {
        close_left(ground, folder)?;
        Ok(Loosening { ground, folder, note: None, opened: Vec::new() })
    }

    /// Adds these bits to its mode until [`close`](Self::close).
    pub(super) fn open(&mut self, path: &BString, mode: u32, bits: u32) -> Result<(), UndoError> {
        let noted = || -> Result<Vec<u8>, Errno> {
            let line = postcard::to_stdvec(&(path, mode)).map_err(|_| Errno::INVAL)?;
            let length = u32::try_from(line.len()).map_err(|_| Errno::FBIG)?;
            Ok([&length.to_le_bytes()[..], &line].concat())
        };
        let note = match self.note.take() {
            Some(note) => note,
            None => system::create_file(self.folder, NOTE).at("look into it", path)?,
        };
        let written = noted().and_then(|line| system::append(&note, &line));
        self.note = Some(note);
        written.at("look into it", path)?;
        let Some(spot) = self.ground.spot(path)? else { return Ok(()) };
        system::open_object(&spot.directory, &spot.name)
            .and_then(|object| system::set_mode(object, mode | bits))
            .at("look into it", path)?;
        self.opened.push((path.clone(), mode));
        Ok(())
    }

    /// This one has its mode again.
    pub(super) fn close_one(&mut self, path: &BString) -> Result<(), UndoError> {
        let last = self.opened.pop_if(|(last, _)| last == path);
        close_all(self.ground, last.as_slice())
    }

    /// All of them have their modes again.
    pub(super) fn close(self) -> Result<(), UndoError> {
        if self.note.is_none() {
            return Ok(());
        }
        close_all(self.ground, &self.opened)?;
        system::unlink(self.folder, NOTE).at("close what was open", b"")
    }
}

/// The innermost first: what is above may forbid to go there.
fn close_all(ground: &Ground, opened: &[(BString, u32)]) -> Result<(), UndoError> {
    for (path, mode) in opened.iter().rev() {
        let Some(spot) = ground.spot(path)? else { continue };
        let facts = Facts::of(&spot.directory, &spot.name).at("look at it", path)?;
        if facts.is_some_and(|now| now.mode != *mode && now.mode & mode == *mode) {
            system::open_object(&spot.directory, &spot.name)
                .and_then(|object| system::set_mode(object, *mode))
                .at("close what was open", path)?;
        }
    }
    Ok(())
}

pub(super) fn is_any(folder: BorrowedFd<'_>) -> bool {
    matches!(system::stat(folder, NOTE), Ok(Some(_)))
}

pub(super) fn close_left(ground: &Ground, folder: BorrowedFd<'_>) -> Result<(), UndoError> {
    let note = match system::open_reading(folder, NOTE) {
        Err(Errno::NOENT) => return Ok(()),
        note => note.and_then(system::read_whole).at("close what was open", b"")?,
    };
    let (mut rest, mut opened) = (note.as_slice(), Vec::new());
    while let Some((entry, behind)) = first(rest) {
        opened.push(entry);
        rest = behind;
    }
    close_all(ground, &opened)?;
    system::unlink(folder.as_fd(), NOTE).at("close what was open", b"")
}

/// What is torn at the end was not opened yet.
fn first(bytes: &[u8]) -> Option<((BString, u32), &[u8])> {
    let length = u32::from_le_bytes(bytes.first_chunk().copied()?) as usize;
    let (line, behind) = bytes.get(4..)?.split_at_checked(length)?;
    Some((postcard::from_bytes(line).ok()?, behind))
}

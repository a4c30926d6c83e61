//! Large files that are emptied: the old one is kept as it is, and a new one takes its place.

use std::os::fd::OwnedFd;

use super::known::{Covered, Open};
use super::{Recording, attributes_of};
use crate::error::{At, UndoError};
use crate::facts::{self, Attributes, Facts, Kind};
use crate::path;
use crate::record::{Numbered, Step};
use crate::steps::Hand;
use crate::system;

impl Recording {
    /// Empties a regular file without copying what was in it: a new, empty one with the same attributes takes its place,
    /// and is given to be written to. This makes the change; the price is another inode.
    ///
    /// `None` where that would be seen, or is not possible, or not needed: then [`before_write`](Self::before_write) and
    /// truncate. For large files only: copying a small one is cheaper.
    pub fn renew(&self, path: &[u8]) -> Result<Option<OwnedFd>, UndoError> {
        let path = path::check(path)?;
        let mut open = self.open();
        let Some((spot, before)) = self.look(&path)? else { return Ok(None) };
        let is_plain = before.kind == Kind::File && before.links == 1;
        if !is_plain || open.is_covered(&path, &before, Covered::Kept) {
            return Ok(None);
        }
        let attributes = attributes_of(&spot, &path)?;
        let number = self.file(&mut open)?.record.next_number;
        let slots = self.slots(&mut open)?;
        let Ok(new) = create_like(&slots.redo, number, &before, &attributes) else {
            return Ok(None);
        };
        self.perform(&mut open, Step::Replace { path: path.clone(), before })?;
        open.covered.insert(path, Covered::Kept);
        Ok(Some(new))
    }

    /// Takes [`renew`](Self::renew) back: the earlier file is at its path again, and nothing of it is recorded. Does nothing
    /// when what is there is not the new file, by its inode number, any more.
    pub fn take_back(&self, path: &[u8], inode: u64) -> Result<(), UndoError> {
        let path = path::check(path)?;
        let mut open = self.open();
        if self.ground.facts(&path)?.is_none_or(|facts| facts.inode != inode) {
            return Ok(());
        }
        let Open { file: Some(file), slots: Some(slots), .. } = &mut *open else { return Ok(()) };
        let renewed =
            |one: &&Numbered| matches!(&one.step, Step::Replace { path: at, .. } if *at == path);
        let Some(step) = file.record.steps.iter().rev().find(renewed).cloned() else {
            return Ok(());
        };
        let number = step.number;
        Hand { ground: &self.ground, slots, file }.undo_steps(&[step])?;
        // First the room that it takes: there may be none left for the entry.
        system::unlink(&slots.redo, &crate::ground::slot_name(number)).at("clear", &path)?;
        Recording::settle_failed(&mut open, &[number]);
        open.forget(&path);
        Ok(())
    }

    /// The copy that [`before_write`](Self::before_write) has made of a file, to read.
    pub fn kept_copy(&self, path: &[u8]) -> Option<OwnedFd> {
        let open = self.open();
        let (file, slots) = (open.file.as_ref()?, open.slots.as_ref()?);
        let written =
            |one: &&Numbered| matches!(&one.step, Step::Write { path: at, .. } if *at == path);
        let number = file.record.steps.iter().rev().find(written)?.number;
        system::open_reading(&slots.pre, &crate::ground::slot_name(number)).ok()
    }
}

/// Empty, with the same owner, mode and attributes; its time is now.
fn create_like(
    folder: &OwnedFd,
    number: u32,
    facts: &Facts,
    attributes: &Attributes,
) -> Result<OwnedFd, rustix::io::Errno> {
    let name = crate::ground::slot_name(number);
    if system::stat(folder, &name)?.is_some() {
        system::unlink(folder, &name)?;
    }
    let file = system::create_copy(folder, &name)?;
    let modified = system::now();
    facts::put_back(folder, &name, &Facts { modified, ..facts.clone() }, attributes)?;
    Ok(file)
}

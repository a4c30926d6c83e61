//! Making one step again.

use bstr::BString;
use rustix::io::Errno;

use super::Hand;
use super::reach::End;
use crate::error::{At, Conflict, ConflictKind, UndoError};
use crate::facts;
use crate::ground::slot_name;
use crate::record::{Numbered, Step};
use crate::system;

impl Hand<'_> {
    pub(super) fn redo(&mut self, numbered: &Numbered) -> Result<(), UndoError> {
        let number = numbered.number;
        match &numbered.step {
            Step::Create { path } => self.recreate(number, path),
            Step::Replace { path, before } => self.replace(number, path, before.inode),
            Step::Delete { path, before } => self.delete(number, path, before.inode),
            Step::Link { path, existing, inode } => self.link(number, path, existing, *inode),
            Step::Trash { path: from, to, inode } | Step::Move { from, to, inode } => {
                self.relocate(from, to, *inode)
            }
            Step::Write { path, before, .. } => self.rewrite(number, path, before.inode),
            Step::Append { path, before, .. } => self.reappend(number, path, before),
            Step::Meta { path, before, .. } => self.put_after(number, path, before.inode),
        }
    }

    fn recreate(&mut self, number: u32, path: &BString) -> Result<(), UndoError> {
        let name = slot_name(number);
        if system::stat(&self.slots.redo, &name).at("look at what is kept", path)?.is_none() {
            return Ok(());
        }
        let spot = self.reach(path)?;
        self.rename(End::slot(&self.slots.redo, &name), End::tree(&spot, path))
    }

    fn link(
        &mut self,
        number: u32,
        path: &BString,
        existing: &BString,
        inode: u64,
    ) -> Result<(), UndoError> {
        let name = slot_name(number);
        if system::stat(&self.slots.redo, &name).at("look at what is kept", path)?.is_some() {
            return self.recreate(number, path);
        }
        if self.is_there(path, inode)? || !self.is_there(existing, inode)? {
            return Ok(());
        }
        let (source, target) = (self.reach(existing)?, self.reach(path)?);
        let (from, to) = (End::tree(&source, existing), End::tree(&target, path));
        self.patiently(from, to, || {
            system::link(&source.directory, &source.name, &target.directory, &target.name)
        })
    }

    /// `redo/n` is the new object, or, when we were stopped between the two renames, the old one.
    fn replace(&mut self, number: u32, path: &BString, old: u64) -> Result<(), UndoError> {
        let name = slot_name(number);
        let kept = system::stat(&self.slots.redo, &name).at("look at what is kept", path)?;
        let Some(kept) = kept else { return Ok(()) };
        let pre = End::slot(&self.slots.pre, &name);
        let redo = End::slot(&self.slots.redo, &name);
        if kept.st_ino == old {
            return self.rename(redo, pre);
        }
        let spot = self.reach(path)?;
        let place = End::tree(&spot, path);
        let there = system::stat(&spot.directory, &spot.name).at("look at it", path)?.is_some();
        if there {
            match self.exchange(place, redo) {
                Ok(true) => return self.keep_replaced(number, path, old, place),
                Ok(false) => self.rename(place, pre)?,
                Err(UndoError::System { errno: Errno::XDEV, .. }) => {
                    self.delete_by_copy(number, path, old)?;
                }
                Err(error) => return Err(error),
            }
        }
        self.rename(redo, place)
    }

    /// Both have changed places.
    fn keep_replaced(
        &mut self,
        number: u32,
        path: &BString,
        old: u64,
        place: End<'_>,
    ) -> Result<(), UndoError> {
        let name = slot_name(number);
        let redo = End::slot(&self.slots.redo, &name);
        // Somebody may have put another one there since it was looked at: that is not ours to replace.
        let out = system::stat(&self.slots.redo, &name).at("look at what is kept", path)?;
        if out.is_some_and(|out| out.st_ino != old) {
            self.exchange(place, redo)?;
            return Err(changed(path));
        }
        self.rename(redo, End::slot(&self.slots.pre, &name))
    }

    fn delete(&mut self, number: u32, path: &BString, old: u64) -> Result<(), UndoError> {
        let name = slot_name(number);
        if system::stat(&self.slots.pre, &name).at("look at what is kept", path)?.is_some() {
            return self.finish_copied(number, path, old);
        }
        let Some(spot) = self.ground.spot(path)? else { return Ok(()) };
        if system::stat(&spot.directory, &spot.name).at("look at it", path)?.is_none() {
            return Ok(());
        }
        match self.rename(End::tree(&spot, path), End::slot(&self.slots.pre, &name)) {
            Err(UndoError::System { errno: Errno::XDEV, .. }) => {
                return self.delete_by_copy(number, path, old);
            }
            renamed => renamed?,
        }
        let gone = system::stat(&self.slots.pre, &name).at("look at what is kept", path)?;
        if gone.is_some_and(|gone| gone.st_ino != old) {
            self.rename(End::slot(&self.slots.pre, &name), End::tree(&spot, path))?;
            return Err(changed(path));
        }
        Ok(())
    }

    /// The attributes that a step led to.
    pub(super) fn put_after(
        &self,
        number: u32,
        path: &BString,
        inode: u64,
    ) -> Result<(), UndoError> {
        let made = &self.file.record.made.attributes;
        let at = made.binary_search_by_key(&number, |(number, ..)| *number).ok();
        let after = at.and_then(|at| made.get(at));
        let (Some((_, facts, attributes)), Some(spot)) = (after, self.ground.spot(path)?) else {
            return Ok(());
        };
        if !self.is_there(path, inode)? {
            return Ok(());
        }
        facts::put_back(&spot.directory, &spot.name, facts, attributes)
            .at("set its attributes", path)
    }
}

fn changed(path: &BString) -> UndoError {
    UndoError::Conflicts(vec![Conflict { path: path.clone(), kind: ConflictKind::Changed }])
}

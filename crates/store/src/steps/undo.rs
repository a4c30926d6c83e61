//! Taking one step back.

use bstr::BString;

use super::Hand;
use super::reach::End;
use crate::error::{At, UndoError};
use crate::facts;
use crate::ground::slot_name;
use crate::record::{Numbered, Step};
use crate::system;

impl Hand<'_> {
    pub(super) fn undo(&mut self, numbered: &Numbered) -> Result<(), UndoError> {
        let number = numbered.number;
        match &numbered.step {
            Step::Create { path } => self.uncreate(number, path),
            Step::Replace { path, before } => self.unreplace(number, path, before.inode),
            Step::Delete { path, before } => self.undelete(number, path, before.inode),
            Step::Link { path, existing, inode } => self.unlink(number, path, existing, *inode),
            Step::Trash { path: from, to, inode } | Step::Move { from, to, inode } => {
                self.relocate(to, from, *inode)
            }
            Step::Write { path, before, attributes } => {
                self.unwrite(number, path, before, attributes)
            }
            Step::Append { path, before, attributes } => {
                self.unappend(number, path, before, attributes)
            }
            Step::Meta { path, before, attributes } => {
                let Some(spot) = self.ground.spot(path)? else { return Ok(()) };
                if !self.is_there(path, before.inode)? {
                    return Ok(());
                }
                facts::put_back(&spot.directory, &spot.name, before, attributes)
                    .at("put its attributes back", path)
            }
        }
    }

    /// Only what this step made: anything else at the path is somebody else's.
    fn uncreate(&mut self, number: u32, path: &BString) -> Result<(), UndoError> {
        let made = self.file.record.object(number);
        let Some(spot) = self.ground.spot(path)? else { return Ok(()) };
        let found = system::stat(&spot.directory, &spot.name).at("look at it", path)?;
        if made.is_none() || found.map(|stat| stat.st_ino) != made {
            return Ok(());
        }
        let name = slot_name(number);
        self.rename(End::tree(&spot, path), End::slot(&self.slots.redo, &name))
    }

    /// `pre/n` is the old object, or, when we were stopped between the two renames, the new one.
    fn unreplace(&mut self, number: u32, path: &BString, old: u64) -> Result<(), UndoError> {
        let name = slot_name(number);
        let kept = system::stat(&self.slots.pre, &name).at("look at what is kept", path)?;
        let Some(kept) = kept else { return Ok(()) };
        let pre = End::slot(&self.slots.pre, &name);
        let redo = End::slot(&self.slots.redo, &name);
        if kept.st_ino != old {
            return self.rename(pre, redo);
        }
        let spot = self.reach(path)?;
        let place = End::tree(&spot, path);
        let there = system::stat(&spot.directory, &spot.name).at("look at it", path)?.is_some();
        if there && self.exchange(place, pre)? {
            return self.rename(pre, redo);
        }
        if there {
            self.rename(place, redo)?;
        }
        self.rename(pre, place)
    }

    /// One name less. If it is the last one now, it is kept.
    fn unlink(
        &mut self,
        number: u32,
        path: &BString,
        existing: &BString,
        inode: u64,
    ) -> Result<(), UndoError> {
        if !self.is_there(path, inode)? {
            return Ok(());
        }
        let spot = self.reach(path)?;
        if !self.is_there(existing, inode)? {
            let name = slot_name(number);
            return self.rename(End::tree(&spot, path), End::slot(&self.slots.redo, &name));
        }
        let place = End::tree(&spot, path);
        self.patiently(place, place, || system::unlink(&spot.directory, &spot.name))
    }

    fn undelete(&mut self, number: u32, path: &BString, old: u64) -> Result<(), UndoError> {
        let name = slot_name(number);
        let kept = system::stat(&self.slots.pre, &name).at("look at what is kept", path)?;
        let Some(kept) = kept else { return Ok(()) };
        if kept.st_ino != old {
            self.remove_remains(path, old)?;
        }
        let spot = self.reach(path)?;
        self.rename(End::slot(&self.slots.pre, &name), End::tree(&spot, path))
    }

    /// Both ways: from one path to the other, if it is that object.
    pub(super) fn relocate(
        &mut self,
        from: &BString,
        to: &BString,
        inode: u64,
    ) -> Result<(), UndoError> {
        let Some(source) = self.ground.spot(from)? else { return Ok(()) };
        let found = system::stat(&source.directory, &source.name).at("look at it", from)?;
        if found.is_none_or(|stat| stat.st_ino != inode) {
            return Ok(());
        }
        let target = self.reach(to)?;
        self.rename(End::tree(&source, from), End::tree(&target, to))
    }

    /// Where something has to be put.
    pub(super) fn reach(&self, path: &BString) -> Result<crate::ground::Spot, UndoError> {
        let missing = rustix::io::Errno::NOENT;
        let doing = "put it back into its directory";
        let path = path.clone();
        self.ground.spot(&path)?.ok_or(UndoError::System { doing, path, errno: missing })
    }
}

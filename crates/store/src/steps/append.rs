//! Content that was only appended to: the same inode, and the earlier content is its beginning.
//!
//! What came behind is a copy of its own before it is cut off, so both can be begun again at any time. It goes when it is
//! in the tree again and everything is on disk ([`super::sweep`]).

use bstr::BString;
use rustix::io::Errno;

use super::Hand;
use super::sync::sync_slot;
use super::write::{is_kept, keep, kept, writable};
use crate::content;
use crate::error::{At, UndoError};
use crate::facts::{self, Attributes, Facts};
use crate::ground::{Spot, slot_name};
use crate::system;

impl Hand<'_> {
    pub(super) fn unappend(
        &mut self,
        number: u32,
        path: &BString,
        before: &Facts,
        attributes: &Attributes,
    ) -> Result<(), UndoError> {
        let kept = is_kept(&self.slots.redo, &slot_name(number), path)?;
        if kept && !self.is_there(path, before.inode)? {
            // It was cut before we were stopped, and has moved on since.
            return Ok(());
        }
        let spot = self.reach(path)?;
        if !kept {
            self.keep_tail(&spot, number, before.size).at("keep what was appended", path)?;
            sync_slot(&self.slots.redo, number, path)?;
        }
        cut(&spot, before).at("cut off what was appended", path)?;
        facts::put_back(&spot.directory, &spot.name, before, attributes)
            .at("put its attributes back", path)
    }

    /// What was appended to the first so many bytes, as a copy of its own.
    pub(super) fn keep_tail(&self, spot: &Spot, number: u32, first: u64) -> Result<(), Errno> {
        let tail = |from: &_, to: &_| content::copy_tail(from, to, first).map(|()| true);
        keep(spot, &self.slots.redo, number, tail).map(|_complete| ())
    }

    pub(super) fn reappend(
        &mut self,
        number: u32,
        path: &BString,
        before: &Facts,
    ) -> Result<(), UndoError> {
        let name = slot_name(number);
        let kept_tail = is_kept(&self.slots.redo, &name, path)?;
        if !kept_tail || !self.is_there(path, before.inode)? {
            return Ok(());
        }
        let spot = self.reach(path)?;
        kept(&self.slots.redo, &name)
            .and_then(|tail| content::write_tail(&tail, &writable(&spot)?, before.size))
            .at("append to it again", path)?;
        self.put_after(number, path, before.inode)
    }
}

/// Only the file that was appended to: the beginning of any other is not what was there.
fn cut(spot: &Spot, before: &Facts) -> Result<(), Errno> {
    let found = system::stat(&spot.directory, &spot.name)?.ok_or(Errno::NOENT)?;
    let size = found.st_size as u64;
    if found.st_ino != before.inode || size < before.size {
        return Err(Errno::STALE);
    }
    if size == before.size { Ok(()) } else { system::truncate(writable(spot)?, before.size) }
}

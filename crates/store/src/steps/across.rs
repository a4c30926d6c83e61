//! Directories that cannot be renamed, because the project lies on an overlay and they come from below: they are copied to
//! where the record keeps them, and then removed.
//!
//! The copy has its number only when it is complete, and nothing is removed before that. It is another object, and the record
//! is told so: from then on the step is about the copy, which can be renamed.

use std::os::fd::AsFd;

use bstr::BString;

use super::Hand;
use crate::copying;
use crate::error::{At, UndoError};
use crate::ground::slot_name;
use crate::record::{Entry, Numbered, Step};
use crate::system;
use crate::tree;

impl Hand<'_> {
    /// What is at the path goes to `pre/n`.
    pub(super) fn delete_by_copy(
        &mut self,
        number: u32,
        path: &BString,
        old: u64,
    ) -> Result<(), UndoError> {
        let name = slot_name(number);
        let pre = &self.slots.pre;
        if system::stat(pre, &name).at("look at what is kept", path)?.is_none() {
            let part = [name.as_slice(), b".part"].concat();
            let spot = self.reach(path)?;
            let same = |user, group| (user, group);
            tree::remove(pre.as_fd(), &part)
                .and_then(|()| {
                    let from = (spot.directory.as_fd(), spot.name.as_slice());
                    copying::copy(from, (pre.as_fd(), &part), &same)
                })
                .and_then(|()| system::rename(pre, &part, pre, &name))
                .at("keep what is deleted", path)?;
        }
        self.finish_copied(number, path, old)
    }

    /// A copy is kept. What it was made of goes, and the record learns which object it is.
    pub(super) fn finish_copied(
        &mut self,
        number: u32,
        path: &BString,
        old: u64,
    ) -> Result<(), UndoError> {
        let kept = system::stat(&self.slots.pre, &slot_name(number));
        let kept = kept.at("look at what is kept", path)?.map(|stat| stat.st_ino);
        let Some(kept) = kept.filter(|kept| *kept != old) else { return Ok(()) };
        self.remove_remains(path, old)?;
        let step = self.file.record.steps.iter().find(|one| one.number == number);
        let Some(mut step) = step.map(|one| one.step.clone()) else { return Ok(()) };
        if let Step::Delete { before, .. } | Step::Replace { before, .. } = &mut step {
            before.inode = kept;
        }
        let pieces = vec![Numbered { number, step }];
        self.file.append(vec![Entry::Divide { number, pieces }])
    }

    /// What is left at a path of a directory that was copied.
    pub(super) fn remove_remains(&self, path: &BString, old: u64) -> Result<(), UndoError> {
        let Some(spot) = self.ground.spot(path)? else { return Ok(()) };
        let found = system::stat(&spot.directory, &spot.name).at("look at it", path)?;
        if found.is_none_or(|found| found.st_ino != old) {
            return Ok(());
        }
        tree::remove(spot.directory.as_fd(), &spot.name).at("remove what was copied", path)
    }
}

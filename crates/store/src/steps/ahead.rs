//! Copies of what will be written over in place, made and on the disk before the first byte of it is.
//!
//! A process that is killed leaves every page where it was; a power cut does not. A content that lies half written in the tree
//! and not at all in the journal would be gone, so what a step reads and what it writes over are both on the disk when it
//! begins. All of them at once, because waiting for the disk costs more than what is waited for.

use std::collections::HashSet;

use bstr::BString;

use super::write::{is_kept, keep_copy};
use super::{Direction, Hand};
use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::going::ALWAYS;
use crate::ground::slot_name;
use crate::record::{Numbered, Step};

impl Hand<'_> {
    /// To be called before steps are taken in this direction. What is not as its step will find it, because another step comes
    /// first that moves it or writes to it, is kept when its turn comes.
    pub(crate) fn keep_ahead(&self, direction: Direction) -> Result<(), UndoError> {
        let steps = self.file.record.steps.iter();
        let mut in_place: Vec<_> = steps.filter_map(InPlace::of).collect();
        if in_place.is_empty() {
            return Ok(());
        }
        if direction == Direction::Undo {
            in_place.reverse();
        }
        let mut begun = HashSet::new();
        for step in &in_place {
            if begun.insert(step.before.inode) {
                self.keep_one(step, direction)?;
            }
        }
        self.sync_kept(&in_place)
    }

    fn keep_one(&self, step: &InPlace<'_>, direction: Direction) -> Result<(), UndoError> {
        let (source, copy) = match direction {
            // Made again, it only grows: nothing is written over.
            Direction::Redo if step.appends => return Ok(()),
            Direction::Undo => (&self.slots.pre, &self.slots.redo),
            Direction::Redo => (&self.slots.redo, &self.slots.pre),
        };
        let InPlace { number, path, before, appends } = *step;
        let name = slot_name(number);
        // Without a source the step has been taken, or there was nothing to it.
        let has_source = appends || is_kept(source, &name, path)?;
        if !has_source || is_kept(copy, &name, path)? || !self.is_there(path, before.inode)? {
            return Ok(());
        }
        let Some(spot) = self.ground.spot(path)? else { return Ok(()) };
        let kept = if appends {
            self.keep_tail(&spot, number, before.size)
        } else {
            keep_copy(&spot, copy, number, &ALWAYS)
        };
        kept.at("keep its content", path)
    }
}

/// A step that changes a file without putting another in its place.
pub(super) struct InPlace<'a> {
    pub number: u32,
    pub path: &'a BString,
    before: &'a Facts,
    appends: bool,
}

impl<'a> InPlace<'a> {
    fn of(numbered: &'a Numbered) -> Option<Self> {
        let number = numbered.number;
        match &numbered.step {
            Step::Write { path, before, .. } => {
                Some(InPlace { number, path, before, appends: false })
            }
            Step::Append { path, before, .. } => {
                Some(InPlace { number, path, before, appends: true })
            }
            _ => None,
        }
    }
}

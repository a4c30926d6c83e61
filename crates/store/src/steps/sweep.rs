//! Copies that nobody needs once a phase has been reached: of a content changed in place, the one that the tree has.

use bstr::BString;

use super::{Direction, Hand};
use crate::error::{At, UndoError};
use crate::ground::slot_name;
use crate::record::Step;
use crate::system;

impl Hand<'_> {
    /// After the record has settled on the side that the direction leads to.
    pub(crate) fn sweep(&self, reached: Direction) -> Result<(), UndoError> {
        let (needed, spare) = match reached {
            Direction::Undo => (&self.slots.redo, &self.slots.pre),
            Direction::Redo => (&self.slots.pre, &self.slots.redo),
        };
        for numbered in &self.file.record.steps {
            let name = slot_name(numbered.number);
            let exists = |folder, path: &BString| {
                Ok(system::stat(folder, &name).at("look at what is kept", path)?.is_some())
            };
            let is_spare = match &numbered.step {
                Step::Write { path, .. } => exists(needed, path)? && exists(spare, path)?,
                // What was appended is in the tree; of before there is no copy.
                Step::Append { path, .. } => reached == Direction::Redo && exists(spare, path)?,
                _ => continue,
            };
            if is_spare {
                system::unlink(spare, &name).at("clear what is kept", b"")?;
            }
        }
        Ok(())
    }
}

//! Files that are only written at their end: of a large one nothing is copied.

use rustix::io::Errno;

use super::known::Covered;
use super::{Recording, attributes_of};
use crate::error::UndoError;
use crate::facts::Kind;
use crate::ground::Spot;
use crate::path;
use crate::record::Step;
use crate::steps::write::keep_clone;
use crate::system;

/// Up to here a copy costs less than a millisecond, and is better than a length: it can be put back even when somebody
/// has changed the file since.
const COPIED: u64 = 1 << 20;

impl Recording {
    /// A regular file will be written at its end only, as `O_APPEND` has it. Large ones are not copied: the earlier content
    /// stays where it is, as their beginning, and their length is kept. Before anything else is done to the content
    /// comes [`before_write`](Self::before_write), as ever.
    pub fn before_append(&self, path: &[u8]) -> Result<(), UndoError> {
        let path = path::check(path)?;
        let mut open = self.open();
        let Some((spot, before)) = self.look(&path)? else { return Ok(()) };
        if before.kind != Kind::File || open.is_covered(&path, &before, Covered::Length) {
            return Ok(());
        }
        if before.size <= COPIED || !ends_with_data(&spot, before.size) {
            drop(open);
            return self.before_write(&path);
        }
        let attributes = attributes_of(&spot, &path)?;
        let number = self.file(&mut open)?.record.next_number;
        let slots = self.slots(&mut open)?;
        let cloned = keep_clone(&spot, &slots.pre, number)
            .map_err(|errno| UndoError::CannotKeep { path: path.clone(), errno })?;
        let (at, step, covered) = if cloned {
            (path.clone(), Step::Write { path, before, attributes }, Covered::Kept)
        } else {
            (path.clone(), Step::Append { path, before, attributes }, Covered::Length)
        };
        self.add(&mut open, step)?;
        open.covered.insert(at, covered);
        Ok(())
    }
}

/// A last block that is a hole would be data afterwards, and cutting the file does not make it a hole again.
fn ends_with_data(spot: &Spot, size: u64) -> bool {
    let found = || {
        let file = system::open_reading(&spot.directory, &spot.name)?;
        let block = u64::try_from(system::stat_handle(&file)?.st_blksize).unwrap_or(0).max(1);
        let start = size - size % block;
        Ok::<_, Errno>(
            start == size || system::next_data(&file, start)?.map(|at| at.0) == Some(start),
        )
    };
    found().unwrap_or(false)
}

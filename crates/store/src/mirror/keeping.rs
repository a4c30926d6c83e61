//! How much the copy takes, whether a project fits, and when the copy goes.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::index::{self, Extent, Index};
use super::loosened::Loosening;
use super::survey::survey;
use super::{Budget, FOLDER, Mirror, lock};
use crate::error::{At, UndoError};
use crate::facts::Time;
use crate::ground::Ground;
use crate::journal::Journal;
use crate::layer::folder::{self, MOMENT};
use crate::system;
use crate::tree;

/// A copy that nobody has used for so many seconds goes, whatever else is remembered for longer.
const UNUSED: i64 = 7 * 24 * 60 * 60;
/// What it goes under while it does.
const GOING: &[u8] = b"mirror.going";

/// Of the copy, as its index says; `None` where there is none.
pub(super) fn extent(ground: &Ground) -> Option<Extent> {
    let folder = system::open_listing(ground.existing().ok()??.undo(), FOLDER).ok()?;
    index::extent(folder.as_fd())
}

impl Journal {
    /// Whether a copy of the project may be made, or is there. Looks at the whole project only where that is not known.
    pub fn can_mirror(&self, budget: &Budget) -> Result<bool, UndoError> {
        // It may have grown since, but hardly by a quarter.
        let is_below = |there: u64, most: u64| there.saturating_mul(5) <= most.saturating_mul(4);
        let well_below = |extent: Extent| {
            is_below(extent.entries, budget.entries) && is_below(extent.bytes, budget.bytes)
        };
        if extent(&self.ground).is_some_and(well_below) {
            return Ok(true);
        }
        // Somebody who has it has just found that it fits.
        let Some(lock) = lock(&self.ground)? else { return Ok(true) };
        let mirror = Mirror::open(&self.ground, lock)?;
        if mirror.probe().is_err() {
            return Ok(false);
        }
        let known = Index::load(mirror.folder.as_fd()).at("read the index of the copy", b"")?;
        let known = known.unwrap_or_default();
        let mut loosening = Loosening::new(&self.ground, mirror.folder.as_fd())?;
        let surveyed = survey(&mirror, &known, budget, &mut loosening);
        loosening.close()?;
        match surveyed {
            Ok(survey) => {
                let free = system::free_space(&mirror.folder).at("look at the file system", b"")?;
                Ok(survey.missing.bytes < free)
            }
            Err(UndoError::OverBudget { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How many bytes the copy takes when it stays. One that nobody has used for long goes.
    pub(crate) fn clean_mirror(&self, age: Option<i64>) -> Result<u64, UndoError> {
        let ground = &self.ground;
        let Some(folders) = ground.existing()? else { return Ok(0) };
        let undo = folders.undo();
        tree::remove(undo, GOING).at("remove the copy of the project", GOING)?;
        let folder = match system::open_listing(undo, FOLDER) {
            Err(Errno::NOENT) => return Ok(0),
            folder => folder.at("look at the copy of the project", FOLDER)?,
        };
        let bytes = index::extent(folder.as_fd()).unwrap_or_default().bytes;
        let used = system::stat(&folder, MOMENT).at("look at the copy of the project", MOMENT)?;
        let used = used.map(|stat| Time::modified(&stat).seconds).unwrap_or_default();
        let oldest = system::now().seconds.saturating_sub(age.unwrap_or(UNUSED).min(UNUSED));
        if used >= oldest {
            return Ok(bytes);
        }
        let Some(_lock) = lock(ground)? else { return Ok(bytes) };
        if folder::has_unfinished(ground)? {
            return Ok(bytes);
        }
        system::rename(undo, FOLDER, undo, GOING)
            .and_then(|()| tree::remove(undo, GOING))
            .at("remove the copy of the project", FOLDER)?;
        Ok(0)
    }
}

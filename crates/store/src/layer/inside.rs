//! What is in a directory that comes whole out of a layer.

use bstr::{BString, ByteSlice};

use super::marks::Marks;
use super::plan::{Reading, is_whiteout};
use crate::error::{At, UndoError};
use crate::facts::{Facts, Kind};
use crate::path::{self, STATE};
use crate::system;

/// Every entry as it will be, by path below the directory. What must not come is dropped or refused.
pub(super) fn manifest(
    reading: &mut Reading<'_>,
    top: &BString,
) -> Result<Vec<(BString, Facts)>, UndoError> {
    let mut found = Vec::new();
    let mut waiting = vec![BString::default()];
    while let Some(place) = waiting.pop() {
        let whole = path::join(top, &place);
        let listing = reading.listing(&whole)?;
        let mut names = system::list(&listing).at("read the layer", &whole)?;
        names.sort();
        for name in names {
            let path = path::join(&whole, &name);
            reading.spend(&path)?;
            let facts = Facts::of(&listing, &name).at("read the layer", &path)?;
            let Some(mut facts) = facts else { continue };
            let marks = Marks::of(&listing, &name).at("read the layer", &path)?;
            facts.mode = marks.locked.unwrap_or(facts.mode);
            if !comes(reading, &path, &name, &facts, &marks) {
                continue;
            }
            let below = path::join(&place, &name);
            if facts.is_directory() {
                waiting.push(below.clone());
            } else if facts.kind == Kind::File && facts.mode & 0o6000 != 0 {
                facts.mode &= 0o1777;
                reading.plan.stripped.push(path);
            }
            found.push((below, facts));
        }
    }
    Ok(found)
}

fn comes(
    reading: &mut Reading<'_>,
    path: &BString,
    name: &BString,
    facts: &Facts,
    marks: &Marks,
) -> bool {
    if is_whiteout(facts, marks) {
        return false;
    }
    if facts.kind == Kind::Socket || name.as_bytes() == STATE {
        reading.plan.dropped.push(path.clone());
        return false;
    }
    if marks.elsewhere {
        reading.refuse(path, "the overlay keeps its content elsewhere");
    }
    if matches!(facts.kind, Kind::CharacterDevice | Kind::BlockDevice | Kind::Unknown) {
        reading.refuse(path, "it is a device");
    }
    true
}

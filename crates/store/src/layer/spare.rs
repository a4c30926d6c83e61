//! A folder in which nothing was written, kept for the next layer.
//!
//! Most programs only read, and to make a folder with all that is in it takes a process that runs one of them a good part of its
//! time. So the folder of a layer that nobody has touched becomes that of another one. There is one at most. Nothing is believed of
//! it: what is in it is looked at, and one that is not as it would be made goes.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::folder::{ABOUT, MOMENT, UPPER, WORK, moment};
use super::making::Filled;
use super::marks::Marks;
use super::plan::is_whiteout;
use crate::facts::{self, Attributes, Facts, Kind};
use crate::ground::Ground;
use crate::path::STATE;
use crate::system;
use crate::tree;

/// Its name, beside the folders of layers: there it is none, whatever happens.
pub(super) const SPARE: &[u8] = b"spare";

/// The one that is there as the folder of a new layer, locked, under this name in `run`. If there is none, or anything is in the
/// way, a new one is to be made.
pub(super) fn take(ground: &Ground, run: &OwnedFd, name: &[u8]) -> Option<(OwnedFd, Filled)> {
    let undo = &ground.folders().ok()?.undo;
    let folder = system::open_listing(undo, SPARE).ok()?;
    // Somebody else has just taken it, or is about to put it there.
    if !system::try_lock(&folder).ok()? || !is_called(&folder, undo, SPARE) {
        return None;
    }
    let Some(filled) = filled(ground, &folder).ok().flatten() else {
        // Under another name first: half of it must not be taken for one, and what cannot be removed must not be in the way.
        let gone = [name, b"-gone"].concat();
        system::rename(undo, SPARE, run, &gone).ok()?;
        let _next_who_opens_the_journal_does = tree::remove(run.as_fd(), &gone);
        return None;
    };
    system::rename(undo, SPARE, run, name).ok()?;
    is_called(&folder, run, name).then_some((folder, filled))
}

/// Whether this is the name of the folder that is open, and not of another by now.
fn is_called(folder: &OwnedFd, parent: &OwnedFd, name: &[u8]) -> bool {
    let known = system::stat_handle(folder).map(|stat| (stat.st_dev, stat.st_ino));
    let named = system::stat(parent, name).ok().flatten();
    known.ok() == named.map(|stat| (stat.st_dev, stat.st_ino))
}

/// `None`: it is not what would be made now.
fn filled(ground: &Ground, folder: &OwnedFd) -> Result<Option<Filled>, Errno> {
    let root = Facts::from_stat(&system::stat_handle(ground.root())?);
    let attributes = Attributes::of(ground.root())?;
    let upper = system::open_listing(folder, UPPER)?;
    let shown = Facts::from_stat(&system::stat_handle(&upper)?);
    let same = |facts: &Facts| (facts.kind, facts.mode, facts.user, facts.group, facts.device);
    if same(&shown) != same(&root) || Attributes::of(upper.as_fd())? != attributes {
        return Ok(None);
    }
    let mut names = system::list(folder)?;
    names.sort();
    let is_ours = |facts: &Facts| facts.kind == Kind::File && facts.links == 1;
    let about = Facts::of(folder, ABOUT)?;
    if names != [ABOUT, MOMENT, UPPER, WORK] || !about.is_some_and(|about| is_ours(&about)) {
        return Ok(None);
    }
    let state = Facts::of(&upper, STATE)?;
    let hides_state = state.is_some_and(|state| is_whiteout(&state, &Marks::default()));
    let work = system::open_listing(folder, WORK)?;
    if !hides_state || system::list(&upper)? != [STATE] || !system::list(&work)?.is_empty() {
        return Ok(None);
    }
    facts::set_time(folder, UPPER, root.modified)?;
    // Of the layer before: what is earlier than that is earlier than now.
    if !Facts::of(folder, MOMENT)?.is_some_and(|found| is_ours(&found)) {
        return Ok(None);
    }
    let moment = moment(folder.as_fd())?;
    let telling = Some(root.changed) < moment;
    Ok(Some(Filled { aside: false, root, attributes, telling }))
}

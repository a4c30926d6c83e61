//! The project and its copy, looked at side by side: what there is, what has to be copied, and what is in the copy's way. Changes
//! nothing.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};

use bstr::{BString, ByteSlice};
use rustix::io::Errno;

use super::index::{Extent, Identity, Index, is_copied, size};
use super::loosened::Loosening;
use super::{Budget, Mirror};
use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::path::{self, STATE};
use crate::system;
use crate::tree;

pub(super) struct Surveyed {
    pub path: BString,
    pub facts: Facts,
    pub state: State,
}

pub(super) enum State {
    Directory,
    /// The copy is that of what is there.
    Copied(Identity),
    Missing,
    /// Sockets and devices.
    Uncopied,
}

#[derive(Default)]
pub(super) struct Survey {
    /// What holds something comes before it.
    pub entries: Vec<Surveyed>,
    /// What the copy has and the project has not.
    pub strays: Vec<BString>,
    pub extent: Extent,
    /// What has to be copied.
    pub missing: Extent,
}

pub(super) fn survey(
    mirror: &Mirror,
    index: &Index,
    budget: &Budget,
    loosening: &mut Loosening<'_>,
) -> Result<Survey, UndoError> {
    let root = system::stat_handle(mirror.ground.root()).at("look at the project", b"")?;
    let root = Facts::from_stat(&root);
    let device = root.device;
    let mut surveying = Surveying { mirror, index, budget, device, survey: Survey::default() };
    surveying.add(BString::default(), root, State::Directory)?;
    let mut waiting = vec![BString::default()];
    while let Some(place) = waiting.pop() {
        mirror.ground.going.check().at("look at the project", &place)?;
        let inside = surveying.directory(&place)?;
        for (path, facts) in inside {
            if facts.is_locked() {
                loosening.open(&path, facts.mode, 0o700)?;
            }
            waiting.push(path);
        }
    }
    Ok(surveying.survey)
}

struct Surveying<'a> {
    mirror: &'a Mirror,
    index: &'a Index,
    budget: &'a Budget,
    device: u64,
    survey: Survey,
}

impl Surveying<'_> {
    /// Its own directories.
    fn directory(&mut self, place: &BString) -> Result<Vec<(BString, Facts)>, UndoError> {
        let doing = "look at the project";
        let project = match tree::listing(self.mirror.ground.root(), place) {
            // Somebody has deleted it just now.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
            listing => listing.at(doing, place)?,
        };
        let copies = match tree::listing(self.mirror.tree.as_fd(), place) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            listing => Some(listing.at("look at the copy of the project", place)?),
        };
        let (mut names, mut directories) = (HashSet::new(), Vec::new());
        for name in sorted(&project).at(doing, place)? {
            let path = path::join(place, &name);
            let facts = Facts::of(&project, &name).at(doing, &path)?;
            let Some(facts) = facts.filter(|facts| !self.is_left_out(&path, facts)) else {
                continue;
            };
            let state = self.state(&path, &name, &facts, copies.as_ref())?;
            if facts.is_directory() {
                directories.push((path.clone(), facts.clone()));
            }
            if is_copied(facts.kind) {
                names.insert(name);
            }
            self.add(path, facts, state)?;
        }
        if let Some(copies) = copies {
            let found = system::list(&copies).at("look at the copy of the project", place)?;
            let strays = found.into_iter().filter(|name| !names.contains(name));
            self.survey.strays.extend(strays.map(|name| path::join(place, &name)));
        }
        Ok(directories)
    }

    fn is_left_out(&self, path: &BString, facts: &Facts) -> bool {
        // On an overlay files have other devices than directories.
        let is_mounted = facts.is_directory() && facts.device != self.device;
        path.as_bytes() == STATE || is_mounted
    }

    fn state(
        &self,
        path: &BString,
        name: &BString,
        facts: &Facts,
        copies: Option<&OwnedFd>,
    ) -> Result<State, UndoError> {
        if facts.is_directory() {
            return Ok(State::Directory);
        }
        if !is_copied(facts.kind) {
            return Ok(State::Uncopied);
        }
        let Some(known) = self.index.items.get(path).filter(|known| known.is_untouched(facts))
        else {
            return Ok(State::Missing);
        };
        let Some(copies) = copies else { return Ok(State::Missing) };
        let copy = system::stat(copies, name).at("look at the copy of the project", path)?;
        let copy = copy.map(|stat| Identity::of(&Facts::from_stat(&stat)));
        Ok(match copy {
            Some(copy) if known.copy == Some(copy) => State::Copied(copy),
            _ => State::Missing,
        })
    }

    fn add(&mut self, path: BString, facts: Facts, state: State) -> Result<(), UndoError> {
        let Survey { entries, extent, missing, .. } = &mut self.survey;
        extent.entries += 1;
        extent.bytes += size(&facts);
        if matches!(state, State::Missing) {
            missing.entries += 1;
            missing.bytes += size(&facts);
        }
        entries.push(Surveyed { path, facts, state });
        self.budget.check(*extent)
    }
}

pub(super) fn sorted(listing: &OwnedFd) -> Result<Vec<BString>, Errno> {
    let mut names = system::list(listing)?;
    names.sort();
    Ok(names)
}

//! Brings the copy up to date: what differs from what is known is copied anew, what is gone is removed. What was copied is on the
//! disk before the index says so.

use std::collections::BTreeSet;
use std::os::fd::AsFd;

use bstr::BString;
use rustix::io::Errno;

use super::copies::Copies;
use super::index::{Extent, Identity, Index, Item};
use super::loosened::Loosening;
use super::survey::{State, Survey, Surveyed, survey};
use super::{Budget, Mirror};
use crate::error::{At, UndoError};
use crate::facts::{Attributes, Facts, Time};
use crate::layer::folder::{MOMENT, stamp};
use crate::path;
use crate::system;
use crate::tree;

/// Each of so many copies waits for the disk by itself: to write everything may be to write much of others.
const FEW: u64 = 64;
/// What is left on the disk for whatever else is written.
const SPARE: u64 = 64 << 20;

/// Told how much will be copied when there is no copy yet.
pub type Told<'a> = &'a mut dyn FnMut(Extent);

pub(super) fn refresh(
    mirror: &Mirror,
    budget: &Budget,
    told: Told<'_>,
) -> Result<Index, UndoError> {
    let known = Index::load(mirror.folder.as_fd()).at("read the index of the copy", b"")?;
    let moment = now(mirror).at("look at the copy of the project", b"")?;
    let mut loosening = Loosening::new(&mirror.ground, mirror.folder.as_fd())?;
    let is_new = known.is_none();
    let known = known.unwrap_or_default();
    let surveyed = survey(mirror, &known, budget, &mut loosening);
    let refreshed = surveyed.and_then(|survey| {
        check_room(mirror, survey.missing)?;
        if is_new {
            told(survey.extent);
        }
        Refreshing { mirror, known: &known, moment, index: Index::default() }
            .go(survey, &mut loosening)
    });
    loosening.close()?;
    refreshed
}

/// Later than any change before.
fn now(mirror: &Mirror) -> Result<Option<Time>, Errno> {
    match system::create_file(&mirror.folder, MOMENT) {
        Ok(_) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    stamp(mirror.folder.as_fd())
}

fn check_room(mirror: &Mirror, missing: Extent) -> Result<(), UndoError> {
    if missing.bytes == 0 {
        return Ok(());
    }
    let free = system::free_space(&mirror.folder).at("look at the file system", b"")?;
    let needed = missing.bytes.saturating_add(SPARE);
    if needed > free { Err(UndoError::NoRoom { needed, free }) } else { Ok(()) }
}

struct Refreshing<'a> {
    mirror: &'a Mirror,
    known: &'a Index,
    moment: Option<Time>,
    index: Index,
}

impl Refreshing<'_> {
    fn go(mut self, survey: Survey, loosening: &mut Loosening<'_>) -> Result<Index, UndoError> {
        let total = survey.missing.entries;
        let copied = self.bring(survey, loosening);
        if self.index != *self.known {
            if total > FEW {
                let top = self.mirror.tree.as_fd();
                system::sync_everything(top).at("write the copy to the disk", b"")?;
            }
            // Also when it could not be finished: what was copied needs not be copied again.
            let folder = self.mirror.folder.as_fd();
            self.index.store(folder).at("write the index of the copy", b"")?;
        }
        copied.map(|()| self.index)
    }

    fn bring(&mut self, survey: Survey, loosening: &mut Loosening<'_>) -> Result<(), UndoError> {
        let Survey { entries, strays, missing, .. } = survey;
        for stray in &strays {
            self.remove(stray)?;
        }
        let mut waiting = Vec::new();
        for Surveyed { path, facts, state } in entries {
            match state {
                State::Directory => self.directory(path, facts)?,
                State::Copied(copy) => self.add(path, facts, None, Some(copy)),
                State::Uncopied => self.add(path, facts, None, None),
                State::Missing => waiting.push(path),
            }
        }
        let few = missing.entries <= FEW;
        let mut done = Vec::with_capacity(waiting.len());
        let copied = self.copy_all(&waiting, few, loosening, &mut done);
        self.identify(done)?;
        copied?;
        if few && !waiting.is_empty() {
            self.sync_holders(&waiting)?;
        }
        Ok(())
    }

    fn copy_all(
        &self,
        waiting: &[BString],
        few: bool,
        loosening: &mut Loosening<'_>,
        done: &mut Vec<(BString, Facts)>,
    ) -> Result<(), UndoError> {
        let mut copies = Copies::new(self.mirror, loosening, few);
        for (count, path) in waiting.iter().enumerate() {
            self.mirror.ground.watch.tell(count, waiting.len());
            if let Some(facts) = copies.copy(path)? {
                done.push((path.clone(), facts));
            }
        }
        Ok(())
    }

    /// When all are made: another name changes the file.
    fn identify(&mut self, done: Vec<(BString, Facts)>) -> Result<(), UndoError> {
        for (path, mut facts) in done {
            let copy = self.mirror.copy(&path)?;
            // Where the clock of the file system has not gone on since, a change after the copy could not be told from one before.
            if Some(facts.changed) >= self.moment {
                facts.changed = Time::default();
            }
            self.add(path, facts, None, copy.as_ref().map(Identity::of));
        }
        Ok(())
    }

    fn directory(&mut self, path: BString, facts: Facts) -> Result<(), UndoError> {
        let known = self.known.items.get(&path);
        let known =
            known.filter(|known| known.is_untouched(&facts)).and_then(|it| it.attributes.clone());
        let attributes = match known {
            Some(attributes) => attributes,
            None => match self.mirror.ground.spot(&path)? {
                Some(spot) => system::open_object(&spot.directory, &spot.name)
                    .and_then(Attributes::of)
                    .at("read its attributes", &path)?,
                None => Attributes::default(),
            },
        };
        self.ensure(&path).at("copy the directory", &path)?;
        self.add(path, facts, Some(attributes), None);
        Ok(())
    }

    /// Whatever its mode is in the project, in the copy it can be worked in.
    fn ensure(&self, path: &BString) -> Result<(), Errno> {
        if path.is_empty() {
            return Ok(());
        }
        let (holder, name) = path::split(path);
        let holder = system::open_directory(self.mirror.tree.as_fd(), holder)?;
        let found = system::stat(&holder, name)?.map(|stat| Facts::from_stat(&stat));
        if found.as_ref().is_some_and(Facts::is_directory) {
            return Ok(());
        }
        tree::remove(holder.as_fd(), name)?;
        system::make_directory(&holder, name)
    }

    fn remove(&self, path: &BString) -> Result<(), UndoError> {
        let (holder, name) = path::split(path);
        match system::open_directory(self.mirror.tree.as_fd(), holder) {
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
            holder => holder
                .and_then(|holder| tree::remove(holder.as_fd(), name))
                .at("remove it from the copy", path),
        }
    }

    fn add(
        &mut self,
        path: BString,
        project: Facts,
        attributes: Option<Attributes>,
        copy: Option<Identity>,
    ) {
        self.index.items.insert(path, Item { project, attributes, copy });
    }

    fn sync_holders(&self, paths: &[BString]) -> Result<(), UndoError> {
        let holders: BTreeSet<&[u8]> =
            paths.iter().flat_map(|path| crate::record::ancestors(path).skip(1)).collect();
        for holder in holders {
            let listing = tree::listing(self.mirror.tree.as_fd(), holder);
            listing.and_then(system::sync_directory).at("write the copy to the disk", holder)?;
        }
        Ok(())
    }
}

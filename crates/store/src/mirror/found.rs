//! What programs have changed: the project compared with what is known of it. Changes nothing that lasts.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::{BString, ByteSlice};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Mirror;
use super::index::{Identity, Item, is_copied};
use super::loosened::Loosening;
use super::survey::sorted;
use crate::content;
use crate::error::{At, UndoError};
use crate::facts::{Attributes, Facts, Kind};
use crate::path::{self, STATE};
use crate::record::{ancestors, checksum};
use crate::system;
use crate::tree;

const NAME: &[u8] = b"found";
const NEW: &[u8] = b"found.new";

/// Written down before anything of it is touched: afterwards nobody could tell any more.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Found {
    /// Directories that were there before and are there, as programs have left them: all in which something has changed, and
    /// those above. What holds something comes before it.
    pub directories: Vec<(BString, Facts, Attributes)>,
    /// What goes into the layer: it is new, or not what was there before.
    pub moved: Vec<Moved>,
    /// What was there before and is not.
    pub gone: Vec<BString>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Moved {
    pub path: BString,
    pub inode: u64,
    /// It may have to be opened to be moved.
    pub mode: u32,
}

impl Moved {
    fn new(path: &BString, facts: &Facts) -> Self {
        Moved { path: path.clone(), inode: facts.inode, mode: facts.mode }
    }
}

impl Found {
    /// All that is not as it was.
    pub(super) fn changed(&self) -> impl Iterator<Item = &BString> {
        self.moved.iter().map(|moved| &moved.path).chain(&self.gone)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.moved.is_empty() && self.gone.is_empty()
    }

    /// `None`: nothing was touched yet.
    pub(super) fn load(folder: BorrowedFd<'_>) -> Result<Option<Self>, Errno> {
        let bytes = match system::open_reading(folder, NAME) {
            Err(Errno::NOENT) => return Ok(None),
            file => system::read_whole(file?)?,
        };
        let sum = bytes.first_chunk().copied().map(u32::from_le_bytes);
        let body = bytes.get(4..).unwrap_or_default();
        let body = (sum == Some(checksum(body))).then_some(body).ok_or(Errno::BADMSG)?;
        postcard::from_bytes(body).map(Some).map_err(|_| Errno::BADMSG)
    }

    /// On the disk when this returns.
    pub(super) fn store(&self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        let body = postcard::to_stdvec(self).map_err(|_| Errno::FBIG)?;
        tree::remove(folder, NEW)?;
        let file = system::create_file(folder, NEW)?;
        system::append(&file, &[&checksum(&body).to_le_bytes()[..], &body].concat())?;
        system::sync_data(&file)?;
        system::rename(folder, NEW, folder, NAME)?;
        system::sync_directory(folder)
    }

    pub(super) fn forget(folder: BorrowedFd<'_>) -> Result<(), Errno> {
        tree::remove(folder, NAME)
    }
}

pub(super) fn find(mirror: &Mirror) -> Result<Found, UndoError> {
    let mut loosening = Loosening::new(&mirror.ground, mirror.folder.as_fd())?;
    let mut finding = Finding {
        mirror,
        present: BTreeMap::new(),
        seen: BTreeSet::new(),
        differing: BTreeSet::new(),
        linked: Vec::new(),
        found: Found::default(),
    };
    let found = finding.walk(&mut loosening).and_then(|()| finding.finish());
    loosening.close()?;
    found
}

struct Finding<'a> {
    mirror: &'a Mirror,
    /// Directories that were looked into: those of both sides.
    present: BTreeMap<BString, Facts>,
    seen: BTreeSet<BString>,
    /// Directories that are not as before, whatever is in them.
    differing: BTreeSet<BString>,
    /// Files with several names that are as before: which they were, and what they are.
    linked: Vec<(u64, Moved)>,
    found: Found,
}

impl Finding<'_> {
    fn walk(&mut self, loosening: &mut Loosening<'_>) -> Result<(), UndoError> {
        let root = system::stat_handle(self.mirror.ground.root()).at("look at the project", b"")?;
        let root = Facts::from_stat(&root);
        let known = self.mirror.index.items.get(&BString::default());
        let is_other = |known: &Item| self.mirror.is_stable && known.project.inode != root.inode;
        if known.is_none_or(is_other) {
            return Err(UndoError::CopySpoilt { path: BString::default() });
        }
        let device = root.device;
        let mut waiting = vec![(BString::default(), root)];
        while let Some((place, facts)) = waiting.pop() {
            if facts.is_locked() {
                loosening.open(&place, facts.mode, 0o700)?;
            }
            self.differs(&place, &facts)?;
            self.present.insert(place.clone(), facts);
            let doing = "look at the project";
            let listing = tree::listing(self.mirror.ground.root(), &place).at(doing, &place)?;
            for name in sorted(&listing).at(doing, &place)? {
                let path = path::join(&place, &name);
                let facts = Facts::of(&listing, &name).at(doing, &path)?;
                let Some(facts) = facts else { continue };
                let is_mounted = facts.is_directory() && facts.device != device;
                if path.as_bytes() != STATE
                    && !is_mounted
                    && self.entry(&path, (&listing, &name), &facts)?
                {
                    waiting.push((path, facts));
                }
            }
        }
        Ok(())
    }

    /// True for a directory that has to be looked into.
    fn entry(
        &mut self,
        path: &BString,
        at: (&OwnedFd, &BString),
        facts: &Facts,
    ) -> Result<bool, UndoError> {
        let index = &self.mirror.index;
        let Some(known) = index.items.get(path) else { return self.new_entry(path, facts) };
        self.seen.insert(path.clone());
        if facts.is_directory() && known.project.is_directory() {
            if at.1.as_bytes() == STATE {
                // That of another project inside: whoever works there has it open.
                return Ok(false);
            }
            if facts.inode == known.project.inode || !self.mirror.is_stable {
                return Ok(true);
            }
        }
        let nobodys = !is_copied(facts.kind) && !known.is_copied();
        if known.is_untouched(facts) || nobodys || self.is_same(path, at, facts, known)? {
            if known.project.links > 1 && known.copy.is_some() {
                self.linked.push((known.project.inode, Moved::new(path, facts)));
            }
            return Ok(false);
        }
        self.check_copy(path)?;
        self.found.moved.push(Moved::new(path, facts));
        Ok(false)
    }

    fn new_entry(&mut self, path: &BString, facts: &Facts) -> Result<bool, UndoError> {
        if !is_copied(facts.kind) || path::split(path).1 == STATE {
            return Ok(false);
        }
        // The state of another project, which was renamed with what holds it, stays where it is.
        if facts.is_directory() && !facts.is_locked() && self.holds_state(path)? {
            self.differing.insert(path.clone());
            return Ok(true);
        }
        self.found.moved.push(Moved::new(path, facts));
        Ok(false)
    }

    fn holds_state(&self, path: &BString) -> Result<bool, UndoError> {
        let top = system::open_directory(self.mirror.ground.root(), path);
        let inside = top.and_then(|top| tree::entries(top.as_fd())).at("look into", path)?;
        Ok(inside.iter().any(|(below, _)| path::split(below).1 == STATE))
    }

    /// A directory of both sides may have another mode, owner, time or attributes.
    fn differs(&mut self, path: &BString, facts: &Facts) -> Result<(), UndoError> {
        let Some(known) = self.mirror.index.items.get(path) else { return Ok(()) };
        if known.is_untouched(facts) {
            return Ok(());
        }
        let kept = |it: &Facts| (it.mode, it.user, it.group, it.modified);
        let same = kept(&known.project) == kept(facts);
        if !same || known.attributes.as_ref() != Some(&self.attributes(path)?) {
            self.differing.insert(path.clone());
        }
        Ok(())
    }

    fn attributes(&self, path: &BString) -> Result<Attributes, UndoError> {
        let spot = self.mirror.ground.spot(path)?.ok_or(Errno::NOENT).at("look at it", path)?;
        let object = system::open_object(&spot.directory, &spot.name);
        object.and_then(Attributes::of).at("read its attributes", path)
    }

    /// Touched, and still what it was: renamed there and back, given the mode that it had.
    fn is_same(
        &self,
        path: &BString,
        at: (&OwnedFd, &BString),
        facts: &Facts,
        known: &Item,
    ) -> Result<bool, UndoError> {
        let before = &known.project;
        let owner = (before.user, before.group, before.links);
        if known.copy.is_none()
            || !before.is_unchanged(facts)
            || owner != (facts.user, facts.group, facts.links)
        {
            return Ok(false);
        }
        self.check_copy(path)?;
        let (holder, name) = path::split(path);
        let compared = || -> Result<bool, Errno> {
            let holder = system::open_directory(self.mirror.tree.as_fd(), holder)?;
            let attributes = |directory: &OwnedFd, name: &[u8]| {
                Attributes::of(system::open_object(directory, name)?)
            };
            if attributes(&holder, name)? != attributes(at.0, at.1)? {
                return Ok(false);
            }
            if facts.kind != Kind::File {
                return Ok(true);
            }
            let one = system::open_reading(at.0, at.1);
            match (one, system::open_reading(&holder, name)) {
                (Ok(one), Ok(other)) => content::is_same(one, other),
                // Who may not read it: it goes the long way.
                _ => Ok(false),
            }
        };
        compared().at("compare it with its copy", path)
    }

    /// Everything that has to come back from here can: nothing is touched before that is known.
    fn check_copy(&self, path: &BString) -> Result<(), UndoError> {
        for (path, item) in self.mirror.index.below(path).filter(|(_, item)| item.is_copied()) {
            let copy = self.mirror.copy(path)?;
            let same = match item.copy {
                Some(known) => copy.as_ref().map(Identity::of) == Some(known),
                None => copy.as_ref().is_some_and(Facts::is_directory),
            };
            if !same {
                return Err(UndoError::CopySpoilt { path: path.clone() });
            }
        }
        Ok(())
    }

    /// All names of a file come back together, or some of them would be another file.
    fn complete_groups(&mut self, found: &mut Found) -> Result<(), UndoError> {
        let index = &self.mirror.index;
        let inside = found.changed().flat_map(|path| index.below(path));
        let linked = inside.filter(|(_, item)| item.copy.is_some() && item.project.links > 1);
        let broken: BTreeSet<u64> = linked.map(|(_, item)| item.project.inode).collect();
        for (before, moved) in std::mem::take(&mut self.linked) {
            if broken.contains(&before) {
                self.check_copy(&moved.path)?;
                found.moved.push(moved);
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Found, UndoError> {
        let mut gone = Vec::new();
        for (path, item) in &self.mirror.index.items {
            let holder = BString::from(path::split(path).0);
            let is_gone = !path.is_empty() && !self.seen.contains(path) && item.is_copied();
            if is_gone && self.present.contains_key(&holder) {
                self.check_copy(path)?;
                gone.push(path.clone());
            }
        }
        let mut found = std::mem::take(&mut self.found);
        found.gone = gone;
        self.complete_groups(&mut found)?;
        let above = found.changed().flat_map(|path| ancestors(path).skip(1));
        let mut wanted: BTreeSet<BString> = above.map(BString::from).collect();
        let differing = std::mem::take(&mut self.differing);
        wanted.extend(differing.iter().flat_map(|path| ancestors(path)).map(BString::from));
        for path in wanted {
            let Some(facts) = self.present.remove(&path) else { continue };
            let attributes = self.attributes(&path)?;
            found.directories.push((path, facts, attributes));
        }
        Ok(found)
    }
}

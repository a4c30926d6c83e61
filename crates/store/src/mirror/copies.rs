//! Copies one object of the project, with everything that makes it what it is. What changes meanwhile is copied again.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use super::Mirror;
use super::index::is_copied;
use super::loosened::Loosening;
use crate::content;
use crate::error::{At, UndoError};
use crate::facts::{self, Attributes, Facts, Kind};
use crate::ground::Spot;
use crate::path;
use crate::system;
use crate::tree;

/// So often somebody may write to a file while it is copied.
const TRIES: u32 = 5;

pub(super) struct Copies<'a, 'b> {
    mirror: &'a Mirror,
    loosening: &'a mut Loosening<'b>,
    /// Files with several names: where the copy of the first of them is, and of what it is one.
    links: HashMap<u64, (BString, Facts)>,
    /// Each is on the disk when it is made; else all of them are later.
    synced: bool,
}

impl<'a, 'b> Copies<'a, 'b> {
    pub(super) fn new(mirror: &'a Mirror, loosening: &'a mut Loosening<'b>, synced: bool) -> Self {
        Copies { mirror, loosening, links: HashMap::new(), synced }
    }

    /// What was copied; `None`: it is gone.
    pub(super) fn copy(&mut self, path: &BString) -> Result<Option<Facts>, UndoError> {
        for _ in 0..TRIES {
            let Some(spot) = self.mirror.ground.spot(path)? else { return Ok(None) };
            let look = || Facts::of(&spot.directory, &spot.name).at("look at it", path);
            let Some(facts) = look()? else { return Ok(None) };
            if !is_copied(facts.kind) || facts.is_directory() {
                break;
            }
            let source = self.source(path, &spot, &facts)?;
            let Some(facts) = look()? else { return Ok(None) };
            match self.make(path, &spot, &facts, source) {
                // Somebody else is at work there.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE) => continue,
                made => made.map_err(|errno| cannot(path, errno))?,
            }
            if look()?.as_ref() == Some(&facts) {
                return Ok(Some(facts));
            }
        }
        let doing = "copy it for undo, because it keeps changing";
        Err(UndoError::System { doing, path: path.clone(), errno: Errno::BUSY })
    }

    /// A file, open for reading, though its owner may have forbidden that to himself.
    fn source(
        &mut self,
        path: &BString,
        spot: &Spot,
        facts: &Facts,
    ) -> Result<Option<OwnedFd>, UndoError> {
        if facts.kind != Kind::File {
            return Ok(None);
        }
        let open = || system::open_reading(&spot.directory, &spot.name);
        match open() {
            Err(Errno::ACCESS) if facts.user == system::user() => {
                self.loosening.open(path, facts.mode, 0o400)?;
                let opened = open();
                self.loosening.close_one(path)?;
                opened.map(Some).map_err(|errno| cannot(path, errno))
            }
            Err(Errno::NOENT) => Ok(None),
            opened => opened.map(Some).map_err(|errno| cannot(path, errno)),
        }
    }

    fn make(
        &mut self,
        path: &BString,
        spot: &Spot,
        facts: &Facts,
        source: Option<OwnedFd>,
    ) -> Result<(), Errno> {
        let (holder, name) = path::split(path);
        let target = system::open_directory(self.mirror.tree.as_fd(), holder)?;
        tree::remove(target.as_fd(), name)?;
        match facts.kind {
            Kind::File => return self.file(path, spot, facts, source, &target),
            Kind::Symlink => {
                let to = facts.target.clone().unwrap_or_default();
                system::make_link(to.as_slice(), &target, name)?;
            }
            _ => system::make_fifo(&target, name)?,
        }
        attributes(spot, &target, name, facts)
    }

    fn file(
        &mut self,
        path: &BString,
        spot: &Spot,
        facts: &Facts,
        source: Option<OwnedFd>,
        target: &OwnedFd,
    ) -> Result<(), Errno> {
        let name = path::split(path).1;
        if let Some((first, known)) = self.links.get(&facts.inode) {
            // Both are names of one file: if it is not as it was, somebody writes to it.
            if known != facts {
                return Err(Errno::STALE);
            }
            let (holder, old) = path::split(first);
            let holder = system::open_directory(self.mirror.tree.as_fd(), holder)?;
            return system::link(holder, old, target, name);
        }
        let source = source.ok_or(Errno::NOENT)?;
        if system::stat_handle(&source)?.st_ino != facts.inode {
            return Err(Errno::STALE);
        }
        let copy = system::create_copy(target, name)?;
        content::copy(&source, &copy, &self.mirror.ground.going)?;
        attributes(spot, target, name, facts)?;
        if self.synced {
            system::sync_data(&copy)?;
        }
        if facts.links > 1 {
            self.links.insert(facts.inode, (path.clone(), facts.clone()));
        }
        Ok(())
    }
}

fn attributes(spot: &Spot, target: &OwnedFd, name: &[u8], facts: &Facts) -> Result<(), Errno> {
    let source = system::open_object(&spot.directory, &spot.name)?;
    facts::put_back(target, name, facts, &Attributes::of(source)?)
}

fn cannot(path: &BString, errno: Errno) -> UndoError {
    UndoError::CannotKeep { path: path.clone(), errno }
}

//! Whole trees copied from one file system to another, with everything that makes them what they are: contents with their
//! holes, modes, owners, times, attributes, hard links, and what an overlay says of its entries.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use crate::content;
use crate::facts::{self, Attributes, Facts, Kind};
use crate::going::ALWAYS;
use crate::path;
use crate::system;
use crate::tree;

/// The numbers of an owner here for those of an owner there.
pub(crate) type Owners<'a> = &'a dyn Fn(u32, u32) -> (u32, u32);

/// An overlay's own attributes, which say what its entries are.
const MARKS: &[u8] = b"user.overlay.";
const WHITEOUT: &[u8] = b"user.overlay.whiteout";

/// A name in a directory.
pub(crate) type At<'a> = (BorrowedFd<'a>, &'a [u8]);

/// Copies what is at a name to a name that must be free. Where an overlay's layer has a whiteout or a socket, the copy says
/// that nothing is there, in the way that any file system can hold; a device is an error.
pub(crate) fn copy(from: At<'_>, to: At<'_>, owners: Owners<'_>) -> Result<(), Errno> {
    let facts = Facts::of(from.0, from.1)?.ok_or(Errno::NOENT)?;
    let mut copying = Copying { owners, links: HashMap::new() };
    Copying::make(from, to, &facts)?;
    if facts.is_directory() {
        copying.inside(from, to)?;
    }
    copying.attributes(from, to, &facts)
}

struct Copying<'a> {
    owners: Owners<'a>,
    /// Files with several names, by their numbers: where the first of them is, below the top.
    links: HashMap<u64, BString>,
}

impl Copying<'_> {
    fn inside(&mut self, from: At<'_>, to: At<'_>) -> Result<(), Errno> {
        let (from, to) = (below(from)?, below(to)?);
        let entries = tree::entries(from.as_fd())?;
        for (place, facts) in &entries {
            let ((source, target), name) = (parents(&from, &to, place)?, path::split(place).1);
            if facts.links > 1 && facts.kind == Kind::File {
                if let Some(first) = self.links.get(&facts.inode) {
                    let (holder, old) = path::split(first);
                    let holder = system::open_directory(to.as_fd(), holder)?;
                    system::link(holder, old, &target, name)?;
                    continue;
                }
                self.links.insert(facts.inode, place.clone());
            }
            let (source, target) = ((source.as_fd(), name), (target.as_fd(), name));
            Self::make(source, target, facts)?;
            if !facts.is_directory() {
                self.attributes(source, target, facts)?;
            }
        }
        // The deepest first: what is above may forbid to go there, and its time changes with what is made in it.
        for (place, facts) in entries.iter().rev().filter(|(_, facts)| facts.is_directory()) {
            let ((source, target), name) = (parents(&from, &to, place)?, path::split(place).1);
            self.attributes((source.as_fd(), name), (target.as_fd(), name), facts)?;
        }
        Ok(())
    }

    fn make((from, name): At<'_>, (to, new): At<'_>, facts: &Facts) -> Result<(), Errno> {
        match facts.kind {
            Kind::Directory => system::make_directory(to, new),
            Kind::File => {
                let copy = system::create_copy(to, new)?;
                content::copy(&system::open_reading(from, name)?, &copy, &ALWAYS)
            }
            Kind::Symlink => {
                system::make_link(facts.target.clone().unwrap_or_default().as_slice(), to, new)
            }
            Kind::Fifo => system::make_fifo(to, new),
            Kind::Socket => whiteout(to, new),
            Kind::CharacterDevice if facts.device_number == 0 => whiteout(to, new),
            Kind::CharacterDevice | Kind::BlockDevice | Kind::Unknown => Err(Errno::NXIO),
        }
    }

    fn attributes(&self, from: At<'_>, to: At<'_>, facts: &Facts) -> Result<(), Errno> {
        if matches!(facts.kind, Kind::Socket | Kind::CharacterDevice) {
            return Ok(());
        }
        let source = system::open_object(from.0, from.1)?;
        if facts.kind != Kind::Symlink {
            let target = system::open_object(to.0, to.1)?;
            for name in system::attribute_names(&source)? {
                if name.starts_with(MARKS)
                    && let Some(value) = system::attribute(&source, &name)?
                {
                    system::set_attribute(&target, &name, &value)?;
                }
            }
        }
        let (user, group) = (self.owners)(facts.user, facts.group);
        let facts = Facts { user, group, ..facts.clone() };
        facts::put_back(to.0, to.1, &facts, &Attributes::of(&source)?)
    }
}

fn whiteout(directory: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    system::create_copy(directory, name)?;
    system::set_attribute(system::open_object(directory, name)?, WHITEOUT, b"y")
}

fn below((directory, name): At<'_>) -> Result<OwnedFd, Errno> {
    system::open_directory(directory, name)
}

/// The directories that hold a place on both sides.
fn parents(from: &OwnedFd, to: &OwnedFd, place: &[u8]) -> Result<(OwnedFd, OwnedFd), Errno> {
    let holder = path::split(place).0;
    Ok((system::open_directory(from.as_fd(), holder)?, system::open_directory(to.as_fd(), holder)?))
}

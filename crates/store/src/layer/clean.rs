//! Takes off an entry of a layer, and of everything in it, what must not come into the tree: the overlay's marks,
//! whiteouts, sockets, set-user bits. Times of directories stay.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::{BString, ByteSlice};
use rustix::io::Errno;

use super::marks::{self, Marks};
use super::plan::is_whiteout;
use crate::facts::{self, Facts, Kind};
use crate::path::{self, STATE};
use crate::system;
use crate::tree;

pub(super) fn clean(upper: BorrowedFd<'_>, path: &BString) -> Result<(), Errno> {
    let mut waiting = vec![path.clone()];
    let mut locked = Vec::new();
    while let Some(path) = waiting.pop() {
        let (parent, name) = path::split(&path);
        let parent = system::open_directory(upper, parent)?;
        let Some(facts) = Facts::of(&parent, name)? else { continue };
        if let Some(mode) = Marks::of(&parent, name)?.locked {
            locked.push((path.clone(), mode));
        }
        object(&parent, name, &facts)?;
        if facts.is_directory() {
            let listing = tree::listing(upper, &path)?;
            let object = system::open_object(&parent, name)?;
            let (names, removed) = writable(&object, facts.mode, 0o300, || inside(&listing))?;
            waiting.extend(names.iter().map(|name| path::join(&path, name)));
            if removed {
                facts::set_time(&parent, name, facts.modified)?;
            }
        }
    }
    // The innermost first.
    for (path, mode) in locked.into_iter().rev() {
        let (parent, name) = path::split(&path);
        marks::lock(system::open_directory(upper, parent)?, name, mode)?;
    }
    Ok(())
}

fn object(parent: &OwnedFd, name: &[u8], facts: &Facts) -> Result<(), Errno> {
    let object = system::open_object(parent, name)?;
    if facts.kind == Kind::Symlink {
        return Ok(());
    }
    if Marks::of(parent, name)?.any {
        writable(&object, facts.mode, 0o200, || marks::strip(&object))?;
    }
    if facts.kind == Kind::File {
        if facts.mode & 0o6000 != 0 {
            system::set_mode(&object, facts.mode & 0o1777)?;
        }
        if system::attribute(&object, b"security.capability")?.is_some() {
            system::remove_attribute(&object, b"security.capability")?;
        }
    }
    Ok(())
}

/// What is read-only is writable for a moment.
fn writable<T>(
    object: &OwnedFd,
    mode: u32,
    bits: u32,
    act: impl FnOnce() -> Result<T, Errno>,
) -> Result<T, Errno> {
    if mode & bits == bits {
        return act();
    }
    system::set_mode(object, mode | bits)?;
    let done = act();
    system::set_mode(object, mode)?;
    done
}

/// Removes what must not come; names the rest.
fn inside(listing: &OwnedFd) -> Result<(Vec<BString>, bool), Errno> {
    let (mut names, mut removed) = (Vec::new(), false);
    for name in system::list(listing)? {
        let Some(facts) = Facts::of(listing, &name)? else { continue };
        let gone = facts.kind == Kind::Socket || is_whiteout(&facts, &Marks::of(listing, &name)?);
        if name.as_bytes() == STATE {
            tree::remove(listing.as_fd(), &name)?;
            removed = true;
        } else if gone {
            system::unlink(listing, &name)?;
            removed = true;
        } else {
            names.push(name);
        }
    }
    Ok((names, removed))
}

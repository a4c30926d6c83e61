//! Everything below a directory, without recursion and without following anything.

use std::os::fd::BorrowedFd;

use bstr::BString;
use rustix::io::Errno;

use crate::facts::Facts;
use crate::path;
use crate::system;

/// Every entry below a directory, by path below it; a directory comes before what is in it.
pub(crate) fn entries(top: BorrowedFd<'_>) -> Result<Vec<(BString, Facts)>, Errno> {
    let mut found = Vec::new();
    let mut waiting = vec![BString::default()];
    while let Some(place) = waiting.pop() {
        let directory = listing(top, &place)?;
        let mut names = system::list(&directory)?;
        names.sort();
        for name in names {
            let Some(facts) = Facts::of(&directory, &name)? else { continue };
            let path = path::join(&place, &name);
            if facts.is_directory() && !facts.is_locked() {
                waiting.push(path.clone());
            }
            found.push((path, facts));
        }
    }
    Ok(found)
}

/// A directory below another, for listing.
pub(crate) fn listing(top: BorrowedFd<'_>, place: &[u8]) -> Result<std::os::fd::OwnedFd, Errno> {
    let (parent, name) = path::split(place);
    system::open_listing(system::open_directory(top, parent)?, name)
}

/// Deletes a folder of the journal's own with everything in it; nothing of a project is ever reached.
pub(crate) fn remove(parent: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    let Some(stat) = system::stat(parent, name)? else { return Ok(()) };
    if !Facts::from_stat(&stat).is_directory() {
        return system::unlink(parent, name);
    }
    let mut waiting = vec![BString::from(name)];
    while let Some(place) = waiting.last().cloned() {
        let (holder, last) = path::split(&place);
        let holder = system::open_directory(parent, holder)?;
        let inside = remove_files(parent, &place)?;
        if inside.is_empty() {
            system::remove_directory(holder, last)?;
            waiting.pop();
        } else {
            waiting.extend(inside.iter().map(|name| path::join(&place, name)));
        }
    }
    Ok(())
}

/// Deletes the files of a directory; its directories are left and named.
fn remove_files(parent: BorrowedFd<'_>, place: &[u8]) -> Result<Vec<BString>, Errno> {
    let object = system::open_object(
        system::open_directory(parent, path::split(place).0)?,
        path::split(place).1,
    )?;
    let mode = system::stat_handle(&object)?.st_mode;
    if mode & 0o700 != 0o700 {
        // What is kept may be read-only.
        system::set_mode(&object, 0o700)?;
    }
    let directory = listing(parent, place)?;
    let mut directories = Vec::new();
    for name in system::list(&directory)? {
        match system::unlink(&directory, &name) {
            Err(Errno::ISDIR) => directories.push(name),
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(directories)
}

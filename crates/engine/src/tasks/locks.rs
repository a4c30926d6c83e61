//! Files that somebody holds a lock on while he lives: whoever finds one without a lock knows that its owner is gone.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state, which no script can see: opened by handle, never through a link"
)]

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// A file with a lock on it, until this goes.
#[derive(Debug)]
pub(super) struct Held {
    file: OwnedFd,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing would do, were there no copy of the descriptor in a process that was forked meanwhile.
        let _closed_anyway = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

/// The file of this name with a lock on it, made if it is missing. `None`: somebody else has it.
pub(super) fn try_hold(folder: &OwnedFd, name: &str) -> io::Result<Option<Held>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = flags | OFlags::NONBLOCK;
    loop {
        let file = rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
        if !lock(&file, FlockOperation::NonBlockingLockExclusive)? {
            return Ok(None);
        }
        // Its owner may have removed it between the two calls: then the lock is on nothing.
        if rustix::fs::fstat(&file)?.st_nlink > 0 {
            return Ok(Some(Held { file }));
        }
    }
}

/// Whether somebody has a lock on it. What is not there nobody has.
pub(super) fn is_held(folder: &OwnedFd, name: &str) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(false),
        file => Ok(!lock(&file?, FlockOperation::NonBlockingLockShared)?),
    }
}

/// Gives a file that is held another name.
pub(super) fn rename(folder: &OwnedFd, from: &str, to: &str) -> io::Result<()> {
    Ok(rustix::fs::renameat(folder, from, folder, to)?)
}

pub(super) fn remove(folder: &OwnedFd, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The names in a folder.
pub(super) fn names(folder: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
    }
    Ok(names)
}

fn lock(file: &OwnedFd, operation: FlockOperation) -> io::Result<bool> {
    loop {
        match rustix::fs::flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

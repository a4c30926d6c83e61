//! `.clada/`: where exacta keeps what is its own. Made on first need, mode 0700, ignored by git.
//!
//! A repository may bring a `.clada` of its own, even a symbolic link. So nothing here follows links, and every
//! step is relative to a handle.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use super::path::STATE;
use super::{Handle, metadata};

const PRIVATE: Mode = Mode::RWXU;
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Where the state is: in the project, or in a directory of the operator's.
#[derive(Clone)]
pub(crate) enum State {
    InProject(Handle),
    Elsewhere(PathBuf),
}

impl State {
    pub(crate) fn open(&self) -> io::Result<OwnedFd> {
        match self {
            State::InProject(root) => open_in_project(root),
            State::Elsewhere(path) => open_path(path),
        }
    }

    /// The state if there is one: for trees that are only read.
    pub(crate) fn open_existing(&self) -> io::Result<OwnedFd> {
        match self {
            State::InProject(root) => open_existing(root, STATE),
            State::Elsewhere(path) => open_existing_path(path),
        }
    }

    /// A directory of the state if there is one. In one step: every session asks.
    pub(crate) fn existing_subdirectory(&self, name: &str) -> io::Result<OwnedFd> {
        if let State::InProject(root) = self {
            let path = format!("{STATE}/{name}");
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match rustix::fs::openat2(root, path, DIRECTORY, Mode::empty(), resolve) {
                // A kernel, or a sandbox around us, that does not know the call.
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {}
                opened => return Ok(opened?),
            }
        }
        open_existing(self.open_existing()?, name)
    }

    /// A directory of the state, made if it is missing.
    pub(crate) fn subdirectory(&self, name: &str) -> io::Result<OwnedFd> {
        Ok(ensure(self.open()?, name)?.0)
    }
}

fn open_in_project(root: &Handle) -> io::Result<OwnedFd> {
    match rustix::fs::openat(root, STATE, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return Ok(opened?),
    }
    let before = rustix::fs::fstat(root)?;
    let (directory, made) = ensure(root, STATE)?;
    if made {
        keep_time(root, &before);
        ignore_everything(&directory)?;
    }
    Ok(directory)
}

/// Our own directory is none of the project's changes, so its root has the time that it had. Only its owner may set that.
fn keep_time(root: &Handle, before: &Stat) {
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: metadata::seconds(before.st_mtime, before.st_mtime_nsec as u32),
    };
    let _only_a_time = rustix::fs::utimensat(root, ".", &times, AtFlags::empty());
}

/// So that git never offers the state for a commit, whatever the project's own ignore file says.
fn ignore_everything(directory: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, ".gitignore", flags, Mode::RUSR | Mode::WUSR)?;
    rustix::io::write(file, b"*\n")?;
    Ok(())
}

/// Opens a directory beneath a handle, making it first if it is missing.
pub(crate) fn ensure(parent: impl AsFd, name: &str) -> io::Result<(OwnedFd, bool)> {
    match rustix::fs::openat(&parent, name, DIRECTORY, Mode::empty()) {
        Ok(directory) => return Ok((directory, false)),
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let made = match rustix::fs::mkdirat(&parent, name, PRIVATE) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    Ok((rustix::fs::openat(&parent, name, DIRECTORY, Mode::empty())?, made))
}

pub(crate) fn open_existing(parent: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(parent, name, DIRECTORY, Mode::empty())?)
}

pub(crate) fn open_existing_path(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// A path the operator named: its parents are trusted, its own components are made as needed.
pub(crate) fn open_path(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let bytes = path.as_os_str().as_bytes();
    match rustix::fs::open(bytes, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return Ok(opened?),
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        open_path(parent)?;
    }
    match rustix::fs::mkdir(bytes, PRIVATE) {
        Ok(()) | Err(Errno::EXIST) => Ok(rustix::fs::open(bytes, flags, Mode::empty())?),
        Err(error) => Err(error.into()),
    }
}

//! Directories of a view's root in which something is made or mounted: each is made and opened once.
//!
//! No component of a path is followed that is a link: what lies in a tree may be anybody's.
#![expect(clippy::disallowed_methods, reason = "the view is made of the host itself")]

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;

use super::view::attach;

pub struct Folders<'a> {
    root: BorrowedFd<'a>,
    known: Vec<(&'a Path, OwnedFd)>,
}

impl<'a> Folders<'a> {
    pub fn of(root: BorrowedFd<'a>) -> Self {
        Folders { root, known: Vec::new() }
    }

    /// The directory that a path lies in, and its name there. Directories are made where they are missing.
    fn parent(&mut self, path: &'a Path) -> Result<(BorrowedFd<'_>, &'a Path), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().ok_or(Errno::INVAL)?;
        Ok((self.folder(parent)?, Path::new(name)))
    }

    /// A directory, made with those above it where they are missing.
    pub fn folder(&mut self, path: &'a Path) -> Result<BorrowedFd<'_>, Errno> {
        if path.parent().is_none() {
            return Ok(self.root);
        }
        let place = self.known.iter().position(|(known, _)| *known == path);
        let place = match place {
            Some(place) => place,
            None => {
                let (parent, name) = self.parent(path)?;
                let opened = made(parent, name).and_then(|()| open_folder(parent, name))?;
                self.known.push((path, opened));
                self.known.len() - 1
            }
        };
        let (_, folder) = self.known.get(place).ok_or(Errno::NOENT)?;
        Ok(folder.as_fd())
    }

    /// Mounts a directory.
    pub fn mount(&mut self, mount: &OwnedFd, path: &'a Path) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        made(parent, name)?;
        attach(mount, parent, name)?;
        self.cover(path);
        Ok(())
    }

    /// Mounts what is no directory.
    pub fn mount_file(&mut self, mount: &OwnedFd, path: &'a Path) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match openat(parent, name, flags, Mode::from_raw_mode(0o644)) {
            Ok(_) | Err(Errno::ROFS) => {}
            Err(error) => return Err(error),
        }
        attach(mount, parent, name)
    }

    /// Mounts something over what is mounted there already.
    pub fn mount_over(&mut self, mount: &OwnedFd, path: &'a Path) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        attach(mount, parent, name)?;
        self.cover(path);
        Ok(())
    }

    pub fn link(&mut self, text: &Path, path: &'a Path) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        symlinkat(text, parent, name)
    }

    /// A new file.
    pub fn file(&mut self, path: &'a Path, mode: Mode) -> Result<File, Errno> {
        let (parent, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(openat(parent, name, flags, mode)?.into())
    }

    /// What is known at or below a path that something was mounted on is no longer what is seen there.
    fn cover(&mut self, path: &Path) {
        self.known.retain(|(known, _)| !known.starts_with(path));
    }
}

fn made(parent: BorrowedFd<'_>, name: &Path) -> Result<(), Errno> {
    match mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
        // In a tree that is read-only it is there or it is not.
        Ok(()) | Err(Errno::EXIST | Errno::ROFS | Errno::ACCESS) => Ok(()),
        Err(error) => Err(error),
    }
}

fn open_folder(parent: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

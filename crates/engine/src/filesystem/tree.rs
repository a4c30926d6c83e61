//! Whole trees, by handle and never through a symbolic link: deletion for good, and a copy for the one case where
//! a rename cannot do (the trash is on another file system).

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use bstr::BString;
use exacta_shell::errno;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags, Stat, Timestamps};
use rustix::io::Errno;

use super::directory::READING;
use super::preimage::Asking;

/// Descriptors are few: deeper trees are cut into pieces instead of being held open level by level.
const DEEPEST: usize = 64;

/// Copies keep one descriptor per level; nothing is deleted when a tree is too deep for that.
const DEEPEST_COPY: usize = 256;

/// Deletes a file or a whole directory for good.
pub(crate) fn remove(parent: impl AsFd, name: &[u8]) -> io::Result<()> {
    match rustix::fs::unlinkat(&parent, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        result => return Ok(result?),
    }
    let top = parent.as_fd().try_clone_to_owned()?;
    let mut removal = Removal { top, pieces: Vec::new(), count: 0 };
    removal.directory(parent.as_fd().try_clone_to_owned()?, name, 0)?;
    while let Some(piece) = removal.pieces.pop() {
        removal.directory(removal.top.try_clone()?, piece.as_bytes(), 0)?;
    }
    Ok(())
}

struct Removal {
    top: OwnedFd,
    /// Names at the top of what was too deep to be reached from there.
    pieces: Vec<String>,
    count: u64,
}

impl Removal {
    fn directory(&mut self, parent: OwnedFd, name: &[u8], depth: usize) -> io::Result<()> {
        if depth >= DEEPEST {
            return self.set_aside(&parent, name);
        }
        let directory = rustix::fs::openat(&parent, name, READING, Mode::empty())?;
        // Deleting while listing may skip entries on some file systems; a second look finds them.
        loop {
            let names = list(&directory)?;
            if names.is_empty() {
                break;
            }
            for (name, _) in names {
                match rustix::fs::unlinkat(&directory, &**name, AtFlags::empty()) {
                    Err(Errno::ISDIR) => {
                        self.directory(directory.try_clone()?, &name, depth + 1)?;
                    }
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            rustix::fs::seek(&directory, rustix::fs::SeekFrom::Start(0))?;
        }
        Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    /// Moves a deep piece up to the top, to be deleted from there.
    fn set_aside(&mut self, parent: &OwnedFd, name: &[u8]) -> io::Result<()> {
        let process = rustix::process::getpid().as_raw_nonzero();
        let piece = format!(".removing-{process}-{}", self.count);
        let flags = RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(parent, name, &self.top, &*piece, flags)?;
        self.count += 1;
        self.pieces.push(piece);
        Ok(())
    }
}

fn list(directory: &OwnedFd) -> io::Result<Vec<(BString, FileType)>> {
    let mut buffer = Vec::with_capacity(32 << 10);
    let mut raw = RawDir::new(directory, buffer.spare_capacity_mut());
    let mut names = Vec::new();
    while let Some(entry) = raw.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push((name.into(), entry.file_type()));
        }
    }
    Ok(names)
}

/// Copies a file, a symbolic link or a whole directory to a name that must not exist yet. Whatever cannot be copied
/// faithfully is an error: the caller deletes the original afterwards.
pub(crate) fn copy(from: impl AsFd, name: &[u8], to: impl AsFd, new_name: &[u8]) -> io::Result<()> {
    copy_entry(
        &from.as_fd().try_clone_to_owned()?,
        name,
        &to.as_fd().try_clone_to_owned()?,
        new_name,
        0,
    )
}

fn copy_entry(
    from: &OwnedFd,
    name: &[u8],
    to: &OwnedFd,
    new_name: &[u8],
    depth: usize,
) -> io::Result<()> {
    let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let text = rustix::fs::readlinkat(from, name, Vec::new())?;
            rustix::fs::symlinkat(text, to, new_name)?;
        }
        FileType::RegularFile => copy_file(from, name, to, new_name)?,
        FileType::Directory if depth < DEEPEST_COPY => {
            copy_directory(from, name, to, new_name, depth)?;
        }
        FileType::Fifo => {
            rustix::fs::mkfifoat(to, new_name, Mode::from_raw_mode(stat.st_mode))?;
        }
        _ => return Err(errno::error(errno::EXDEV)),
    }
    keep_attributes(to, new_name, &stat)
}

fn copy_file(from: &OwnedFd, name: &[u8], to: &OwnedFd, new_name: &[u8]) -> io::Result<()> {
    let reading = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let source = rustix::fs::openat(from, name, reading, Mode::empty())?;
    let writing = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let target = rustix::fs::openat(to, new_name, writing, Mode::RUSR | Mode::WUSR)?;
    super::preimage::copy_all(&source, &target, Asking::Request)
}

fn copy_directory(
    from: &OwnedFd,
    name: &[u8],
    to: &OwnedFd,
    new_name: &[u8],
    depth: usize,
) -> io::Result<()> {
    rustix::fs::mkdirat(to, new_name, Mode::RWXU)?;
    let source = rustix::fs::openat(from, name, READING, Mode::empty())?;
    let target = rustix::fs::openat(to, new_name, READING, Mode::empty())?;
    for (name, _) in list(&source)? {
        copy_entry(&source, &name, &target, &name, depth + 1)?;
    }
    Ok(())
}

/// Owner if we may, mode and times always.
fn keep_attributes(directory: &OwnedFd, name: &[u8], stat: &Stat) -> io::Result<()> {
    let owner = rustix::fs::Uid::from_raw(stat.st_uid);
    let group = rustix::fs::Gid::from_raw(stat.st_gid);
    let nofollow = AtFlags::SYMLINK_NOFOLLOW;
    let _only_root_may = rustix::fs::chownat(directory, name, Some(owner), Some(group), nofollow);
    if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
        // Made by us a moment ago in a directory of ours: there is no link to follow.
        let mode = Mode::from_raw_mode(stat.st_mode);
        rustix::fs::chmodat(directory, name, mode, AtFlags::empty())?;
    }
    let times = Timestamps {
        last_access: super::metadata::seconds(stat.st_atime, stat.st_atime_nsec as u32),
        last_modification: super::metadata::seconds(stat.st_mtime, stat.st_mtime_nsec as u32),
    };
    Ok(rustix::fs::utimensat(directory, name, &times, nofollow)?)
}

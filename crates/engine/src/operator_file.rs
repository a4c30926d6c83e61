//! Paths and small files of the operator's own, each with as few system calls as can be: they are looked at before every
//! first program, and most of the files are not there.
//!
//! That a path has no links in it is one question to the kernel; realpath(3) asks once for each component. Where the kernel
//! does not know the question, or there are links, realpath it is.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own paths and settings, named before a script exists that could race them"
)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// What is no regular file is looked at and never read: a FIFO must not hold us up, nor a terminal become ours.
const READING: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The path without links.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    match open_without_links(path, OFlags::PATH | OFlags::CLOEXEC) {
        Some(Ok(_)) => Ok(path.to_owned()),
        Some(Err(errno)) => Err(errno.into()),
        None => fs::canonicalize(path),
    }
}

/// The same for a path that is a link: where it leads is asked of the kernel, which has just gone there.
pub(crate) fn followed(path: &Path) -> io::Result<PathBuf> {
    let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    match rustix::fs::readlink(format!("/proc/self/fd/{}", handle.as_raw_fd()), Vec::new()) {
        Ok(real) if real.as_bytes().starts_with(b"/") => {
            Ok(OsString::from_vec(real.into_bytes()).into())
        }
        // Without a `/proc`.
        _ => fs::canonicalize(path),
    }
}

/// Whether a directory is there, with no links on the way. `false`: it may still be.
pub(crate) fn is_real_directory(path: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    matches!(open_without_links(path, flags), Some(Ok(_)))
}

/// The content of a file that is not larger than this, wherever links lead to.
pub(crate) fn read(path: &Path, largest: u64) -> Option<Vec<u8>> {
    content(&rustix::fs::open(path, READING, Mode::empty()).ok()?, largest)
}

/// The same, if it lies outside of a directory: by its real path and by the directory's.
pub(crate) fn read_outside<'a>(
    directory: impl FnOnce() -> &'a Path,
    path: &Path,
    largest: u64,
) -> Option<Vec<u8>> {
    match open_without_links(path, READING) {
        Some(opened) => {
            let file = opened.ok()?;
            let outside = !path.starts_with(directory());
            outside.then(|| content(&file, largest)).flatten()
        }
        None => {
            let real = fs::canonicalize(path).ok()?;
            let outside = !real.starts_with(directory());
            outside.then(|| read(&real, largest)).flatten()
        }
    }
}

/// Opens what a path leads to if it is its own real path, or says that nothing is there. `None`: links are on the way, or it
/// cannot be known.
fn open_without_links(path: &Path, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    if !is_plain(path) {
        return None;
    }
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // No link was met on the way there.
        Err(Errno::NOENT) => Some(Err(Errno::NOENT)),
        opened => opened.ok().map(Ok),
    }
}

/// Absolute, and each component is a name.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let Some(below) = bytes.strip_prefix(b"/") else { return false };
    below.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."))
}

/// What is in a regular file, up to the length that it has now.
fn content(file: &OwnedFd, largest: u64) -> Option<Vec<u8>> {
    let found = rustix::fs::fstat(file).ok()?;
    let length = u64::try_from(found.st_size).ok().filter(|length| *length <= largest)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut content = vec![0; usize::try_from(length).ok()?];
    let mut filled = 0;
    while let Some(room) = content.get_mut(filled..).filter(|room| !room.is_empty()) {
        match rustix::io::retry_on_intr(|| rustix::io::read(file, &mut *room)).ok()? {
            0 => break,
            count => filled += count,
        }
    }
    content.truncate(filled);
    Some(content)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_lies_in_a_directory_is_not_read_whatever_the_path_says() {
        let top = std::env::temp_dir().join(format!("exacta-operator-{}", std::process::id()));
        let top = fs::create_dir_all(&top).and_then(|()| fs::canonicalize(top)).expect("a place");
        let (inside, outside) = (top.join("project"), top.join("home"));
        for folder in [&inside, &outside] {
            fs::create_dir_all(folder).expect("a directory");
            fs::write(folder.join("file"), "text").expect("a file");
        }
        symlink(inside.join("file"), outside.join("in")).expect("a link");
        symlink(outside.join("file"), inside.join("out")).expect("a link");
        symlink(&inside, outside.join("folder")).expect("a link");
        symlink("nowhere", outside.join("broken")).expect("a link");
        let read = |path: &Path| read_outside(|| &inside, path, 16).map(String::from_utf8);
        let text = Some(Ok("text".to_owned()));
        let cases = [
            (outside.join("file"), true),
            (inside.join("out"), true),
            (inside.join("../home/file"), true),
            (inside.join("file"), false),
            (outside.join("in"), false),
            (outside.join("folder/file"), false),
            (outside.join("../project/file"), false),
            (outside.join("broken"), false),
            (outside.join("missing"), false),
            (outside.clone(), false),
        ];
        for (path, is_read) in cases {
            assert_eq!(read(&path), text.clone().filter(|_| is_read), "{}", path.display());
            let real = fs::canonicalize(&path).ok();
            assert_eq!(canonical(&path).ok(), real, "{}", path.display());
            assert_eq!(followed(&path).ok(), real, "{}", path.display());
        }
        fs::write(outside.join("file"), "a text that is too long").expect("a file");
        assert_eq!(read(&outside.join("file")), None);
        let fifo = outside.join("fifo");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).expect("a FIFO");
        assert_eq!(read(&fifo), None);
        fs::remove_dir_all(&top).expect("it can be removed");
    }

    #[test]
    fn only_names_make_a_plain_path() {
        for plain in ["/a", "/a/b.c/..d"] {
            assert!(is_plain(Path::new(plain)), "{plain}");
        }
        for other in ["", "a", "/", "//a", "/a/", "/a//b", "/a/./b", "/a/../b", "/a/.."] {
            assert!(!is_plain(Path::new(other)), "{other}");
        }
    }
}

//! What is in a layer and what lies below it, by handles.
#![expect(
    clippy::disallowed_methods,
    reason = "the upper side of a layer is no file system of the shell's: it is looked at from outside"
)]

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::{BStr, ByteSlice};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, openat2};

/// Longer settings are nobody's own work, and are shown to a person.
const LONGEST: u64 = 256 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Nothing,
    File,
    Directory,
    /// A link, or whatever else could lead elsewhere; also what cannot be looked at.
    Other,
}

/// How the guard looks at files: before the request, and as they are going to be.
pub(super) trait Sight {
    /// The project's own place.
    fn root(&self) -> &BStr;
    fn before(&self, path: &BStr) -> Thing;
    fn after(&self, path: &BStr) -> Thing;
    /// `None`: there is no such file, or it cannot be read whole.
    fn content_before(&self, path: &BStr) -> Option<Vec<u8>>;
    fn content_after(&self, path: &BStr) -> Option<Vec<u8>>;
}

/// A layer over a project.
pub(super) struct Layered<'a> {
    pub upper: OwnedFd,
    pub root: BorrowedFd<'a>,
    pub place: &'a BStr,
}

impl Sight for Layered<'_> {
    fn root(&self) -> &BStr {
        self.place
    }

    fn before(&self, path: &BStr) -> Thing {
        look(self.root, path).unwrap_or(Thing::Nothing)
    }

    fn after(&self, path: &BStr) -> Thing {
        look(self.upper.as_fd(), path).unwrap_or_else(|| self.before(path))
    }

    fn content_before(&self, path: &BStr) -> Option<Vec<u8>> {
        read(self.root, path)
    }

    fn content_after(&self, path: &BStr) -> Option<Vec<u8>> {
        match look(self.upper.as_fd(), path) {
            Some(_) => read(self.upper.as_fd(), path),
            None => read(self.root, path),
        }
    }
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

fn open(at: BorrowedFd<'_>, path: &BStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(at, path.as_bytes(), flags, Mode::empty(), BENEATH)
}

/// `None`: it is not there, and neither is a mark that it was deleted.
fn look(at: BorrowedFd<'_>, path: &BStr) -> Option<Thing> {
    let path = match open(at, path, OFlags::PATH) {
        Ok(path) => path,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return None,
        Err(_) => return Some(Thing::Other),
    };
    let Ok(found) = rustix::fs::fstat(&path) else { return Some(Thing::Other) };
    Some(match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Thing::File,
        FileType::Directory => Thing::Directory,
        FileType::CharacterDevice if found.st_rdev == 0 => Thing::Nothing,
        _ => Thing::Other,
    })
}

fn read(at: BorrowedFd<'_>, path: &BStr) -> Option<Vec<u8>> {
    if look(at, path) != Some(Thing::File) {
        return None;
    }
    let file = open(at, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).ok()?;
    let mut content = Vec::new();
    std::fs::File::from(file).take(LONGEST + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= LONGEST).then_some(content)
}

//! Folders that the engine has no more use for: removed by the spawner, which outlives it, so that nobody waits.
#![expect(
    clippy::disallowed_methods,
    reason = "folders of the engine's own, by handles that it gives"
)]

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, chmodat, fstat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Below this nothing is removed: each level holds a descriptor.
const DEEPEST: usize = 200;
/// What is needed to remove what is in a directory.
const OWNER: u32 = 0o700;

/// What is still to be removed; dropped, it is. What cannot be is left to the engine that looks there next.
#[derive(Default)]
pub struct Leavings(Vec<(BString, Vec<OwnedFd>)>);

impl Leavings {
    /// The folder of this name in the directory that comes first. What comes with it is held until it is removed.
    pub fn add(&mut self, name: BString, descriptors: Vec<OwnedFd>) {
        self.0.push((name, descriptors));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn remove(&mut self) {
        for (name, descriptors) in self.0.drain(..) {
            let is_plain = !name.contains(&b'/') && name != "." && name != "..";
            if let Some(parent) = descriptors.first().filter(|_| is_plain) {
                let _nobody_waits = remove_below(parent.as_fd(), name.as_ref(), 0);
            }
        }
    }
}

impl Drop for Leavings {
    fn drop(&mut self) {
        self.remove();
    }
}

/// No link is followed.
fn remove_below(parent: BorrowedFd<'_>, name: &BStr, depth: usize) -> Result<(), Errno> {
    let folder = match opened(parent, name) {
        // It was not known what it is.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return unlinkat(parent, name.as_bytes(), AtFlags::empty());
        }
        folder => folder?,
    };
    for (inside, kind) in contents(&folder)? {
        match kind {
            Kind::Folder if depth >= DEEPEST => return Err(Errno::NAMETOOLONG),
            Kind::Folder => remove_below(folder.as_fd(), inside.as_ref(), depth + 1)?,
            Kind::Other => unlinkat(&folder, inside.as_bytes(), AtFlags::empty())?,
        }
    }
    unlinkat(parent, name.as_bytes(), AtFlags::REMOVEDIR)
}

/// For listing and removing, whatever its mode says.
fn opened(parent: BorrowedFd<'_>, name: &BStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Whoever may do everything needs no mode; and the kernel's own folders have none.
    if geteuid().is_root()
        && let Ok(folder) = openat(parent, name.as_bytes(), flags, Mode::empty())
    {
        return Ok(folder);
    }
    let folder = openat(parent, name.as_bytes(), flags | OFlags::PATH, Mode::empty())?;
    if fstat(&folder)?.st_mode & OWNER != OWNER {
        let itself = format!("/proc/self/fd/{}", folder.as_raw_fd());
        chmodat(CWD, itself, Mode::from_raw_mode(OWNER), AtFlags::empty())?;
    }
    openat(&folder, ".", flags | OFlags::RDONLY, Mode::empty())
}

#[derive(Clone, Copy)]
enum Kind {
    /// Or what the file system does not tell: then it is found out.
    Folder,
    Other,
}

fn contents(folder: &OwnedFd) -> Result<Vec<(BString, Kind)>, Errno> {
    let mut buffer = [MaybeUninit::uninit(); 4 << 10];
    let mut listing = RawDir::new(folder, &mut buffer);
    let mut all = Vec::new();
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        let kind = match entry.file_type() {
            FileType::Directory | FileType::Unknown => Kind::Folder,
            _ => Kind::Other,
        };
        if name != b"." && name != b".." {
            all.push((name.into(), kind));
        }
    }
    Ok(all)
}

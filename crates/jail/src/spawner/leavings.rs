//! Folders that the engine has no more use for: removed by the spawner, which outlives it, so that nobody waits.
#![expect(
    clippy::disallowed_methods,
    reason = "folders of the engine's own, by handles that it gives"
)]

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, RenameFlags, chmodat, fstat, openat,
    renameat_with, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::messages::Again;

/// Below this nothing is removed: each level holds a descriptor.
const DEEPEST: usize = 200;
/// What is needed to remove what is in a directory.
const OWNER: u32 = 0o700;

/// What is still to be removed; dropped, it is. What cannot be is left to the engine that looks there next.
#[derive(Default)]
pub struct Leavings(Vec<Leaving>);

struct Leaving {
    name: BString,
    /// Where it is, what is to be held until then, and where it is used again.
    descriptors: Vec<OwnedFd>,
    again: Option<Again>,
}

impl Leavings {
    /// The folder of this name in the directory that comes first. What comes with it is held until it is removed.
    pub fn add(&mut self, name: BString, again: Option<Again>, descriptors: Vec<OwnedFd>) {
        self.0.push(Leaving { name, descriptors, again });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// While there are jails, which may have mounted it: so nothing is used again.
    pub fn remove(&mut self, before: impl FnOnce()) {
        if !self.0.is_empty() {
            before();
        }
        self.0.drain(..).for_each(|leaving| leaving.remove());
    }
}

impl Leaving {
    fn remove(&self) {
        if let Some(parent) = self.descriptors.first().filter(|_| is_plain(&self.name)) {
            let _nobody_waits = remove_below(parent.as_fd(), self.name.as_ref(), 0);
        }
    }

    /// `None`: it is to be removed.
    fn use_again(&self) -> Option<()> {
        let ([parent, folder, directory], Some(again)) = (&*self.descriptors, &self.again) else {
            return None;
        };
        let names = [&self.name, &again.name, &again.emptied];
        if !names.into_iter().all(is_plain) {
            return None;
        }
        empty(folder.as_fd(), again.emptied.as_ref()).ok()?;
        let (name, new_name) = (self.name.as_slice(), again.name.as_slice());
        renameat_with(parent, name, directory, new_name, RenameFlags::NOREPLACE).ok()
    }
}

fn is_plain(name: &BString) -> bool {
    !name.contains(&b'/') && name != "." && name != ".."
}

impl Drop for Leavings {
    /// The jails are gone.
    fn drop(&mut self) {
        for leaving in self.0.drain(..) {
            leaving.use_again().unwrap_or_else(|| leaving.remove());
        }
    }
}

/// Removes all that is in a directory.
fn empty(parent: BorrowedFd<'_>, name: &BStr) -> Result<(), Errno> {
    let folder = opened(parent, name)?;
    remove_contents(&folder, 0)
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
    remove_contents(&folder, depth)?;
    unlinkat(parent, name.as_bytes(), AtFlags::REMOVEDIR)
}

fn remove_contents(folder: &OwnedFd, depth: usize) -> Result<(), Errno> {
    for (inside, kind) in contents(folder)? {
        match kind {
            Kind::Folder if depth >= DEEPEST => return Err(Errno::NAMETOOLONG),
            Kind::Folder => remove_below(folder.as_fd(), inside.as_ref(), depth + 1)?,
            Kind::Other => unlinkat(folder, inside.as_bytes(), AtFlags::empty())?,
        }
    }
    Ok(())
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

//! From a path to a handle, without ever leaving the mounts.
//!
//! The fast way is one `openat2` beneath a mount that refuses symbolic links. Where a link is in the way,
//! [`super::walk`] goes component by component. Both are relative to handles throughout: there is nothing to race.
//!
//! What comes out is a [`Spot`]: a directory handle and one name in it, to be used with calls that follow nothing.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::filesystem::{Follow, MayMiss};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::Handle;
use super::device::Device;
use super::mounts::Mounts;
use super::path::{self, PATH_MAX};
use super::points::Found;
use super::preimage_store::PreimageStore;
use super::walk::{self, Ending, Ground, Walked};

const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);
pub(crate) const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A place for one entry: `name` is a single component, or `.` for the directory itself.
pub(crate) struct Spot {
    pub directory: Handle,
    pub name: BString,
    /// The text had a slash behind the name: it must be, or become, a directory.
    pub slash: bool,
    /// The root of a mount itself.
    pub top: bool,
    pub mount: usize,
    /// The names from the mount down, where a link was on the way. Else the text of the path says them.
    pub walked: Option<BString>,
}

impl Spot {
    /// For calls that treat the last component as a name to make or take away: the kernel minds the slash.
    pub fn raw_name(&self) -> BString {
        let mut name = self.name.clone();
        if self.slash {
            name.push(b'/');
        }
        name
    }
}

pub(crate) enum Target {
    Spot(Spot),
    Device(Device),
}

pub(crate) struct Resolver {
    pub mounts: Mounts,
    /// `openat2` is not there: only the walk is used.
    walk_only: AtomicBool,
    /// The file system has no shared extents; asking again for every large file would be a waste.
    no_clones: AtomicBool,
    pub preimages: PreimageStore,
}

impl Resolver {
    pub(crate) fn new(mounts: Mounts, avoid_openat2: bool) -> Self {
        let (walk_only, no_clones) = (AtomicBool::new(avoid_openat2), AtomicBool::new(false));
        Resolver { mounts, walk_only, no_clones, preimages: PreimageStore::default() }
    }

    pub(crate) fn may_clone(&self) -> bool {
        !self.no_clones.load(Ordering::Relaxed)
    }

    pub(crate) fn cannot_clone(&self) {
        self.no_clones.store(true, Ordering::Relaxed);
    }

    /// Opens beneath a mount where no symbolic link is in the way. `None`: the walk has to find out.
    pub(crate) fn open_beneath(
        &self,
        handle: &Handle,
        rest: &[u8],
        flags: OFlags,
        mode: Mode,
    ) -> io::Result<Option<OwnedFd>> {
        if path::has_hidden(rest) {
            return Err(super::missing());
        }
        if self.walk_only.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (mut handle, mut rest) = (Arc::clone(handle), rest.trim_start_with(is_slash));
        while rest.len() >= PATH_MAX {
            let Some((piece, behind)) = cut_to_length(rest) else { return Ok(None) };
            match self.open_at_once(&handle, piece, DIRECTORY, Mode::empty())? {
                Some(directory) => (handle, rest) = (Arc::new(directory), behind),
                None => return Ok(None),
            }
        }
        self.open_at_once(&handle, rest, flags, mode)
    }

    fn open_at_once(
        &self,
        handle: &Handle,
        rest: &[u8],
        flags: OFlags,
        mode: Mode,
    ) -> io::Result<Option<OwnedFd>> {
        let below: &[u8] = if rest.is_empty() { b"." } else { rest };
        let mut flags = flags | OFlags::CLOEXEC;
        if flags.contains(OFlags::DIRECTORY) {
            // With it, a link at the end would be "not a directory" instead of "a link is in the way".
            flags -= OFlags::NOFOLLOW;
        }
        loop {
            match rustix::fs::openat2(handle, below, flags, mode, BENEATH) {
                Ok(opened) => return Ok(Some(opened)),
                // Something was renamed while the kernel climbed a `..`.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::XDEV) => return Err(super::missing()),
                Err(Errno::NOSYS) => {
                    self.walk_only.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
                // Some sandboxes forbid the call itself; the walk gets the true answer either way.
                Err(Errno::LOOP | Errno::PERM) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The spot of what a path names, for calls that look at it or change it in place.
    pub(crate) fn object(&self, path: &BStr, follow: Follow) -> io::Result<Target> {
        let (mount, rest) = match self.mounts.points().find(path)? {
            Found::Mount(mount, rest) => (mount, rest),
            Found::Device(device) => return Ok(Target::Device(device)),
        };
        let handle = self.mounts.base(mount)?;
        let last = if path::asks_directory(rest) { None } else { path::split_last(rest) };
        let Some(last) = last else {
            // Without links the text is right about this; with them the walk decides.
            let top = path::normalize(BStr::new("/"), rest) == "/";
            return match self.open_beneath(&handle, rest, DIRECTORY, Mode::empty())? {
                Some(directory) => Ok(Target::Spot(Spot {
                    directory: Arc::new(directory),
                    name: ".".into(),
                    slash: false,
                    top,
                    mount,
                    walked: None,
                })),
                None => self.walk_to(path, Ending::Follow),
            };
        };
        let Some(spot) = self.parent(mount, &handle, &last)? else {
            return self.walk_to(path, Ending::of(follow));
        };
        if follow == Follow::Yes && is_link(&spot) {
            return self.walk_to(path, Ending::Follow);
        }
        Ok(Target::Spot(spot))
    }

    /// The spot of a name to be made, removed or renamed. The name itself is never followed.
    pub(crate) fn entry(&self, path: &BStr) -> io::Result<Target> {
        let (mount, rest) = match self.mounts.points().find(path)? {
            Found::Mount(mount, rest) => (mount, rest),
            Found::Device(device) => return Ok(Target::Device(device)),
        };
        let Some(last) = path::split_last(rest) else {
            return self.object(path, Follow::Yes);
        };
        let handle = self.mounts.base(mount)?;
        match self.parent(mount, &handle, &last)? {
            Some(spot) => Ok(Target::Spot(spot)),
            None => self.walk_to(path, Ending::Keep),
        }
    }

    fn parent(
        &self,
        mount: usize,
        handle: &Handle,
        last: &path::Last<'_>,
    ) -> io::Result<Option<Spot>> {
        if path::is_hidden(last.name) {
            return Err(super::missing());
        }
        let directory = if path::components(last.parent).next().is_none() {
            Arc::clone(handle)
        } else {
            match self.open_beneath(handle, last.parent, DIRECTORY, Mode::empty())? {
                Some(directory) => Arc::new(directory),
                None => return Ok(None),
            }
        };
        let (name, slash) = (last.name.into(), last.slash);
        Ok(Some(Spot { directory, name, slash, top: false, mount, walked: None }))
    }

    /// Where a spot found for a path is in the project: names from its root, nothing to resolve. `None`: not in it.
    pub(crate) fn place(&self, spot: &Spot, path: &BStr) -> Option<BString> {
        if !self.mounts.is_project(spot.mount) {
            return None;
        }
        if let Some(walked) = &spot.walked {
            return Some(walked.clone());
        }
        match self.mounts.points().find(path) {
            Ok(Found::Mount(_, rest)) => Some(path::below(rest)),
            _ => None,
        }
    }

    /// Component by component, where the fast way met a symbolic link.
    pub(crate) fn walk(&self, path: &BStr, ending: Ending) -> io::Result<Walked<Handle>> {
        walk::walk(&self.mounts, path, ending)
    }

    fn walk_to(&self, path: &BStr, ending: Ending) -> io::Result<Target> {
        self.walk(path, ending)?.try_into()
    }

    pub(crate) fn canonicalize(&self, path: &BStr, missing: MayMiss) -> io::Result<BString> {
        if let Ok(Found::Mount(mount, rest)) = self.mounts.points().find(path) {
            let handle = self.mounts.base(mount)?;
            match self.open_beneath(&handle, rest, OFlags::PATH, Mode::empty()) {
                Ok(Some(_)) => return Ok(path::normalize(self.mounts.points().get(mount), rest)),
                Err(error) if missing == MayMiss::Nothing => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        walk::canonicalize(&self.mounts, path, missing)
    }
}

impl TryFrom<Walked<Handle>> for Target {
    type Error = io::Error;

    fn try_from(walked: Walked<Handle>) -> io::Result<Target> {
        let arrival = match walked {
            Walked::Device(device) => return Ok(Target::Device(device)),
            Walked::At(arrival) => arrival,
        };
        let (directory, top, slash) = (arrival.place()?, arrival.is_top(), arrival.slash);
        let (mount, walked) = (arrival.mount, Some(path::relative(arrival.names())));
        let name = arrival.last.unwrap_or_else(|| ".".into());
        Ok(Target::Spot(Spot { directory, name, slash, top, mount, walked }))
    }
}

fn is_slash(character: char) -> bool {
    character == '/'
}

/// As much of a path as the kernel takes at once, and what is behind it. `None`: a piece could climb above where it
/// begins, or a name is longer than any can be; the walk knows what to say.
fn cut_to_length(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path::components(path).any(|name| name == b"..") {
        return None;
    }
    let slash = path.get(..PATH_MAX)?.rfind_byte(b'/')?;
    let (piece, behind) = path.split_at_checked(slash)?;
    Some((piece, behind.trim_start_with(is_slash)))
}

/// A name that is a symbolic link right now. If it becomes one later, calls on the spot do not follow it.
fn is_link(spot: &Spot) -> bool {
    let mut one = [0_u8; 1];
    rustix::fs::readlinkat_raw(&spot.directory, &**spot.name, &mut one[..]).is_ok()
}

//! From a path to a handle, without ever leaving the mounts.
//!
//! The fast way is one `openat2` beneath a mount that refuses symbolic links. Where a link is in the way, [`Walk`]
//! goes component by component: a stack of handles, `..` pops it and never asks the kernel, links are read and
//! translated here. Both are relative to handles throughout, so there is nothing to race.
//!
//! What comes out is a [`Spot`]: a directory handle and one name in it, to be used with calls that follow nothing.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{Follow, MayMiss};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::Handle;
use super::device::Device;
use super::mounts::{Found, Mounts};
use super::path::{self, MAXIMUM_LINKS, PATH_MAX};

const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);
const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A place for one entry: `name` is a single component, or `.` for the directory itself.
pub(crate) struct Spot {
    pub directory: Handle,
    pub name: BString,
    /// The text had a slash behind the name: it must be, or become, a directory.
    pub slash: bool,
    /// The root of a mount itself.
    pub top: bool,
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
}

impl Resolver {
    pub(crate) fn new(mounts: Mounts, avoid_openat2: bool) -> Self {
        let (walk_only, no_clones) = (AtomicBool::new(avoid_openat2), AtomicBool::new(false));
        Resolver { mounts, walk_only, no_clones }
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
        if rest.len() >= PATH_MAX || self.walk_only.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let below = rest.trim_start_with(|character| character == '/');
        let below: &[u8] = if below.is_empty() { b"." } else { below };
        let flags = flags | OFlags::CLOEXEC;
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
        let (mount, rest) = match self.mounts.find(path)? {
            Found::Mount(mount, rest) => (mount, rest),
            Found::Device(device) => return Ok(Target::Device(device)),
        };
        let handle = self.mounts.handle(mount)?;
        let last = if path::asks_directory(rest) { None } else { path::split_last(rest) };
        let Some(last) = last else {
            let top = path::components(rest).next().is_none();
            return match self.open_beneath(&handle, rest, DIRECTORY, Mode::empty())? {
                Some(directory) => Ok(Target::Spot(Spot {
                    directory: Arc::new(directory),
                    name: ".".into(),
                    slash: false,
                    top,
                })),
                None => self.walk(path, Ending::Follow)?.into_target(),
            };
        };
        let Some(spot) = self.parent(&handle, &last)? else {
            return self.walk(path, Ending::of(follow))?.into_target();
        };
        if follow == Follow::Yes && is_link(&spot) {
            return self.walk(path, Ending::Follow)?.into_target();
        }
        Ok(Target::Spot(spot))
    }

    /// The spot of a name to be made, removed or renamed. The name itself is never followed.
    pub(crate) fn entry(&self, path: &BStr) -> io::Result<Target> {
        let (mount, rest) = match self.mounts.find(path)? {
            Found::Mount(mount, rest) => (mount, rest),
            Found::Device(device) => return Ok(Target::Device(device)),
        };
        let Some(last) = path::split_last(rest) else {
            return self.object(path, Follow::Yes);
        };
        let handle = self.mounts.handle(mount)?;
        match self.parent(&handle, &last)? {
            Some(spot) => Ok(Target::Spot(spot)),
            None => self.walk(path, Ending::Keep)?.into_target(),
        }
    }

    fn parent(&self, handle: &Handle, last: &path::Last<'_>) -> io::Result<Option<Spot>> {
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
        Ok(Some(Spot { directory, name, slash, top: false }))
    }

    /// Component by component, with everything that symbolic links can do.
    pub(crate) fn walk(&self, path: &BStr, ending: Ending) -> io::Result<Walked> {
        let mut walk = Walk {
            mounts: &self.mounts,
            mount: 0,
            base: None,
            trail: Vec::new(),
            pending: Vec::new(),
            links: 0,
            missing: MayMiss::Nothing,
        };
        if let Some(device) = walk.enter(path)? {
            return Ok(Walked::Device(device));
        }
        let slash = ending == Ending::Keep && walk.drop_last_slash();
        walk.run(ending, slash)
    }

    /// As [`Resolver::walk`], for the path alone.
    pub(crate) fn canonicalize(&self, path: &BStr, missing: MayMiss) -> io::Result<BString> {
        let (mount, rest) = match self.mounts.find(path) {
            Ok(Found::Mount(mount, rest)) => (mount, rest),
            Ok(Found::Device(device)) => return Ok(device.path()),
            // `realpath -m` promises nothing about existence: outside, the text is all there is.
            Err(error) => return lexical(path, missing).ok_or(error),
        };
        let handle = self.mounts.handle(mount)?;
        match self.open_beneath(&handle, rest, OFlags::PATH, Mode::empty()) {
            Ok(Some(_)) => return Ok(path::normalize(self.mounts.point(mount), rest)),
            Ok(None) => {}
            Err(error) if missing == MayMiss::Nothing => return Err(error),
            Err(_) => {}
        }
        let mut walk = Walk {
            mounts: &self.mounts,
            mount: 0,
            base: None,
            trail: Vec::new(),
            pending: Vec::new(),
            links: 0,
            missing,
        };
        if let Some(device) = walk.enter(path)? {
            return Ok(device.path());
        }
        if missing != MayMiss::Nothing {
            walk.drop_last_slash();
        }
        match walk.run(Ending::Follow, false) {
            Ok(walked) => walked.into_path(&self.mounts, missing),
            Err(error) => lexical(path, missing).ok_or(error),
        }
    }
}

fn lexical(path: &BStr, missing: MayMiss) -> Option<BString> {
    let text = missing == MayMiss::Everything && path.first() == Some(&b'/') && !path.contains(&0);
    text.then(|| path::normalize(BStr::new("/"), path))
}

/// A name that is a symbolic link right now. If it becomes one later, calls on the spot do not follow it.
fn is_link(spot: &Spot) -> bool {
    let mut one = [0_u8; 1];
    rustix::fs::readlinkat_raw(&spot.directory, &**spot.name, &mut one[..]).is_ok()
}

/// What happens to the last component.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is a name, whatever it is now.
    Keep,
    /// It is opened without following: a symbolic link stays one.
    KeepObject,
    Follow,
}

impl Ending {
    fn of(follow: Follow) -> Self {
        match follow {
            Follow::Yes => Ending::Follow,
            Follow::No => Ending::KeepObject,
        }
    }
}

pub(crate) enum Walked {
    At {
        mount: usize,
        base: Handle,
        trail: Vec<(BString, Option<Handle>)>,
        last: Option<BString>,
        slash: bool,
    },
    Device(Device),
}

impl Walked {
    pub(crate) fn into_target(self) -> io::Result<Target> {
        let (base, trail, last, slash) = match self {
            Walked::Device(device) => return Ok(Target::Device(device)),
            Walked::At { base, trail, last, slash, .. } => (base, trail, last, slash),
        };
        let top = trail.is_empty() && last.is_none();
        let directory = trail.into_iter().next_back().map_or(Some(base), |(_, handle)| handle);
        let directory = directory.ok_or_else(super::missing)?;
        let name = last.unwrap_or_else(|| ".".into());
        Ok(Target::Spot(Spot { directory, name, slash, top }))
    }

    /// The names from the mount's root down.
    pub(crate) fn names(&self) -> Vec<&BStr> {
        match self {
            Walked::Device(_) => Vec::new(),
            Walked::At { trail, last, .. } => {
                let last = last.iter().map(|name| name.as_bstr());
                trail.iter().map(|(name, _)| name.as_bstr()).chain(last).collect()
            }
        }
    }

    fn into_path(self, mounts: &Mounts, missing: MayMiss) -> io::Result<BString> {
        let (mount, base, trail, last) = match &self {
            Walked::Device(device) => return Ok(device.path()),
            Walked::At { mount, base, trail, last, .. } => (*mount, base, trail, last),
        };
        if missing == MayMiss::Nothing
            && let Some(last) = last
        {
            let directory = trail.last().map_or(Some(base), |(_, handle)| handle.as_ref());
            let directory = directory.ok_or_else(super::missing)?;
            super::metadata::of_entry(directory, last.as_bstr())?;
        }
        let point = path::components(mounts.point(mount));
        Ok(path::join(point.chain(self.names().into_iter().map(|name| &**name))))
    }
}

struct Walk<'a> {
    mounts: &'a Mounts,
    mount: usize,
    base: Option<Handle>,
    /// The way down from the mount; no handle where `realpath -m` goes on without one.
    trail: Vec<(BString, Option<Handle>)>,
    /// What is still to be walked, next one last.
    pending: Vec<BString>,
    links: u32,
    missing: MayMiss,
}

enum Step {
    Done(Option<BString>),
    Device(Device),
    Continue,
}

impl Walk<'_> {
    /// Starts again at the mount an absolute path lies in.
    fn enter(&mut self, path: &BStr) -> io::Result<Option<Device>> {
        match self.mounts.find(path)? {
            Found::Device(device) => Ok(Some(device)),
            Found::Mount(mount, rest) => {
                self.mount = mount;
                self.base = Some(self.mounts.handle(mount)?);
                self.trail.clear();
                self.pending.clear();
                self.push(rest);
                Ok(None)
            }
        }
    }

    /// Puts the components of a path in front of what is still to be walked. A slash at its end becomes a `.`,
    /// which only a directory has.
    fn push(&mut self, path: &[u8]) {
        let mut parts: Vec<BString> = path::components(path).map(BString::from).collect();
        if path::asks_directory(path) {
            parts.push(".".into());
        }
        self.pending.extend(parts.into_iter().rev());
    }

    fn drop_last_slash(&mut self) -> bool {
        let slash = self.pending.len() > 1 && self.pending.first().is_some_and(|last| last == ".");
        if slash {
            self.pending.remove(0);
        }
        slash
    }

    fn run(mut self, ending: Ending, slash: bool) -> io::Result<Walked> {
        let last = loop {
            match self.step(ending)? {
                Step::Continue => {}
                Step::Done(last) => break last,
                Step::Device(device) => return Ok(Walked::Device(device)),
            }
        };
        let base = self.base.ok_or_else(super::missing)?;
        Ok(Walked::At { mount: self.mount, base, trail: self.trail, last, slash })
    }

    fn step(&mut self, ending: Ending) -> io::Result<Step> {
        let Some(name) = self.pending.pop() else { return Ok(Step::Done(None)) };
        if name == "." {
            return Ok(Step::Continue);
        }
        if name == ".." {
            return match self.trail.pop() {
                Some(_) => Ok(Step::Continue),
                None => Err(super::missing()),
            };
        }
        if path::is_hidden(&name) {
            return self.absent(name, super::missing());
        }
        let last = self.pending.is_empty();
        if last && ending == Ending::Keep {
            return Ok(Step::Done(Some(name)));
        }
        let Some(directory) = self.here() else {
            self.trail.push((name, None));
            return Ok(Step::Continue);
        };
        match rustix::fs::openat(&directory, &**name, DIRECTORY, Mode::empty()) {
            Ok(child) => {
                self.trail.push((name, Some(Arc::new(child))));
                Ok(Step::Continue)
            }
            Err(Errno::NOTDIR | Errno::LOOP) => self.not_a_directory(&directory, name, ending),
            Err(Errno::NOENT) if last => Ok(Step::Done(Some(name))),
            Err(error) => self.absent(name, error.into()),
        }
    }

    fn here(&self) -> Option<Handle> {
        match self.trail.last() {
            Some((_, handle)) => handle.clone(),
            None => self.base.clone(),
        }
    }

    fn absent(&mut self, name: BString, error: io::Error) -> io::Result<Step> {
        if self.missing != MayMiss::Everything {
            return Err(error);
        }
        self.trail.push((name, None));
        Ok(Step::Continue)
    }

    fn not_a_directory(
        &mut self,
        directory: &Handle,
        name: BString,
        ending: Ending,
    ) -> io::Result<Step> {
        let last = self.pending.is_empty();
        let text = match rustix::fs::readlinkat(directory, &**name, Vec::new()) {
            Ok(text) => text,
            Err(Errno::INVAL) if last => return Ok(Step::Done(Some(name))),
            Err(Errno::INVAL) => return self.absent(name, errno::error(errno::ENOTDIR)),
            Err(error) => return self.absent(name, error.into()),
        };
        if last && ending == Ending::KeepObject {
            return Ok(Step::Done(Some(name)));
        }
        self.links += 1;
        if self.links > MAXIMUM_LINKS {
            return Err(errno::error(errno::ELOOP));
        }
        let text = BStr::new(text.as_bytes());
        match text.first() {
            None => Err(super::missing()),
            Some(b'/') => self.jump(text),
            Some(_) => {
                self.push(text);
                Ok(Step::Continue)
            }
        }
    }

    /// An absolute link: what it names, in the script's own world, with what was still to come behind it.
    fn jump(&mut self, text: &BStr) -> io::Result<Step> {
        let mut whole = text.to_owned();
        for name in self.pending.iter().rev() {
            whole.push(b'/');
            whole.extend_from_slice(name);
        }
        match self.enter(whole.as_bstr())? {
            Some(device) => Ok(Step::Device(device)),
            None => Ok(Step::Continue),
        }
    }
}

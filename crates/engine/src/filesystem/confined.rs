//! The real project directory, and nothing else of the machine.
//!
//! Each operation resolves its path to a spot (a directory handle and one name) and makes one system call there that
//! follows nothing. The places a script can reach are in [`super::mounts`], how it gets there in
//! [`super::resolve`].

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::control::Control;
use exacta_shell::errno;
use exacta_shell::filesystem::{
    Access, Directory, FileKind, FileSystem, Follow, MayMiss, Metadata, OpenFile, OpenOptions,
};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timestamps, Uid};
use rustix::io::Errno;

use super::cover::{self, Cover};
use super::device::Device;
use super::directory::{ConfinedDirectory, READING};
use super::mounts::{Mounts, Places};
use super::open::{Opening, process_umask};
use super::points::Found;
use super::recorded::Recorder;
use super::request::CurrentRequest;
use super::resolve::{Resolver, Spot, Target};
use super::state::State;
use super::walk::Ground;
use super::{metadata, path, preimage_store, renaming, trash};
use crate::undo::Transactions;

const REMOVEDIR: AtFlags = AtFlags::REMOVEDIR;

/// A project directory as a tree of its own.
pub struct Confined {
    inner: Arc<Inner>,
}

/// Shared with the directory handles, which outlive a borrow of [`Confined`].
pub(crate) struct Inner {
    resolver: Arc<Resolver>,
    pub request: CurrentRequest,
    recorder: Recorder,
}

impl Confined {
    pub fn open(places: &Places) -> io::Result<Self> {
        let mounts = Mounts::open(places)?;
        if places.make_temporary {
            preimage_store::clear(mounts.state());
        }
        let resolver = Arc::new(Resolver::new(mounts, places.avoid_openat2));
        let (request, recorder) = (CurrentRequest::default(), Recorder::default());
        Ok(Confined { inner: Arc::new(Inner { resolver, request, recorder }) })
    }

    /// The same, with everything that changes in the project recorded. From then on only a request may change
    /// something there: see [`Transactions::begin`].
    pub fn recorded(self) -> (Self, Option<Arc<Transactions>>) {
        let mounts = &self.inner.resolver.mounts;
        let Some(root) = mounts.project() else { return (self, None) };
        let transactions = Arc::new(Transactions::new(root, mounts.state().clone()));
        let inner = Inner {
            resolver: Arc::clone(&self.inner.resolver),
            request: self.inner.request.clone(),
            recorder: Recorder::new(Arc::clone(&transactions)),
        };
        (Confined { inner: Arc::new(inner) }, Some(transactions))
    }

    /// Where exacta keeps what is its own.
    pub(crate) fn state(&self) -> State {
        self.inner.resolver.mounts.state().clone()
    }

    /// Where a layer goes that is laid over the project.
    pub(crate) fn cover(&self) -> Arc<Cover> {
        Arc::clone(&self.inner.resolver.mounts.cover)
    }

    fn place(&self, spot: &Spot, path: &BStr) -> Option<BString> {
        self.inner.resolver.place(spot, path)
    }

    /// Makes something at a spot; `make` has done nothing if it fails.
    fn create(
        &self,
        spot: &Spot,
        path: &BStr,
        make: impl Fn() -> Result<(), Errno>,
    ) -> io::Result<()> {
        self.inner.recorder.creating(self.place(spot, path), || Ok(make()?))
    }

    fn entry(&self, path: &BStr, at_device: i32) -> io::Result<Spot> {
        spot(self.inner.resolver.entry(path)?, at_device)
    }

    fn object(&self, path: &BStr, follow: Follow) -> io::Result<Option<Spot>> {
        match self.inner.resolver.object(path, follow)? {
            Target::Spot(spot) => Ok(Some(spot)),
            Target::Device(_) => Ok(None),
        }
    }
}

fn spot(target: Target, at_device: i32) -> io::Result<Spot> {
    match target {
        Target::Spot(spot) => Ok(spot),
        Target::Device(_) => Err(errno::error(at_device)),
    }
}

impl Inner {
    pub(crate) fn open(&self, path: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>> {
        let (resolver, request, recorder) = (&self.resolver, &self.request, &self.recorder);
        Opening { resolver, request, recorder, path, options }.open()
    }

    pub(crate) fn metadata(&self, path: &BStr, follow: Follow) -> io::Result<Metadata> {
        // Without looking for a link first: a stat says whether it was one.
        let found = match self.resolver.object(path, Follow::No)? {
            Target::Device(device) => return Ok(device.metadata()),
            Target::Spot(spot) => metadata::of_entry(&spot.directory, spot.name.as_bstr())?,
        };
        if follow == Follow::No || found.kind != FileKind::Symlink {
            return Ok(found);
        }
        match self.resolver.object(path, Follow::Yes)? {
            Target::Device(device) => Ok(device.metadata()),
            Target::Spot(spot) => Ok(metadata::of_entry(&spot.directory, spot.name.as_bstr())?),
        }
    }

    pub(crate) fn open_directory(
        self: &Arc<Self>,
        path: &BStr,
        follow: Follow,
    ) -> io::Result<Arc<dyn Directory>> {
        let (mount, rest) = match self.resolver.mounts.points().find(path)? {
            Found::Mount(mount, rest) => (mount, rest),
            Found::Device(_) => return Err(errno::error(errno::ENOTDIR)),
        };
        let base = self.resolver.mounts.base(mount)?;
        let opened = self.resolver.open_beneath(&base, rest, READING, Mode::empty())?;
        let handle = if let Some(handle) = opened {
            handle
        } else {
            let spot = spot(self.resolver.object(path, follow)?, errno::ENOTDIR)?;
            rustix::fs::openat(&spot.directory, &**spot.name, READING, Mode::empty())?
        };
        Ok(Arc::new(ConfinedDirectory::new(Arc::clone(self), handle, path.to_owned())))
    }
}

impl FileSystem for Confined {
    fn open(&self, path: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>> {
        self.inner.open(path, options)
    }

    fn open_directory(&self, path: &BStr, follow: Follow) -> io::Result<Arc<dyn Directory>> {
        self.inner.open_directory(path, follow)
    }

    fn metadata(&self, path: &BStr, follow: Follow) -> io::Result<Metadata> {
        self.inner.metadata(path, follow)
    }

    fn read_link(&self, path: &BStr) -> io::Result<BString> {
        let Some(spot) = self.object(path, Follow::No)? else {
            return Err(errno::error(errno::EINVAL));
        };
        let text = rustix::fs::readlinkat(&spot.directory, &**spot.name, Vec::new())?;
        Ok(text.into_bytes().into())
    }

    fn canonicalize(&self, path: &BStr, missing: MayMiss) -> io::Result<BString> {
        self.inner.resolver.canonicalize(path, missing)
    }

    fn access(&self, path: &BStr, wanted: Access) -> io::Result<()> {
        let spot = match self.inner.resolver.object(path, Follow::Yes)? {
            Target::Spot(spot) => spot,
            Target::Device(_) => return Device::access(wanted),
        };
        let wanted = match wanted {
            Access::Read => rustix::fs::Access::READ_OK,
            Access::Write => rustix::fs::Access::WRITE_OK,
            Access::Execute => rustix::fs::Access::EXEC_OK,
        };
        let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        match rustix::fs::accessat(&spot.directory, &**spot.name, wanted, flags) {
            Err(Errno::NOSYS) => access_through_proc(&spot, wanted),
            result => Ok(result?),
        }
    }

    fn create_directory(&self, path: &BStr, mode: u32) -> io::Result<()> {
        let spot = self.entry(path, errno::EEXIST)?;
        let wanted = Mode::from_raw_mode(mode);
        let make = || rustix::fs::mkdirat(&spot.directory, &**spot.raw_name(), wanted);
        self.create(&spot, path, make)?;
        unmask(&spot, mode)
    }

    fn create_symlink(&self, target: &BStr, path: &BStr) -> io::Result<()> {
        if target.is_empty() || target.contains(&0) {
            return Err(super::missing());
        }
        let spot = self.entry(path, errno::EEXIST)?;
        let make = || rustix::fs::symlinkat(&**target, &spot.directory, &**spot.raw_name());
        self.create(&spot, path, make)
    }

    fn create_hard_link(&self, existing: &BStr, path: &BStr) -> io::Result<()> {
        let from = match self.inner.resolver.object(existing, Follow::No)? {
            Target::Spot(spot) => spot,
            Target::Device(_) => return Err(errno::error(errno::EPERM)),
        };
        let to = self.entry(path, errno::EEXIST);
        if to.is_err() {
            // If both are wrong, the kernel speaks of the first.
            metadata::of_entry(&from.directory, from.name.as_bstr())?;
        }
        let to = to?;
        let (directory, name, flags) = (&from.directory, &**from.name, AtFlags::empty());
        let make =
            || Ok(rustix::fs::linkat(directory, name, &to.directory, &**to.raw_name(), flags)?);
        let places = (self.place(&from, existing), self.place(&to, path));
        self.inner.recorder.check_same_side(&places)?;
        match (places.0, self.inner.recorder.at(places.1)?) {
            (Some(existing), Some(announcing)) => announcing.link(existing.as_bstr(), make),
            _ => cover::making(make),
        }
    }

    fn create_fifo(&self, path: &BStr, mode: u32) -> io::Result<()> {
        let spot = self.entry(path, errno::EEXIST)?;
        let wanted = Mode::from_raw_mode(mode);
        let make = || rustix::fs::mkfifoat(&spot.directory, &**spot.raw_name(), wanted);
        self.create(&spot, path, make)?;
        unmask(&spot, mode)
    }

    fn remove_directory(&self, path: &BStr) -> io::Result<()> {
        let spot = self.entry(path, errno::ENOTDIR)?;
        if spot.top {
            return Err(errno::error(errno::EBUSY));
        }
        match self.inner.recorder.at(self.place(&spot, path))? {
            // `directory/.` is for the kernel to refuse.
            Some(announcing) if spot.name != "." => announcing.remove_empty(&spot),
            _ => Ok(rustix::fs::unlinkat(&spot.directory, &**spot.raw_name(), REMOVEDIR)?),
        }
    }

    fn trash(&self, path: &BStr) -> io::Result<()> {
        trash::trash(&self.inner.resolver, &self.inner.recorder, path)
    }

    fn rename(&self, from: &BStr, to: &BStr, replace: bool) -> io::Result<()> {
        let source = self.entry(from, errno::EPERM)?;
        let target = self.entry(to, if replace { errno::EPERM } else { errno::EEXIST })?;
        let places = (self.place(&source, from), self.place(&target, to));
        renaming::rename(&self.inner.recorder, (&source, &target), places, replace)
    }

    fn set_mode(&self, path: &BStr, mode: u32, follow: Follow) -> io::Result<()> {
        let Some(spot) = self.object(path, follow)? else { return Err(errno::error(errno::EPERM)) };
        self.inner.recorder.before_attributes(&spot, self.place(&spot, path))?;
        change_mode(&spot, Mode::from_raw_mode(mode))
    }

    fn set_owner(
        &self,
        path: &BStr,
        user: Option<u32>,
        group: Option<u32>,
        follow: Follow,
    ) -> io::Result<()> {
        let Some(spot) = self.object(path, follow)? else { return Err(errno::error(errno::EPERM)) };
        self.inner.recorder.before_attributes(&spot, self.place(&spot, path))?;
        cover::giving((user, group), |user, group| {
            let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            Ok(rustix::fs::chownat(&spot.directory, &**spot.name, user, group, flags)?)
        })
    }

    fn set_times(
        &self,
        path: &BStr,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
        follow: Follow,
    ) -> io::Result<()> {
        // A device of everybody's may be touched, and nothing happens.
        let Some(spot) = self.object(path, follow)? else { return Ok(()) };
        self.inner.recorder.before_attributes(&spot, self.place(&spot, path))?;
        let times = Timestamps {
            last_access: metadata::timespec(accessed),
            last_modification: metadata::timespec(modified),
        };
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::utimensat(&spot.directory, &**spot.name, &times, flags)?)
    }

    fn root(&self) -> &BStr {
        self.inner.resolver.mounts.root()
    }

    fn begin_request(&self, control: &Arc<Control>) {
        self.inner.request.set(control);
    }

    fn is_root(&self, path: &BStr) -> bool {
        match self.canonicalize(path, MayMiss::Nothing) {
            Ok(canonical) => path::normalize(self.root(), b"") == canonical,
            Err(_) => false,
        }
    }
}

/// The mode is already masked by the script's umask; what the process's own took away is given back. The group of a
/// set-group-id directory is inherited, so that bit stays.
fn unmask(spot: &Spot, mode: u32) -> io::Result<()> {
    if mode & process_umask() == 0 {
        return Ok(());
    }
    let inherited = metadata::of_entry(&spot.directory, spot.name.as_bstr())?.permissions & 0o2000;
    change_mode(spot, Mode::from_raw_mode(mode | inherited))
}

/// Before Linux 5.8 access(2) cannot be told not to follow.
fn access_through_proc(spot: &Spot, wanted: rustix::fs::Access) -> io::Result<()> {
    let handle = open_handle(spot)?;
    Ok(rustix::fs::access(name_in_proc(&handle), wanted)?)
}

/// The object itself, as nothing but a handle.
fn open_handle(spot: &Spot) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&spot.directory, &**spot.name, flags, Mode::empty())?)
}

/// Our own descriptor's name: the one path that leads to exactly what is open.
fn name_in_proc(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

/// chmod(2) on a name follows links, and there is no way to say otherwise before Linux 6.6. So the object is opened
/// first, as nothing but a handle, and changed through our own descriptor's name in `/proc`.
fn change_mode(spot: &Spot, mode: Mode) -> io::Result<()> {
    let handle = open_handle(spot)?;
    if metadata::of_handle(&handle)?.kind == FileKind::Symlink {
        return Err(errno::error(errno::EOPNOTSUPP));
    }
    match rustix::fs::chmod(name_in_proc(&handle), mode) {
        Err(Errno::NOENT | Errno::NOTDIR) => change_mode_without_proc(spot, mode),
        result => Ok(result?),
    }
}

fn change_mode_without_proc(spot: &Spot, mode: Mode) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | super::open::ALWAYS;
    let file = rustix::fs::openat(&spot.directory, &**spot.name, flags, Mode::empty())?;
    Ok(rustix::fs::fchmod(file, mode)?)
}

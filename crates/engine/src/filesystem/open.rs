//! Opening: which file, made or found, and what has to be remembered in case writing it fails.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, OpenFile, OpenOptions};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::Handle;
use super::cover;
use super::device::DeviceFile;
use super::file::{RegularFile, make_blocking};
use super::metadata;
use super::path;
use super::points::Found;
use super::preimage::{self, Preimage};
use super::recorded::{Extent, Recorder};
use super::request::CurrentRequest;
use super::resolve::{Resolver, Spot, Target};
use super::stream::Stream;
use super::walk::{Ending, Ground};

/// A FIFO must not hang us and a terminal must not become ours; for regular files neither flag matters.
pub(crate) const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// How often a name may change between looking and opening before that counts as a loop of links.
const PATIENT_TRIES: u32 = 16;

pub(crate) struct Opening<'a> {
    pub resolver: &'a Arc<Resolver>,
    pub request: &'a CurrentRequest,
    pub recorder: &'a Recorder,
    pub path: &'a BStr,
    pub options: OpenOptions,
}

/// How the file is reached.
enum Way<'a> {
    Beneath(usize, Handle, &'a BStr),
    At(Spot),
}

struct Opened {
    file: OwnedFd,
    created: bool,
}

impl Opening<'_> {
    pub(crate) fn open(&self) -> io::Result<Arc<dyn OpenFile>> {
        let mut way = match self.resolver.mounts.points().find(self.path)? {
            Found::Device(device) => return Ok(Arc::new(DeviceFile::open(device, self.options)?)),
            Found::Mount(mount, rest) => {
                Way::Beneath(mount, self.resolver.mounts.base(mount)?, rest)
            }
        };
        if self.options.create && self.path.ends_with(b"/") {
            // The kernel's order: first the parents, then the complaint.
            self.resolver.entry(self.path)?;
            return Err(errno::error(errno::EISDIR));
        }
        for _ in 0..PATIENT_TRIES {
            match self.try_way(&way)? {
                Some(opened) => return self.wrap(&way, opened),
                None => match self.walk()? {
                    Target::Spot(spot) => way = Way::At(spot),
                    Target::Device(device) => {
                        return Ok(Arc::new(DeviceFile::open(device, self.options)?));
                    }
                },
            }
        }
        Err(errno::error(errno::ELOOP))
    }

    fn walk(&self) -> io::Result<Target> {
        let exclusive = self.options.create && self.options.exclusive;
        let keep = self.options.no_follow || exclusive;
        let ending = if keep { Ending::KeepLink } else { Ending::Follow };
        self.resolver.walk(self.path, ending)?.try_into()
    }

    /// `None`: a symbolic link is in the way, walk (again).
    fn try_way(&self, way: &Way<'_>) -> io::Result<Option<Opened>> {
        let flags = self.flags();
        let made = |file: OwnedFd| Opened { file, created: true };
        let found = |file: OwnedFd| Opened { file, created: false };
        let create = flags | OFlags::CREATE | OFlags::EXCL;
        if self.options.create && self.options.exclusive {
            return Ok(self.create_way(way, create)?.map(made));
        }
        for _ in 0..PATIENT_TRIES {
            match self.open_existing(way, flags) {
                Err(error) if errno::is(&error, errno::ENOENT) && self.options.create => {}
                result => return Ok(result?.map(found)),
            }
            match self.create_way(way, create) {
                Err(error) if errno::is(&error, errno::EEXIST) => {}
                result => return Ok(result?.map(made)),
            }
        }
        Err(errno::error(errno::ENOENT))
    }

    fn create_way(&self, way: &Way<'_>, flags: OFlags) -> io::Result<Option<OwnedFd>> {
        match self.recorder.at(self.place(way))? {
            Some(announcing) => announcing.create_maybe(|| self.open_way(way, flags)),
            None => cover::making(|| self.open_way(way, flags)),
        }
    }

    fn place(&self, way: &Way<'_>) -> Option<BString> {
        match way {
            Way::At(spot) => self.resolver.place(spot, self.path),
            Way::Beneath(mount, _, rest) => {
                // What does not exist is refused by whoever opens it.
                let inside = self.resolver.mounts.is_project(*mount) && !path::has_hidden(rest);
                inside.then(|| path::below(rest))
            }
        }
    }

    fn open_existing(&self, way: &Way<'_>, flags: OFlags) -> io::Result<Option<OwnedFd>> {
        loop {
            match self.open_way(way, flags) {
                Err(error) if errno::is(&error, Errno::NXIO.raw_os_error()) => {
                    self.wait_for_reader(way, error)?;
                }
                result => return result,
            }
        }
    }

    fn flags(&self) -> OFlags {
        let options = self.options;
        let access = match (options.read, options.write || options.append) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let append = if options.append { OFlags::APPEND } else { OFlags::empty() };
        access | append | ALWAYS
    }

    fn open_way(&self, way: &Way<'_>, flags: OFlags) -> io::Result<Option<OwnedFd>> {
        let mode = if flags.contains(OFlags::CREATE) {
            Mode::from_raw_mode(self.options.mode)
        } else {
            Mode::empty()
        };
        match way {
            Way::Beneath(_, handle, rest) => self.resolver.open_beneath(handle, rest, flags, mode),
            Way::At(spot) => {
                let flags = flags | OFlags::NOFOLLOW;
                match rustix::fs::openat(&spot.directory, &**spot.name, flags, mode) {
                    Err(Errno::LOOP) if !self.options.no_follow => Ok(None),
                    result => Ok(Some(result?)),
                }
            }
        }
    }

    /// A FIFO without a reader answers `ENXIO`; bash would wait in open(2). Anything else is the true answer.
    fn wait_for_reader(&self, way: &Way<'_>, error: io::Error) -> io::Result<()> {
        let kind = match way {
            Way::At(spot) => metadata::of_entry(&spot.directory, spot.name.as_bstr())?.kind,
            Way::Beneath(_, handle, rest) => {
                let found =
                    self.resolver.open_beneath(handle, rest, OFlags::PATH, Mode::empty())?;
                metadata::of_handle(found.ok_or_else(super::missing)?)?.kind
            }
        };
        if kind != FileKind::Fifo {
            return Err(error);
        }
        self.request.pause()
    }

    fn wrap(&self, way: &Way<'_>, opened: Opened) -> io::Result<Arc<dyn OpenFile>> {
        let stat = rustix::fs::fstat(&opened.file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.wrap_regular(way, opened, &stat),
            FileType::Directory => Ok(Arc::new(RegularFile::reading(opened.file))),
            FileType::Fifo => Ok(Arc::new(self.wrap_fifo(opened.file))),
            _ => Err(errno::error(Errno::NXIO.raw_os_error())),
        }
    }

    fn wrap_fifo(&self, file: OwnedFd) -> Stream {
        make_blocking(&file);
        let writable = self.options.write || self.options.append;
        Stream::new(file, FileKind::Fifo, self.options.read, writable, self.request.clone())
    }

    fn wrap_regular(
        &self,
        way: &Way<'_>,
        opened: Opened,
        stat: &Stat,
    ) -> io::Result<Arc<dyn OpenFile>> {
        let options = self.options;
        let writable = options.write || options.append;
        if !writable {
            return Ok(Arc::new(RegularFile::reading(opened.file)));
        }
        let place = self.place(way);
        let extent = if options.append { Extent::End } else { Extent::Anywhere };
        let (file, preimage) = if opened.created {
            unmask(&opened.file, options.mode)?;
            let (resolver, path) = (Arc::clone(self.resolver), self.path.to_owned());
            (opened.file, Preimage::Created { resolver, path })
        } else if options.truncate {
            self.truncate(way, opened.file, stat, place.clone())?
        } else {
            if let Some(announcing) = self.recorder.at(place.clone())? {
                match extent {
                    Extent::End => announcing.before_append(stat)?,
                    Extent::Anywhere => announcing.before_write(stat)?,
                }
            }
            (opened.file, Preimage::length(stat))
        };
        let followed = self.recorder.follow(place, extent);
        let file = RegularFile::new(file, options.read, true, preimage);
        Ok(Arc::new(file.followed(followed, extent)))
    }

    fn truncate(
        &self,
        way: &Way<'_>,
        file: OwnedFd,
        stat: &Stat,
        place: Option<BString>,
    ) -> io::Result<(OwnedFd, Preimage)> {
        let announcing = self.recorder.at(place)?;
        let (file, preimage) = if stat.st_size == 0 {
            if let Some(announcing) = announcing {
                announcing.before_write(stat)?;
            }
            (file, Preimage::length(stat))
        } else {
            let path: BString = self.path.to_owned();
            let reader = self.reader(way, stat);
            match announcing {
                Some(announcing) => {
                    preimage::keep_recorded(self.resolver, &announcing, file, stat, reader)?
                }
                None => preimage::keep(self.resolver, &path, file, stat, reader)?,
            }
        };
        // Also when it is empty: the times change.
        rustix::fs::ftruncate(&file, 0)?;
        Ok((file, preimage))
    }

    /// The same file once more, to read what it was. Not `O_RDWR` at once: on a FIFO that would be a reader.
    fn reader(&self, way: &Way<'_>, stat: &Stat) -> Option<OwnedFd> {
        let reader = self.open_way(way, OFlags::RDONLY | ALWAYS).ok()??;
        let same = rustix::fs::fstat(&reader).ok()?;
        (same.st_ino == stat.st_ino && same.st_dev == stat.st_dev).then_some(reader)
    }
}

/// A file found by a walk with a handle: nothing is followed, nothing hangs, devices are refused.
pub(crate) fn open_found(
    directory: &OwnedFd,
    name: &[u8],
    request: &CurrentRequest,
) -> io::Result<Arc<dyn OpenFile>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | ALWAYS;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let found = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => {
            let length = u64::try_from(found.st_size).unwrap_or(0);
            Ok(Arc::new(RegularFile::found(file, length)))
        }
        FileType::Directory => Ok(Arc::new(RegularFile::reading(file))),
        FileType::Fifo => {
            make_blocking(&file);
            Ok(Arc::new(Stream::new(file, FileKind::Fifo, true, false, request.clone())))
        }
        _ => Err(errno::error(Errno::NXIO.raw_os_error())),
    }
}

/// The mode is already masked by the script's umask; what the process's own took away is given back.
fn unmask(file: &OwnedFd, mode: u32) -> io::Result<()> {
    if mode & process_umask() != 0 {
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Asked once, from `/proc`: umask(2) can only be read by changing it for every thread.
pub(crate) fn process_umask() -> u32 {
    static MASK: OnceLock<u32> = OnceLock::new();
    *MASK.get_or_init(|| read_umask().unwrap_or(0o777))
}

fn read_umask() -> Option<u32> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open("/proc/self/status", flags, Mode::empty()).ok()?;
    let mut buffer = [0; 512];
    let count = rustix::io::read(file, &mut buffer).ok()?;
    let text = buffer.get(..count)?.to_str_lossy();
    let line = text.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

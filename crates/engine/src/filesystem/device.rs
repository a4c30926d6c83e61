//! `/dev/null`, `zero`, `full`, `random` and `urandom`, answered in this process.
//!
//! `/dev/stdin`, `/dev/fd/N` and their like are names of descriptors: the shell's own table resolves them.

use std::io::{self, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::time::SystemTime;

use bstr::{BStr, BString};
use exacta_shell::errno;
use exacta_shell::filesystem::{Access, FileKind, Metadata, OpenFile, OpenOptions};
use rustix::fs::{Mode, OFlags};
use rustix::rand::GetRandomFlags;

use super::path::components;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Null,
    Zero,
    Full,
    Random,
    Urandom,
}

impl Device {
    const ALL: [(Device, &'static str, u32); 5] = [
        (Device::Null, "/dev/null", 3),
        (Device::Zero, "/dev/zero", 5),
        (Device::Full, "/dev/full", 7),
        (Device::Random, "/dev/random", 8),
        (Device::Urandom, "/dev/urandom", 9),
    ];

    /// `ENOENT` unless the path names a device; below a device there is no directory.
    pub(crate) fn find(path: &BStr) -> io::Result<Self> {
        let mut parts = components(path);
        let found = match (path.first(), parts.next(), parts.next()) {
            (Some(b'/'), Some(b"dev"), Some(name)) => Self::ALL
                .iter()
                .find(|(_, known, _)| known.as_bytes().strip_prefix(b"/dev/") == Some(name)),
            _ => None,
        };
        match found {
            None => Err(super::missing()),
            Some(_) if parts.next().is_some() || super::path::asks_directory(path) => {
                Err(errno::error(errno::ENOTDIR))
            }
            Some((device, _, _)) => Ok(*device),
        }
    }

    fn row(self) -> (&'static str, u32) {
        let row = Self::ALL.iter().find(|(device, _, _)| *device == self);
        row.map_or(("/dev/null", 3), |(_, path, minor)| (path, *minor))
    }

    pub(crate) fn path(self) -> BString {
        self.row().0.into()
    }

    /// Everybody may read and write every one of them.
    pub(crate) fn access(wanted: Access) -> io::Result<()> {
        match wanted {
            Access::Read | Access::Write => Ok(()),
            Access::Execute => Err(errno::error(errno::EACCES)),
        }
    }

    /// As on any Linux: mode 0666, owned by root, major number 1.
    pub(crate) fn metadata(self) -> Metadata {
        let (_, minor) = self.row();
        Metadata {
            kind: FileKind::CharacterDevice,
            permissions: 0o666,
            size: 0,
            links: 1,
            user: 0,
            group: 0,
            device: 6,
            inode: u64::from(minor) + 1,
            blocks: 0,
            block_size: 4096,
            device_number: rustix::fs::makedev(1, minor),
            accessed: SystemTime::UNIX_EPOCH,
            modified: SystemTime::UNIX_EPOCH,
            changed: SystemTime::UNIX_EPOCH,
            created: None,
        }
    }
}

/// A device in use. The real one is opened only when a program needs its descriptor.
pub(crate) struct DeviceFile {
    device: Device,
    options: OpenOptions,
    real: OnceLock<Option<OwnedFd>>,
}

impl DeviceFile {
    pub(crate) fn open(device: Device, options: OpenOptions) -> io::Result<Self> {
        if options.create && options.exclusive {
            return Err(errno::error(errno::EEXIST));
        }
        Ok(DeviceFile { device, options, real: OnceLock::new() })
    }

    fn open_real(&self) -> Option<OwnedFd> {
        let access = match (self.options.read, self.options.write || self.options.append) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let flags = access | OFlags::CLOEXEC | OFlags::NOCTTY;
        let (path, minor) = self.device.row();
        let real = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&real).ok()?;
        (stat.st_rdev == rustix::fs::makedev(1, minor)).then_some(real)
    }
}

impl OpenFile for DeviceFile {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.options.read {
            return Err(errno::error(errno::EBADF));
        }
        match self.device {
            Device::Null => Ok(0),
            Device::Zero | Device::Full => {
                buffer.fill(0);
                Ok(buffer.len())
            }
            Device::Random | Device::Urandom => {
                Ok(rustix::rand::getrandom(buffer, GetRandomFlags::empty())?)
            }
        }
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        if !self.options.write && !self.options.append {
            return Err(errno::error(errno::EBADF));
        }
        match self.device {
            Device::Full => Err(errno::error(errno::ENOSPC)),
            _ => Ok(data.len()),
        }
    }

    fn seek(&self, _position: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(self.device.metadata())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.real.get_or_init(|| self.open_real()).as_ref().map(AsFd::as_fd)
    }
}

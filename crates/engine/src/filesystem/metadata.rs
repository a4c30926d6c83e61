//! From the kernel's stat to the shell's.

use std::os::fd::AsFd;
use std::time::{Duration, SystemTime};

use bstr::BStr;
use exacta_shell::filesystem::{FileKind, Metadata};
use rustix::fs::{AtFlags, FileType, StatxFlags, Timespec};
use rustix::io::Errno;

use super::cover::owner_outside;

/// Of the entry itself, never through a symbolic link. `name` is one component, or `.`.
pub(crate) fn of_entry(directory: impl AsFd, name: &BStr) -> Result<Metadata, Errno> {
    query(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn of_handle(file: impl AsFd) -> Result<Metadata, Errno> {
    query(file, BStr::new(""), AtFlags::EMPTY_PATH)
}

fn query(directory: impl AsFd, name: &BStr, flags: AtFlags) -> Result<Metadata, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    match rustix::fs::statx(&directory, &**name, flags, wanted) {
        Ok(stat) => Ok(from_statx(&stat)),
        Err(Errno::NOSYS) => {
            rustix::fs::statat(&directory, &**name, flags).map(|stat| from_stat(&stat))
        }
        Err(error) => Err(error),
    }
}

fn from_statx(stat: &rustix::fs::Statx) -> Metadata {
    let (user, group) = owner_outside(stat.stx_uid, stat.stx_gid);
    let born = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    Metadata {
        kind: kind_of(FileType::from_raw_mode(u32::from(stat.stx_mode))),
        permissions: u32::from(stat.stx_mode) & 0o7777,
        size: stat.stx_size,
        links: u64::from(stat.stx_nlink),
        user,
        group,
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        blocks: stat.stx_blocks,
        block_size: u64::from(stat.stx_blksize),
        device_number: rustix::fs::makedev(stat.stx_rdev_major, stat.stx_rdev_minor),
        accessed: time(stat.stx_atime.tv_sec, stat.stx_atime.tv_nsec),
        modified: time(stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        changed: time(stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        created: born.then(|| time(stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec)),
    }
}

#[expect(clippy::useless_conversion, reason = "the widths differ between architectures")]
fn from_stat(stat: &rustix::fs::Stat) -> Metadata {
    let (user, group) = owner_outside(stat.st_uid, stat.st_gid);
    Metadata {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        permissions: stat.st_mode & 0o7777,
        size: stat.st_size as u64,
        links: u64::from(stat.st_nlink),
        user,
        group,
        device: stat.st_dev,
        inode: stat.st_ino,
        blocks: stat.st_blocks as u64,
        block_size: stat.st_blksize as u64,
        device_number: stat.st_rdev,
        accessed: time(stat.st_atime, stat.st_atime_nsec as u32),
        modified: time(stat.st_mtime, stat.st_mtime_nsec as u32),
        changed: time(stat.st_ctime, stat.st_ctime_nsec as u32),
        created: None,
    }
}

pub(crate) fn kind_of(kind: FileType) -> FileKind {
    match kind {
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::RegularFile | FileType::Unknown => FileKind::File,
    }
}

fn time(seconds: i64, nanoseconds: u32) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let start = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    start
        .and_then(|start| start.checked_add(Duration::from_nanos(u64::from(nanoseconds))))
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// For `utimensat`; nothing leaves the time as it is.
pub(crate) fn timespec(time: Option<SystemTime>) -> Timespec {
    let Some(time) = time else {
        return Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    };
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => Timespec {
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: after.subsec_nanos().into(),
        },
        Err(error) => before_epoch(error.duration()),
    }
}

fn before_epoch(before: Duration) -> Timespec {
    let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
    match before.subsec_nanos() {
        0 => Timespec { tv_sec: -seconds, tv_nsec: 0 },
        part => Timespec { tv_sec: -seconds - 1, tv_nsec: (1_000_000_000 - part).into() },
    }
}

pub(crate) fn seconds(seconds: i64, nanoseconds: u32) -> Timespec {
    Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() }
}

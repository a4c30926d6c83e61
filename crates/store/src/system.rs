//! Every system call of this crate that touches files. One small function each, relative to a handle, following
//! nothing; whatever changes something asks [`pass`] first, so that tests can stop before and after each of them.

#![expect(
    clippy::disallowed_methods,
    reason = "the one room of this crate where files are touched"
)]

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use bstr::BString;
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Gid, IFlags, Mode, OFlags, RawDir, RenameFlags,
    ResolveFlags, Stat, Timespec, Timestamps, Uid, XattrFlags,
};
use rustix::io::Errno;

use crate::facts::Time;

#[cfg(test)]
use crate::faults::pass;

#[cfg(not(test))]
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "only tests stop here")]
fn pass() -> Result<()> {
    Ok(())
}

type Result<T> = std::result::Result<T, Errno>;

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A path may be longer than the kernel takes at once.
const LONGEST: usize = 4_000;

/// The directory at a path, for going on from there. The empty path is the root.
pub(crate) fn open_directory(root: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd> {
    let mut from: Option<OwnedFd> = None;
    let mut rest = path;
    loop {
        let (piece, behind) = first_piece(rest);
        let piece = if piece.is_empty() { b"." } else { piece };
        let base = from.as_ref().map_or(root, AsFd::as_fd);
        let flags = OFlags::PATH | DIRECTORY;
        let opened = rustix::fs::openat2(base, piece, flags, Mode::empty(), BENEATH)?;
        match behind {
            None => return Ok(opened),
            Some(behind) => rest = behind,
        }
        from = Some(opened);
    }
}

fn first_piece(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    if path.len() <= LONGEST {
        return (path, None);
    }
    let head = path.get(..LONGEST).unwrap_or(path);
    match head.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or(path), path.get(at + 1..)),
        None => (path, None),
    }
}

/// A directory one level below, for listing.
pub(crate) fn open_listing(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | DIRECTORY;
    rustix::fs::openat2(parent, name, flags, Mode::empty(), BENEATH)
}

/// A regular file to read; a FIFO in its place does not hang.
pub(crate) fn open_reading(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat2(parent, name, flags | OFlags::NOCTTY, Mode::empty(), BENEATH)
}

/// A regular file whose content will change.
pub(crate) fn open_writing(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat2(parent, name, flags | OFlags::NOCTTY, Mode::empty(), BENEATH)
}

/// A file of the user's own, to read it and to write over what is in it.
pub(crate) fn open_both(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat2(parent, name, flags | OFlags::NOCTTY, Mode::empty(), BENEATH)
}

/// A file of the journal's own, to read it and to write at its end.
pub(crate) fn open_appending(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(parent, name, flags | OFlags::NONBLOCK, Mode::empty(), BENEATH)
}

/// A new file of the journal's own; it must not exist.
pub(crate) fn create_file(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    pass()?;
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::RUSR | Mode::WUSR)
}

/// A new file for content, written at any place.
pub(crate) fn create_copy(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    pass()?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::RUSR | Mode::WUSR)
}

/// Opens a directory of the journal's own, made if it is missing.
pub(crate) fn ensure_directory(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    match open_listing(&parent, name) {
        Err(Errno::NOENT) => {}
        result => return result,
    }
    pass()?;
    match rustix::fs::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => open_listing(&parent, name),
        Err(error) => Err(error),
    }
}

pub(crate) fn make_directory(parent: impl AsFd, name: &[u8]) -> Result<()> {
    make_directory_as(parent, name, Mode::RWXU.bits())
}

/// Has ext4 put each directory that is made in this one where there is room, with all that comes into it, and not beside this one.
/// Without a journal it uses no inode again that was deleted within the last minutes, but looks at each that it passes, for
/// every file; and where one layer is, there were many. Others know nothing of that, and need not.
pub(crate) fn spread(directory: impl AsFd) {
    let Ok(flags) = rustix::fs::ioctl_getflags(&directory) else { return };
    if !flags.contains(IFlags::TOPDIR) {
        let _it_is_as_good_there = rustix::fs::ioctl_setflags(directory, flags | IFlags::TOPDIR);
    }
}

/// With a mode as far as the process may give it.
pub(crate) fn make_directory_as(parent: impl AsFd, name: &[u8], mode: u32) -> Result<()> {
    pass()?;
    rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(mode))
}

pub(crate) fn make_link(target: &[u8], parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::symlinkat(target, parent, name)
}

pub(crate) fn make_fifo(parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::mknodat(parent, name, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
}

/// Says in a layer that a name is not there.
pub(crate) fn make_whiteout(parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::mknodat(parent, name, rustix::fs::FileType::CharacterDevice, Mode::empty(), 0)
}

/// What is at a name; `None` when nothing is.
pub(crate) fn stat(parent: impl AsFd, name: &[u8]) -> Result<Option<Stat>> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn stat_handle(handle: impl AsFd) -> Result<Stat> {
    rustix::fs::fstat(handle)
}

pub(crate) fn read_link(parent: impl AsFd, name: &[u8]) -> Result<BString> {
    Ok(rustix::fs::readlinkat(parent, name, Vec::new())?.into_bytes().into())
}

/// Names and kinds in a directory that was opened for listing.
pub(crate) fn list(directory: impl AsFd) -> Result<Vec<BString>> {
    let mut names = Vec::new();
    rustix::fs::seek(&directory, rustix::fs::SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::uninit(); 16 << 10];
    let mut entries = RawDir::new(&directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(BString::from(name));
        }
    }
    Ok(names)
}

/// Renames to a name that must be free.
pub(crate) fn rename(from: impl AsFd, name: &[u8], to: impl AsFd, new_name: &[u8]) -> Result<()> {
    pass()?;
    match rustix::fs::renameat_with(&from, name, &to, new_name, RenameFlags::NOREPLACE) {
        // File systems that do not know the flag.
        Err(Errno::INVAL | Errno::NOSYS) if stat(&to, new_name)?.is_none() => {
            rustix::fs::renameat(from, name, to, new_name)
        }
        result => result,
    }
}

/// Renames over a file of the journal's own.
pub(crate) fn rename_over(directory: impl AsFd, name: &[u8], new_name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::renameat(&directory, name, &directory, new_name)
}

/// Two names change places at once. `INVAL` where the file system cannot.
pub(crate) fn exchange(from: impl AsFd, name: &[u8], to: impl AsFd, new_name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::renameat_with(from, name, to, new_name, RenameFlags::EXCHANGE)
}

pub(crate) fn link(from: impl AsFd, name: &[u8], to: impl AsFd, new_name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::linkat(from, name, to, new_name, AtFlags::empty())
}

pub(crate) fn unlink(parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::unlinkat(parent, name, AtFlags::empty())
}

pub(crate) fn remove_directory(parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// The object at a name, as nothing but a handle: also what cannot be read, and links themselves.
pub(crate) fn open_object(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// The one path that leads to exactly what is open: attributes cannot be reached through a bare handle.
fn name_in_proc(object: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", object.as_raw_fd())
}

pub(crate) fn set_mode(object: impl AsFd, mode: u32) -> Result<()> {
    pass()?;
    rustix::fs::chmod(name_in_proc(object.as_fd()), Mode::from_raw_mode(mode))
}

pub(crate) fn set_owner(object: impl AsFd, user: u32, group: u32) -> Result<()> {
    pass()?;
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    rustix::fs::chownat(object, "", Some(user), Some(group), AtFlags::EMPTY_PATH)
}

/// The time of the last access stays.
pub(crate) fn set_time(parent: impl AsFd, name: &[u8], modified: Time) -> Result<()> {
    pass()?;
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: modified.seconds, tv_nsec: modified.nanos.into() },
    };
    rustix::fs::utimensat(parent, name, &times, AtFlags::SYMLINK_NOFOLLOW)
}

/// The kernel's own time of now.
pub(crate) fn touch(parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
    };
    rustix::fs::utimensat(parent, name, &times, AtFlags::SYMLINK_NOFOLLOW)
}

/// Names of extended attributes; none where the file system has none.
pub(crate) fn attribute_names(object: impl AsFd) -> Result<Vec<BString>> {
    let path = name_in_proc(object.as_fd());
    // To look up that path takes longer than to read the names, and most have few: they are not asked first how many.
    let mut buffer = vec![0; 512];
    loop {
        match rustix::fs::listxattr(&path, &mut buffer[..]) {
            Ok(count) => {
                let names = buffer.get(..count).unwrap_or_default().split(|&byte| byte == 0);
                let names = names.filter(|name| !name.is_empty());
                return Ok(names.map(BString::from).collect());
            }
            Err(Errno::OPNOTSUPP | Errno::PERM | Errno::NOENT) => return Ok(Vec::new()),
            Err(Errno::RANGE) => buffer.resize(rustix::fs::listxattr_query(&path)?.max(1), 0),
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn attribute(object: impl AsFd, name: &[u8]) -> Result<Option<BString>> {
    let path = name_in_proc(object.as_fd());
    let mut buffer = vec![0_u8; 256];
    loop {
        match rustix::fs::getxattr(&path, name, &mut buffer[..]) {
            Ok(count) => {
                buffer.truncate(count);
                return Ok(Some(buffer.into()));
            }
            Err(Errno::RANGE) if buffer.len() < 64 << 10 => buffer.resize(64 << 10, 0),
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn set_attribute(object: impl AsFd, name: &[u8], value: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::setxattr(name_in_proc(object.as_fd()), name, value, XattrFlags::empty())
}

pub(crate) fn remove_attribute(object: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    match rustix::fs::removexattr(name_in_proc(object.as_fd()), name) {
        Err(Errno::NODATA) => Ok(()),
        result => result,
    }
}

pub(crate) fn truncate(file: impl AsFd, size: u64) -> Result<()> {
    pass()?;
    rustix::fs::ftruncate(file, size)
}

/// Shares the extents of a file, where the file system can.
pub(crate) fn clone_content(to: impl AsFd, from: impl AsFd) -> Result<()> {
    pass()?;
    rustix::fs::ioctl_ficlone(to, from)
}

pub(crate) fn read_at(file: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::pread(&file, &mut *buffer, offset))
}

/// All of a file that is known to be short.
pub(crate) fn read_whole(file: impl AsFd) -> Result<Vec<u8>> {
    let length = usize::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
    let mut bytes = vec![0; length];
    let mut read = 0;
    while let Some(room) = bytes.get_mut(read..).filter(|room| !room.is_empty()) {
        match read_at(&file, room, read as u64)? {
            0 => break,
            count => read += count,
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

pub(crate) fn write_all_at(file: impl AsFd, mut data: &[u8], mut offset: u64) -> Result<()> {
    pass()?;
    while !data.is_empty() {
        let count = rustix::io::retry_on_intr(|| rustix::io::pwrite(&file, data, offset))?;
        offset += count as u64;
        data = data.get(count..).unwrap_or_default();
    }
    Ok(())
}

/// To the end of a file of the journal's own.
pub(crate) fn append(file: impl AsFd, mut data: &[u8]) -> Result<()> {
    pass()?;
    while !data.is_empty() {
        let count = rustix::io::retry_on_intr(|| rustix::io::write(&file, data))?;
        data = data.get(count..).unwrap_or_default();
    }
    Ok(())
}

/// The next stretch of data from an offset on; `None` when only a hole is left.
pub(crate) fn next_data(file: impl AsFd, offset: u64) -> Result<Option<(u64, u64)>> {
    let start = match rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(offset)) {
        Err(Errno::NXIO) => return Ok(None),
        start => start?,
    };
    let end = rustix::fs::seek(&file, rustix::fs::SeekFrom::Hole(start))?;
    Ok(Some((start, end)))
}

pub(crate) fn sync_data(file: impl AsFd) -> Result<()> {
    pass()?;
    rustix::fs::fdatasync(file)
}

pub(crate) fn sync_directory(directory: impl AsFd) -> Result<()> {
    pass()?;
    rustix::fs::fsync(directory)
}

pub(crate) fn sync_everything(any: impl AsFd) -> Result<()> {
    pass()?;
    // The directory itself may be held as nothing but a handle.
    rustix::fs::syncfs(open_listing(any, b".")?)
}

/// Bytes that the whole machine still has to write to its disks.
pub(crate) fn unwritten() -> Option<u64> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open("/proc/meminfo", flags, Mode::empty()).ok()?;
    let mut buffer = [0; 4096];
    let count = rustix::io::read(file, &mut buffer).ok()?;
    let text = std::str::from_utf8(buffer.get(..count)?).ok()?;
    let mut total = 0;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Dirty:").or_else(|| line.strip_prefix("Writeback:"))
        {
            total += rest.trim().trim_end_matches(" kB").parse::<u64>().ok()?;
        }
    }
    Some(total * 1024)
}

/// Lets go of a file that has no name any more. That may take as long as writing it did, and somebody waits here.
pub(crate) fn close_aside(file: OwnedFd) {
    const QUICK: i64 = 4 << 20;
    if stat_handle(&file).is_ok_and(|stat| stat.st_size > QUICK) {
        // Without a thread it is closed here.
        let _its_own_way =
            std::thread::Builder::new().name("undo-closing".into()).spawn(move || drop(file));
    }
}

/// Bytes that may still be written.
pub(crate) fn free_space(any: impl AsFd) -> Result<u64> {
    let found = rustix::fs::fstatvfs(any)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Whether it lies on layers of other file systems.
pub(crate) fn is_overlay(any: impl AsFd) -> Result<bool> {
    const OVERLAY: u64 = 0x794c_7630;
    Ok(rustix::fs::fstatfs(any)?.f_type as u64 == OVERLAY)
}

/// Waits. Given up with the handle.
pub(crate) fn lock(file: impl AsFd) -> Result<()> {
    rustix::io::retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::LockExclusive))
}

/// Does not wait: false when somebody else has it.
pub(crate) fn try_lock(file: impl AsFd) -> Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(crate) fn now() -> Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    Time { seconds: now.tv_sec, nanos: now.tv_nsec as u32 }
}

/// A small file with this content and no other, whether or not it was there.
pub(crate) fn put_content(parent: impl AsFd, name: &[u8], content: &[u8]) -> Result<()> {
    pass()?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(parent, name, flags, Mode::RUSR | Mode::WUSR)?;
    append(&file, content)?;
    rustix::fs::ftruncate(file, content.len() as u64)
}

/// An empty file that nobody has open.
pub(crate) fn make_file(parent: impl AsFd, name: &[u8]) -> Result<()> {
    pass()?;
    rustix::fs::mknodat(parent, name, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)
}

/// A file that stays open for what is written to it again and again.
pub(crate) fn open_keeping(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    pass()?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::RUSR | Mode::WUSR)
}

pub(crate) fn unlock(file: impl AsFd) -> Result<()> {
    rustix::fs::flock(file, FlockOperation::Unlock)
}

/// A directory that the operator has named.
pub(crate) fn open_path(path: &std::path::Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// The same, made with those above it if it is missing.
pub(crate) fn make_path(path: &std::path::Path) -> Result<OwnedFd> {
    match open_path(path) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_path(above)?;
    }
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => open_path(path),
        Err(error) => Err(error),
    }
}

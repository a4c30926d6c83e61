//! What a file was before it was opened for writing, so that a failed write leaves the old content.
//!
//! Bash truncates first and finds out later that the disk is full. Here, an opening that truncates keeps the old
//! content until the file is closed, by the cheapest way that fits:
//!
//! - up to [`SMALL`] bytes are read into memory, and the same inode is truncated and written;
//! - larger ones are cloned where the file system shares extents (btrfs, xfs), again with the same inode;
//! - else a file with a single name and nothing but its mode and owner changes places with a new, empty one
//!   (`RENAME_EXCHANGE`): no byte is copied and no moment passes without the file. The price is a new inode
//!   number, and that a descriptor opened earlier goes on reading the old content;
//! - else (hard links, extended attributes, another file system) the content is copied.
//!
//! If even the copy does not fit, opening fails and nothing has changed. A file that cannot be read by its owner
//! and cannot change places is truncated unprotected.
//!
//! In a project whose changes are recorded, the undo journal keeps the old content anyway: see [`keep_recorded`].
//!
//! Restoring by the first, second and fourth way needs the room that truncating gave free. A third party that fills
//! the disk in between can take it; the third way needs none.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bstr::{BString, ByteSlice};
use exacta_shell::control::goes_on_here;
use exacta_shell::errno;
use exacta_shell::filesystem::Follow;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat, Timestamps};
use rustix::io::Errno;

use super::preimage_store::{self, OwnDirectory};
use super::recorded::{Announcing, Followed};
use super::resolve::{Resolver, Spot, Target};
use super::{Handle, metadata};

/// Reading this much is cheaper than two renames and an unlink.
const SMALL: u64 = 256 << 10;

/// Between two looks at whether the request goes on.
const COPY_AT_ONCE: usize = 2 << 20;

pub(crate) enum Preimage {
    Nothing,
    /// This opening made the file.
    Created {
        resolver: Arc<Resolver>,
        path: BString,
    },
    /// It had this length; only bytes behind it are new.
    Length {
        length: u64,
        times: Timestamps,
    },
    Memory {
        content: Vec<u8>,
        times: Timestamps,
    },
    Copy {
        copy: OwnedFd,
        times: Timestamps,
    },
    Exchanged {
        directory: Handle,
        name: BString,
        old: Kept,
    },
    /// The undo journal has put a new file in its place, and keeps the old one.
    Renewed,
}

/// A file in the state directory that goes away with this value.
pub(crate) struct Kept {
    store: Arc<OwnDirectory>,
    name: String,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Left behind, it is only space, which the next session clears.
        let _space = rustix::fs::unlinkat(&self.store.handle, &*self.name, AtFlags::empty());
    }
}

/// Keeps the content of an open file that is about to be truncated. Gives the descriptor to write to, which is
/// another one when the file has changed places. `reader` reads the same inode, where that is allowed.
pub(crate) fn keep(
    resolver: &Arc<Resolver>,
    path: &BString,
    file: OwnedFd,
    stat: &Stat,
    reader: Option<OwnedFd>,
) -> io::Result<(OwnedFd, Preimage)> {
    let times = times_of(stat);
    let Some(reader) = reader else {
        return Ok(match exchange(resolver, path, stat)? {
            Some((new, preimage)) => (new, preimage),
            None => (file, Preimage::Nothing),
        });
    };
    if stat.st_size as u64 <= SMALL {
        let content = read_all(&reader, stat.st_size as usize)?;
        return Ok((file, Preimage::Memory { content, times }));
    }
    if let Some(copy) = clone(resolver, &reader) {
        return Ok((file, Preimage::Copy { copy, times }));
    }
    // A buffer of nothing would be answered with nothing, whatever there is.
    if rustix::fs::flistxattr(&reader, &mut [0_u8; 1][..]) == Ok(0)
        && let Some((new, preimage)) = exchange(resolver, path, stat)?
    {
        return Ok((new, preimage));
    }
    let copy = copied(resolver, &reader)?;
    Ok((file, Preimage::Copy { copy, times }))
}

/// The same where the undo journal keeps what was there before the request: one copy serves both.
///
/// A file that it has kept already, or that this request has made, is left with its inode: the record knows files by that.
pub(crate) fn keep_recorded(
    resolver: &Arc<Resolver>,
    announcing: &Announcing<'_>,
    file: OwnedFd,
    stat: &Stat,
    reader: Option<OwnedFd>,
) -> io::Result<(OwnedFd, Preimage)> {
    let (times, covered) = (times_of(stat), announcing.is_covered(stat));
    if let Some(reader) = &reader {
        if stat.st_size as u64 <= SMALL {
            let content = read_all(reader, stat.st_size as usize)?;
            announcing.before_write(stat)?;
            return Ok((file, Preimage::Memory { content, times }));
        }
        if let Some(copy) = clone(resolver, reader) {
            announcing.before_write(stat)?;
            return Ok((file, Preimage::Copy { copy, times }));
        }
    }
    if !covered && let Some(new) = announcing.renew()? {
        return Ok((new, Preimage::Renewed));
    }
    announcing.before_write(stat)?;
    if !covered && let Some(copy) = announcing.kept_copy() {
        return Ok((file, Preimage::Copy { copy, times }));
    }
    let Some(reader) = reader else { return Ok((file, Preimage::Nothing)) };
    let copy = copied(resolver, &reader)?;
    Ok((file, Preimage::Copy { copy, times }))
}

impl Preimage {
    /// Of a file that is written from its end on, or from wherever the writer seeks to.
    pub(crate) fn length(stat: &Stat) -> Self {
        Preimage::Length { length: stat.st_size as u64, times: times_of(stat) }
    }

    /// Puts back what was there. There is nobody to tell if that fails too: the write's own error is reported.
    pub(crate) fn restore(self, file: &OwnedFd, written: u64, followed: Option<&Followed>) {
        let _reported_by_the_write = match self {
            Preimage::Nothing => Ok(()),
            Preimage::Renewed => followed.map_or(Ok(()), |followed| followed.take_back(file)),
            Preimage::Created { resolver, path } => remove_created(&resolver, &path, file),
            Preimage::Length { length, times } => cut_back(file, length, written, &times),
            Preimage::Memory { content, times } => patiently(|| {
                rustix::fs::ftruncate(file, 0)?;
                write_back(file, &content)?;
                Ok(rustix::fs::futimens(file, &times)?)
            }),
            Preimage::Copy { copy, times } => patiently(|| {
                rustix::fs::ftruncate(file, 0)?;
                if rustix::fs::ioctl_ficlone(file, &copy).is_err() {
                    copy_all(&copy, file, Asking::Nobody)?;
                }
                Ok(rustix::fs::futimens(file, &times)?)
            }),
            Preimage::Exchanged { directory, name, old } => {
                exchange_back(&directory, &name, &old, file)
            }
        };
    }
}

/// The room that truncating gives free may take a moment to be there again (delayed freeing, quotas).
fn patiently(mut restore: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 0..20 {
        if restore().is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    restore()
}

fn times_of(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: metadata::seconds(stat.st_atime, stat.st_atime_nsec as u32),
        last_modification: metadata::seconds(stat.st_mtime, stat.st_mtime_nsec as u32),
    }
}

fn remove_created(resolver: &Resolver, path: &BString, file: &OwnedFd) -> io::Result<()> {
    if let Target::Spot(spot) = resolver.object(path.as_bstr(), Follow::Yes)?
        && is_same(&spot, &rustix::fs::fstat(file)?)
    {
        rustix::fs::unlinkat(&spot.directory, &**spot.name, AtFlags::empty())?;
    }
    Ok(())
}

fn is_same(spot: &Spot, stat: &Stat) -> bool {
    rustix::fs::statat(&spot.directory, &**spot.name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| found.st_ino == stat.st_ino && found.st_dev == stat.st_dev)
}

/// Only if nobody else has written meanwhile: their bytes are not ours to cut.
fn cut_back(file: &OwnedFd, length: u64, written: u64, times: &Timestamps) -> io::Result<()> {
    let size = rustix::fs::fstat(file)?.st_size as u64;
    if size > length && size <= length + written {
        rustix::fs::ftruncate(file, length)?;
        rustix::fs::futimens(file, times)?;
    }
    Ok(())
}

fn read_all(file: &OwnedFd, size: usize) -> io::Result<Vec<u8>> {
    let mut content = vec![0; size];
    let mut filled = 0;
    while let Some(room) = content.get_mut(filled..).filter(|room| !room.is_empty()) {
        match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *room, filled as u64))? {
            0 => break,
            count => filled += count,
        }
    }
    content.truncate(filled);
    Ok(content)
}

fn write_back(file: &OwnedFd, content: &[u8]) -> io::Result<()> {
    let mut offset = 0;
    while let Some(rest) = content.get(offset..).filter(|rest| !rest.is_empty()) {
        offset += rustix::io::retry_on_intr(|| rustix::io::pwrite(file, rest, offset as u64))?;
    }
    Ok(())
}

/// Whether a copy may be given up on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// `EINTR` when the request of this thread does not go on.
    Request,
    Nobody,
}

impl Asking {
    fn check(self) -> io::Result<()> {
        if self == Asking::Request && !goes_on_here() {
            return Err(errno::error(errno::EINTR));
        }
        Ok(())
    }
}

/// A copy without a name. What was copied for nothing is let go of elsewhere: that takes as long again.
fn copied(resolver: &Resolver, reader: &OwnedFd) -> io::Result<OwnedFd> {
    let copy = unnamed(resolver)?;
    match copy_all(reader, &copy, Asking::Request) {
        Ok(()) => Ok(copy),
        Err(error) => {
            let _its_own_way =
                std::thread::Builder::new().name("closing".into()).spawn(move || drop(copy));
            Err(error)
        }
    }
}

pub(crate) fn copy_all(from: &OwnedFd, to: &OwnedFd, asking: Asking) -> io::Result<()> {
    let (mut read, mut written) = (0, 0);
    loop {
        asking.check()?;
        let copied = rustix::fs::copy_file_range(
            from,
            Some(&mut read),
            to,
            Some(&mut written),
            COPY_AT_ONCE,
        );
        match copied {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                return copy_by_hand(from, to, read, asking);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn copy_by_hand(from: &OwnedFd, to: &OwnedFd, mut offset: u64, asking: Asking) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        asking.check()?;
        let count = rustix::io::retry_on_intr(|| rustix::io::pread(from, &mut buffer, offset))?;
        let mut rest = buffer.get(..count).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(to, rest, offset))?;
            offset += written as u64;
            rest = rest.get(written..).unwrap_or_default();
        }
    }
}

fn store(resolver: &Resolver) -> io::Result<Arc<OwnDirectory>> {
    resolver.preimages.directory(resolver.mounts.state())
}

fn unnamed(resolver: &Resolver) -> io::Result<OwnedFd> {
    preimage_store::unnamed(&*store(resolver)?)
}

fn clone(resolver: &Resolver, reader: &OwnedFd) -> Option<OwnedFd> {
    if !resolver.may_clone() {
        return None;
    }
    let copy = unnamed(resolver).ok()?;
    if rustix::fs::ioctl_ficlone(&copy, reader).is_err() {
        resolver.cannot_clone();
        return None;
    }
    Some(copy)
}

/// Changes places with a new, empty file. `None` where that is not possible without a visible difference.
fn exchange(
    resolver: &Resolver,
    path: &BString,
    stat: &Stat,
) -> io::Result<Option<(OwnedFd, Preimage)>> {
    let Target::Spot(spot) = resolver.object(path.as_bstr(), Follow::Yes)? else { return Ok(None) };
    if stat.st_nlink != 1 || !is_same(&spot, stat) {
        return Ok(None);
    }
    let Ok(store) = store(resolver) else { return Ok(None) };
    let Some((new, old)) = create_like(&store, stat) else { return Ok(None) };
    let flags = RenameFlags::EXCHANGE;
    let (directory, target) = (&spot.directory, &**spot.name);
    let handle = &old.store.handle;
    if rustix::fs::renameat_with(handle, &*old.name, directory, target, flags).is_err() {
        return Ok(None);
    }
    let moved = rustix::fs::statat(handle, &*old.name, AtFlags::SYMLINK_NOFOLLOW)?;
    if moved.st_ino != stat.st_ino {
        // Somebody replaced the file in between; what came over is theirs and goes back.
        rustix::fs::renameat_with(handle, &*old.name, directory, target, flags)?;
        return Ok(None);
    }
    let preimage = Preimage::Exchanged { directory: spot.directory, name: spot.name, old };
    Ok(Some((new, preimage)))
}

fn create_like(store: &Arc<OwnDirectory>, stat: &Stat) -> Option<(OwnedFd, Kept)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = rustix::fs::openat(&store.handle, &*name, flags, mode).ok()?;
    let kept = Kept { store: Arc::clone(store), name };
    let made = rustix::fs::fstat(&file).ok()?;
    if (made.st_uid, made.st_gid) != (stat.st_uid, stat.st_gid) {
        let owner = rustix::fs::Uid::from_raw(stat.st_uid);
        let group = rustix::fs::Gid::from_raw(stat.st_gid);
        rustix::fs::fchown(&file, Some(owner), Some(group)).ok()?;
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(stat.st_mode)).ok()?;
    Some((file, kept))
}

fn exchange_back(directory: &Handle, name: &BString, old: &Kept, file: &OwnedFd) -> io::Result<()> {
    let ours = rustix::fs::fstat(file)?;
    let there = rustix::fs::statat(directory, &***name, AtFlags::SYMLINK_NOFOLLOW)?;
    if there.st_ino == ours.st_ino && there.st_dev == ours.st_dev {
        rustix::fs::renameat_with(
            &old.store.handle,
            &*old.name,
            directory,
            &***name,
            RenameFlags::EXCHANGE,
        )?;
    }
    Ok(())
}

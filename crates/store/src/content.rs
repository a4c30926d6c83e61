//! Contents of regular files: copied with their holes, written back through the same inode, compared.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::going::{ALWAYS, Going};
use crate::system;

const AT_ONCE: usize = 256 << 10;

/// Makes a file have the content of another: shared where the file system can, else copied with its holes.
pub(crate) fn copy(from: &OwnedFd, to: &OwnedFd, going: &Going) -> Result<(), Errno> {
    if clone(from, to)? { Ok(()) } else { copy_data(from, to, going) }
}

/// The same only where it is shared. False where the file system cannot.
pub(crate) fn clone(from: &OwnedFd, to: &OwnedFd) -> Result<bool, Errno> {
    match system::clone_content(to, from) {
        Err(Errno::OWNERDEAD) => Err(Errno::OWNERDEAD),
        cloned => Ok(cloned.is_ok()),
    }
}

/// What a file has from an offset on, as a file of its own.
pub(crate) fn copy_tail(from: &OwnedFd, to: &OwnedFd, offset: u64) -> Result<(), Errno> {
    let size = system::stat_handle(from)?.st_size as u64;
    system::truncate(to, size.saturating_sub(offset))?;
    copy_stretches(from, to, (offset, size), |at| at - offset, &ALWAYS)
}

/// The same put back behind a beginning, whatever was behind that.
pub(crate) fn write_tail(from: &OwnedFd, to: &OwnedFd, offset: u64) -> Result<(), Errno> {
    let size = system::stat_handle(from)?.st_size as u64;
    system::truncate(to, offset)?;
    system::truncate(to, offset + size)?;
    copy_stretches(from, to, (0, size), |at| at + offset, &ALWAYS)
}

/// The same for a file that may have had another content. Its inode stays, so do other names and open descriptors.
///
/// Its old blocks are let go so that holes become holes again, but for the first where that is data anyway: ext4 takes
/// a file that was cut to nothing for one whose writer forgot to sync, and waits for the disk when it is closed.
pub(crate) fn write_through(from: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    let size = system::stat_handle(from)?.st_size as u64;
    let begins = matches!(next_data(from, 0, size)?, Some((0, _)));
    system::truncate(to, u64::from(begins))?;
    copy(from, to, &ALWAYS)
}

fn copy_data(from: &OwnedFd, to: &OwnedFd, going: &Going) -> Result<(), Errno> {
    let size = system::stat_handle(from)?.st_size as u64;
    system::truncate(to, size)?;
    copy_stretches(from, to, (0, size), |at| at, going)
}

/// The data between two offsets, to where it belongs; what is a hole stays one.
fn copy_stretches(
    from: &OwnedFd,
    to: &OwnedFd,
    (mut offset, size): (u64, u64),
    place: impl Fn(u64) -> u64,
    going: &Going,
) -> Result<(), Errno> {
    let length = usize::try_from(size - offset).unwrap_or(AT_ONCE);
    let mut buffer = vec![0; AT_ONCE.min(length).max(1)];
    while let Some((start, end)) = next_data(from, offset, size)? {
        offset = start;
        while offset < end {
            let room = usize::try_from(end - offset).unwrap_or(AT_ONCE).min(buffer.len());
            let Some(room) = buffer.get_mut(..room) else { return Err(Errno::INVAL) };
            going.check()?;
            let count = system::read_at(from, room, offset)?;
            if count == 0 {
                return Ok(());
            }
            system::write_all_at(to, room.get(..count).unwrap_or_default(), place(offset))?;
            offset += count as u64;
        }
    }
    Ok(())
}

/// A file system that knows no holes has data from end to end.
fn next_data(file: &OwnedFd, offset: u64, size: u64) -> Result<Option<(u64, u64)>, Errno> {
    if offset >= size {
        return Ok(None);
    }
    match system::next_data(file, offset) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Some((offset, size))),
        found => found,
    }
}

/// Whether two files have the same bytes.
pub(crate) fn is_same(one: impl AsFd, other: impl AsFd) -> Result<bool, Errno> {
    let (mut left, mut right) = (vec![0; AT_ONCE], vec![0; AT_ONCE]);
    let mut offset = 0;
    loop {
        let count = read_full(&one, &mut left, offset)?;
        if read_full(&other, &mut right, offset)? != count
            || left.get(..count) != right.get(..count)
        {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
        offset += count as u64;
    }
}

fn read_full(file: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match system::read_at(&file, room, offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

pub(crate) fn read_all(file: impl AsFd) -> Result<Vec<u8>, Errno> {
    read_first(file, u64::MAX)
}

/// The first so many bytes, piece by piece.
pub(crate) fn each_piece(
    file: impl AsFd,
    most: u64,
    piece: &mut impl FnMut(&[u8]),
) -> Result<(), Errno> {
    let mut buffer = vec![0; 256 << 10];
    let mut at = 0;
    while at < most {
        let count = read_full(&file, &mut buffer, at)? as u64;
        let count = count.min(most - at);
        piece(buffer.get(..count as usize).unwrap_or_default());
        if count == 0 {
            break;
        }
        at += count;
    }
    Ok(())
}

pub(crate) fn read_first(file: impl AsFd, most: u64) -> Result<Vec<u8>, Errno> {
    let size = most.min(system::stat_handle(&file)?.st_size as u64);
    let mut content = vec![0; usize::try_from(size).unwrap_or(0)];
    let count = read_full(file, &mut content, 0)?;
    content.truncate(count);
    Ok(content)
}

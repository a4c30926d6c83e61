//! Small files of exacta's own beneath a directory handle: read whole and never through a link, replaced as a whole,
//! one writer at a time. A repository may have brought the directory along, with anything in it.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state, which no script can see: opened by handle, never through a link"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use exacta_shell::errno;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// A writer holds a lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

/// The right to write. Closing it gives the lock back, also when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: OwnedFd,
}

/// Waits for whoever writes now.
pub(crate) fn lock(directory: &OwnedFd, name: &str) -> io::Result<Lock> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = flags | OFlags::NONBLOCK;
    let file = rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?;
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The content now; `None` if there is no such file. Needs no lock: a file is only ever replaced as a whole.
pub(crate) fn read(directory: &OwnedFd, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
    // NONBLOCK: a FIFO of this name must not hold us up.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let status = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if u64::try_from(status.st_size).unwrap_or(u64::MAX) > limit {
        return Err(errno::error(errno::EFBIG));
    }
    read_all(&file, usize::try_from(status.st_size).unwrap_or_default(), limit).map(Some)
}

/// The new content, whole or not at all, also after a power cut. `new` is the name it has until then: one is enough,
/// as only the holder of the lock writes.
pub(crate) fn replace(
    directory: &OwnedFd,
    name: &str,
    new: &str,
    content: &[u8],
    _lock: &Lock,
) -> io::Result<()> {
    // Left behind by a writer that died, or brought along by a repository.
    match rustix::fs::unlinkat(directory, new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, new, flags, Mode::RUSR | Mode::WUSR)?;
    let written = write_all(&file, content)
        .and_then(|()| Ok(rustix::fs::fsync(&file)?))
        .and_then(|()| Ok(rustix::fs::renameat(directory, new, directory, name)?));
    if let Err(error) = written {
        let _ = rustix::fs::unlinkat(directory, new, AtFlags::empty());
        return Err(error);
    }
    Ok(rustix::fs::fsync(directory)?)
}

/// One byte more is asked for than there should be: when it does not come, this was all.
fn read_all(file: &OwnedFd, expected: usize, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = vec![0_u8; expected.saturating_add(1)];
    let mut filled = 0;
    loop {
        match rustix::io::read(file, content.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if filled as u64 > limit {
            return Err(errno::error(errno::EFBIG));
        }
        if filled == expected {
            break;
        }
        if filled == content.len() {
            content.resize(filled.saturating_mul(2), 0);
        }
    }
    content.truncate(filled);
    Ok(content)
}

fn write_all(file: &OwnedFd, mut content: &[u8]) -> io::Result<()> {
    while !content.is_empty() {
        match rustix::io::write(file, content) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => content = content.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

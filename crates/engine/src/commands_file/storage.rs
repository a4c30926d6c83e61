//! The file on disk: read through handles that follow nothing, replaced as a whole, one writer at a time.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state, which no script can see: opened by handle, never through a link"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use exacta_shell::errno;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::filesystem::state::State;

const FILE: &str = "commands.json";
const LOCK: &str = "commands.lock";
/// Written first, then renamed. One name is enough: only the holder of the lock writes.
const NEW: &str = "commands.json.new";

/// Many thousand commands; more is not a list that a person has made.
const MAXIMUM_SIZE: u64 = 16 << 20;

/// A writer holds the lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

/// The content now; `None` if there is no file. Needs no lock: a file is only ever replaced as a whole.
pub(super) fn read(root: &Path) -> io::Result<Option<Vec<u8>>> {
    match state(root)?.open_existing() {
        Ok(directory) => read_in(&directory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The right to write, until it is dropped.
pub(super) struct Storage {
    directory: OwnedFd,
    /// Closing it gives the lock back, also when the process dies.
    _lock: OwnedFd,
}

impl Storage {
    pub(super) fn lock(root: &Path) -> io::Result<Self> {
        let directory = state(root)?.open()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = flags | OFlags::NONBLOCK;
        let lock = rustix::fs::openat(&directory, LOCK, flags, Mode::RUSR | Mode::WUSR)?;
        let begun = Instant::now();
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Storage { directory, _lock: lock }),
                Err(Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn read(&self) -> io::Result<Option<Vec<u8>>> {
        read_in(&self.directory)
    }

    /// The new content, whole or not at all, also after a power cut.
    pub(super) fn replace(&self, content: &[u8]) -> io::Result<()> {
        // Left behind by a writer that died, or brought along by a repository.
        match rustix::fs::unlinkat(&self.directory, NEW, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&self.directory, NEW, flags, mode)?;
        let written = write_all(&file, content)
            .and_then(|()| Ok(rustix::fs::fsync(&file)?))
            .and_then(|()| Ok(rustix::fs::renameat(&self.directory, NEW, &self.directory, FILE)?));
        if let Err(error) = written {
            let _ = rustix::fs::unlinkat(&self.directory, NEW, AtFlags::empty());
            return Err(error);
        }
        Ok(rustix::fs::fsync(&self.directory)?)
    }
}

fn state(root: &Path) -> io::Result<State> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(State::InProject(Arc::new(rustix::fs::open(root, flags, Mode::empty())?)))
}

fn read_in(directory: &OwnedFd) -> io::Result<Option<Vec<u8>>> {
    // NONBLOCK: a FIFO of this name must not hold us up.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, FILE, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let status = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if u64::try_from(status.st_size).unwrap_or(u64::MAX) > MAXIMUM_SIZE {
        return Err(errno::error(errno::EFBIG));
    }
    read_all(&file).map(Some)
}

fn read_all(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut buffer = [0_u8; 16 << 10];
    loop {
        match rustix::io::read(file, &mut buffer) {
            Ok(0) => return Ok(content),
            Ok(count) => content.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if content.len() as u64 > MAXIMUM_SIZE {
            return Err(errno::error(errno::EFBIG));
        }
    }
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

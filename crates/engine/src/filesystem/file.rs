//! A regular file in use. A failed write takes back what this opening of the file did: see [`super::preimage`].

use std::io::{self, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use exacta_shell::errno;
use exacta_shell::filesystem::{Metadata, OpenFile};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::metadata;
use super::preimage::Preimage;
use super::recorded::{Extent, Followed};

pub(crate) struct RegularFile {
    file: OwnedFd,
    readable: bool,
    writable: bool,
    /// Bytes written through this object.
    written: AtomicU64,
    /// A write has failed; kept apart from `undo` so that a good write takes no lock.
    broken: AtomicBool,
    /// It was opened with `O_NONBLOCK` in case it was a FIFO; a program must not inherit that.
    nonblocking: AtomicBool,
    undo: Mutex<Undo>,
    /// Where it is written by [`OpenFile::write`].
    extent: Extent,
    /// Where it is recorded what is written; nowhere for what is only read or not in the project.
    followed: Option<Followed>,
    length_when_found: Option<u64>,
}

enum Undo {
    Ready(Preimage),
    /// The old content is back; nothing more may be written over it.
    Failed(Errno),
}

impl RegularFile {
    pub(crate) fn reading(file: OwnedFd) -> Self {
        Self::new(file, true, false, Preimage::Nothing)
    }

    /// Met by a walk, with this length. Of what says that it is empty, as the files of `/proc` do, nothing is known.
    pub(crate) fn found(file: OwnedFd, length: u64) -> Self {
        let length_when_found = (length > 0).then_some(length);
        RegularFile { length_when_found, ..Self::reading(file) }
    }

    pub(crate) fn new(file: OwnedFd, readable: bool, writable: bool, preimage: Preimage) -> Self {
        let undo = Mutex::new(Undo::Ready(preimage));
        let (written, broken) = (AtomicU64::new(0), AtomicBool::new(false));
        let nonblocking = AtomicBool::new(true);
        let (extent, followed) = (Extent::Anywhere, None);
        RegularFile {
            file,
            readable,
            writable,
            written,
            broken,
            nonblocking,
            undo,
            extent,
            followed,
            length_when_found: None,
        }
    }

    /// Recorded again by each request that writes to it.
    pub(crate) fn followed(self, followed: Option<Followed>, extent: Extent) -> Self {
        RegularFile { extent, followed, ..self }
    }

    fn before_write(&self, extent: Extent) -> io::Result<()> {
        self.followed.as_ref().map_or(Ok(()), |followed| followed.before_write(&self.file, extent))
    }

    fn failed(&self) -> Option<Errno> {
        if !self.broken.load(Ordering::Acquire) {
            return None;
        }
        match &*self.undo.lock().unwrap_or_else(PoisonError::into_inner) {
            Undo::Failed(error) => Some(*error),
            Undo::Ready(_) => None,
        }
    }

    fn take_back(&self, error: Errno) {
        let mut undo = self.undo.lock().unwrap_or_else(PoisonError::into_inner);
        if let Undo::Ready(preimage) = &mut *undo {
            let preimage = std::mem::replace(preimage, Preimage::Nothing);
            *undo = Undo::Failed(error);
            self.broken.store(true, Ordering::Release);
            let written = self.written.load(Ordering::Relaxed);
            preimage.restore(&self.file, written, self.followed.as_ref());
        }
    }
}

/// Errors that mean: there was no room for what was written. `EINVAL` and the like change nothing on disk.
fn is_out_of_room(error: Errno) -> bool {
    matches!(error, Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)
}

impl OpenFile for RegularFile {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.readable {
            return Err(errno::error(errno::EBADF));
        }
        Ok(rustix::io::retry_on_intr(|| rustix::io::read(&self.file, &mut *buffer))?)
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        if !self.writable {
            return Err(errno::error(errno::EBADF));
        }
        if let Some(error) = self.failed() {
            return Err(error.into());
        }
        self.before_write(self.extent)?;
        match rustix::io::retry_on_intr(|| rustix::io::write(&self.file, data)) {
            Ok(count) => {
                self.written.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
            Err(error) => {
                if is_out_of_room(error) {
                    self.take_back(error);
                }
                Err(error.into())
            }
        }
    }

    fn seek(&self, position: SeekFrom) -> io::Result<u64> {
        Ok(rustix::fs::seek(&self.file, kernel_position(position))?)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(metadata::of_handle(&self.file)?)
    }

    fn length_when_found(&self) -> Option<u64> {
        self.length_when_found
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        if !self.writable {
            return Err(errno::error(errno::EINVAL));
        }
        self.before_write(Extent::Anywhere)?;
        Ok(rustix::fs::ftruncate(&self.file, length)?)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // Whoever has it may do more than append.
        if self.writable && self.before_write(Extent::Anywhere).is_err() {
            return None;
        }
        if self.nonblocking.swap(false, Ordering::Relaxed) {
            make_blocking(&self.file);
        }
        Some(self.file.as_fd())
    }

    fn finish(&self) -> io::Result<()> {
        let mut undo = self.undo.lock().unwrap_or_else(PoisonError::into_inner);
        if let Undo::Ready(preimage) = &mut *undo {
            *preimage = Preimage::Nothing;
        }
        Ok(())
    }
}

/// Takes `O_NONBLOCK` off again. It cannot fail for a descriptor that is open.
pub(crate) fn make_blocking(file: impl AsFd) {
    if let Ok(flags) = rustix::fs::fcntl_getfl(&file) {
        let _unfailing = rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK);
    }
}

pub(crate) fn kernel_position(position: SeekFrom) -> rustix::fs::SeekFrom {
    match position {
        SeekFrom::Start(offset) => rustix::fs::SeekFrom::Start(offset),
        SeekFrom::End(offset) => rustix::fs::SeekFrom::End(offset),
        SeekFrom::Current(offset) => rustix::fs::SeekFrom::Current(offset),
    }
}

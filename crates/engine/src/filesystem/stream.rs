//! What can block: FIFOs in the project and the process's own standard streams.
//!
//! No descriptor is made non-blocking: the flag belongs to the open file description, and programs and terminals
//! share that with us. Instead every read is preceded by a poll in slices, and every write is one that cannot
//! block: `RWF_NOWAIT` where the kernel has it, else at most `PIPE_BUF` bytes when there is room.

use std::io::{self, IoSlice, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, Metadata, OpenFile};
use rustix::event::PollFlags;
use rustix::io::{Errno, ReadWriteFlags};

use super::metadata;
use super::request::CurrentRequest;

/// Writes up to this size never block once a pipe is ready.
const PIPE_BUF: usize = 4096;

/// `pwritev2` at the current position.
const HERE: u64 = u64::MAX;

pub struct Stream {
    file: Source,
    kind: FileKind,
    readable: bool,
    writable: bool,
    request: CurrentRequest,
    /// `RWF_NOWAIT` was refused for this descriptor.
    small_writes: AtomicBool,
}

/// Ours to close, or one of the process's own descriptors 0, 1 and 2.
enum Source {
    Owned(OwnedFd),
    Standard(BorrowedFd<'static>),
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Source::Owned(file) => file.as_fd(),
            Source::Standard(file) => *file,
        }
    }
}

impl Stream {
    pub(crate) fn new(
        file: OwnedFd,
        kind: FileKind,
        readable: bool,
        writable: bool,
        request: CurrentRequest,
    ) -> Self {
        let small_writes = AtomicBool::new(false);
        Stream { file: Source::Owned(file), kind, readable, writable, request, small_writes }
    }

    /// The process's standard input.
    pub fn input() -> Self {
        Self::standard(rustix::stdio::stdin(), true)
    }

    /// The process's standard output.
    pub fn output() -> Self {
        Self::standard(rustix::stdio::stdout(), false)
    }

    /// The process's standard error.
    pub fn errors() -> Self {
        Self::standard(rustix::stdio::stderr(), false)
    }

    /// Any descriptor the caller has, for instance one end of a pipe made by the host program.
    pub fn from_descriptor(
        file: OwnedFd,
        readable: bool,
        writable: bool,
        request: &CurrentRequest,
    ) -> io::Result<Self> {
        let kind = metadata::of_handle(&file)?.kind;
        Ok(Self::new(file, kind, readable, writable, request.clone()))
    }

    fn standard(file: BorrowedFd<'static>, readable: bool) -> Self {
        // A closed one fails at every use with EBADF, as it does in bash.
        let kind = metadata::of_handle(file).map_or(FileKind::Fifo, |found| found.kind);
        // A terminal is often opened once for all three; reading from standard error is then legal.
        let terminal = rustix::termios::isatty(file);
        Stream {
            file: Source::Standard(file),
            kind,
            readable: readable || terminal,
            writable: !readable || terminal,
            request: CurrentRequest::of_standard_streams().clone(),
            small_writes: AtomicBool::new(false),
        }
    }

    /// Regular files and directories are always ready; asking would only cost time.
    fn never_blocks(&self) -> bool {
        matches!(self.kind, FileKind::File | FileKind::Directory)
    }

    /// One write that does not block; `EAGAIN` if there is no room.
    fn try_write(&self, data: &[u8]) -> io::Result<usize> {
        if !self.small_writes.load(Ordering::Relaxed) {
            let slices = [IoSlice::new(data)];
            match rustix::io::pwritev2(&self.file, &slices, HERE, ReadWriteFlags::NOWAIT) {
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => {
                    self.small_writes.store(true, Ordering::Relaxed);
                }
                result => return Ok(result?),
            }
        }
        self.request.wait(&self.file, PollFlags::OUT, None)?;
        Ok(rustix::io::write(&self.file, data.get(..PIPE_BUF).unwrap_or(data))?)
    }
}

fn is_full(error: &io::Error) -> bool {
    errno::is(error, errno::EAGAIN)
}

impl OpenFile for Stream {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.readable {
            return Err(errno::error(errno::EBADF));
        }
        loop {
            if !self.never_blocks() {
                self.request.wait(&self.file, PollFlags::IN, None)?;
            }
            match rustix::io::read(&self.file, &mut *buffer) {
                Err(Errno::AGAIN | Errno::INTR) => self.request.check()?,
                result => return Ok(result?),
            }
        }
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        if !self.writable {
            return Err(errno::error(errno::EBADF));
        }
        if self.never_blocks() {
            return Ok(rustix::io::retry_on_intr(|| rustix::io::write(&self.file, data))?);
        }
        loop {
            match self.try_write(data) {
                Err(error) if is_full(&error) => {
                    self.request.wait(&self.file, PollFlags::OUT, None)?;
                }
                // A signal to this process, not the end of the request.
                Err(error) if errno::is(&error, errno::EINTR) => self.request.check()?,
                result => return result,
            }
        }
    }

    fn seek(&self, position: SeekFrom) -> io::Result<u64> {
        Ok(rustix::fs::seek(&self.file, super::file::kernel_position(position))?)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(metadata::of_handle(&self.file)?)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.file, length)?)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        if self.never_blocks() {
            return Ok(true);
        }
        self.request.wait(&self.file, PollFlags::IN, Some(timeout))
    }

    fn is_terminal(&self) -> bool {
        self.kind == FileKind::CharacterDevice && rustix::termios::isatty(&self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

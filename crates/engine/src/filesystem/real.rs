//! Files that the kernel knows, for programs that share what the shell has only in this process.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, OpenFile, OpenOptions, RealFiles};
use rustix::fs::{MemfdFlags, Mode, SeekFrom};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use super::device::{Device, DeviceFile};
use super::request::CurrentRequest;
use super::stream::Stream;

/// As much as a new pipe holds, and as much as the kernel promises to take at once.
const PIPE: usize = 64 << 10;

/// Makes them for one session: what blocks on them ends with its request.
pub struct RealMaker {
    pub request: CurrentRequest,
}

impl RealMaker {
    fn stream(&self, file: OwnedFd, kind: FileKind, readable: bool) -> Arc<dyn OpenFile> {
        Arc::new(Stream::new(file, kind, readable, !readable, self.request.clone()))
    }
}

impl RealFiles for RealMaker {
    fn pipe(&self, bytes: &[u8]) -> io::Result<(Arc<dyn OpenFile>, Arc<dyn OpenFile>)> {
        let (reader, writer) = open_pipe()?;
        fill(&writer, bytes)?;
        let kind = FileKind::Fifo;
        Ok((self.stream(reader, kind, true), self.stream(writer, kind, false)))
    }

    fn holding(&self, bytes: &[u8]) -> io::Result<Arc<dyn OpenFile>> {
        if bytes.is_empty() {
            return Ok(Arc::new(DeviceFile::open(Device::Null, OpenOptions::reading())?));
        }
        let memory = rustix::fs::memfd_create("input", MemfdFlags::CLOEXEC)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(&memory, rest))?;
            rest = rest.get(written..).unwrap_or_default();
        }
        rustix::fs::seek(&memory, SeekFrom::Start(0))?;
        Ok(self.stream(memory, FileKind::File, true))
    }
}

/// A pipe that a program can open again by the name of its descriptor, whoever it is.
pub fn open_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fchmod(&writer, Mode::from_raw_mode(0o666))?;
    Ok((reader, writer))
}

/// Nobody reads yet: what does not fit is an error, and never waits.
fn fill(writer: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let room = fcntl_setpipe_size(writer, bytes.len().max(PIPE))?;
    if room < bytes.len() {
        return Err(errno::error(errno::EAGAIN));
    }
    let written = rustix::io::retry_on_intr(|| rustix::io::write(writer, bytes))?;
    if written < bytes.len() { Err(errno::error(errno::EAGAIN)) } else { Ok(()) }
}

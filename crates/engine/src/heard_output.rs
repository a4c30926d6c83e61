//! Output that somebody hears while it is collected.

use std::io;
use std::sync::Arc;

use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, Metadata, OpenFile};
use exacta_shell::pipe::stream_metadata;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

impl Stream {
    pub fn name(self) -> &'static str {
        match self {
            Stream::Output => "stdout",
            Stream::Errors => "stderr",
        }
    }
}

/// Hears what a request writes, as it comes and without what the caller is not to see. While it does not return, whoever writes
/// waits; an error is what a closed pipe is to them.
pub trait Listener: Send + Sync {
    fn hear(&self, stream: Stream, data: &[u8]) -> io::Result<()>;
}

/// On the way to where it is collected.
pub(crate) struct HeardOutput {
    target: Arc<dyn OpenFile>,
    listener: Arc<dyn Listener>,
    stream: Stream,
}

impl HeardOutput {
    pub(crate) fn new(
        target: Arc<dyn OpenFile>,
        listener: &Arc<dyn Listener>,
        stream: Stream,
    ) -> Self {
        HeardOutput { target, listener: Arc::clone(listener), stream }
    }
}

impl OpenFile for HeardOutput {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        self.listener.hear(self.stream, data)?;
        self.target.write_all(data)?;
        Ok(data.len())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(stream_metadata(FileKind::Fifo))
    }
}

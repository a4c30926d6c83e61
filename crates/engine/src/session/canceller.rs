//! A hold on a request that runs, for another thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use exacta_shell::control::Control;
use exacta_shell::filesystem::{FileKind, OpenFile};

use crate::filesystem::{CurrentRequest, Stream, open_pipe};

/// Stops a running request from another thread.
#[derive(Clone)]
pub struct Canceller(pub(super) Arc<Control>);

impl Canceller {
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// From now on this mark cancels it as well, which is all that a signal handler can do. Before something waits that would
    /// not look at the mark, that is told, once: from then on it takes a call of [`Canceller::cancel`].
    pub fn interrupted_by(
        &self,
        mark: Arc<AtomicBool>,
        before_waiting: impl FnOnce() + Send + 'static,
    ) {
        self.0.interrupted_by(mark, before_waiting);
    }

    /// It was ended from outside already.
    pub fn is_cancelled(&self) -> bool {
        self.0.stopped().is_some()
    }

    /// So much of its time went by waiting for a person.
    pub(crate) fn extend(&self, time: Duration) {
        self.0.extend(time);
    }

    /// Something to read for the request, as long as somebody writes to the other end.
    pub fn input_pipe(&self) -> io::Result<(Arc<dyn OpenFile>, OwnedFd)> {
        let (reader, writer) = open_pipe()?;
        let request = CurrentRequest::default();
        request.set(&self.0);
        let reader = Stream::new(reader, FileKind::Fifo, true, false, request);
        Ok((Arc::new(reader), writer))
    }
}

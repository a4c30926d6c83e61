//! The request that is running now, for objects that outlive it: an open FIFO, standard input.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use exacta_shell::control::{Control, PATIENCE, check_current};
use exacta_shell::errno;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// A slot the session fills at the start of each request. Whatever may block looks here, every [`PATIENCE`].
#[derive(Clone, Default)]
pub struct CurrentRequest {
    slot: Arc<RwLock<Option<Arc<Control>>>>,
}

impl CurrentRequest {
    pub fn set(&self, control: &Arc<Control>) {
        *self.slot.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(control));
    }

    /// A process has one set of standard streams, so one request at a time that reads and writes them.
    pub fn of_standard_streams() -> &'static CurrentRequest {
        static STANDARD: OnceLock<CurrentRequest> = OnceLock::new();
        STANDARD.get_or_init(CurrentRequest::default)
    }

    /// `EINTR` when the request was cancelled or its time is over, or when the process of the script that this
    /// thread works for was killed: `cat < fifo & kill $!`.
    pub fn check(&self) -> io::Result<()> {
        match &*self.slot.read().unwrap_or_else(PoisonError::into_inner) {
            Some(request) if check_current(request).is_err() => Err(errno::error(errno::EINTR)),
            _ => Ok(()),
        }
    }

    /// Waits until the descriptor is ready. `Ok(false)` when `limit` is over.
    pub(crate) fn wait(
        &self,
        file: impl AsFd,
        events: PollFlags,
        limit: Option<Duration>,
    ) -> io::Result<bool> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let left = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()));
            let mut polled = [PollFd::new(&file, events)];
            match rustix::event::poll(&mut polled, Some(&timespec(left.min(PATIENCE)))) {
                Ok(0) | Err(Errno::INTR) => self.check()?,
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// A pause of one slice, for what the kernel gives no event for.
    pub(crate) fn pause(&self) -> io::Result<()> {
        self.check()?;
        std::thread::sleep(PATIENCE / 2);
        self.check()
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() }
}

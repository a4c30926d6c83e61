//! The request that is running now, for objects that outlive it: an open FIFO, standard input.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use exacta_shell::control::{Control, PATIENCE, check_current};
use exacta_shell::errno;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::wake::Wake;

/// A slot the session fills at the start of each request. Whatever may block looks here, and is woken when
/// something happens.
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
        let ready = |left: Option<Duration>, wake: Option<&Wake>| {
            let mut polled = vec![PollFd::new(&file, events)];
            polled.extend(wake.map(|wake| PollFd::new(wake, PollFlags::IN)));
            match rustix::event::poll(&mut polled, left.map(timespec).as_ref()) {
                Ok(_) => Ok(polled.first().is_some_and(|file| !file.revents().is_empty())),
                Err(Errno::INTR) => Ok(false),
                Err(error) => Err(io::Error::from(error)),
            }
        };
        if ready(Some(Duration::ZERO), None)? {
            return Ok(true);
        }
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let request = self.slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let wake = request.as_ref().map(|request| Wake::of(request)).transpose()?;
        let deadline = request.as_ref().and_then(|request| request.deadline());
        loop {
            // Before the look, so that what happens meanwhile is not missed.
            wake.iter().for_each(Wake::clear);
            self.check()?;
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(false);
            }
            let soonest = [end, deadline].into_iter().flatten().min();
            let left = soonest.map(|time| time.saturating_duration_since(now));
            if ready(left, wake.as_ref())? {
                return Ok(true);
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

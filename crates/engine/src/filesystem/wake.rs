//! A descriptor that becomes readable when something happens in a request, for whoever waits for descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use exacta_shell::control::{Control, Waking};
use rustix::event::{EventfdFlags, eventfd};

pub struct Wake {
    event: Arc<OwnedFd>,
    _until_dropped: Waking,
}

impl Wake {
    /// For whoever waits as long as it takes.
    pub fn of(request: &Control) -> io::Result<Self> {
        request.begin_to_wait();
        Self::for_a_moment(request)
    }

    /// For whoever waits for milliseconds, and says so when it takes longer.
    pub fn for_a_moment(request: &Control) -> io::Result<Self> {
        let event = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let theirs = Arc::clone(&event);
        let waking = request.wake_by(Arc::new(move || {
            // It fails only where it is full, and then it is readable as well.
            let _readable = rustix::io::write(&theirs, &1_u64.to_ne_bytes());
        }));
        Ok(Wake { event, _until_dropped: waking })
    }

    /// What happened up to now is going to be looked at.
    pub fn clear(&self) {
        let _nothing_may_be_there = rustix::io::read(&self.event, &mut [0; 8]);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exacta_shell::control::Limits;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_ready(wake: &Wake) -> bool {
        let mut watched = [PollFd::new(wake, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
    }

    #[test]
    fn it_is_readable_after_every_event() {
        let control = Arc::new(Control::new(Limits::default()));
        let wake = Wake::of(&control).unwrap();
        assert!(!is_ready(&wake));
        // Also what happens in another process of the same request.
        control.child().notify();
        assert!(is_ready(&wake));
        wake.clear();
        assert!(!is_ready(&wake));
        control.cancel();
        assert!(is_ready(&wake));
    }
}

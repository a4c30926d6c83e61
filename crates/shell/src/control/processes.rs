//! The threads that work for a request: counted, waited for, ended.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Control, PATIENCE};
use crate::status::{LimitKind, Stop};

impl Control {
    /// One more thread works for the request. [`Control::process_ends`] must follow, whatever happens.
    pub fn process_starts(&self) -> Result<(), Stop> {
        let limit = self.limits.processes;
        if self.request.running.fetch_add(1, Ordering::AcqRel) >= limit {
            self.request.running.fetch_sub(1, Ordering::AcqRel);
            return Err(self.exceeded(LimitKind::Processes, u64::from(limit)));
        }
        Ok(())
    }

    pub fn process_ends(&self) {
        self.request.running.fetch_sub(1, Ordering::AcqRel);
        self.notify();
    }

    /// The same for a thread whose end the request waits for: `>(…)`.
    pub fn reader_starts(&self) {
        self.request.readers.fetch_add(1, Ordering::AcqRel);
    }

    pub fn reader_ends(&self) {
        self.request.readers.fetch_sub(1, Ordering::AcqRel);
        self.notify();
    }

    /// Threads that work for the request besides the first.
    pub fn running(&self) -> u32 {
        self.request.running.load(Ordering::Acquire)
    }

    pub fn wait_for_readers(&self, end: Option<Instant>) -> Result<(), Stop> {
        self.wait_until(end, || self.request.readers.load(Ordering::Acquire) == 0)
    }

    /// Ends what still runs and waits until it has ended. Nothing more can be run with this control.
    pub fn end_all(&self) {
        self.stop(Stop::Cancelled);
        let mut guard = self.request.lock();
        while self.request.running.load(Ordering::Acquire) > 0 {
            let waited = self.request.wake.wait_timeout(guard, PATIENCE);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

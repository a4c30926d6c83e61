//! Forgetting old records: on a thread of its own, now and then, never while somebody waits.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use exacta_store::{Budget, Journal, Limits, RecordId};

use crate::filesystem::Handle;

/// Looking at all records takes longer than many a request: not each of them does it.
const EVERY: u64 = 50;

/// A process that ends with its only request gives the cleaning so much time; what is left waits for the next time.
const PATIENCE: Duration = Duration::from_millis(100);

const DAY: u64 = 24 * 60 * 60;

/// How much of what was done is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub days: u64,
    pub records: u64,
    /// Of everything that is kept; a tenth of what is free on the disk is a limit too.
    pub bytes: u64,
    /// The largest project that is copied where there is no overlay.
    pub copied: Budget,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { days: 30, records: 1_000, bytes: 5_000_000_000, copied: Budget::default() }
    }
}

impl Retention {
    fn limits(self, free: Option<u64>) -> Limits {
        let bytes = free.map_or(self.bytes, |free| self.bytes.min(free / 10));
        Limits {
            age: i64::try_from(self.days.saturating_mul(DAY)).ok(),
            count: usize::try_from(self.records).ok(),
            bytes: Some(bytes),
        }
    }
}

/// The cleaning that is going on, if one is.
#[derive(Default)]
pub(super) struct Cleaning {
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Cleaning {
    pub(super) fn is_due(last: RecordId) -> bool {
        last.0.is_multiple_of(EVERY)
    }

    pub(super) fn start(&self, journal: Arc<Journal>, root: Handle, retention: Retention) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let clean = move || {
            let free = rustix::fs::fstatvfs(&root).ok();
            let free = free.map(|found| found.f_bavail.saturating_mul(found.f_frsize));
            // It is only space, and the next one tries again.
            let _space = journal.clean(retention.limits(free));
        };
        *thread = std::thread::Builder::new().name("undo-cleaning".into()).spawn(clean).ok();
    }
}

impl Drop for Cleaning {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let started = Instant::now();
        while !thread.is_finished() && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_what_is_free_is_enough() {
        let limits = |free| Retention::default().limits(free).bytes;
        assert_eq!(limits(None), Some(5_000_000_000));
        assert_eq!(limits(Some(1_000)), Some(100));
        assert_eq!(limits(Some(u64::MAX)), Some(5_000_000_000));
        assert_eq!(Retention::default().limits(None).age, Some(30 * 86_400));
    }
}

//! Stopping at any operation, for tests: as if the process had been killed there.
//!
//! Every change this crate makes goes through [`super::system`], and each asks here first. From the chosen operation
//! on nothing more happens: the disk is left as a killed process would leave it, and what still runs on the way out
//! can change nothing.

use std::cell::Cell;

use rustix::io::Errno;

thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Asked before each operation.
pub(crate) fn pass() -> Result<(), Errno> {
    let done = DONE.get();
    if done >= LAST.get() {
        return Err(Errno::OWNERDEAD);
    }
    DONE.set(done + 1);
    Ok(())
}

/// Runs something that is stopped after so many operations. Says how many there were.
pub(crate) fn stopped_after<T>(operations: u64, run: impl FnOnce() -> T) -> (T, u64) {
    DONE.set(0);
    LAST.set(operations);
    let result = run();
    let done = DONE.get();
    LAST.set(u64::MAX);
    (result, done)
}

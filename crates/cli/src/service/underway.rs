//! Requests that run now, in sessions and without: whoever ends the service ends them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use exacta::Canceller;

use super::{Code, Problem, limits};

/// As long as they may take to end.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct Underway {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Nothing begins any more.
    closed: bool,
    next: u64,
    all: HashMap<u64, Canceller>,
}

/// One of them, until it is dropped.
pub struct Entered<'a> {
    underway: &'a Underway,
    number: u64,
}

impl Underway {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the service has ended meanwhile, it is cancelled at once.
    pub fn enter(&self, canceller: Canceller) -> Result<Entered<'_>, Problem> {
        let mut state = self.lock();
        if state.all.len() >= limits::RUNNING {
            let message = format!("{} commands run already", limits::RUNNING);
            return Err(Problem::new(Code::TooMany, message, "wait until some have ended"));
        }
        if state.closed {
            canceller.cancel();
        }
        state.next += 1;
        let number = state.next;
        state.all.insert(number, canceller);
        Ok(Entered { underway: self, number })
    }

    /// Cancels all of them, and waits until they have ended.
    pub fn end_all(&self) {
        let mut state = self.lock();
        state.closed = true;
        for canceller in state.all.values() {
            canceller.cancel();
        }
        let some_are_left = |state: &mut State| !state.all.is_empty();
        drop(self.ended.wait_timeout_while(state, GRACE, some_are_left));
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.underway.lock().all.remove(&self.number);
        self.underway.ended.notify_all();
    }
}

//! Who answers: whoever waits for a program, for as long as that is short and asks nothing more, and then a thread.
//!
//! To begin a thread and to end it takes a good part of the time that a short program takes.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::Answering;
use crate::outcome::{AtStep, Failure};
use crate::plan::Program;
use crate::system::seccomp;

/// What runs for longer is no short program: how many processes it has at one time, for example, only a thread finds out.
pub const SHORT: Duration = Duration::from_millis(2);

pub struct Desk {
    state: Mutex<State>,
    /// Weak: when who answers is gone, the questions must close.
    questions: Weak<OwnedFd>,
    /// How many keep an eye on it.
    waiting: AtomicUsize,
}

enum State {
    /// Whoever waits for a program has to notice.
    Unattended(Box<Answering>),
    /// By whoever is starting a program. When that is done, a thread goes on if it is wanted.
    Starting { wanted: bool },
    /// By a thread.
    Attended,
}

impl Desk {
    pub(super) fn new(answering: Answering) -> Self {
        let questions = Arc::downgrade(&answering.listener);
        let state = Mutex::new(State::Unattended(Box::new(answering)));
        Desk { state, questions, waiting: AtomicUsize::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is to answer with, if nobody does; from now on it is as it is said.
    fn take(&self, next: State) -> Option<Box<Answering>> {
        let mut state = self.state();
        match &mut *state {
            State::Unattended(_) => match std::mem::replace(&mut *state, next) {
                State::Unattended(answering) => Some(answering),
                State::Starting { .. } | State::Attended => None,
            },
            State::Starting { wanted } => {
                *wanted = true;
                None
            }
            State::Attended => None,
        }
    }

    /// Answers for a program that was ordered, until there is something to read about it.
    pub(super) fn begin(
        &self,
        reports: &OwnedFd,
        latest: Instant,
        first: Option<&Program>,
    ) -> Result<(), Failure> {
        let Some(mut answering) = self.take(State::Starting { wanted: false }) else {
            return Ok(());
        };
        // Others must not be without somebody who looks after them while this one takes its time.
        let mut wanted = self.waiting.load(Ordering::Acquire) > 0;
        if !wanted && answering.answer_until(reports, latest, first).is_err() {
            // Nobody can answer any more: the questions close, and the kernel refuses what asks.
            *self.state() = State::Attended;
            return Ok(());
        }
        let mut state = self.state();
        wanted |= matches!(*state, State::Starting { wanted: true });
        if wanted {
            *state = State::Attended;
            return attended(*answering);
        }
        *state = State::Unattended(answering);
        Ok(())
    }

    /// What was let through has been executed. Who answers sees that by itself, if there is a thread for it.
    pub(super) fn confirm(&self) {
        if let State::Unattended(answering) = &mut *self.state() {
            answering.recorder.confirm_now();
        }
    }

    /// A thread answers from now on, if none does yet.
    fn attend(&self) -> Result<(), Failure> {
        self.take(State::Attended).map_or(Ok(()), |answering| attended(*answering))
    }
}

fn attended(answering: Answering) -> Result<(), Failure> {
    // Whoever asks goes on where the thread is, which sleeps then. Who starts a program alone has other things to do there, and the
    // kernel would take the program elsewhere while it is executed.
    seccomp::wake_synchronously(answering.listener.as_fd());
    thread::Builder::new()
        .name("jail-watch".to_owned())
        .stack_size(256 << 10)
        .spawn(move || answering.run())
        .at("start the thread that watches a jail")?;
    Ok(())
}

/// Held by whoever waits for a program. Dropped while something may still run, it leaves the rest to a thread.
pub struct Attendance {
    /// `None`: nobody asks anything here.
    desk: Option<Arc<Desk>>,
}

impl Attendance {
    pub fn new(desk: Option<Arc<Desk>>) -> Self {
        if let Some(desk) = &desk {
            desk.waiting.fetch_add(1, Ordering::AcqRel);
        }
        Attendance { desk }
    }

    /// Where somebody may ask, if nobody else would notice.
    pub fn questions(&self) -> Option<Arc<OwnedFd>> {
        let desk = self.desk.as_ref()?;
        let is_unattended = matches!(*desk.state(), State::Unattended(_));
        is_unattended.then(|| desk.questions.upgrade()).flatten()
    }

    /// Leaves it to a thread.
    pub fn leave(&self) -> Result<(), Failure> {
        self.desk.as_ref().map_or(Ok(()), |desk| desk.attend())
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        if let Some(desk) = &self.desk {
            desk.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

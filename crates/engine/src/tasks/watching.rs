//! Whoever looks on while a task goes its way, and whoever ends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Attempt, Check, LogKind, Planner, State};
use crate::approvals::Pending;
use crate::session::Canceller;

/// What happens to a task. What has happened to its state is on the disk when it is told.
#[derive(Debug)]
pub enum Event<'a> {
    Moved {
        from: State,
        to: State,
        why: &'a str,
    },
    /// So many of the same agent come first.
    Queued {
        ahead: usize,
    },
    /// A line of its log.
    Logged {
        kind: LogKind,
        content: &'a str,
    },
    /// Something about the plan that whoever wrote it should know.
    Noted(&'a str),
    /// Steps and attempts are counted from 0 on.
    StepBegins {
        step: usize,
        attempt: usize,
        command: &'a str,
    },
    /// Its command has ended, and nobody has looked at what came of it.
    StepRan {
        step: usize,
        attempt: usize,
    },
    StepEnded {
        step: usize,
        attempt: &'a Attempt,
        checks: &'a [Check],
    },
    /// Some time goes by before it is tried again.
    Pausing {
        step: usize,
        pause: Duration,
    },
    /// What an attempt did was taken back.
    TakenBack {
        step: usize,
    },
    Asked(&'a Pending),
}

pub trait Watcher: Send + Sync {
    /// On the thread that works on the task: as long as it does not return, that waits.
    fn notice(&self, task: &str, event: &Event<'_>);
}

/// Nobody looks.
impl Watcher for () {
    fn notice(&self, _task: &str, _event: &Event<'_>) {}
}

/// How a task is worked on.
#[derive(Clone, Copy)]
pub struct Manner<'a> {
    /// Who makes a plan of a goal.
    pub planner: Option<&'a dyn Planner>,
    pub watcher: &'a dyn Watcher,
    /// Ends it from another thread.
    pub stopper: &'a Stopper,
}

/// Ends the task that is worked on: its running command, its pause, its place in the queue.
#[derive(Clone, Default)]
pub struct Stopper(Arc<Mutex<Stopped>>);

#[derive(Default)]
struct Stopped {
    who: Option<String>,
    /// Whoever works on it goes; somebody else takes it up later.
    left: bool,
    current: Option<Canceller>,
}

impl Stopper {
    /// The first one counts.
    pub fn stop(&self, who: &str) {
        let mut stopped = self.lock();
        stopped.who.get_or_insert_with(|| who.to_owned());
        if let Some(current) = &stopped.current {
            current.cancel();
        }
    }

    /// Nobody ends it: it is put down where it is, so that it can be taken up again. What a step had done by then is
    /// taken back.
    pub fn leave(&self) {
        let mut stopped = self.lock();
        stopped.left = true;
        if let Some(current) = &stopped.current {
            current.cancel();
        }
    }

    /// Who has ended it.
    pub fn who(&self) -> Option<String> {
        self.lock().who.clone()
    }

    /// Ended, or left.
    pub fn is_stopped(&self) -> bool {
        let stopped = self.lock();
        stopped.left || stopped.who.is_some()
    }

    /// It is to be put down, and nobody wants it to end.
    pub(super) fn is_left(&self) -> bool {
        let stopped = self.lock();
        stopped.left && stopped.who.is_none()
    }

    /// This request is what runs now. One that comes too late does not.
    pub(super) fn attach(&self, canceller: Option<Canceller>) {
        let mut stopped = self.lock();
        let is_stopped = stopped.left || stopped.who.is_some();
        if let Some(canceller) = canceller.as_ref().filter(|_| is_stopped) {
            canceller.cancel();
        }
        stopped.current = canceller;
    }

    fn lock(&self) -> MutexGuard<'_, Stopped> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

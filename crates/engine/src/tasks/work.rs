//! Somebody at work on a task: what every part of the way needs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::log::Log;
use super::turns::Ticket;
use super::watching::{Event, Manner, Stopper};
use super::{LogKind, State, Task, TaskError, Tasks};

/// How often it is asked whether somebody has ended it from elsewhere.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Work<'a> {
    pub(super) tasks: &'a Tasks,
    pub(super) manner: &'a Manner<'a>,
    pub(super) task: Task,
    pub(super) log: Log<'a>,
    /// Ends this task alone, whoever wants it.
    pub(super) stopper: Stopper,
    /// Absent: it has not its turn yet.
    pub(super) turn: Option<Ticket>,
}

impl<'a> Work<'a> {
    pub(super) fn new(tasks: &'a Tasks, manner: &'a Manner<'a>, task: Task) -> Self {
        let log = Log::new(&tasks.keeper, manner.watcher, &task.id);
        Work { tasks, manner, task, log, stopper: Stopper::default(), turn: None }
    }

    /// Does something while it is looked whether somebody wants it to end.
    pub(super) fn watched<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (tasks, manner) = (self.tasks, self.manner);
        let (id, stopper, over) =
            (self.task.id.clone(), self.stopper.clone(), AtomicBool::new(false));
        let over = &over;
        thread::scope(|scope| {
            let watch = move || {
                while !over.load(Ordering::Acquire) && !stopper.is_stopped() {
                    let wanted = || tasks.keeper.cancelled_by(&id).ok().flatten();
                    if let Some(who) = manner.stopper.who().or_else(wanted) {
                        stopper.stop(&who);
                    } else if manner.stopper.is_left() {
                        stopper.leave();
                    }
                    thread::park_timeout(PAUSE);
                }
            };
            let watching =
                thread::Builder::new().name("task-watch".into()).spawn_scoped(scope, watch);
            let done = work(self);
            over.store(true, Ordering::Release);
            if let Ok(watching) = watching {
                watching.thread().unpark();
            }
            done
        })
    }

    /// Whoever has ended it, here or elsewhere.
    pub(super) fn ended_by(&self) -> Result<Option<String>, TaskError> {
        match self.stopper.who().or_else(|| self.manner.stopper.who()) {
            Some(who) => Ok(Some(who)),
            None => self.tasks.keeper.cancelled_by(&self.task.id),
        }
    }

    /// Whoever works on it is to go, and nobody wants it to end.
    pub(super) fn is_left(&self) -> bool {
        self.stopper.is_left() || self.manner.stopper.is_left()
    }

    pub(super) fn move_to(&mut self, to: State, why: &str) -> Result<(), TaskError> {
        let from = self.task.state;
        let why = self.tasks.redaction.rules().redact_text(why).0;
        // What led here is in the log before the move is.
        self.log.flush();
        self.tasks.keeper.move_to(&mut self.task, to, &why)?;
        self.tell(&Event::Moved { from, to, why: &why });
        let shown =
            if why.is_empty() { to.name().to_owned() } else { format!("{}: {why}", to.name()) };
        self.say(&shown);
        self.log.flush();
        Ok(())
    }

    pub(super) fn save(&mut self) -> Result<(), TaskError> {
        self.tasks.keeper.save(&mut self.task)
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        self.manner.watcher.notice(&self.task.id, event);
    }

    /// A line of the log that is exacta's own.
    pub(super) fn say(&self, text: &str) {
        self.log.add(LogKind::Info, &self.tasks.redaction.rules().redact_text(text).0);
    }

    /// Waits for its turn. False: somebody has ended it.
    pub(super) fn take_turn(&mut self) -> Result<bool, TaskError> {
        if self.turn.is_some() {
            return Ok(true);
        }
        let ticket = self.tasks.ticket(&self.task)?;
        let mut told = |ahead| self.tell(&Event::Queued { ahead });
        let goes_on = || !self.stopper.is_stopped();
        let waited = ticket.wait(&goes_on, &mut told);
        let has_it = waited.map_err(super::keeping::files("wait for a turn"))?;
        self.turn = has_it.then_some(ticket);
        Ok(has_it)
    }

    /// Waits. False: somebody has ended it.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = std::time::Instant::now() + time;
        while !self.stopper.is_stopped() {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(Duration::from_millis(20)));
        }
        false
    }
}

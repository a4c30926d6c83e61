//! Answers the questions that a jail's processes wait with: room for a thread, and may this be executed.
//!
//! Most programs ask once, to be executed themselves, and end soon after. So whoever starts a program answers that, and whoever
//! waits for it keeps an eye on the questions; a thread takes over as soon as there are more, or it takes longer ([`desk`]).
//!
//! Nothing is refused here. The limit on processes is the kernel's, kept in step with the threads there are ([`census`]).
//! Between question and execution a program can change what was looked at, so that is written down and let through.
//! The wall does not depend on this thread: should it fail, its end of the questions closes with it, and from then on
//! the kernel answers all of them with an error.

mod census;
pub mod desk;
mod execs;
mod processes;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use self::census::Census;
use self::desk::Desk;
use self::execs::Recorder;
use crate::limits::{Lookout, Watched};
use crate::outcome::{AtStep, Exec, Failure, LimitHit};
use crate::plan::Program;
use crate::system::seccomp::{self, Question};

/// What could not be done.
const LIMIT: &str = "limit the processes of the jail";

/// What was seen since it was last asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    pub execs: Vec<Exec>,
    /// Executions beyond what is kept.
    pub execs_lost: u64,
    pub limits_hit: Vec<LimitHit>,
    /// Processes at one time.
    pub processes_peak: u32,
}

/// When limits are to be looked at, if what was started runs that long: shared with whoever starts programs.
#[derive(Clone)]
pub struct Overdue {
    lookout: Arc<Lookout>,
    jail: Weak<Watched>,
    at: Arc<Mutex<Option<Instant>>>,
}

impl Overdue {
    pub fn new(lookout: &Arc<Lookout>, jail: &Arc<Watched>) -> Self {
        let at = Arc::default();
        Overdue { lookout: Arc::clone(lookout), jail: Arc::downgrade(jail), at }
    }

    fn at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever starts something says so. It is heard when that asks to be executed.
    fn begin(&self) {
        if let Some(jail) = self.jail.upgrade() {
            let due = self.lookout.attend_later(&jail);
            *self.at() = due;
        }
    }

    /// Has limits looked at from now on, if something still runs.
    fn look(&self, now: Instant) {
        if self.at().take_if(|at| *at <= now).is_some() {
            self.attend();
        }
    }

    fn attend(&self) {
        let jail = self.jail.upgrade().filter(|jail| jail.is_busy() && jail.is_alive());
        if let Some(jail) = jail
            && self.lookout.attend(&jail).is_err()
        {
            // What cannot be measured cannot be held.
            jail.end();
        }
    }
}

/// The engine's end. Who answers ends with the jail.
pub struct Watch {
    seen: Seen,
    overdue: Overdue,
    init: u32,
    desk: Arc<Desk>,
}

/// Held for moments only, so that nothing in the jail waits for the engine.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<execs::Notes>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, execs::Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Over a jail in which nothing has run yet. The limits are in force at once, for programs inherit them.
    pub fn over_empty(
        listener: OwnedFd,
        init: u32,
        (processes, tasks): (Option<u32>, Option<u32>),
        overdue: Overdue,
    ) -> Result<Self, Failure> {
        let mut census = Census::new(init);
        census.begin(processes, tasks).at(LIMIT)?;
        let seen = Seen::default();
        seen.lock().put_in_force(processes, tasks);
        let recorder = Recorder::new(init, seen.clone());
        let answering = Answering {
            census,
            recorder,
            seen: seen.clone(),
            listener: Arc::new(listener),
            overdue: overdue.clone(),
            limits: (processes, tasks),
            taken: 0,
        };
        Ok(Watch { seen, overdue, init, desk: Arc::new(Desk::new(answering)) })
    }

    /// A program was ordered. What it asks first is answered here, unless a thread answers everything, until there is something to
    /// read about it.
    /// `first`: nothing else has run, and this is what it was made for.
    pub fn attend(
        &self,
        reports: &OwnedFd,
        patience: Duration,
        first: Option<&Program>,
    ) -> Result<(), Failure> {
        self.overdue.begin();
        self.desk.begin(reports, Instant::now() + patience, first)
    }

    /// Where whoever waits for a program sees to it that others are answered.
    pub fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// What the engine itself has started is known to it, whether or not its memory could be read.
    pub fn started(&self, process: u32, program: &Program) {
        self.seen.lock().started(process, program);
        self.desk.confirm();
    }

    /// Puts other limits on processes and tasks in force. The thread keeps to them from its next look on.
    pub fn set_limits(&self, processes: Option<u32>, tasks: Option<u32>) -> Result<(), Failure> {
        if self.seen.lock().in_force == Some((processes, tasks)) {
            return Ok(());
        }
        self.put_in_force(processes, tasks)
    }

    fn put_in_force(&self, processes: Option<u32>, tasks: Option<u32>) -> Result<(), Failure> {
        let mut census = Census::new(self.init);
        census.set_limits(processes, tasks).at(LIMIT)?;
        self.seen.lock().put_in_force(processes, tasks);
        Ok(())
    }

    /// What was seen since the last time.
    pub fn take(&self) -> Record {
        self.seen.lock().take()
    }
}

/// Of who answers.
struct Answering {
    listener: Arc<OwnedFd>,
    census: Census,
    recorder: Recorder,
    seen: Seen,
    overdue: Overdue,
    /// As they were last heard of, of processes and of all tasks.
    limits: (Option<u32>, Option<u32>),
    /// How often what was seen had been taken by then.
    taken: u64,
}

impl Drop for Answering {
    /// Whatever ends who answers, limits are looked at for as long as something runs.
    fn drop(&mut self) {
        if self.overdue.at().take().is_some() {
            self.overdue.attend();
        }
    }
}

impl Answering {
    /// Until somebody has something to say about the program, nobody is left, or it takes too long, which whoever waits for the
    /// program finds out. An error: what was asked cannot be heard.
    fn answer_until(
        &mut self,
        reports: &OwnedFd,
        latest: Instant,
        mut first: Option<&Program>,
    ) -> io::Result<()> {
        self.keep_up();
        self.recorder.begin();
        loop {
            let left = latest.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or_default();
            let mut watched = [reports, &*self.listener].map(|it| PollFd::new(it, PollFlags::IN));
            match poll(&mut watched, Some(&left)) {
                Err(Errno::INTR) => continue,
                Ok(0) => return Ok(()),
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            let [reported, asked] = watched.map(|it| it.revents());
            if !asked.contains(PollFlags::IN) || !reported.is_empty() {
                return Ok(());
            }
            let question = match seccomp::receive(self.listener.as_fd()) {
                Ok(question) => question,
                Err(error) if has_gone(&error) => continue,
                Err(error) => return Err(error),
            };
            self.answer_first(&question, first.take());
        }
    }

    /// One that was ordered early is older than the limits, which programs inherit from init: it is held to them first.
    fn answer_first(&mut self, question: &Question, first: Option<&Program>) {
        let listener = self.listener.as_fd();
        let asked = seccomp::still_asked(listener, question.id);
        if asked && self.census.hold(question.thread).is_err() {
            let _it_may_be_dead = seccomp::refuse(listener, question.id, libc::EAGAIN);
        } else {
            self.answer(question, first);
        }
    }

    /// Until nobody is left who could ask.
    fn run(mut self) {
        loop {
            let overdue = *self.overdue.at();
            let due = [self.recorder.due(), self.census.due(), overdue];
            let due = due.into_iter().flatten().min();
            let asked = self.wait(due);
            self.keep_up();
            match asked {
                Ok(true) => match seccomp::receive(self.listener.as_fd()) {
                    Ok(question) => self.answer(&question, None),
                    Err(error) if has_gone(&error) => {}
                    Err(_) => return,
                },
                Ok(false) => {}
                Err(_) => return,
            }
            let now = Instant::now();
            self.overdue.look(now);
            self.recorder.confirm(now);
            self.census.look(now);
            let mut notes = self.seen.lock();
            notes.note_peak(self.census.peak());
            if self.census.take_reached() {
                notes.note_hit(LimitHit::Processes);
            }
        }
    }

    /// Hears of what the engine has changed meanwhile.
    fn keep_up(&mut self) {
        let notes = self.seen.lock();
        let (limits, taken) = (notes.limits, notes.taken);
        drop(notes);
        if self.limits != limits {
            self.limits = limits;
            let _in_force_already = self.census.set_limits(limits.0, limits.1);
        }
        if self.taken != taken {
            self.taken = taken;
            self.census.forget_peak();
        }
    }

    /// `true`: there is a question. An error: nobody is left.
    fn wait(&self, due: Option<Instant>) -> Result<bool, Errno> {
        let timeout = due.map(|due| due.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut watched = [PollFd::new(&*self.listener, PollFlags::IN)];
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let [found] = watched.map(|it| it.revents());
        if found.contains(PollFlags::IN) {
            return Ok(true);
        }
        if found.is_empty() { Ok(false) } else { Err(Errno::PIPE) }
    }

    fn answer(&mut self, question: &Question, first: Option<&Program>) {
        let listener = self.listener.as_fd();
        // Whoever asked may have died meanwhile; then there is nobody to be answered.
        let _it_may_be_dead = match kind(question.call) {
            Kind::Thread => {
                self.seen.lock().in_force = None;
                self.census.make_room(question.thread);
                seccomp::let_through(listener, question.id)
            }
            Kind::Execution => {
                self.census.attend();
                // Before it is let through: what has run is in the record, however soon that is asked for.
                let noted = match first {
                    Some(program) => self.recorder.note_ordered(question, program),
                    None => self.recorder.note(listener, question),
                };
                let answered = seccomp::let_through(listener, question.id);
                if answered.is_err() {
                    self.recorder.forget(noted);
                }
                answered
            }
            Kind::Other => seccomp::refuse(listener, question.id, libc::ENOSYS),
        };
    }
}

/// Whoever asked has died, or we were interrupted.
fn has_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR))
}

/// What a question is about.
enum Kind {
    Thread,
    Execution,
    /// The filter never asks about anything else.
    Other,
}

fn kind(call: libc::c_long) -> Kind {
    match call {
        libc::SYS_clone => Kind::Thread,
        libc::SYS_execve | libc::SYS_execveat => Kind::Execution,
        _ => Kind::Other,
    }
}

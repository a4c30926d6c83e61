//! Answers the questions that a jail's processes wait with: may there be one more process, and may this be executed.
//!
//! The first is decided: over the limit a new process is refused, as the kernel would refuse it. The second never is,
//! for between question and execution a program can change what was looked at; it is written down and let through.
//! The wall does not depend on this thread: should it fail, its end of the questions closes with it, and from then on
//! the kernel answers all of them with an error.

mod census;
mod execs;
mod processes;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use self::census::Census;
use self::execs::Recorder;
use crate::outcome::{AtStep, Exec, Failure, LimitHit};
use crate::plan::{Limits, Program};
use crate::system::seccomp::{self, Question};

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

/// The engine's end: the thread itself ends with the jail.
pub struct Watch {
    seen: Seen,
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
    pub fn start(
        listener: OwnedFd,
        init: BorrowedFd<'_>,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let init = processes::number_of(init).at("find the jail's first process")?;
        seccomp::wake_synchronously(listener.as_fd());
        let seen = Seen::default();
        seen.lock().limit = limits.processes;
        let answering = Answering {
            census: Census::new(init),
            recorder: Recorder::new(seen.clone()),
            seen: seen.clone(),
            listener,
        };
        thread::Builder::new()
            .name("jail-watch".to_owned())
            .stack_size(256 << 10)
            .spawn(move || answering.run())
            .at("start the thread that watches a jail")?;
        Ok(Watch { seen })
    }

    /// What the engine itself has started is known to it, whether or not its memory could be read.
    pub fn started(&self, process: u32, program: &Program) {
        self.seen.lock().started(process, program);
    }

    /// Puts another limit on processes in force.
    pub fn set_limit(&self, processes: Option<u32>) {
        self.seen.lock().limit = processes;
    }

    /// What was seen since the last time.
    pub fn take(&self) -> Record {
        self.seen.lock().take()
    }
}

/// The thread's own.
struct Answering {
    listener: OwnedFd,
    census: Census,
    recorder: Recorder,
    seen: Seen,
}

impl Answering {
    /// Until nobody is left who could ask.
    fn run(mut self) {
        let mut taken = 0;
        loop {
            let due = [self.recorder.due(), self.census.due()].into_iter().flatten().min();
            let asked = self.wait(due);
            let notes = self.seen.lock();
            self.census.set_limit(notes.limit);
            if taken != notes.taken {
                taken = notes.taken;
                self.census.forget_peak();
            }
            drop(notes);
            match asked {
                Ok(true) => match seccomp::receive(self.listener.as_fd()) {
                    Ok(question) => self.answer(&question),
                    // Whoever asked has died, or we were interrupted.
                    Err(error)
                        if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {}
                    Err(_) => return,
                },
                Ok(false) => {}
                Err(_) => return,
            }
            let now = Instant::now();
            self.recorder.confirm(now);
            self.census.catch_up(now);
            self.seen.lock().note_peak(self.census.peak());
        }
    }

    /// `true`: there is a question. An error: nobody is left.
    fn wait(&self, due: Option<Instant>) -> Result<bool, Errno> {
        let timeout = due.map(|due| due.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut watched = [PollFd::new(&self.listener, PollFlags::IN)];
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

    fn answer(&mut self, question: &Question) {
        let listener = self.listener.as_fd();
        // Whoever asked may have died meanwhile; then there is nobody to be answered.
        let _it_may_be_dead = match kind(question.call) {
            Kind::Process => {
                if self.census.admit(question.thread) {
                    seccomp::let_through(listener, question.id)
                } else {
                    self.seen.lock().note_hit(LimitHit::Processes);
                    seccomp::refuse(listener, question.id, libc::EAGAIN)
                }
            }
            Kind::Execution => {
                let found = self.recorder.look(listener, question);
                let answered = seccomp::let_through(listener, question.id);
                if answered.is_ok() {
                    self.recorder.note(found);
                }
                answered
            }
            Kind::Other => seccomp::refuse(listener, question.id, libc::ENOSYS),
        };
    }
}

/// What a question is about.
enum Kind {
    Process,
    Execution,
    /// The filter never asks about anything else.
    Other,
}

fn kind(call: libc::c_long) -> Kind {
    #[cfg(target_arch = "x86_64")]
    if matches!(call, libc::SYS_fork | libc::SYS_vfork) {
        return Kind::Process;
    }
    match call {
        libc::SYS_clone => Kind::Process,
        libc::SYS_execve | libc::SYS_execveat => Kind::Execution,
        _ => Kind::Other,
    }
}

/// Between two looks at something that is not there yet.
const SHORTEST_WAIT: Duration = Duration::from_micros(150);

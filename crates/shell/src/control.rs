//! Limits as values, and the handle by which another thread stops a request or signals a part of it.
//!
//! A request has one [`Control`]. Every subshell, stage and job has one below it: to the script it is a process
//! of its own that signals can reach, and what ends it does not end the rest.
//!
//! - [`signals`]: what is delivered to one of them. [`processes`]: how many there are.
//! - [`current`]: for which of them a thread works.

mod current;
mod processes;
mod signals;

pub use current::{Entered, check_current, check_here, enter, goes_on_here};
pub use signals::Disposition;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::errno;
use crate::status::{LimitKind, Stop};

/// What one request may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Commands started.
    pub steps: u64,
    /// Iterations of any one loop.
    pub loop_iterations: u64,
    /// Functions, `eval`, `source`, substitutions and subshells inside each other.
    pub recursion: u32,
    /// Bytes written to standard output and standard error of the request.
    pub output_bytes: u64,
    /// Descriptors open at once.
    pub open_files: u32,
    /// Bytes that expansion may produce for one command, brace products and substitutions included.
    pub expansion_bytes: u64,
    /// Stages of one pipeline (S0).
    pub pipeline_depth: u32,
    /// Subshells, stages and jobs that run at once.
    pub processes: u32,
    pub wall_time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 100_000_000,
            loop_iterations: 100_000_000,
            recursion: 1_000,
            output_bytes: 1 << 40,
            open_files: 1_024,
            expansion_bytes: 256 << 20,
            pipeline_depth: 10,
            processes: 512,
            wall_time: None,
        }
    }
}

/// Shared by everything that works for one request.
pub struct Control {
    pub limits: Limits,
    request: Arc<Request>,
    parent: Option<Arc<Control>>,
    /// Counted from 1 within the request; 0 is the shell that runs the request itself.
    process: u32,
    /// The value of `Request::events` up to which this control has looked.
    seen: AtomicU64,
    /// The signal without a trap that ended this process; 0: none.
    killed: AtomicI32,
    /// By SIGSTOP and its kin, until SIGCONT.
    stopped: AtomicBool,
    /// Bit n: signal n. Delivered and not handled yet, with a trap, ignored.
    pending: AtomicU64,
    trapped: AtomicU64,
    ignored: AtomicU64,
    /// Whoever has taken the place of this process.
    successor: Mutex<Option<Successor>>,
}

/// Whether a process of the script goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    GoesOn,
    /// By SIGSTOP and its kin, until SIGCONT.
    Stopped,
}

/// Gets the signals that are for a process of the script which has become a program.
pub type Successor = Arc<dyn Fn(i32) + Send + Sync>;

struct Request {
    deadline: Option<Instant>,
    /// Nanoseconds that were given to it beyond that.
    extension: AtomicU64,
    steps: AtomicU64,
    output: AtomicU64,
    /// Goes up whenever something happened that a running command must know of.
    events: AtomicU64,
    processes: AtomicU32,
    /// Threads that work for the request, and those of them that wait for the end of their input.
    running: AtomicU32,
    readers: AtomicU32,
    stop: Mutex<Option<Stop>>,
    wake: Condvar,
    /// For those who wait in another way than by `wake`, by number.
    wakers: Mutex<Vec<(u64, Waker)>>,
    interruption: OnceLock<Interruption>,
}

/// How somebody outside ends a request without a thread that waits for the occasion.
struct Interruption {
    /// Set, everything that works for the request finds out at its next look.
    mark: Arc<AtomicBool>,
    /// To be called before something waits that looks at nothing meanwhile.
    before_waiting: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Interruption {
    fn is_marked(&self) -> bool {
        self.mark.load(Ordering::Relaxed)
    }
}

/// Called after every event of the request. It must not wait for anything.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Until it is dropped, a [`Waker`] is called.
pub struct Waking {
    request: Arc<Request>,
    number: u64,
}

impl Drop for Waking {
    fn drop(&mut self) {
        self.request.wakers().retain(|(number, _)| *number != self.number);
    }
}

/// How long anything may block before it looks at [`Control`] again.
pub const PATIENCE: Duration = Duration::from_millis(4);

impl Control {
    pub fn new(limits: Limits) -> Self {
        let deadline = limits.wall_time.and_then(|time| Instant::now().checked_add(time));
        let request = Request {
            deadline,
            extension: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            output: AtomicU64::new(0),
            events: AtomicU64::new(0),
            processes: AtomicU32::new(0),
            running: AtomicU32::new(0),
            readers: AtomicU32::new(0),
            stop: Mutex::new(None),
            wake: Condvar::new(),
            wakers: Mutex::default(),
            interruption: OnceLock::new(),
        };
        Control::with(limits, Arc::new(request), None, 0)
    }

    fn with(
        limits: Limits,
        request: Arc<Request>,
        parent: Option<Arc<Control>>,
        process: u32,
    ) -> Self {
        Control {
            limits,
            seen: AtomicU64::new(0),
            request,
            parent,
            process,
            killed: AtomicI32::new(0),
            stopped: AtomicBool::new(false),
            pending: AtomicU64::new(0),
            trapped: AtomicU64::new(0),
            ignored: AtomicU64::new(0),
            successor: Mutex::new(None),
        }
    }

    /// The control of a new subshell, stage or job. Ignored signals stay ignored in it.
    pub fn child(self: &Arc<Self>) -> Arc<Control> {
        let process = self.request.processes.fetch_add(1, Ordering::Relaxed) + 1;
        let request = Arc::clone(&self.request);
        let child = Control::with(self.limits.clone(), request, Some(Arc::clone(self)), process);
        child.ignored.store(self.ignored.load(Ordering::Relaxed), Ordering::Relaxed);
        Arc::new(child)
    }

    /// Stops the request from another thread.
    pub fn cancel(&self) {
        self.stop(Stop::Cancelled);
    }

    /// From now on this mark cancels the request, which is all that a signal handler can do; and whoever sets it is told, once,
    /// before something waits that would not look at it: from then on it takes a call of [`Control::cancel`]. Only the first
    /// one counts.
    pub fn interrupted_by(
        &self,
        mark: Arc<AtomicBool>,
        before_waiting: impl FnOnce() + Send + 'static,
    ) {
        let before_waiting = Mutex::new(Some(Box::new(before_waiting) as Box<_>));
        let _only_the_first = self.request.interruption.set(Interruption { mark, before_waiting });
    }

    /// Something is about to wait, for longer than [`PATIENCE`] and without looking.
    pub fn begin_to_wait(&self) {
        let Some(interruption) = self.request.interruption.get() else { return };
        let mut before = interruption.before_waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = before.take() {
            tell();
        }
    }

    /// Ends the whole request; the first reason stays.
    pub fn stop(&self, reason: Stop) {
        let mut stop = self.request.lock();
        stop.get_or_insert(reason);
        self.request.happened(stop);
    }

    /// One more command. The clock is read every 64th time: it costs more than the command.
    pub fn step(&self) -> Result<(), Stop> {
        let count = self.request.steps.fetch_add(1, Ordering::Relaxed);
        if count >= self.limits.steps {
            return Err(self.exceeded(LimitKind::Steps, self.limits.steps));
        }
        if count.is_multiple_of(64) { self.check() } else { self.check_events() }
    }

    /// For everything that may take long: between two reads, two directories, two sorted runs.
    pub fn check(&self) -> Result<(), Stop> {
        self.check_events()?;
        self.check_time()
    }

    /// The same for who has something to see to before it waits, stopped, until it is continued.
    pub fn check_at_once(&self) -> Result<Progress, Stop> {
        let progress = match self.unseen_events() {
            Some(events) => self.glance(self.request.lock().as_ref(), events)?,
            None => Progress::GoesOn,
        };
        self.check_time().map(|()| progress)
    }

    fn check_time(&self) -> Result<(), Stop> {
        match self.deadline() {
            Some(deadline) if Instant::now() >= deadline => {
                self.stop(Stop::TimedOut);
                Err(Stop::TimedOut)
            }
            _ => Ok(()),
        }
    }

    fn check_events(&self) -> Result<(), Stop> {
        self.unseen_events().map_or(Ok(()), |events| self.look(events))
    }

    /// Up to where something has happened, if that is further than this has looked.
    fn unseen_events(&self) -> Option<u64> {
        if self.request.interruption.get().is_some_and(Interruption::is_marked) {
            self.cancel();
        }
        let events = self.request.events.load(Ordering::Acquire);
        (events != self.seen.load(Ordering::Relaxed)).then_some(events)
    }

    /// Something happened somewhere in the request: is it for us?
    #[cold]
    fn look(&self, events: u64) -> Result<(), Stop> {
        let mut guard = self.request.lock();
        loop {
            if let Progress::GoesOn = self.glance(guard.as_ref(), events)? {
                return Ok(());
            }
            // Stopped: until it is continued, killed, or the request is over.
            self.begin_to_wait();
            let left = self.deadline().map(|time| time.saturating_duration_since(Instant::now()));
            let waited =
                self.request.wake.wait_timeout(guard, left.map_or(IDLE, |it| it.min(IDLE)));
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Stop::TimedOut);
            }
        }
    }

    fn glance(&self, stop: Option<&Stop>, events: u64) -> Result<Progress, Stop> {
        if let Some(stop) = stop {
            return Err(stop.clone());
        }
        if let Some(signal) = self.chain().find_map(Control::killing_signal) {
            return Err(Stop::Killed(signal));
        }
        if self.chain().any(|one| one.stopped.load(Ordering::Acquire)) {
            return Ok(Progress::Stopped);
        }
        self.seen.store(events, Ordering::Relaxed);
        Ok(Progress::GoesOn)
    }

    /// This control and those it was started from.
    fn chain(&self) -> impl Iterator<Item = &Control> {
        std::iter::successors(Some(self), |one| one.parent.as_deref())
    }

    fn killing_signal(&self) -> Option<i32> {
        match self.killed.load(Ordering::Acquire) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// A limit is reached: everything of the request ends.
    pub fn exceeded(&self, kind: LimitKind, limit: u64) -> Stop {
        let stop = Stop::Limit(kind, limit);
        self.stop(stop.clone());
        stop
    }

    /// Counts bytes that leave the request.
    pub fn produce(&self, bytes: usize) -> Result<(), Stop> {
        let before = self.request.output.fetch_add(bytes as u64, Ordering::Relaxed);
        if before.saturating_add(bytes as u64) > self.limits.output_bytes {
            return Err(self.exceeded(LimitKind::OutputBytes, self.limits.output_bytes));
        }
        Ok(())
    }

    /// What a command keeps in memory at once (a line, the end of a file, a list of names) has the limit that
    /// expansion has. `EINTR` is the end of the request, as it is for every reader.
    pub fn may_hold(&self, bytes: usize) -> io::Result<()> {
        let limit = self.limits.expansion_bytes;
        let within = if bytes as u64 > limit {
            Err(self.exceeded(LimitKind::ExpansionBytes, limit))
        } else {
            self.check()
        };
        within.map_err(|_| errno::error(errno::EINTR))
    }

    /// Sleeps, unless the request ends first.
    pub fn sleep(&self, time: Duration) -> Result<(), Stop> {
        let end = Instant::now().checked_add(time);
        self.wait_until(end, || false)
    }

    /// Waits until `ready`, asked after every event, or until `end`.
    pub fn wait_until(
        &self,
        end: Option<Instant>,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), Stop> {
        loop {
            self.check()?;
            let events = self.request.events.load(Ordering::Acquire);
            let now = Instant::now();
            if ready() || end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            let soonest = [end, self.deadline()].into_iter().flatten().min();
            let left = soonest.map_or(IDLE, |time| time.saturating_duration_since(now).min(IDLE));
            self.begin_to_wait();
            let guard = self.request.lock();
            if self.request.events.load(Ordering::Acquire) == events {
                let _unused = self.request.wake.wait_timeout(guard, left);
            }
        }
    }

    /// When the request is over at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        let more = Duration::from_nanos(self.request.extension.load(Ordering::Relaxed));
        self.request.deadline.and_then(|deadline| deadline.checked_add(more))
    }

    /// The request has waited for a person this long, which is none of its time.
    pub fn extend(&self, time: Duration) {
        let more = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.request.extension.fetch_add(more, Ordering::Relaxed);
    }

    /// Why it was ended from outside, if it was.
    pub fn stopped(&self) -> Option<Stop> {
        self.request.lock().clone()
    }

    /// Signals that are ignored, which programs inherit. Bit n: signal n.
    pub fn ignored(&self) -> u64 {
        self.ignored.load(Ordering::Relaxed)
    }

    /// From now on the waker is called after every event; whoever waits for descriptors is woken through one.
    pub fn wake_by(&self, waker: Waker) -> Waking {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.request.wakers().push((number, waker));
        Waking { request: Arc::clone(&self.request), number }
    }

    /// Wakes everything that waits, so that it looks again: a job has ended.
    pub fn notify(&self) {
        self.request.happened(self.request.lock());
    }

    /// Counted from 1 within the request; 0 is the shell that runs the request itself.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// This process or one it was started from, by its number.
    pub fn ancestor(self: &Arc<Self>, process: u32) -> Option<Arc<Control>> {
        let mut control = Some(self);
        while let Some(one) = control {
            if one.process == process {
                return Some(Arc::clone(one));
            }
            control = one.parent.as_ref();
        }
        None
    }
}

impl Drop for Control {
    /// One after the other: subshells may be a thousand deep, and whoever lets go of the last one, on whichever
    /// thread, would need the stack for all of them.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(mut parent) = next.and_then(Arc::into_inner) {
            next = parent.parent.take();
        }
    }
}

impl Request {
    fn lock(&self) -> MutexGuard<'_, Option<Stop>> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under the lock, so that nobody falls asleep between looking and waiting.
    fn happened(&self, guard: MutexGuard<'_, Option<Stop>>) {
        self.events.fetch_add(1, Ordering::AcqRel);
        self.wake.notify_all();
        drop(guard);
        for (_, waker) in &*self.wakers() {
            waker();
        }
    }

    fn wakers(&self) -> MutexGuard<'_, Vec<(u64, Waker)>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Longest sleep without an event; nothing depends on it.
const IDLE: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_chain_of_processes_is_dropped_on_a_small_stack() {
        let mut control = Arc::new(Control::new(Limits::default()));
        for _ in 0..200_000 {
            control = control.child();
        }
        let thread = std::thread::Builder::new().stack_size(128 << 10);
        thread.spawn(move || drop(control)).unwrap().join().unwrap();
    }
}

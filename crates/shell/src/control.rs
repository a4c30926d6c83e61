//! Limits as values, and the handle by which another thread stops a request or signals a part of it.
//!
//! A request has one [`Control`]. Every subshell, stage and job has one below it: to the script it is a process
//! of its own that signals can reach, and what ends it does not end the rest.

use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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
        match self.deadline() {
            Some(deadline) if Instant::now() >= deadline => {
                self.stop(Stop::TimedOut);
                Err(Stop::TimedOut)
            }
            _ => Ok(()),
        }
    }

    fn check_events(&self) -> Result<(), Stop> {
        let events = self.request.events.load(Ordering::Acquire);
        if events == self.seen.load(Ordering::Relaxed) { Ok(()) } else { self.look(events) }
    }

    /// Something happened somewhere in the request: is it for us?
    #[cold]
    fn look(&self, events: u64) -> Result<(), Stop> {
        let mut guard = self.request.lock();
        loop {
            if let Some(stop) = &*guard {
                return Err(stop.clone());
            }
            if let Some(signal) = self.chain().find_map(Control::killing_signal) {
                return Err(Stop::Killed(signal));
            }
            if !self.chain().any(|one| one.stopped.load(Ordering::Acquire)) {
                self.seen.store(events, Ordering::Relaxed);
                return Ok(());
            }
            // Stopped: until it is continued, killed, or the request is over.
            let left = self.deadline().map(|time| time.saturating_duration_since(Instant::now()));
            let waited =
                self.request.wake.wait_timeout(guard, left.map_or(IDLE, |it| it.min(IDLE)));
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Stop::TimedOut);
            }
        }
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

    /// From now on signals are for the program that this process has become; with `None`, for itself again.
    pub fn succeed(&self, successor: Option<Successor>) {
        *self.successor.lock().unwrap_or_else(PoisonError::into_inner) = successor;
    }

    /// Delivers a signal: to its trap, or it ends the process unless it is ignored.
    pub fn deliver(&self, signal: i32) {
        let bit = signal_bit(signal);
        let successor = self.successor.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(successor) = successor {
            return successor(signal);
        }
        if signal == SIGCONT {
            self.stopped.store(false, Ordering::Release);
            self.notify();
        }
        let certain = matches!(signal, SIGKILL | SIGSTOP);
        if !certain && self.ignored.load(Ordering::Acquire) & bit != 0 {
            return;
        }
        if !certain && self.trapped.load(Ordering::Acquire) & bit != 0 {
            self.pending.fetch_or(bit, Ordering::AcqRel);
        } else if is_harmless(signal) {
            return;
        } else if stops(signal) {
            // The shell of the request itself goes on: nobody is there who could continue it.
            self.stopped.store(self.process != 0, Ordering::Release);
        } else {
            let _ = self.killed.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Acquire);
        }
        self.notify();
    }

    /// What traps say about a signal, for those who deliver it.
    pub fn set_disposition(&self, signal: i32, disposition: Disposition) {
        let bit = signal_bit(signal);
        let set = |mask: &AtomicU64, on: bool| {
            if on {
                mask.fetch_or(bit, Ordering::AcqRel);
            } else {
                mask.fetch_and(!bit, Ordering::AcqRel);
            }
        };
        set(&self.trapped, disposition == Disposition::Trapped);
        set(&self.ignored, disposition == Disposition::Ignored);
    }

    pub fn ignores(&self, signal: i32) -> bool {
        self.ignored.load(Ordering::Relaxed) & signal_bit(signal) != 0
    }

    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// The lowest signal that waits for its trap, which stays to be run; 0: none.
    pub fn first_pending(&self) -> i32 {
        match self.pending.load(Ordering::Acquire) {
            0 => 0,
            pending => pending.trailing_zeros() as i32,
        }
    }

    /// The lowest signal that waits for its trap.
    pub fn take_pending(&self) -> Option<i32> {
        let pending = self.pending.load(Ordering::Acquire);
        if pending == 0 {
            return None;
        }
        let signal = pending.trailing_zeros() as i32;
        self.pending.fetch_and(!signal_bit(signal), Ordering::AcqRel);
        Some(signal)
    }

    /// The signal that ended this very process, if one did; it counts no longer, so that a trap can run.
    pub fn take_killed(&self) -> Option<i32> {
        match self.killed.swap(0, Ordering::AcqRel) {
            0 => None,
            signal => Some(signal),
        }
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

thread_local! {
    /// The process whose code this thread runs.
    static CURRENT: RefCell<Option<Arc<Control>>> = const { RefCell::new(None) };
}

/// From now on this thread works for that process, until the guard is dropped. A pipe is made by one process and
/// read by another: what ends the reader is found here.
pub fn enter(control: &Arc<Control>) -> Entered {
    Entered { before: CURRENT.replace(Some(Arc::clone(control))) }
}

/// Gives the thread back to whom it worked for before.
pub struct Entered {
    before: Option<Arc<Control>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

/// May the process that this thread works for go on waiting? Outside of any, `otherwise` decides.
pub fn check_current(otherwise: &Control) -> Result<(), Stop> {
    CURRENT.with_borrow(|current| current.as_deref().unwrap_or(otherwise).check())
}

/// May the process that this thread works for go on?
pub fn check_here() -> Result<(), Stop> {
    CURRENT.with_borrow(|current| current.as_deref().map_or(Ok(()), Control::check))
}

/// The same, for who only drops something: also where the thread itself is ending.
pub fn goes_on_here() -> bool {
    let goes_on = |current: &RefCell<Option<Arc<Control>>>| match current.try_borrow() {
        Ok(current) => current.as_deref().is_none_or(|control| control.check().is_ok()),
        Err(_) => true,
    };
    CURRENT.try_with(goes_on).unwrap_or(true)
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

const SIGKILL: i32 = 9;
const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    Default,
    Trapped,
    Ignored,
}

fn signal_bit(signal: i32) -> u64 {
    u32::try_from(signal).ok().and_then(|signal| 1_u64.checked_shl(signal)).unwrap_or(0)
}

/// Signals whose default is to do nothing: CHLD, CONT, URG, WINCH.
fn is_harmless(signal: i32) -> bool {
    matches!(signal, 0 | 17 | SIGCONT | 23 | 28)
}

/// STOP, TSTP, TTIN, TTOU.
fn stops(signal: i32) -> bool {
    (SIGSTOP..=22).contains(&signal)
}

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

//! Limits as values, and the handle by which another thread stops a request.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
            wall_time: None,
        }
    }
}

/// Shared by everything that works for one request.
pub struct Control {
    pub limits: Limits,
    deadline: Option<Instant>,
    steps: AtomicU64,
    output: AtomicU64,
    cancelled: AtomicBool,
    sleepers: Mutex<()>,
    wake: Condvar,
}

/// How long anything may block before it looks at [`Control`] again.
pub const PATIENCE: Duration = Duration::from_millis(4);

impl Control {
    pub fn new(limits: Limits) -> Self {
        let deadline = limits.wall_time.map(|time| Instant::now() + time);
        Control {
            limits,
            deadline,
            steps: AtomicU64::new(0),
            output: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            sleepers: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Stops the request from another thread.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        let _guard = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        self.wake.notify_all();
    }

    /// One more command. The clock is read every 64th time: it costs more than the command.
    pub fn step(&self) -> Result<(), Stop> {
        let count = self.steps.fetch_add(1, Ordering::Relaxed);
        if count >= self.limits.steps {
            return Err(Stop::Limit(LimitKind::Steps, self.limits.steps));
        }
        if count.is_multiple_of(64) { self.check() } else { self.check_cancelled() }
    }

    /// For everything that may take long: between two reads, two directories, two sorted runs.
    pub fn check(&self) -> Result<(), Stop> {
        self.check_cancelled()?;
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stop::TimedOut),
            _ => Ok(()),
        }
    }

    fn check_cancelled(&self) -> Result<(), Stop> {
        if self.cancelled.load(Ordering::Acquire) { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// Counts bytes that leave the request.
    pub fn produce(&self, bytes: usize) -> Result<(), Stop> {
        let before = self.output.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 > self.limits.output_bytes {
            return Err(Stop::Limit(LimitKind::OutputBytes, self.limits.output_bytes));
        }
        Ok(())
    }

    /// Sleeps, unless the request ends first.
    pub fn sleep(&self, time: Duration) -> Result<(), Stop> {
        let end = Instant::now().checked_add(time);
        loop {
            self.check()?;
            let left = match end {
                Some(end) => end.saturating_duration_since(Instant::now()),
                None => PATIENCE,
            };
            if left.is_zero() {
                return Ok(());
            }
            let guard = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
            let _unused = self.wake.wait_timeout(guard, left.min(PATIENCE));
        }
    }
}

//! How much was done, through whichever door.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exacta::tasks::State;
use serde_json::Value;

/// Seconds up to which a run is counted in each bucket, and how the buckets are called.
pub const BUCKETS: [(f64, &str); 8] = [
    (0.005, "0.005"),
    (0.025, "0.025"),
    (0.1, "0.1"),
    (0.5, "0.5"),
    (2.5, "2.5"),
    (10.0, "10"),
    (60.0, "60"),
    (f64::INFINITY, "+Inf"),
];

/// How tasks end.
pub const ENDINGS: [State; 4] =
    [State::Completed, State::Failed, State::Cancelled, State::NeedsReview];

#[derive(Default)]
pub struct Counts {
    runs: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    microseconds: AtomicU64,
    /// Each with all that are in those before it.
    buckets: [AtomicU64; BUCKETS.len()],
    /// In the order of [`ENDINGS`].
    tasks: [AtomicU64; ENDINGS.len()],
}

/// As they are now.
pub struct Counted {
    pub runs: u64,
    pub refused: u64,
    pub failed: u64,
    pub seconds: f64,
    pub buckets: [u64; BUCKETS.len()],
    pub tasks: [u64; ENDINGS.len()],
}

impl Counts {
    pub fn ran(&self, report: &Value, took: Duration) {
        let add = |count: &AtomicU64, more: u64| count.fetch_add(more, Ordering::Relaxed);
        add(&self.runs, 1);
        match report["exit_code"].as_u64().unwrap_or(0) {
            0 => {}
            126 => drop(add(&self.refused, 1)),
            _ => drop(add(&self.failed, 1)),
        }
        add(&self.microseconds, u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        for ((limit, _), count) in BUCKETS.iter().zip(&self.buckets) {
            if took.as_secs_f64() <= *limit {
                add(count, 1);
            }
        }
    }

    pub fn task_ended(&self, state: State) {
        for (ending, count) in ENDINGS.iter().zip(&self.tasks) {
            count.fetch_add(u64::from(*ending == state), Ordering::Relaxed);
        }
    }

    pub fn now(&self) -> Counted {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counted {
            runs: load(&self.runs),
            refused: load(&self.refused),
            failed: load(&self.failed),
            seconds: load(&self.microseconds) as f64 / 1e6,
            buckets: std::array::from_fn(|at| self.buckets.get(at).map_or(0, load)),
            tasks: std::array::from_fn(|at| self.tasks.get(at).map_or(0, load)),
        }
    }
}

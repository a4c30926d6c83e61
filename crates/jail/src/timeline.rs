//! How long each part of the way into a jail has taken, for whoever wants to know what the walls cost.
//!
//! The spawner, the warden and the init have one thread each, and each is a copy of the one before: so the times are kept
//! in one place of their memory, and the last of them has them all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A part of the way, and how long it has taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    pub took: Duration,
}

static TIMELINE: Mutex<Timeline> = Mutex::new(Timeline { last: Duration::ZERO, parts: Vec::new() });

struct Timeline {
    last: Duration,
    parts: Vec<(&'static str, Duration)>,
}

fn timeline() -> MutexGuard<'static, Timeline> {
    TIMELINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same clock in all processes.
fn now() -> Duration {
    clock_gettime(ClockId::Monotonic).try_into().unwrap_or_default()
}

/// A new jail.
pub fn begin() {
    *timeline() = Timeline { last: now(), parts: Vec::new() };
}

/// From the last mark to here it was this.
pub fn mark(name: &'static str) {
    let (mut timeline, now) = (timeline(), now());
    let took = now.saturating_sub(timeline.last);
    timeline.last = now;
    match timeline.parts.iter_mut().find(|(known, _)| *known == name) {
        Some((_, all)) => *all += took,
        None => timeline.parts.push((name, took)),
    }
}

/// Since the last mark there was nothing to do but to wait for somebody else.
pub fn skip() {
    timeline().last = now();
}

/// The parts of this process and of another that is a copy of it and has gone on beside it.
pub fn joined(theirs: Vec<Part>) -> Vec<Part> {
    let known = |part: &Part, all: &[Part]| all.iter().any(|it| it.name == part.name);
    let ours = taken().into_iter().filter(|part| !known(part, &theirs));
    ours.chain(theirs.iter().cloned()).collect()
}

pub fn taken() -> Vec<Part> {
    let part =
        |(name, took): &(&'static str, Duration)| Part { name: (*name).to_owned(), took: *took };
    timeline().parts.iter().map(part).collect()
}

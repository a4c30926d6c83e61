//! Which processor does which part of making a jail.
//!
//! What is done side by side is done sooner only on different processors. Kernels find that out in time, but a jail is made
//! in less; and those of virtual machines may rather fill one processor before they wake another. So while the engine works on
//! one, the jail is begun on the others; and while the engine waits, its own is used by the spawner and then by the warden, beside
//! init. Left to the kernel both would stay where they were woken. Programs are held to nothing of that. Where it cannot be had nothing is lost but time.
//!
//! Whoever waits, or has not run yet, is moved by whoever wakes it: to move one that runs, the kernel stops it and a processor.

use std::sync::OnceLock;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Between an engine and a spawner that is made as a copy of it, and all that come of that.
struct Division {
    /// Before it was divided.
    all: CpuSet,
    engine: CpuSet,
    others: CpuSet,
}

static DIVISION: OnceLock<Division> = OnceLock::new();

/// To be called by the engine before the spawner is copied, so that both know of it: the one that runs this is its own.
pub fn divide() {
    let (Ok(all), engine) = (sched_getaffinity(None), sched_getcpu()) else { return };
    if engine >= CpuSet::MAX_CPU || !all.is_set(engine) || all.count() < 2 {
        return;
    }
    let (mut one, mut others) = (CpuSet::new(), all);
    one.set(engine);
    others.unset(engine);
    let _once = DIVISION.set(Division { all, engine: one, others });
}

/// Has a process that was just copied begin on one of the others.
pub fn send_away(process: Pid) {
    if let Some(Division { others, .. }) = DIVISION.get() {
        let _where_it_is_is_good_too = sched_setaffinity(Some(process), others);
    }
}

/// Gives the engine's, which only waits from now on, to one of those that make the jail, and that waits too.
pub fn lend_to(process: Pid) {
    if let Some(Division { engine, .. }) = DIVISION.get() {
        let _where_it_is_is_good_too = sched_setaffinity(Some(process), engine);
    }
}

/// Whether this runs on the engine's.
pub fn is_engines() -> bool {
    DIVISION.get().is_some_and(|it| {
        let here = sched_getcpu();
        here < CpuSet::MAX_CPU && it.engine.is_set(here)
    })
}

/// Goes on wherever the caller may be. For who runs programs it is no question of time: `false` says that it could not be had.
pub fn spread() -> bool {
    DIVISION.get().is_none_or(|Division { all, .. }| {
        let is_spread = || sched_getaffinity(None).is_ok_and(|now| now == *all);
        sched_setaffinity(None, all).is_ok() || is_spread()
    })
}

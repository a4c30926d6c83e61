//! Which processor does which part of making a jail.
//!
//! What is done side by side is done sooner only on different processors. Kernels find that out in time, but a jail is made
//! in less; and those of virtual machines may rather fill one processor before they wake another. So while the engine works on
//! one, the jail is begun on the others; and while the engine waits, its own is used by the spawner, and then by init, beside the
//! warden. Left to the kernel both would stay where they were woken. Programs are held to nothing of that. Where it cannot be had nothing is lost but time.
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
    let Ok(all) = sched_getaffinity(None) else { return };
    divided_on(sched_getcpu(), (0..CpuSet::MAX_CPU).filter(|it| all.is_set(*it)));
}

/// The same, where the copy was made on this one before anything could be called.
pub fn divided_on(engine: usize, processors: impl Iterator<Item = usize>) {
    let (mut all, mut one) = (CpuSet::new(), CpuSet::new());
    processors.filter(|it| *it < CpuSet::MAX_CPU).for_each(|it| all.set(it));
    if engine >= CpuSet::MAX_CPU || !all.is_set(engine) || all.count() < 2 {
        return;
    }
    one.set(engine);
    let mut others = all;
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

/// Goes on wherever the caller may be. For who runs programs it is no question of time: `false` says that it could not be had.
pub fn spread() -> bool {
    DIVISION.get().is_none_or(|Division { all, .. }| {
        let is_spread = || sched_getaffinity(None).is_ok_and(|now| now == *all);
        sched_setaffinity(None, all).is_ok() || is_spread()
    })
}

//! Which processor does which part of making a jail.
//!
//! What is done side by side is done sooner only on different processors. Kernels find that out in time, but a jail is made
//! in less; and those of virtual machines may rather fill one processor before they wake another. So while the engine works on
//! one, the jail is begun on the others; and while the engine waits, its own is used by the spawner, and then by the warden, beside
//! init. Programs are held to nothing of that. Where it cannot be had nothing is lost but time.
//!
//! Whoever waits is moved by whoever wakes it: one that moves itself waits until the kernel has carried it over.

use std::sync::OnceLock;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Of a spawner that was made as a copy of the engine, and all that come of it.
struct Division {
    /// Before it was divided.
    all: CpuSet,
    engine: CpuSet,
}

static DIVISION: OnceLock<Division> = OnceLock::new();

/// Where the engine is.
pub fn current() -> usize {
    sched_getcpu()
}

/// For the engine, which has made a spawner that leaves this one to it.
pub fn keep(engine: usize) {
    if let (Ok(all), Some(engine)) = (sched_getaffinity(None), only(engine)) {
        let _once = DIVISION.set(Division { all, engine });
    }
}

/// Leaves this one to the engine.
pub fn leave(engine: usize) {
    let (Ok(all), Some(one)) = (sched_getaffinity(None), only(engine)) else { return };
    let mut others = all;
    others.unset(engine);
    if all.count() > 1 && others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        let _once = DIVISION.set(Division { all, engine: one });
    }
}

fn only(processor: usize) -> Option<CpuSet> {
    let mut one = CpuSet::new();
    (processor < CpuSet::MAX_CPU).then(|| one.set(processor))?;
    Some(one)
}

/// Gives the engine's, which only waits from now on, to one of those that make the jail, and that waits too.
pub fn lend_to(process: Pid) {
    if let Some(Division { engine, .. }) = DIVISION.get() {
        let _where_it_is_is_good_too = sched_setaffinity(Some(process), engine);
    }
}

/// Goes on wherever the caller may be. For who runs programs it is no question of time: `false` says that it could not be had.
pub fn spread() -> bool {
    DIVISION.get().is_none_or(|Division { all, .. }| sched_setaffinity(None, all).is_ok())
}

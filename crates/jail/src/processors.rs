//! Which processor does which part of making a jail.
//!
//! What is done side by side is done sooner only on different processors. Kernels find that out in time, but a jail is made
//! in less; and those of virtual machines may rather fill one processor before they wake another. So while the engine works on
//! one, the jail is begun on the others; and while the engine waits, its own is used by the spawner, and then by init. Programs
//! are held to nothing of that. Where it cannot be had nothing is lost but time.

use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Of a spawner that was made as a copy of the engine, and all that come of it.
struct Division {
    /// Before it was divided.
    all: CpuSet,
    engine: CpuSet,
    others: CpuSet,
}

static DIVISION: OnceLock<Division> = OnceLock::new();

/// Where the engine is.
pub fn current() -> usize {
    sched_getcpu()
}

/// Leaves this one to the engine.
pub fn leave(engine: usize) {
    let Ok(all) = sched_getaffinity(None) else { return };
    let (mut others, mut one) = (all, CpuSet::new());
    if engine < CpuSet::MAX_CPU {
        others.unset(engine);
        one.set(engine);
    }
    if all.count() > 1 && others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        let _once = DIVISION.set(Division { all, engine: one, others });
    }
}

/// Goes to that of the engine, which waits.
pub fn take_over() {
    if let Some(Division { engine, .. }) = DIVISION.get() {
        let _where_we_are_is_good_too = sched_setaffinity(None, engine);
    }
}

/// Gives it back.
pub fn hand_back() {
    if let Some(Division { others, .. }) = DIVISION.get() {
        let _where_we_are_is_good_too = sched_setaffinity(None, others);
    }
}

/// Goes on wherever the caller may be. For who runs programs it is no question of time: `false` says that it could not be had.
pub fn spread() -> bool {
    DIVISION.get().is_none_or(|Division { all, .. }| sched_setaffinity(None, all).is_ok())
}

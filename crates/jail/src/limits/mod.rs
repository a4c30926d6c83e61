//! Limits for a whole tree of processes: who holds them, and what was used of them.
//!
//! The spawner makes a control group for each jail where the system lets it ([`group`], found by [`grounds`]); the
//! engine reads it ([`meter`]) and ends the jail where the kernel does not do so by itself ([`lookout`]). Without control
//! groups the engine looks at the processes themselves every so often ([`sample`]).

pub mod files;
mod grounds;
mod group;
mod lookout;
mod meter;
mod sample;

pub use grounds::Grounds;
pub use group::{Group, Places};
pub use lookout::{Lookout, Usage, Watched};
pub use meter::process_of;
pub use sample::children_of as children;

use crate::outcome::{Tier, Walls};
use crate::plan::Limits;

/// The processes of a jail that are ours, the warden and the init: they count against no limit of a plan.
const OURS: u32 = 2;

/// A limit for the processes of the jail's user, where no control group counts them.
pub fn tasks_by_user(limits: &Limits, walls: &Walls) -> Option<u32> {
    let ours = walls.namespaces && counted_by_jail();
    (walls.limits == Tier::Sampled && ours).then(|| all_tasks(limits)).flatten()
}

/// Processes, and where no control group counts them all tasks: what whoever watches a jail keeps.
pub fn kept_from_outside(limits: &Limits, walls: &Walls) -> (Option<u32>, Option<u32>) {
    if !walls.namespaces || !counted_by_jail() {
        return (None, None);
    }
    (limits.processes, limits.tasks.filter(|_| walls.limits == Tier::Sampled))
}

/// Since Linux 5.14 the tasks of a user are counted for each user namespace, and so for each jail that has one. Before,
/// they were counted over all jails and the caller's own processes.
pub fn counted_by_jail() -> bool {
    let release = rustix::system::uname();
    let mut numbers = release.release().to_bytes().split(|byte| !byte.is_ascii_digit());
    let mut next = || std::str::from_utf8(numbers.next()?).ok()?.parse::<u32>().ok();
    next().zip(next()).is_some_and(|version| version >= (5, 14))
}

/// How many tasks the kernel is to allow, ours included.
pub fn all_tasks(limits: &Limits) -> Option<u32> {
    limits.tasks.map(|tasks| tasks.saturating_add(OURS))
}

//! How much a world may take of the machine.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::refusal::{Refusal, While};

/// Processes and threads of one user of the world.
pub const PROCESSES: u64 = 1024;

/// Of all users together, where there is a control group.
pub const ALL_PROCESSES: u64 = 2 * PROCESSES;

/// Of one process, where there is no control group for all of them.
const ADDRESS_SPACE: u64 = 8 << 30;

const MOST_MEMORY: u64 = 6 << 30;

/// Bytes for all processes and files of the world: not more than three quarters of the machine's.
pub fn memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    let total = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(2 << 20) * 1024;
    MOST_MEMORY.min(total / 4 * 3)
}

/// Hard limits that the world's root cannot raise again: it is not the machine's.
pub fn set(in_control_group: bool) -> Result<(), Refusal> {
    lower(Resource::Nproc, PROCESSES).when(|| "limiting the number of processes".into())?;
    lower(Resource::Core, 0).when(|| "limiting core dumps".into())?;
    if !in_control_group {
        lower(Resource::As, ADDRESS_SPACE).when(|| "limiting the address space".into())?;
    }
    Ok(())
}

fn lower(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let value = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
}

pub fn in_force() -> bool {
    getrlimit(Resource::Nproc).maximum.is_some_and(|maximum| maximum <= PROCESSES)
}

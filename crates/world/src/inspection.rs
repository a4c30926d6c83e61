//! The last step asks the kernel, and believes nothing that the environment says.

use std::fs;
use std::path::Path;

use crate::limits;
use crate::mounts::{self, Mount};
use crate::namespaces;
use crate::passport::Passport;
use crate::refusal::Refusal;
use crate::world::World;

/// Writable only for the machine's own root, whichever namespaces it is in.
const SETTING: &str = "/proc/sys/kernel/core_pattern";

pub fn inspect(passport: &Passport) -> Result<World, Refusal> {
    let mut problems: Vec<String> = namespaces::shared_with(&passport.outside)?
        .into_iter()
        .map(|name| format!("the namespace {name} is shared with the machine"))
        .collect();
    let mounts = mounts::all()?;
    for (point, kind) in [("/", "overlay"), ("/dev", "tmpfs"), ("/tmp", "tmpfs")] {
        let wanted = |mount: &Mount| mount.kind == kind && mount.source == passport.mount_name();
        if !mounts::at(&mounts, Path::new(point)).is_some_and(wanted) {
            problems.push(format!("{point} is not this world's own {kind}"));
        }
    }
    let process = fs::read_link("/proc/self").unwrap_or_default();
    if process.to_str() != Some(std::process::id().to_string().as_str()) {
        problems.push("/proc shows another process namespace".into());
    }
    if !limits::in_force() {
        problems.push("the number of processes is not limited".into());
    }
    // Opening it changes nothing.
    if fs::OpenOptions::new().write(true).open(SETTING).is_ok() {
        problems.push(format!("{SETTING} can be written: this is the machine's root"));
    }
    if problems.is_empty() {
        return Ok(World::new());
    }
    problems.insert(0, "EXACTA_WORLD is set, but this is no disposable world; unset it".into());
    Err(Refusal::many(problems))
}

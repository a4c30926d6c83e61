//! A control group for everything in the world, where the machine lets us make one (version 1 or 2).
//!
//! There are two levels: the outer group has the limits, and the world lives in the inner one, which is the root of
//! its control group namespace. So a world can make groups of its own but does not see the files of its limits.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::limits;
use crate::mounts::{self, Mount};

const CONTROLLERS: [&str; 2] = ["pids", "memory"];
const INNER: &str = "inside";
const PREFIX: &str = "exacta-world-";

const LONGEST_FAREWELL: Duration = Duration::from_secs(5);

/// Taken away when the world has ended.
pub struct ControlGroups {
    outer: Vec<PathBuf>,
}

impl ControlGroups {
    /// `None`: there are no such groups for us; then the limits of single processes must do.
    pub fn make(token: &str, owner: Option<u32>) -> Option<Self> {
        let mounts = mounts::all().ok()?;
        let name = format!("{PREFIX}{}-{token}", std::process::id());
        let groups = of_version_two(&mounts, &name).or_else(|| of_version_one(&mounts, &name))?;
        for outer in &groups.outer {
            let inner = outer.join(INNER);
            fs::create_dir(&inner).ok()?;
            if let Some(owner) = owner {
                hand_over(&inner, owner).ok()?;
            }
        }
        // Root may; and trying takes the kernel a while.
        let joinable = || groups.inner().iter().all(|inner| can_be_joined(inner));
        (owner.is_some() || joinable()).then_some(groups)
    }

    /// The groups that the first process of the world joins.
    pub fn inner(&self) -> Vec<PathBuf> {
        self.outer.iter().map(|outer| outer.join(INNER)).collect()
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        for outer in &self.outer {
            // The kernel counts the last processes out a little after their end: on a busy machine, or after a bomb,
            // not so little.
            let deadline = Instant::now() + LONGEST_FAREWELL;
            while remove(outer).is_err() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// The nearest group above us in which we may make one and which hands both controllers down.
fn of_version_two(mounts: &[Mount], name: &str) -> Option<ControlGroups> {
    let mount = mounts.iter().rev().find(|mount| mount.kind == "cgroup2")?;
    let own = directory(mount, |line| line.strip_prefix("0::"))?;
    own.ancestors().take_while(|above| above.starts_with(&mount.point)).find_map(|above| {
        sweep(above);
        hand_down(above).ok()?;
        let outer = above.join(name);
        fs::create_dir(&outer).ok()?;
        let groups = ControlGroups { outer: vec![outer.clone()] };
        fs::write(outer.join("pids.max"), limits::ALL_PROCESSES.to_string()).ok()?;
        fs::write(outer.join("memory.max"), limits::memory().to_string()).ok()?;
        // Without it the memory would only move on to the swap space; a kernel may have none.
        let _no_swap = fs::write(outer.join("memory.swap.max"), "0");
        hand_down(&outer).ok()?;
        Some(groups)
    })
}

fn hand_down(group: &Path) -> io::Result<()> {
    let file = group.join("cgroup.subtree_control");
    let has = fs::read_to_string(&file)?;
    if CONTROLLERS.iter().all(|wanted| has.split_whitespace().any(|has| has == *wanted)) {
        return Ok(());
    }
    fs::write(file, "+pids +memory")
}

fn of_version_one(mounts: &[Mount], name: &str) -> Option<ControlGroups> {
    let mut groups = ControlGroups { outer: Vec::new() };
    for controller in CONTROLLERS {
        let mount = mounts.iter().rev().find(|mount| {
            mount.kind == "cgroup" && mount.options.split(',').any(|option| option == controller)
        })?;
        let above = directory(mount, |line| {
            let (names, path) = line.split_once(':')?.1.split_once(':')?;
            names.split(',').any(|name| name == controller).then_some(path)
        })?;
        sweep(&above);
        let outer = above.join(name);
        fs::create_dir(&outer).ok()?;
        groups.outer.push(outer.clone());
        let (file, value) = match controller {
            "pids" => ("pids.max", limits::ALL_PROCESSES),
            _ => ("memory.limit_in_bytes", limits::memory()),
        };
        fs::write(outer.join(file), value.to_string()).ok()?;
    }
    Some(groups)
}

/// Our own group in a hierarchy.
fn directory(mount: &Mount, path: impl Fn(&str) -> Option<&str>) -> Option<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(path)?;
    let below = Path::new(path).strip_prefix(&mount.root).ok()?;
    Some(mount.point.join(below))
}

/// Making a group is one right, moving a process into it another.
fn can_be_joined(group: &Path) -> bool {
    let script = "echo $$ >\"$1/cgroup.procs\"";
    let tried = Command::new("bash").args(["-c", script, "bash"]).arg(group).output();
    tried.is_ok_and(|output| output.status.success())
}

/// What the world's root needs to make groups beneath this one.
fn hand_over(inner: &Path, owner: u32) -> io::Result<()> {
    chown(inner, Some(owner), Some(owner))?;
    for file in ["cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "tasks"] {
        match chown(inner.join(file), Some(owner), Some(owner)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Groups of worlds whose makers were killed before they could tidy up.
fn sweep(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if maker.is_some_and(|maker| !Path::new("/proc").join(maker).exists()) {
            let _still_in_use = remove(&entry.path());
        }
    }
}

/// Only groups that are empty go away: that is what `rmdir` does here. Worlds that begin beside each other may sweep
/// the same one, so what is gone already is as good as removed, and one that is in use does not keep the others.
fn remove(group: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(group) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _if_not_ours_stays_too = remove(&entry.path());
        }
    }
    match fs::remove_dir(group) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

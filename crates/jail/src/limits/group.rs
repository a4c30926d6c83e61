//! The control group of one jail, as the spawner makes and removes it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::{all_tasks, files};
use crate::outcome::Tier;
use crate::plan::Limits;

/// How long a group whose last process has just been buried may still seem to hold it.
const PATIENCE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(1);

/// Where a jail's figures are, for the engine to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Places {
    /// The second version: one directory for all.
    Second { directory: PathBuf },
    /// The first version: directories that may be the same. Without one for the processor its time is sampled.
    First { memory: PathBuf, tasks: PathBuf, processor: Option<PathBuf> },
}

impl Places {
    pub fn tier(&self) -> Tier {
        match self {
            Places::Second { .. } => Tier::ControlGroups2,
            Places::First { .. } => Tier::ControlGroups1,
        }
    }

    fn directories(&self) -> Vec<&Path> {
        let mut directories: Vec<&Path> = match self {
            Places::Second { directory } => vec![directory],
            Places::First { memory, tasks, processor } => {
                [memory, tasks].into_iter().chain(processor).map(PathBuf::as_path).collect()
            }
        };
        directories.sort();
        directories.dedup();
        directories
    }

    /// Puts limits in force, for a group that may already be full.
    pub fn set(&self, limits: &Limits) -> io::Result<()> {
        let tasks_most = all_tasks(limits).map_or("max".to_owned(), |tasks| tasks.to_string());
        match self {
            Places::Second { directory } => {
                let most = limits.memory.map_or("max".to_owned(), |bytes| bytes.to_string());
                files::write(directory.join("pids.max"), &tasks_most)?;
                files::write(directory.join("memory.max"), &most)
            }
            Places::First { memory, tasks, .. } => {
                let most = limits.memory.map_or("-1".to_owned(), |bytes| bytes.to_string());
                files::write(tasks.join("pids.max"), &tasks_most)?;
                // With swap never less than without: so that one goes up first, or down last.
                let with_swap = memory.join("memory.memsw.limit_in_bytes");
                let _only_up = files::write(&with_swap, &most);
                files::write(memory.join("memory.limit_in_bytes"), &most)?;
                files::write_if_there(&with_swap, &most)
            }
        }
    }

    /// Ends every process in it, where the kernel has a way to do that.
    pub fn kill(&self) {
        if let Places::Second { directory } = self {
            let _it_may_be_too_old = files::write(directory.join("cgroup.kill"), "1");
        }
    }
}

/// A control group that holds one jail. Removed when dropped, after the jail is dead.
pub struct Group {
    places: Places,
    /// Each of its directories. The way there by its path leads through `/sys`, where the kernel makes who looks wait for who makes
    /// a network namespace, and the other way round, which takes both longer than all that they do.
    directories: Vec<(PathBuf, OwnedFd)>,
    entrance: Entrance,
}

/// How a process comes into a group without being moved there by another: that would stop the whole system for a moment.
enum Entrance {
    /// It is started in it.
    Born(fs::File),
    /// The first version has no way to do that. But who writes 0 here goes there by itself, as soon as it is started; for
    /// the kernel it counts who has opened these.
    Itself(Vec<fs::File>),
}

impl Group {
    /// Makes the group and puts its limits in force, or leaves nothing behind.
    pub fn create(places: Places, limits: &Limits) -> io::Result<Self> {
        for (done, directory) in places.directories().iter().enumerate() {
            if let Err(error) = files::make_directory(directory) {
                for made in places.directories().iter().take(done) {
                    let _it_is_empty = files::remove_directory(made);
                }
                return Err(error);
            }
        }
        // From here on dropping it removes it.
        let entrance = Entrance::Itself(Vec::new());
        let mut group = Group { places, directories: Vec::new(), entrance };
        for directory in group.places.directories() {
            let opened = files::open_directory(directory)?;
            group.directories.push((directory.to_owned(), opened.into()));
        }
        group.begin(limits)?;
        if let Places::Second { directory } = &group.places {
            group.write_if_there(directory, "memory.swap.max", "0")?;
            group.write_if_there(directory, "memory.oom.group", "1")?;
            group.entrance = Entrance::Born(group.handle(directory)?.try_clone()?.into());
        } else {
            let doors =
                group.directories.iter().map(|(_, it)| files::open_in(it, "tasks", OFlags::WRONLY));
            group.entrance = Entrance::Itself(doors.collect::<io::Result<_>>()?);
        }
        Ok(group)
    }

    fn handle(&self, directory: &Path) -> io::Result<&OwnedFd> {
        let found = self.directories.iter().find(|(known, _)| known == directory);
        found.map(|(_, handle)| handle).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, directory: &Path, name: &str, text: &str) -> io::Result<()> {
        let file = files::open_in(self.handle(directory)?, name, OFlags::WRONLY)?;
        files::write_open(&file, text)
    }

    fn write_if_there(&self, directory: &Path, name: &str, text: &str) -> io::Result<()> {
        match self.write(directory, name, text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Puts limits in force, for a group that was just made and has none.
    pub fn begin(&self, limits: &Limits) -> io::Result<()> {
        let (tasks_most, memory_most) = (all_tasks(limits), limits.memory);
        let (tasks, memory, name) = match &self.places {
            Places::Second { directory } => (directory, directory, "memory.max"),
            Places::First { memory, tasks, .. } => (tasks, memory, "memory.limit_in_bytes"),
        };
        if let Some(most) = tasks_most {
            self.write(tasks, "pids.max", &most.to_string())?;
        }
        if let Some(most) = memory_most {
            self.write(memory, name, &most.to_string())?;
            if matches!(self.places, Places::First { .. }) {
                let with_swap = "memory.memsw.limit_in_bytes";
                self.write_if_there(memory, with_swap, &most.to_string())?;
            }
        }
        Ok(())
    }

    /// Where a process is to be started. `None`: it is to [`enter`](Self::enter) by itself.
    pub fn entrance(&self) -> Option<BorrowedFd<'_>> {
        match &self.entrance {
            Entrance::Born(directory) => Some(directory.as_fd()),
            Entrance::Itself(_) => None,
        }
    }

    /// Takes the caller into the group, if it is not there: a process of one thread that has no children yet. `false`: it did not
    /// come into all of it.
    pub fn enter(&self) -> bool {
        match &self.entrance {
            Entrance::Born(_) => true,
            Entrance::Itself(doors) => {
                let entered = |door: &fs::File| files::write_open(door, "0").is_ok();
                doors.iter().filter(|door| !entered(door)).count() == 0
            }
        }
    }

    /// Whether a process is in all of it.
    pub fn holds(&self, process: Pid) -> bool {
        let number = process.as_raw_nonzero().to_string();
        let in_it = |(_, directory): &(PathBuf, OwnedFd)| {
            let processes = files::open_in(directory, "cgroup.procs", OFlags::RDONLY);
            let processes = processes.and_then(|it| files::read_open(&it)).unwrap_or_default();
            files::words(&processes).any(|it| it == number.as_bytes())
        };
        self.directories.iter().all(in_it)
    }

    /// Puts limits in force, whatever was before.
    pub fn set(&self, limits: &Limits) -> io::Result<()> {
        self.places.set(limits)
    }

    pub fn places(&self) -> &Places {
        &self.places
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.places.kill();
        for directory in self.places.directories() {
            let mut waited = Duration::ZERO;
            while files::remove_directory(directory)
                .is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
                && waited < PATIENCE
            {
                sleep(PAUSE);
                waited += PAUSE;
            }
        }
    }
}

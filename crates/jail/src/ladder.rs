//! The ladder: how much holds a program when not everything can be had, with a name for each rung.
//!
//! Each rung is tried, never guessed from settings of the system. Whoever asks for a jail says how far down it may go;
//! what is missing is told with the step that failed and the system's error.

use serde::{Deserialize, Serialize};

use crate::outcome::Failure;

/// A rung, the lowest first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Level {
    /// Only how much is used: time, memory, open files. Files, network and other processes are the caller's.
    #[default]
    Limits,
    /// And no network, no new privileges, and only the calls that programs need. Files are the caller's.
    Seccomp,
    /// And no files but those granted. What lies outside is refused, and seen to be there.
    Landlock,
    /// What is not granted does not exist. Something that would hold it a second time is missing.
    Namespaces,
    /// Nothing is missing.
    Full,
}

impl Level {
    /// The highest first.
    pub const ALL: [Level; 5] =
        [Level::Full, Level::Namespaces, Level::Landlock, Level::Seccomp, Level::Limits];

    pub fn name(self) -> &'static str {
        match self {
            Level::Full => "full",
            Level::Namespaces => "namespaces",
            Level::Landlock => "landlock",
            Level::Seccomp => "seccomp",
            Level::Limits => "limits",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Something that may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wall {
    /// Namespaces of its own, and with them a view, a network and processes of its own.
    Namespaces,
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// Being told what is executed and when threads are made: the record, and the count of processes without threads.
    Notification,
    /// Limits held by the kernel for the whole tree.
    ControlGroups,
    /// A `/proc` of the jail's own. There are only a few files in its place.
    Processes,
    /// Blocked programs are absent. Without, something empty lies over each.
    Overlay,
    /// A keyring of its own. The filter forbids all use of keys besides.
    Keyring,
    /// What is written to some trees is kept apart. They cannot be written.
    Layers,
    /// Without namespaces: signals do not leave the jail.
    Signals,
    /// Without namespaces: the state of exacta in the project is out of reach.
    State,
    /// Without namespaces: it is not root.
    Ordinary,
}

impl Wall {
    pub fn name(self) -> &'static str {
        match self {
            Wall::Namespaces => "namespaces",
            Wall::Landlock => "landlock",
            Wall::Seccomp => "seccomp",
            Wall::Notification => "notification",
            Wall::ControlGroups => "cgroups",
            Wall::Processes => "proc",
            Wall::Overlay => "overlay",
            Wall::Keyring => "keyring",
            Wall::Layers => "write-layers",
            Wall::Signals => "signal-scope",
            Wall::State => "hidden-state",
            Wall::Ordinary => "ordinary-user",
        }
    }
}

/// What is missing, and how that was found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub wall: Wall,
    pub failure: Failure,
}

impl Missing {
    pub fn new(wall: Wall, failure: Failure) -> Self {
        Missing { wall, failure }
    }
}

/// The ways to try for a jail of at least this level, the best first. Whether one with namespaces is complete shows
/// only when it stands.
pub fn ways(least: Level) -> impl Iterator<Item = Level> {
    let least = least.min(Level::Namespaces);
    Level::ALL.into_iter().filter(move |level| *level != Level::Full && *level >= least)
}

/// The wall whose failure makes a way impossible.
pub fn wall_of(way: Level) -> Wall {
    match way {
        Level::Full | Level::Namespaces => Wall::Namespaces,
        Level::Landlock => Wall::Landlock,
        Level::Seccomp | Level::Limits => Wall::Seccomp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_leads_below_what_was_asked_for() {
        for least in Level::ALL {
            let ways: Vec<Level> = ways(least).collect();
            assert_eq!(ways.first(), Some(&Level::Namespaces));
            assert!(ways.iter().all(|way| *way >= least.min(Level::Namespaces)), "{least:?}");
            assert!(ways.windows(2).all(|pair| matches!(pair, [above, below] if above > below)));
        }
        assert_eq!(ways(Level::Limits).count(), 4);
    }

    #[test]
    fn names_are_read_back() {
        for level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
        }
        assert_eq!(Level::from_name("none"), None);
    }
}

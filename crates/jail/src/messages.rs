//! What is said over the wire.

use std::borrow::Cow;
use std::path::PathBuf;

use bstr::BString;
use serde::{Deserialize, Serialize};

use crate::ladder::Level;
use crate::limits::Places;
use crate::outcome::{Ending, Failure, Walls};
use crate::plan::{Limits, Manner, Plan, Program};
use crate::timeline::Part;

/// Engine to spawner.
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is never more than one")]
pub enum Ask<'a> {
    /// A jail for a person of these numbers will be asked for: what can be done before its plan is known may be done now.
    /// Nothing is answered.
    Expect { user: u32, group: u32 },
    /// Make a jail. With it come init's end of the socket for [`Order`]s, the warden's end of that for [`Change`]s,
    /// the spawner's end of the lease, and the engine's own ends of the first two. The lease is a socket on which nothing is ever
    /// said: when the engine closes its end, the jail is over and its control group goes; when the spawner closes its own, nothing
    /// of the jail is left. The engine's ends are only held: when the engine ends, it is the spawner who ends the jail, and not
    /// whoever is in it, on the processor on which the engine is still about to end.
    Build {
        plan: Cow<'a, Plan>,
        /// Something weaker than this is none.
        least: Level,
    },
    /// Remove a folder of the engine's own, for which nobody waits. With it come the directory that it is in, the folder
    /// itself, which is held until it is gone, and the directory in which it is to be used again, if so. Nothing is answered.
    PutAway { name: BString, again: Option<Again> },
    /// End now: whoever says so waits for it. When the engine itself ends, nobody does.
    End,
}

/// A folder that is used again, if nothing is left of jails when the spawner ends: a directory in it is emptied, and it gets
/// another name.
#[derive(Debug, Serialize, Deserialize)]
pub struct Again {
    pub emptied: BString,
    pub name: BString,
}

/// Spawner to engine. With a built jail come a handle on its first process, the listener that decides about
/// processes if there is one, the listener for connections if the plan asks for one, and the first layer if one was laid, in
/// this order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Built {
    Ready {
        walls: Walls,
        notifier: bool,
        proxy: bool,
        laid: bool,
        /// The number of its first process, unless it is to be found by the handle.
        init: Option<u32>,
        /// Where the figures are. `None`: limits are sampled.
        places: Option<Places>,
        parts: Vec<Part>,
    },
    Failed(Failure),
    /// No answer: one that was made early has done what can be done before it is asked, and waits. Said once.
    Waits,
}

/// Engine to a jail's warden, while nothing runs inside. Answered by [`Changed`].
#[derive(Debug, Serialize, Deserialize)]
pub enum Change {
    /// Put a layer over a tree for writing. Its folder is one of [`Layers::source`](crate::plan::Layers::source), and holds
    /// `upper` and `work`.
    Lay {
        #[serde(with = "crate::paths::one")]
        target: PathBuf,
        folder: BString,
    },
    /// The same with what is written kept in memory, at most so many bytes: for a tree whose file system cannot carry it. The
    /// folder is only where the kernel finds it.
    LayAside {
        #[serde(with = "crate::paths::one")]
        target: PathBuf,
        folder: BString,
        most: u64,
    },
    /// Take away what was put there.
    Lift {
        #[serde(with = "crate::paths::one")]
        target: PathBuf,
    },
}

/// With a layer that was laid comes its mount; with one that is kept in memory also the directory of `upper` and `work`.
#[derive(Debug, Serialize, Deserialize)]
pub enum Changed {
    Done,
    Failed(Failure),
}

/// Engine to a jail's init.
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is never more than one")]
pub enum Order {
    /// With it come the socket for [`Report`]s, and then the descriptors that the program is to have under these
    /// numbers.
    Start {
        program: Program,
        manner: Manner,
        limits: Limits,
        /// For the user's processes: only where nobody else counts the tasks of the jail.
        tasks: Option<u32>,
        /// The view has changed since the last one.
        changed: bool,
        /// Nobody knows yet whether the jail stands: it is taken only where somebody is asked before it is executed.
        early: bool,
        numbers: Vec<u32>,
        /// To be opened inside, under these numbers, each with where it is outside.
        directories: Vec<(u32, BString)>,
    },
    Signal {
        process: u32,
        signal: u8,
    },
    /// End everything that runs. Answered on the same socket by [`Swept`].
    Sweep,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Swept;

/// A jail's init to the engine, about one program.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    /// Its number inside.
    Started { process: u32 },
    /// It never became the program. Sent by what would have become it.
    Failed(Failure),
    Ended {
        ending: Ending,
        /// The most memory that it, or one that it has waited for, has ever had at one time.
        resident_peak: u64,
        /// With it everything has ended that ran in the jail.
        alone: bool,
    },
}

//! What a jail is and may, as plain data. Whoever makes a plan decides; the jail only carries it out.

use std::path::PathBuf;
use std::time::Duration;

use bstr::BString;
use serde::{Deserialize, Serialize};

/// A jail: what there is in it, for whom, and how much of the machine it may use.
///
/// What is not named here does not exist inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub view: View,
    pub person: Person,
    pub limits: Limits,
    pub network: Network,
    /// Programs may watch and change one another, as debuggers do. Only inside the same jail, in any case.
    pub debugging: bool,
}

/// The file system that programs see, built from nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Directories and files of the host. A tree that lies inside another comes after it.
    pub trees: Vec<Tree>,
    /// Small files that exist only inside, read-only.
    pub files: Vec<SyntheticFile>,
    /// Files of the host that everybody may read, small enough to be copied, read-only, at their own paths. What is not
    /// there, is large or cannot be read is not there inside.
    #[serde(with = "crate::paths::all")]
    pub copies: Vec<PathBuf>,
    pub links: Vec<SyntheticLink>,
    /// Empty directories held in memory, writable, gone with the jail.
    pub scratch: Vec<Scratch>,
    /// For [`Cell::lay`](crate::Cell::lay); absent: no layers are laid.
    pub layers: Option<Layers>,
    /// Parts that need not be made.
    pub ready: Vec<Ready>,
}

impl View {
    /// The same without the trees that a part which is ready has in it.
    pub(crate) fn without_contained(mut self) -> Self {
        let contained: Vec<&PathBuf> = self.ready.iter().flat_map(Ready::trees).collect();
        self.trees.retain(|tree| !contained.contains(&&tree.target));
        self
    }
}

impl Ready {
    fn trees(&self) -> &[PathBuf] {
        match &self.part {
            ReadyPart::Settings { trees, .. } => trees,
            ReadyPart::Mask(_) => &[],
        }
    }
}

/// A part of a view that lies on the host as it would be made. Where there is no view it is of no use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// On the host: a directory that nobody but the caller can change.
    #[serde(with = "crate::paths::one")]
    pub source: PathBuf,
    pub part: ReadyPart,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadyPart {
    /// All [`files`](View::files), [`copies`](View::copies) and [`links`](View::links) below this directory, a directory for each
    /// tree there, and in it what is in the tree if that is one of these.
    Settings {
        #[serde(with = "crate::paths::one")]
        folder: PathBuf,
        #[serde(with = "crate::paths::all")]
        trees: Vec<PathBuf>,
    },
    /// A whiteout for each name that is hidden in the tree for reading of this target.
    Mask(#[serde(with = "crate::paths::one")] PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// On the host.
    #[serde(with = "crate::paths::one")]
    pub source: PathBuf,
    /// Inside.
    #[serde(with = "crate::paths::one")]
    pub target: PathBuf,
    pub access: Access,
    /// Relative to the tree: what does not exist inside, although it does on the host.
    #[serde(with = "crate::paths::all")]
    pub hidden: Vec<PathBuf>,
}

/// Where layers for requests come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// On the host: the directory of their folders, on the file system of the tree. No part of its path is a symbolic link.
    #[serde(with = "crate::paths::one")]
    pub source: PathBuf,
    /// Inside: the tree for writing that they are laid over.
    #[serde(with = "crate::paths::one")]
    pub target: PathBuf,
    /// The folder of the one that lies there from the beginning, for whoever asks to [lay](crate::Cell::lay) it then.
    pub first: Option<BString>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    Read,
    /// What is written is written on the host. No part of the source's path is a symbolic link.
    Write,
    /// What is written goes into `upper` of this directory of the host, over a tree that stays as it is; the kernel
    /// works in its `work`. Both exist and are on one file system, and no part of the path is a symbolic link.
    Layer(#[serde(with = "crate::paths::one")] PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyntheticFile {
    #[serde(with = "crate::paths::one")]
    pub target: PathBuf,
    pub content: BString,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyntheticLink {
    #[serde(with = "crate::paths::one")]
    pub target: PathBuf,
    /// What the link says.
    #[serde(with = "crate::paths::one")]
    pub text: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    #[serde(with = "crate::paths::one")]
    pub target: PathBuf,
    pub bytes: u64,
}

/// Who a program is told it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Numbers inside. Outside it is the caller, or, when the caller is root, somebody without any power.
    pub user_id: u32,
    pub group_id: u32,
    pub host_name: String,
}

/// For the whole tree of processes, unless it says otherwise. `None`: no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub processor_time: Option<Duration>,
    pub memory: Option<u64>,
    /// Processes at one time, threads not counted.
    pub processes: Option<u32>,
    /// Tasks at one time, threads counted: what stops a fork bomb when nothing else does.
    pub tasks: Option<u32>,
    /// For each process: the kernel knows no other kind.
    pub open_files: Option<u64>,
    /// For each file.
    pub file_size: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// A loopback device of the jail's own, and nothing else.
    Off,
    /// The same, and this port of it is held by a socket that is handed out to the caller. Nobody listens there until
    /// the caller does; whoever answers there decides where connections go.
    Proxy { port: u16 },
}

/// One program, to be run in a jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Inside, absolute or seen from its directory.
    pub path: BString,
    pub argv: Vec<BString>,
    pub environment: Vec<(BString, BString)>,
    /// Inside, absolute.
    pub directory: BString,
    pub file_mode_mask: u32,
}

/// What else a program finds when it starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Signals that it begins by ignoring. Bit n: signal n.
    pub ignored: u64,
    /// Its directory is gone: it starts in one that was removed, as it would after whoever started it had gone there.
    pub nowhere: bool,
}

//! What a record is made of: entries that are only ever appended.
//!
//! The order of the variants and of their fields is the format on disk: new ones go to the end.

use std::fmt;

use bstr::BString;
use serde::{Deserialize, Serialize};

use crate::facts::{Attributes, Facts, Time};

/// The number of a record; later requests have greater ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId(pub u64);

impl fmt::Display for RecordId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// What a request was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub session: String,
    pub command: BString,
    pub directory: BString,
    pub time: Time,
}

/// How a request ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub exit: i32,
    /// How it is taken back, in words for reports: `restore`, `discard`, `none: …`.
    pub strategy: String,
}

/// One change that can be taken back and made again. Paths are relative to the root.
///
/// Of a step `n` that moves things, `pre/n` holds what the tree has not any more, and `redo/n` what it has not any more
/// after an undo. Which of them is there says on which side the step is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Nothing was there.
    Create {
        path: BString,
    },
    /// Another object took the place of this one, whole subtrees too.
    Replace {
        path: BString,
        before: Facts,
    },
    /// Nothing is there any more.
    Delete {
        path: BString,
        before: Facts,
    },
    /// Deleted, but to be found under another path of the project.
    Trash {
        path: BString,
        to: BString,
        inode: u64,
    },
    Move {
        from: BString,
        to: BString,
        inode: u64,
    },
    /// Same inode, other content. `pre/n` is a copy.
    Write {
        path: BString,
        before: Facts,
        attributes: Attributes,
    },
    /// Same inode, same content, other mode, owner, times or attributes.
    Meta {
        path: BString,
        before: Facts,
        attributes: Attributes,
    },
    /// Another name for a file. Kept nowhere while the other one is there, so that the number of its names is right.
    Link {
        path: BString,
        existing: BString,
        inode: u64,
    },
    /// Same inode, and the earlier content is still its beginning: only its length is kept. `redo/n` is what came behind.
    Append {
        path: BString,
        before: Facts,
        attributes: Attributes,
    },
}

impl Step {
    /// By which number it knows what it has changed or moved, and what is there after it.
    pub(crate) fn number_after(&mut self) -> Option<&mut u64> {
        match self {
            Step::Move { inode, .. } | Step::Trash { inode, .. } | Step::Link { inode, .. } => {
                Some(inode)
            }
            Step::Write { before, .. }
            | Step::Append { before, .. }
            | Step::Meta { before, .. } => Some(&mut before.inode),
            Step::Replace { .. } | Step::Delete { .. } | Step::Create { .. } => None,
        }
    }

    /// The paths at which the tree differs before and after.
    pub fn paths(&self) -> impl Iterator<Item = &BString> {
        let (first, second) = match self {
            Step::Create { path }
            | Step::Replace { path, .. }
            | Step::Delete { path, .. }
            | Step::Write { path, .. }
            | Step::Append { path, .. }
            | Step::Link { path, .. }
            | Step::Meta { path, .. } => (path, None),
            Step::Trash { path: from, to, .. } | Step::Move { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A step with the number under which it keeps things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    pub number: u32,
    pub step: Step,
}

/// Where a record is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Its request is running and writes to the tree.
    Recording,
    /// A layer is on its way out of its folder; the tree is as before.
    Staging,
    /// A layer is on its way into the tree.
    Applying,
    Applied,
    Undoing,
    Undone,
    Redoing,
    /// Waits in its layer until somebody decides.
    Held,
    Discarded,
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Phase::Recording => "recording",
            Phase::Staging | Phase::Applying => "being applied",
            Phase::Applied => "applied",
            Phase::Undoing => "being undone",
            Phase::Undone => "undone",
            Phase::Redoing => "being redone",
            Phase::Held => "held",
            Phase::Discarded => "discarded",
        })
    }
}

/// Something the record left in the tree (or did not), so that others' changes can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    pub path: BString,
    pub facts: Option<Facts>,
}

/// The time of a directory in which names changed, on both sides, and where it is on each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryTime {
    pub before: Option<(BString, Time)>,
    pub after: Option<(BString, Time)>,
}

/// What is known only when all is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The objects that `Create` steps made, by number. A step that is missing here never happened.
    pub objects: Vec<(u32, u64)>,
    /// What `Meta` and `Write` steps led to, by number.
    pub attributes: Vec<(u32, Facts, Attributes)>,
    pub times: Vec<DirectoryTime>,
    /// Everything in a directory that came whole, by path below it.
    pub manifests: Vec<(u32, Vec<(BString, Facts)>)>,
}

/// Which tree a record belongs to: inode numbers of its root and of the journal, which no copy has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeIdentity {
    pub root: u64,
    pub journal: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    Begin {
        version: u32,
        id: RecordId,
        about: About,
        tree: TreeIdentity,
    },
    Step(Numbered),
    /// It did not happen.
    Void {
        number: u32,
    },
    /// The time of a directory before its first change.
    Time {
        path: BString,
        modified: Time,
    },
    Irreversible {
        reason: String,
    },
    Made(Made),
    Left(Vec<Left>),
    Phase {
        phase: Phase,
        time: Time,
    },
    /// These directories have been changed by others: their times stay.
    KeepTimes(Vec<BString>),
    /// A step is taken back and made again in pieces from now on.
    Divide {
        number: u32,
        pieces: Vec<Numbered>,
    },
    /// A directory is writable for a moment.
    Loosened {
        path: BString,
        mode: u32,
    },
    End(Outcome),
    /// The folder of a layer, and which of its entries which steps bring into the tree.
    Layer(LayerEntry),
}

pub(crate) const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LayerEntry {
    /// Below `run`.
    pub folder: BString,
    /// Steps from this number on come from the layer.
    pub first: u32,
    /// What a step brings, by its path in the layer.
    pub sources: Vec<(u32, BString)>,
}

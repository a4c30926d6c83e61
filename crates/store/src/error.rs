//! Why something could not be recorded, undone or applied: what, why, and what to do next.

use std::fmt;

use bstr::BString;
use rustix::io::Errno;

use crate::path::show;
use crate::record::{Phase, RecordId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoError {
    /// Somebody has changed these meanwhile. Nothing was touched.
    Conflicts(Vec<Conflict>),
    /// A layer holds what may not come into the project. Nothing was applied.
    Refused(Vec<Refusal>),
    /// Records after this one touch the same paths.
    Later {
        id: RecordId,
        later: Vec<RecordId>,
    },
    /// A request that is still running touches the same paths.
    Running {
        id: RecordId,
        running: RecordId,
    },
    NoSuchRecord(RecordId),
    NothingToUndo,
    NothingToRedo,
    WrongPhase {
        id: RecordId,
        phase: Phase,
        wanted: &'static str,
    },
    /// The record cannot be read as a whole.
    Damaged {
        id: RecordId,
    },
    /// The record speaks of a tree that is not this one.
    OtherTree {
        id: RecordId,
    },
    /// The state is not on the project's file system, or a layer is not.
    OtherFileSystem,
    /// `.clada/undo` is not private to the user: it may have come with the repository.
    NotPrivate,
    InvalidPath {
        path: BString,
        why: &'static str,
    },
    /// Earlier content cannot be kept, so it must not be changed.
    CannotKeep {
        path: BString,
        errno: Errno,
    },
    /// Somebody has changed a file of which only the length was kept when it was appended to.
    OnlyLength {
        path: BString,
    },
    /// Not enough room for what has to be copied.
    NoRoom {
        needed: u64,
        free: u64,
    },
    /// The project is larger than what is copied for undo.
    OverBudget {
        entries: u64,
        bytes: u64,
    },
    /// The copy of the project is not what was copied: what programs have changed cannot be taken back.
    CopySpoilt {
        path: BString,
    },
    System {
        doing: &'static str,
        path: BString,
        errno: Errno,
    },
}

/// A path that is not as it was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub path: BString,
    pub kind: ConflictKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// Content, mode or kind.
    Changed,
    Deleted,
    /// Something is where nothing was.
    Appeared,
}

/// A path of a layer that may not be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub path: BString,
    pub why: &'static str,
}

impl UndoError {
    /// It lies in a directory that nobody may search.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, UndoError::System { errno: Errno::ACCESS, .. })
    }

    /// What a person can do about it.
    pub fn next(&self) -> Option<&'static str> {
        Some(match self {
            UndoError::Conflicts(_) => {
                "look at these paths; --force goes on and keeps their present versions for redo"
            }
            UndoError::Later { .. } => "undo the later ones first, or all of them with --last",
            UndoError::Running { .. } => "wait until it has ended",
            UndoError::NoSuchRecord(_) | UndoError::WrongPhase { .. } => {
                "exacta log shows the records and their states"
            }
            UndoError::Damaged { .. } => {
                "what it kept is still in .clada/undo/pre; others are undone by their ids"
            }
            UndoError::NotPrivate => {
                "if it is yours, set its mode to 0700; else delete .clada/undo"
            }
            UndoError::NoRoom { .. } => "free some space",
            UndoError::OtherFileSystem => "keep .clada on the project's own file system",
            UndoError::CannotKeep { .. } => "run it where it may be written without undo",
            UndoError::OnlyLength { .. } => "take away by hand what the request has appended",
            UndoError::OverBudget { .. } => {
                "set max_copy_bytes and max_copy_entries of [undo] in a configuration, or run it with --direct, without undo"
            }
            UndoError::CopySpoilt { .. } => {
                "look at what the request has changed; a new copy is made for the next one"
            }
            UndoError::Refused(_)
            | UndoError::NothingToUndo
            | UndoError::NothingToRedo
            | UndoError::OtherTree { .. }
            | UndoError::InvalidPath { .. }
            | UndoError::System { .. } => return None,
        })
    }
}

impl fmt::Display for UndoError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UndoError::Conflicts(conflicts) => {
                write!(out, "changed meanwhile: ")?;
                list(out, conflicts.iter().map(Conflict::to_string))
            }
            UndoError::Refused(refusals) => {
                write!(out, "cannot be applied: ")?;
                list(out, refusals.iter().map(|one| format!("{}: {}", show(&one.path), one.why)))
            }
            UndoError::Later { id, later } => {
                write!(out, "record {id}: the same paths were changed again by ")?;
                list(out, later.iter().map(RecordId::to_string))
            }
            UndoError::Running { id, running } => {
                write!(out, "record {id}: request {running} is running and changes the same paths")
            }
            UndoError::NoSuchRecord(id) => write!(out, "record {id}: there is none"),
            UndoError::NothingToUndo => write!(out, "nothing to undo"),
            UndoError::NothingToRedo => write!(out, "nothing to redo"),
            UndoError::WrongPhase { id, phase, wanted } => {
                write!(out, "record {id} is {phase}, not {wanted}")
            }
            UndoError::Damaged { id } => write!(out, "record {id} is damaged"),
            UndoError::OtherTree { id } => {
                write!(out, "record {id} was made in another directory, of which this is a copy")
            }
            UndoError::OtherFileSystem => {
                write!(out, "the undo journal and the project are on different file systems")
            }
            UndoError::NotPrivate => write!(out, ".clada/undo is not private to you"),
            UndoError::InvalidPath { path, why } => write!(out, "{}: {why}", show(path)),
            UndoError::CannotKeep { path, errno } => {
                write!(out, "{}: its content cannot be kept: {errno}", show(path))
            }
            UndoError::OnlyLength { path } => write!(
                out,
                "{}: it was only appended to, so its earlier content was not copied, and it has been changed since",
                show(path)
            ),
            UndoError::NoRoom { needed, free } => {
                write!(out, "{needed} bytes have to be copied and {free} are free")
            }
            UndoError::OverBudget { entries, bytes } => write!(
                out,
                "the project has more than {entries} entries or {bytes} bytes, and no larger one is copied for undo"
            ),
            UndoError::CopySpoilt { path } => write!(
                out,
                "{}: the copy that was made for undo has been changed, so what programs have written stays in the project",
                show(path)
            ),
            UndoError::System { doing, path, errno } => {
                write!(out, "{}: cannot {doing}: {errno}", show(path))
            }
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ConflictKind::Changed => "changed",
            ConflictKind::Deleted => "deleted",
            ConflictKind::Appeared => "appeared",
        };
        write!(out, "{} ({kind})", show(&self.path))
    }
}

/// The first few; the rest is counted.
fn list(out: &mut fmt::Formatter<'_>, items: impl ExactSizeIterator<Item = String>) -> fmt::Result {
    const SHOWN: usize = 10;
    let more = items.len().saturating_sub(SHOWN);
    let shown: Vec<String> = items.take(SHOWN).collect();
    write!(out, "{}", shown.join(", "))?;
    if more > 0 { write!(out, " and {more} more") } else { Ok(()) }
}

impl std::error::Error for UndoError {}

/// Says what was being done when a system call failed.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &[u8]) -> Result<T, UndoError>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, doing: &'static str, path: &[u8]) -> Result<T, UndoError> {
        self.map_err(|errno| UndoError::System { doing, path: BString::from(path), errno })
    }
}

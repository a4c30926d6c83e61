//! What lasts of a project: the record of what was done ([`audit`]), and the journal from which every request can be taken back.
//!
//! A **record** is an ordered list of reversible [`Step`]s. Undo goes through them backwards, redo forwards; both touch
//! only what the record lists. What builtins write directly and what programs write to the layer of an overlay become
//! steps of the same record.
//!
//! # A request
//!
//! ```text
//! let journal = Journal::open(root, state)?;         // recovers what somebody left when he died; makes nothing
//! let recording = journal.begin(About { … });        // costs nothing until the first change
//!
//! // Direct changes, from any thread. Each call comes BEFORE the change; an error means: do not make it.
//! recording.create(path)?                            // a file, directory, link, FIFO will be made
//! recording.link(existing, path)?                    // another name for a file will be made
//! recording.before_write(path)?                      // an existing file will be written, appended to, truncated
//! recording.before_append(path)?                     // it will be appended to and nothing else: keeps the length of a large one
//! recording.renew(path)?                             // empties a large file without copying it (this call does it)
//! recording.take_back(path, inode)?                  // after `renew`: the earlier file is there again
//! recording.before_meta(path)?                       // mode, owner, times, attributes will change
//! recording.moved(from, to)?                         // will be renamed to a free name
//! recording.trash(path, ".trash/…")?                 // the same, shown as a deletion
//! recording.delete(path)?                            // deletes (this call does it)
//! recording.replace(from, to)?                       // renames over something (this call does it)
//! recording.failed(announced)?                       // what was announced could not be made
//!
//! // Programs, if there are any: one layer for each request.
//! let layer = journal.layer(&about)?;                // right before the overlay is mounted: upper and work are in it
//! // or journal.layer_ahead()? before the request, and then, if it is still fit: ahead.begin(&about)?, layer.stamp()?
//! …                                                  // run, wait until all are dead, unmount
//! recording.apply(&layer)?;                          // all of it, or nothing and a list of conflicts
//!
//! // Or, where no overlay can be had: programs write into the project, and the layer is made when they have ended.
//! let mirror = journal.mirror(&budget, …)?;          // a copy of the project, kept between requests
//! layer.write_directly(&mirror)?;                    // instead of a mount
//! layer.take_back(&mirror)?;                         // before apply, hold or discard
//!
//! let id = recording.finish(Outcome { … })?;         // None: nothing has changed
//! layer.discard()?;                                  // or, instead of apply: layer.hold(…), or discard alone (dry run)
//! ```
//!
//! Paths are relative to the root, raw bytes, already resolved: no `.`, no `..`, no symbolic link on the way. The root
//! itself is the empty path. Nothing named `.clada` is ever touched.
//!
//! `.trash` is a directory like any other: announce it with `create` when it has to be made.
//!
//! # What is guaranteed
//!
//! - After `undo` the tree is what it was: content, kind, mode, owner, times to the nanosecond (of directories too),
//!   extended attributes, groups of hard links, holes, targets. After `redo` it is what it was after the request. Times of
//!   last access and change times are nobody's to set.
//! - What somebody changed meanwhile is found before anything is touched; then nothing is. With `force` their
//!   version is kept where the opposite direction brings it back.
//! - A directory that the request made and in which others have put something stays, and is reported.
//! - Several records are undone as one: all or none. One in the middle goes only when no later one that is applied touches
//!   its paths, what holds them or what is in them.
//! - Whatever this crate was doing when the process died is brought to an end by the next [`Journal::open`]: the tree is as
//!   before or as after, and every earlier content exists, in the tree or in the journal. Undo, redo and apply wait
//!   for the disk at the points that matter, so that holds for a power cut too. Direct changes do not wait: a power cut
//!   may lose the records of the last requests, never the tree.
//! - A layer whose request died is held, never applied by itself.
//! - Two requests at once do not disturb each other; undo, redo, apply and cleaning come one after the other.
//! - The cost is that of what changes, never that of what is there; only where there is no overlay, everything is looked at.
//!
//! # On disk
//!
//! ```text
//! .clada/undo/               private to the user, or it is not used
//!   lock                     whoever applies, undoes, redoes, recovers or cleans
//!   head                     the last number given away; only a hint
//!   busy/000000042.rec       a record that somebody works on, and holds a lock on while he lives
//!   log/000000042.rec        a record that is settled
//!   pre/000000042/<n>        what the tree has not any more: moved objects, copies of contents
//!   redo/000000042/<n>       what it has not any more after an undo
//!   run/<name>/{upper,work}  layers
//!   mirror/                  a copy of the project, where no overlay can be had (`mirror/mod.rs`)
//! ```
//!
//! A layer that its file system cannot carry is written elsewhere and [brought](Layer::bring) when it has ended.
//!
//! # Not covered
//!
//! Another file system mounted inside the project, a state directory on another file system than the project
//! ([`UndoError::OtherFileSystem`]), and a file whose content its owner may not read ([`UndoError::CannotKeep`]) cannot be
//! recorded: the error comes before the change. Hard links to a file that a program changes in place on an overlay keep
//! the old content, as the program itself saw it.

pub mod audit;
mod by_path;
mod changes;
mod clean;
mod content;
mod copying;
mod error;
mod facts;
#[cfg(test)]
mod faults;
mod going;
mod ground;
mod held;
mod journal;
mod layer;
mod mirror;
mod path;
mod record;
mod recording;
mod recover;
mod settle;
mod steps;
mod system;
mod tally;
pub mod tasks;
#[cfg(test)]
mod tests;
mod tree;
mod turn;
mod verify;
mod watch;
mod whereabouts;

pub use changes::{Change, Content, Side};
pub use clean::{Cleaned, Limits};
pub use error::{Conflict, ConflictKind, Refusal, UndoError};
pub use facts::{Attributes, Facts, Kind, Time};
pub use journal::Journal;
pub use layer::{Dismissed, Layer, LayerAhead, LayerPlan, Planned, Reuse};
pub use mirror::{Budget, Extent, Mirror, Told};
pub use record::{
    About, DirectoryTime, Left, Made, Numbered, Outcome, Phase, Record, RecordId, Step,
    TreeIdentity,
};
pub use recording::{Announced, Recording};
pub use tally::Tally;
pub use turn::{Options, Report, Which};
pub use watch::Watch;

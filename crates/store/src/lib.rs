//! Everything of a project that lasts. So far: the journal from which every request can be taken back.
#![doc = "TODO"]

mod changes;
mod clean;
mod content;
mod error;
mod facts;
#[cfg(test)]
mod faults;
mod ground;
mod held;
mod journal;
mod layer;
mod path;
mod record;
mod recording;
mod recover;
mod settle;
mod steps;
mod system;
#[cfg(test)]
mod tests;
mod tree;
mod turn;
mod verify;
mod whereabouts;

pub use changes::{Change, Side};
pub use clean::{Cleaned, Limits};
pub use error::{Conflict, ConflictKind, Refusal, UndoError};
pub use facts::{Attributes, Facts, Kind, Time};
pub use journal::Journal;
pub use layer::{Layer, LayerPlan, Planned};
pub use record::{
    About, DirectoryTime, Left, Made, Numbered, Outcome, Phase, Record, RecordId, Step, TreeIdentity,
};
pub use recording::{Announced, Recording};
pub use turn::{Options, Report, Which};

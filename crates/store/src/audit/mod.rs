//! What was asked, what was decided, what became of it: records that cannot be quietly rewritten.
//!
//! ```text
//! let writer = Writer::new(Box::new(move || Database::open(state, &signing)), limits);   // opens nothing yet
//! writer.check()?;                       // every request: is what was done so far recorded?
//! writer.commit(Entry::Intent(…), …)?;   // before the first effect: waits for the disk; an error means: do not do it
//! writer.commit(Entry::Start(…), …)?;    // before each program
//! writer.submit(Entry::Outcome(…), …)?;  // at the end: within milliseconds
//! writer.close()?;                       // all of it is written
//!
//! let reader = Reader::open(state)?;     // beside any number of writers
//! reader.requests(&filter, order, …)?;
//! verify(&reader, &known, &watch)?;
//! ```
//!
//! # What is guaranteed
//!
//! - An intent or a start that was committed is there after a power cut, and cannot be cut off unnoticed.
//! - Whatever was written is there after `kill -9`, whole; the database opens, and its chain is unbroken.
//! - Several processes write to one chain, and it never forks.
//! - What was changed, removed, put in or cut off is found, and named, as long as the user's key and the anchored head in
//!   the user's state are not touched. Whoever can change those can sign: copy `exacta audit head` elsewhere. An older copy, or
//!   another database, in the place of one is told from it even after it has grown.
//! - A search finds what it would find if it looked at every command ([`verify`] looks at what makes it quick).
//!
//! Not promised: a record of something that changed nothing may be lost with the power, and the last of them can be cut off
//! unnoticed until the next intent, or the next 256 records.

mod ahead;
mod anchor;
mod blocks;
mod chain;
mod cleansing;
pub(crate) mod database;
mod entry;
pub(crate) mod error;
mod key;
mod ledger;
mod meta;
pub(crate) mod opening;
mod outline;
mod output;
mod query;
mod reading;
mod retention;
pub(crate) mod schema;
mod spool;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use ahead::Ahead;
pub use anchor::{Anchor, hex, unhex};
pub use chain::{Hash, Link};
pub use cleansing::{Cleansed, Cleanser, cleanse};
pub use database::{Database, Signing, now};
pub use entry::{
    Answer, Approval, Asked, Connection, Cut, Entry, Exec, Intent, Isolation, Kept, Kind, Moment,
    Moved, Outcome, Output, Refusal, RequestId, Ruling, Start, Step, Undo, Verdict,
};
pub use error::AuditError;
pub use key::{PublicKey, Signed, public_key};
pub use ledger::{
    Archive, Beside, Draft, Durability, Each, Head, Ledger, Limits, Manner, Pruned, Row,
};
pub use opening::NAME;
pub use output::Captured;
pub use reading::{Filter, Order, Reader, Recorded};
pub use verify::{Known, Problem, ProblemKind, Report, verify};
pub use writer::{Open, Writer, leave};

/// Whether there are records that are not in the chain yet: beside the database, or in the user's own state.
pub fn is_waiting(state: std::os::fd::BorrowedFd<'_>, signing: &Signing) -> bool {
    spool::is_waiting(state) || ahead::is_waiting(signing)
}

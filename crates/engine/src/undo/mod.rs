//! A request is a transaction: what it changes in the project is written down first, in the journal of `crates/store`, and
//! becomes one record that can be taken back.
//!
//! [`Transactions`] is what a session has of it. Who changes files asks it for the [`Change`] that is going on and
//! announces each one there; see `filesystem/recorded.rs`, the only place that does. Nothing is opened and nothing is made
//! before the first change: a request that only reads costs nothing.
//!
//! What is not recorded here: the private `/tmp`, and what programs write to a layer of their own.

mod cleaning;
mod guarded;
mod layering;
mod refusal;
mod transactions;

pub use cleaning::Retention;
pub(crate) use layering::Layering;
pub use layering::{Held, Keep, Why};
pub(crate) use refusal::refusal;
pub(crate) use transactions::Change;
pub use transactions::{Transactions, UndoReport};

//! The engine behind every face of exacta: sessions over confined files, and the public library.
//!
//! [`Session`] runs any script and keeps its state; [`executor`] is the face of S0. Nothing here decides how a
//! result is shown: that is the binary's.

pub mod approvals;
pub mod audit;
pub mod background;
pub mod caller;
pub mod commands_file;
pub mod configuration;
pub mod covenant;
mod decisions;
mod error;
pub mod executor;
pub mod filesystem;
pub mod gate;
mod heard_output;
pub mod host;
mod judging;
mod kept_file;
mod kept_output;
pub mod kept_session;
mod metered;
pub mod network;
mod operator_file;
mod pipeline;
pub mod places;
pub mod primitives;
pub mod programs;
pub mod project;
mod proposal;
pub mod records;
mod redacted_output;
pub mod redaction;
pub mod reference;
pub mod report;
mod session;
pub mod surroundings;
pub mod tasks;
pub mod undo;

pub use error::EngineError;
pub use exacta_policy as policy;
pub use exacta_shell::control::Limits;
pub use exacta_shell::host::Step;
pub use exacta_shell::status::{ExitStatus, Stop};
pub use heard_output::{Listener, Stream};
pub use kept_output::OutputLimit;
pub use session::{Canceller, Outcome, Request, Session, SessionOptions, Storage, Streams};

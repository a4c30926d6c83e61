//! The engine behind every face of exacta: sessions over confined files, and the public library.
//!
//! [`Session`] runs any script and keeps its state; [`executor`] is the face of S0. Nothing here decides how a
//! result is shown: that is the binary's.

pub mod background;
pub mod commands_file;
pub mod covenant;
mod error;
pub mod executor;
pub mod filesystem;
pub mod host;
mod metered;
pub mod places;
pub mod project;
pub mod reference;
pub mod report;
mod session;

pub use error::EngineError;
pub use exacta_shell::control::Limits;
pub use exacta_shell::host::Step;
pub use exacta_shell::status::{ExitStatus, Stop};
pub use session::{Canceller, Outcome, Request, Session, SessionOptions, Storage, Streams};

//! The engine.

pub mod error;
pub mod executor;
pub mod filesystem;
pub mod host;
mod metered;
pub mod session;

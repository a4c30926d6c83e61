//! The engine.

pub mod filesystem;
pub mod host;

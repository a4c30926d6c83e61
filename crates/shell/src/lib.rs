//! The bash interpreter and its commands.
//!
//! Nothing here opens a file, starts a program or reads a clock by itself: all of it goes through [`host::Host`].

pub mod control;
pub mod errno;
pub mod filesystem;
pub mod host;
pub mod pipe;
pub mod status;

//! The bash interpreter and its commands.
//!
//! Nothing here opens a file, starts a program or reads a clock by itself: all of it goes through [`host::Host`].

pub mod arguments;
mod buffers;
pub mod builtins;
mod conditions;
pub mod control;
pub mod dates;
pub mod errno;
mod expand;
pub mod extended;
pub mod files;
pub mod filesystem;
pub mod float;
pub mod fnmatch;
pub mod history;
pub mod host;
mod initial;
mod interpret;
pub mod keeping;
pub mod lines;
mod long;
pub mod mode;
pub mod options;
pub mod pipe;
pub mod regex;
mod release;
pub mod shell;
pub mod status;
pub mod variables;
pub mod version;
mod walk;
pub mod width;

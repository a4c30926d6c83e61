//! `exacta undo | redo | log | diff | commit | discard | completions`: records are made with the library, the binary is run
//! as a person runs it, and text, JSON, exit status and the tree are looked at.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

mod completions;
mod diff;
mod diff_kinds;
mod held;
mod log;
mod many;
mod project;
mod turn;

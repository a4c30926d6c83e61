//! The walls behind the view, from inside real jails. Needs user namespaces, a C compiler, and the programs that are
//! to work; what is missing is a failure.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "the tests make the directories that jails are for, and panic where something is missing"
)]

mod calls;
mod execs;
mod files;
mod prison;
mod processes;
mod programs;
mod signals;

//! The file systems: one battery for all of them, attacks on the real one, full disks, and chance.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the real tree from outside")]
#![expect(clippy::print_stderr, reason = "a test that cannot run says so aloud")]

mod battery;
mod chance;
mod confinement;
mod full_disk;
mod limits;
mod operations;
mod races;
mod scratch;
mod streams;
mod trash;

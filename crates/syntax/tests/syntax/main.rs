//! The parser and the printer against real bash, the open shell suite, and mutations of both.
#![expect(
    clippy::disallowed_methods,
    reason = "bash is the oracle, and the open suite lies outside the crate"
)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail and skip aloud, as tests may"
)]

mod acceptance;
mod aliases;
mod arithmetic;
mod corpus;
mod depth;
mod layout;
mod lines;
mod mutation;
mod round_trip;
mod trees;

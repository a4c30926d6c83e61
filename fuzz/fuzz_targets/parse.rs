//! See `shared/parse.rs`; `crates/engine/tests/regressions.rs` runs the same on what is kept in `regressions/parse`.

#![no_main]

#[path = "../shared/parse.rs"]
mod shared;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shared::check(bytes));

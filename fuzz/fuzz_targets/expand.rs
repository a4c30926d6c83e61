//! See `shared/expand.rs`; `crates/engine/tests/regressions.rs` runs the same on what is kept in `regressions/expand`.

#![no_main]

#[path = "../shared/expand.rs"]
mod shared;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shared::check(bytes));

//! See `shared/redact.rs`; `crates/engine/tests/regressions.rs` runs the same on what is kept in `regressions/redact`.

#![no_main]

#[path = "../shared/redact.rs"]
mod shared;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shared::check(bytes));

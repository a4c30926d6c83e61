//! See `shared/judge.rs`; `crates/engine/tests/regressions.rs` runs the same on what is kept in `regressions/judge`.

#![no_main]

#[path = "../shared/judge.rs"]
mod shared;
#[path = "../../crates/policy/tests/scoring/world.rs"]
mod world;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| shared::check(bytes));

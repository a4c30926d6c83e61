//! See `shared/confine.rs`; `crates/engine/tests/regressions.rs` runs the same on what is kept in `regressions/confine`.

#![no_main]

#[path = "../shared/expand.rs"]
#[allow(dead_code)]
mod expand;
#[path = "../shared/confine.rs"]
mod shared;

libfuzzer_sys::fuzz_target!(init: exacta_world::require(), |bytes: &[u8]| shared::check(bytes));

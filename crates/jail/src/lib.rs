//! What cannot be done without unsafe code, behind functions that are safe to call.
//!
//! Every unsafe block names the invariants it relies on. The crate knows nothing of shells or policies.

pub mod standard_streams;

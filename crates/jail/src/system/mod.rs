//! System calls that no safe crate offers, one small function each. All of the crate's unsafe code is here and in
//! `standard_streams`.

pub mod credentials;
pub mod host_names;
pub mod landlock;
pub mod loopback;
pub mod mount;
pub mod probe;
pub mod process;
pub mod seccomp;
pub mod words;

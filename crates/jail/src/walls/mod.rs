//! The walls behind the view: they hold what a hole in the view would let through.

pub mod landlock;
pub mod seccomp;

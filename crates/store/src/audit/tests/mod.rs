//! The database as others meet it: written, read, killed beside, tampered with, shortened.

#![expect(clippy::disallowed_methods, reason = "tests make and look at real directories")]

mod ground;
mod keeping;
mod opening;
mod searching;
mod spooling;
mod tampering;
mod waiting;
mod writing;

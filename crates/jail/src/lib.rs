//! Runs one program, and all that it starts, where what is not granted does not exist.
//!
//! A [`Plan`] is plain data; a [`Spawner`] makes a [`Cell`] of it; a program started there is [`Running`] until it
//! ends. The only crate with unsafe code: every block names the invariants it relies on. It knows nothing of shells or
//! policies.

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
compile_error!("the jail is for Linux with glibc");

mod cell;
mod disguise;
pub mod ladder;
mod limits;
mod messages;
mod network;
pub mod outcome;
mod paths;
pub mod plan;
pub mod probe;
mod processors;
mod spawner;
pub mod standard_streams;
pub mod start;
mod system;
pub mod timeline;
mod walls;
mod wire;

pub use cell::orders::First;
pub use cell::watch::Record;
pub use cell::watch::desk::SHORT;
pub use cell::{Cell, Running};
pub use disguise::{Disguise, owner_in_layers};
pub use ladder::Level;
pub use limits::Usage;
pub use outcome::{Ending, Failure, Finished, Walls};
pub use plan::{Manner, Plan, Program};
pub use spawner::{Reuse, Spawner, early};
pub use system::host_names;

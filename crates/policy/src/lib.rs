//! The judge: what is about to happen goes in, a verdict with its reasons comes out.
//!
//! Pure: no input and output, no clock, no process. What it must ask of the world it asks through [`Surroundings`].
//!
//! ```text
//! text --syntax--> tree --walk--> Event --programs--> Effect --judge--> Finding --max--> Verdict
//! ```
//!
//! - [`walk`]: which commands a tree would run, with words as far as they are known ([`word::Word`]).
//! - [`programs`]: what each program does with its words (data: `programs/*.toml`).
//! - [`code`]: what a piece of inline code in another language would do.
//! - [`rules`]: what is allowed, asked about and denied (data: `rules/*.toml`).
//! - [`limits`]: how much of the machine programs may use.
//! - [`judge`]: puts these together; the strictest finding wins.

pub mod code;
pub mod effect;
pub mod event;
pub mod glob;
mod guarded;
mod hosts;
pub mod judge;
pub mod limits;
pub mod programs;
pub mod rules;
pub mod surroundings;
pub mod verdict;
pub mod walk;
pub mod word;

pub use guarded::{RUN_LATER, runs_later};
pub use judge::{Action, Policy, Profile, TASK_IRREVERSIBLE, TASK_NOT_LISTED, TASK_WRITTEN};
pub use surroundings::{Place, Surroundings};
pub use verdict::{Decision, Finding, JudgedCommand, Source, Step, Verdict};

//! The face of S2: building blocks for Rust programs that run commands.
//!
//! [`bash`] runs a command, awaited; [`bash_success`] and [`bash_sequence`] are made of it. What is plainly dangerous
//! is refused first ([`CommandValidator`]); whatever passes goes the way of every request: it is judged, confined to
//! the directory of its [`PrimitiveContext`], and real programs run in the jail.

mod bash;
mod context;
mod dangers;
mod error;
mod explore;
mod options;
mod output;
mod patterns;
mod result;
mod validator;

pub use bash::{bash, bash_sequence, bash_success};
pub use context::PrimitiveContext;
pub use error::{PrimitiveError, PrimitiveResult};
pub use options::BashOptions;
pub use result::{BashResult, ExecutionMetadata};
pub use validator::CommandValidator;

//! The face of S2: building blocks for Rust programs that run commands.

mod dangers;
mod error;
mod explore;
mod patterns;
mod validator;

pub use error::{PrimitiveError, PrimitiveResult};
pub use validator::CommandValidator;

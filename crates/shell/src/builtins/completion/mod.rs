//! Programmable completion: `complete` and `compopt` keep specifications, `compgen` answers from one.

mod actions;
mod compgen;
mod complete;
mod compopt;
mod specification;

pub use compgen::COMMAND as COMPGEN;
pub use complete::COMMAND as COMPLETE;
pub use compopt::COMMAND as COMPOPT;
pub use specification::Specification;

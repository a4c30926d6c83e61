//! Bash text to one tree with spans, and back.
//!
//! No input and output, no unsafe code, no panic on any bytes, no recursion without a limit.

pub mod ast;
mod error;
mod parser;
mod print;
mod span;

pub use error::{SyntaxError, SyntaxErrorKind};
pub use parser::{
    Aliases, Missing, NoAliases, OpenDocument, ParseOptions, Parser, decode_ansi, missing, parse,
    parse_arithmetic,
};
pub use print::{print_command, print_function, print_list, print_word};
pub use span::Span;

/// What a text may cost. Exceeding one is an error value, never an abort.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Nesting of anything in anything.
    pub depth: usize,
    /// Length of the text.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 200, bytes: 16 << 20 }
    }
}

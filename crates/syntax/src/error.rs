//! Why a text is not a script.

use std::fmt;

use crate::Span;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub kind: SyntaxErrorKind,
    pub span: Span,
}

/// The words of `Display` are bash's own, without the `bash: line N: ` in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// ``syntax error near unexpected token `…'``
    UnexpectedToken(String),
    /// syntax error: unexpected end of file
    UnexpectedEnd,
    /// ``unexpected EOF while looking for matching `…'``
    Unclosed(char),
    /// Anything bash words in its own way, e.g. errors inside `[[ … ]]`.
    Other(String),
    /// Nested deeper than [`crate::Limits::depth`].
    TooDeep(usize),
    /// Longer than [`crate::Limits::bytes`].
    TooLong(usize),
}

impl SyntaxError {
    /// More input could make it valid: an interactive shell asks for another line.
    pub fn is_incomplete(&self) -> bool {
        matches!(self.kind, SyntaxErrorKind::UnexpectedEnd | SyntaxErrorKind::Unclosed(_))
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SyntaxErrorKind::UnexpectedToken(token) => {
                write!(f, "syntax error near unexpected token `{token}'")
            }
            SyntaxErrorKind::UnexpectedEnd => f.write_str("syntax error: unexpected end of file"),
            SyntaxErrorKind::Unclosed(mark) => {
                write!(f, "unexpected EOF while looking for matching `{mark}'")
            }
            SyntaxErrorKind::Other(text) => f.write_str(text),
            SyntaxErrorKind::TooDeep(limit) => {
                write!(f, "syntax error: nested more than {limit} levels deep")
            }
            SyntaxErrorKind::TooLong(limit) => {
                write!(f, "syntax error: script longer than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for SyntaxError {}

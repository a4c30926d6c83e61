//! A word as far as it is known before it runs.

use bstr::{BStr, BString, ByteSlice};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Exactly this.
    Literal(BString),
    /// Known only in part, or only when it runs.
    Dynamic(Box<Dynamic>),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dynamic {
    /// As the script wrote it.
    pub written: BString,
    /// What its value surely begins with.
    pub prefix: BString,
    /// Every value that it can have, if all are known (a loop over literal words, branches that assign).
    pub values: Vec<BString>,
    /// Unquoted: may become several words, or none.
    pub splits: bool,
    /// All of it is known, but it is a pattern for file names.
    pub glob: Option<BString>,
}

impl Word {
    pub fn literal(text: impl Into<BString>) -> Self {
        Word::Literal(text.into())
    }

    pub fn as_literal(&self) -> Option<&BStr> {
        match self {
            Word::Literal(text) => Some(text.as_bstr()),
            Word::Dynamic(_) => None,
        }
    }

    /// What the value surely begins with: all of a literal.
    pub fn prefix(&self) -> &BStr {
        match self {
            Word::Literal(text) => text.as_bstr(),
            Word::Dynamic(dynamic) => dynamic.prefix.as_bstr(),
        }
    }

    /// The value, or what the script wrote in its place: for people.
    pub fn shown(&self) -> &BStr {
        match self {
            Word::Literal(text) => text.as_bstr(),
            Word::Dynamic(dynamic) => dynamic.written.as_bstr(),
        }
    }

    /// Every value it can have, if all are known.
    pub fn values(&self) -> Option<&[BString]> {
        match self {
            Word::Literal(text) => Some(std::slice::from_ref(text)),
            Word::Dynamic(dynamic) if !dynamic.values.is_empty() => Some(&dynamic.values),
            Word::Dynamic(_) => None,
        }
    }
}

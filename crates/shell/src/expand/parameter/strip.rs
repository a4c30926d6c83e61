//! `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.

use bstr::BString;
use exacta_syntax::ast::Word;

use crate::expand::pattern::{Pattern, Reach};
use crate::long;
use crate::shell::Shell;
use crate::status::{Running, Stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Prefix,
    Suffix,
}

pub(super) struct Strip {
    pattern: Pattern,
    end: End,
    reach: Reach,
}

impl Shell {
    pub(super) fn prepare_strip(&mut self, word: &Word, end: End, longest: bool) -> Running<Strip> {
        let reach = if longest { Reach::Longest } else { Reach::Shortest };
        Ok(Strip { pattern: self.compile_pattern(word)?, end, reach })
    }
}

impl Strip {
    pub fn apply(&self, text: &[u8]) -> Result<BString, Stop> {
        let left = match self.end {
            End::Prefix => {
                let end = self.pattern.prefix(text, self.reach).unwrap_or(0);
                text.get(end..)
            }
            End::Suffix => {
                let start = self.pattern.suffix(text, self.reach).unwrap_or(text.len());
                text.get(..start)
            }
        };
        long::copy(left.unwrap_or(text))
    }
}

//! `${x/p/r}`, `${x//p/r}`, `${x/#p/r}`, `${x/%p/r}`.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{ReplaceKind, Word};

use crate::expand::field::{self, Expansion, Mark, Origin};
use crate::expand::parts::Mode;
use crate::expand::pattern::{Pattern, Reach};
use crate::long::{self, Pace};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::Running;

pub(super) struct Replace {
    kind: ReplaceKind,
    pattern: Pattern,
    /// Texts between which the matched text is put: one more than there are `&`.
    replacement: Vec<Vec<u8>>,
    /// Nothing is replaced: see [`has_reversed_bracket`].
    hopeless: bool,
}

/// Bash counts the characters a pattern takes before it looks for it, and counts `[^]…]` wrong: if nothing in the
/// pattern can vary in length, it never matches. Scripts have come to rely on what they get.
fn has_reversed_bracket(pattern: &[u8]) -> bool {
    pattern.contains_str("[^]") || pattern.contains_str("[!]")
}

impl Shell {
    pub(super) fn prepare_replace(
        &mut self,
        kind: ReplaceKind,
        pattern: &Word,
        replacement: Option<&Word>,
    ) -> Running<Replace> {
        let expansion = self.expand_joined(&pattern.parts, Mode::STRING)?;
        let (kind, skipped) = anchor_of(kind, &expansion);
        let pattern = expansion.into_pattern(b' ');
        let pattern = pattern.get(skipped..).unwrap_or_default().as_bstr();
        let hopeless = has_reversed_bracket(pattern);
        let pattern = Pattern::new(pattern, self.pattern_options()).watched_by(&self.control);
        let hopeless = hopeless && !pattern.varies();
        let replacement = match replacement {
            Some(word) => self.replacement_texts(word)?,
            None => vec![Vec::new()],
        };
        Ok(Replace { kind, pattern, replacement, hopeless })
    }

    fn replacement_texts(&mut self, word: &Word) -> Running<Vec<Vec<u8>>> {
        let expansion = self.expand_joined(&word.parts, Mode::STRING)?;
        if !self.options.patsub_replacement {
            return Ok(vec![expansion.text_joined_by(b' ').into()]);
        }
        let mut texts = vec![Vec::new()];
        for (mark, text) in expansion.stretches() {
            match mark {
                Mark::Break => push(&mut texts, b" "),
                Mark::Text(Origin::Quoted) => push(&mut texts, text),
                Mark::Text(_) => push_with_matches(&mut texts, text),
            }
        }
        Ok(texts)
    }
}

/// A pattern that comes out of an expansion may bring its own anchor: `p='#a'; ${x/$p/}`.
fn anchor_of(kind: ReplaceKind, pattern: &Expansion) -> (ReplaceKind, usize) {
    let Some((Mark::Text(Origin::Expanded), text)) = pattern.stretches().next() else {
        return (kind, 0);
    };
    match (kind, text.first()) {
        (ReplaceKind::First, Some(b'#')) => (ReplaceKind::Prefix, 1),
        (ReplaceKind::First, Some(b'%')) => (ReplaceKind::Suffix, 1),
        _ => (kind, 0),
    }
}

fn push(texts: &mut Vec<Vec<u8>>, text: &[u8]) {
    match texts.last_mut() {
        Some(last) => last.extend_from_slice(text),
        None => texts.push(text.to_vec()),
    }
}

/// `&` is the matched text, `\&` an ampersand, `\\` a backslash.
fn push_with_matches(texts: &mut Vec<Vec<u8>>, text: &[u8]) {
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'&' => texts.push(Vec::new()),
            b'\\' => {
                let next = bytes.next_if(|next| matches!(next, b'&' | b'\\'));
                push(texts, &[next.unwrap_or(b'\\')]);
            }
            other => push(texts, &[other]),
        }
    }
}

impl Replace {
    pub fn apply(&self, text: &[u8], limit: u64) -> Running<BString> {
        let mut result = Heavy::<Vec<u8>>::default();
        let mut pace = Pace::default();
        let mut done = 0;
        let mut outcome = Ok(());
        let mut replace = |start: usize, end: usize| {
            let size = result.len() + (start - done) + self.replacement_size(end - start);
            outcome = field::check_limit(size as u64, limit)
                .and_then(|()| Ok(pace.walked(end - done)?))
                .and_then(|()| {
                    Ok(long::extend(&mut result, text.get(done..start).unwrap_or_default())?)
                });
            if outcome.is_err() {
                return false;
            }
            self.push_replacement(text.get(start..end).unwrap_or_default(), &mut result);
            done = end;
            true
        };
        match self.kind {
            ReplaceKind::Prefix if !self.hopeless => {
                let allowed = !text.is_empty()
                    || self.pattern.begins_with_star()
                    || self.pattern.as_literal().is_some();
                if let Some(end) = self.pattern.prefix(text, Reach::Longest).filter(|_| allowed) {
                    replace(0, end);
                }
            }
            ReplaceKind::Suffix if !self.hopeless => {
                if let Some(start) = self.pattern.suffix(text, Reach::Longest) {
                    replace(start, text.len());
                }
            }
            _ if self.hopeless || self.pattern.as_literal() == Some(b"") => {}
            // Of what may match nothing, bash lets only a star do so here.
            _ if text.is_empty() => {
                if self.pattern.begins_with_star() && self.pattern.matches(text) {
                    replace(0, 0);
                }
            }
            ReplaceKind::First => self.pattern.find_each(text, |start, end| {
                replace(start, end);
                false
            }),
            ReplaceKind::All => self.pattern.find_each(text, replace),
            ReplaceKind::Prefix | ReplaceKind::Suffix => {}
        }
        outcome?;
        long::extend(&mut result, text.get(done..).unwrap_or_default())?;
        Ok(result.into_inner().into())
    }

    fn replacement_size(&self, matched: usize) -> usize {
        let texts: usize = self.replacement.iter().map(Vec::len).sum();
        texts + matched.saturating_mul(self.replacement.len().saturating_sub(1))
    }

    fn push_replacement(&self, matched: &[u8], result: &mut Vec<u8>) {
        for (at, text) in self.replacement.iter().enumerate() {
            if at > 0 {
                result.extend_from_slice(matched);
            }
            result.extend_from_slice(text);
        }
    }
}

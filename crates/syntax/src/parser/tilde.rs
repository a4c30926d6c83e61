//! `~`, `~name`, `~+` and `~-`: only where bash would look for one.

use bstr::{BString, ByteSlice};

use super::cursor::Reader;
use super::parts::Parts;
use super::scan;
use super::words::WordKind;
use crate::ast::{BraceExpansion, Word, WordPart};

/// Whether a `~` behind these parts can begin a tilde prefix: at the start of a word, or in an assignment (or a
/// word that looks like one) after `=` and `:`.
pub(super) fn may_follow(parts: &Parts, kind: WordKind) -> bool {
    let last = parts.last_literal_byte();
    match kind {
        WordKind::Value | WordKind::Element => last == Some(b':'),
        WordKind::Argument => match (last, parts.as_slice().first()) {
            (Some(b':'), Some(WordPart::Literal(first))) => assignment_length(first).is_some(),
            (Some(b'='), Some(WordPart::Literal(first))) => {
                parts.as_slice().len() == 1 && assignment_length(first) == Some(first.len())
            }
            _ => false,
        },
        WordKind::Plain | WordKind::Pattern | WordKind::Regex => false,
    }
}

/// How long the `name=`, `name+=` or `name[…]=` at the start of `text` is.
fn assignment_length(text: &[u8]) -> Option<usize> {
    let (before, _) = text.split_once_str("=")?;
    let name = before.strip_suffix(b"+").unwrap_or(before);
    let name = match name.split_once_str("[") {
        Some((name, subscript)) if subscript.ends_with(b"]") => name,
        Some(_) => return None,
        None => name,
    };
    let (first, rest) = name.split_first()?;
    let valid = scan::is_name_start(*first) && rest.iter().all(|byte| scan::is_name_byte(*byte));
    valid.then_some(before.len() + 1)
}

impl Reader<'_, '_> {
    /// Reads the `~` at the position: a tilde prefix, or plain text if anything in it is quoted or expanded.
    pub fn tilde(&mut self, parts: &mut Parts) {
        self.bump();
        match self.tilde_prefix(|byte| scan::contains(&scan::METACHARACTERS, byte)) {
            Some(name) => parts.push(WordPart::Tilde(name)),
            None => parts.literal(b"~"),
        }
    }

    /// The same inside `${x:-…}`, which ends at `}`.
    pub fn tilde_in_parameter(&mut self, parts: &mut Parts) {
        self.bump();
        match self.tilde_prefix(|byte| byte == b'}') {
            Some(name) => parts.push(WordPart::Tilde(name)),
            None => parts.literal(b"~"),
        }
    }

    fn tilde_prefix(&mut self, is_end: impl Fn(u8) -> bool) -> Option<BString> {
        let start = self.input.position;
        let mut position = start;
        loop {
            position = self.after_continuations(position);
            let Some(byte) = self.input.byte_at(position) else { break };
            if matches!(byte, b'/' | b':') || is_end(byte) {
                break;
            }
            if matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`' | b'{') {
                return None;
            }
            position += 1;
        }
        let name = self.written(start, position);
        self.input.position = position;
        Some(name)
    }
}

/// `x=${y:-a:~}`: inside `${…}` in a value, a tilde may follow a colon too.
pub(super) fn after_colons(word: Word) -> Word {
    let span = word.span;
    let mut parts = Vec::with_capacity(word.parts.len());
    let mut rest = word.parts.into_iter().peekable();
    while let Some(part) = rest.next() {
        match part {
            WordPart::Literal(text) => split_at_tildes(&text, rest.peek().is_none(), &mut parts),
            other => parts.push(other),
        }
    }
    Word { parts, span }
}

/// `last`: nothing follows the text that could belong to a name at its end.
fn split_at_tildes(text: &[u8], last: bool, parts: &mut Vec<WordPart>) {
    let (mut start, mut from) = (0, 0);
    while let Some(colon) = text.get(from..).and_then(|rest| rest.find(b":~")) {
        let name_start = from + colon + 2;
        let after = text.get(name_start..).unwrap_or_default();
        from = name_start;
        let length = match after.iter().position(|byte| matches!(byte, b'/' | b':')) {
            Some(length) => length,
            None if last => after.len(),
            None => break,
        };
        let name = after.get(..length).unwrap_or_default();
        parts.push(WordPart::Literal(text.get(start..name_start - 1).unwrap_or_default().into()));
        parts.push(WordPart::Tilde(name.into()));
        from += length;
        start = from;
    }
    let left = text.get(start..).unwrap_or_default();
    if !left.is_empty() {
        parts.push(WordPart::Literal(left.into()));
    }
}

/// `{~,x}/y`: braces expand first, so each alternative at the start of a word may begin with a tilde.
pub(super) fn in_alternatives(parts: &mut [WordPart]) {
    let Some((WordPart::Brace(BraceExpansion::Alternatives(words)), rest)) =
        parts.split_first_mut()
    else {
        return;
    };
    let whole = match rest.first() {
        None => true,
        Some(WordPart::Literal(text)) => text.starts_with(b"/"),
        Some(_) => false,
    };
    for word in words {
        in_alternative(word, whole);
    }
}

/// `whole`: what follows the alternative ends a tilde prefix.
fn in_alternative(word: &mut Word, whole: bool) {
    let Some(WordPart::Literal(text)) = word.parts.first() else { return };
    let Some(after) = text.strip_prefix(b"~") else { return };
    let (name, rest) = match after.find_byte(b'/') {
        Some(slash) => after.split_at(slash),
        None if word.parts.len() == 1 && whole => (after, &b""[..]),
        None => return,
    };
    let (name, rest) = (BString::from(name), BString::from(rest));
    let mut parts = vec![WordPart::Tilde(name)];
    if !rest.is_empty() {
        parts.push(WordPart::Literal(rest));
    }
    word.parts.splice(..1, parts);
}

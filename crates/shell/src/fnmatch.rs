//! File name patterns as fnmatch(3) has them without flags: `*` also matches `/` and a leading dot.
//!
//! For `find -name` and `grep --include`. The shell's own globs have more rules and live with expansion.

use bstr::ByteSlice;
use regex_syntax::hir::ClassUnicode;

use crate::regex::{fold_case, named_class};

/// A pattern ready for use.
#[derive(Debug, Clone)]
pub struct Pattern {
    tokens: Vec<Token>,
    /// The common `*.rs`: anything, then this.
    suffix: Option<Vec<u8>>,
    fold: bool,
}

#[derive(Debug, Clone)]
enum Token {
    Star,
    Any,
    Char(char),
    Byte(u8),
    Set(ClassUnicode),
    /// A pattern that ends in a backslash matches nothing.
    Never,
}

impl Pattern {
    pub fn new(text: &[u8], fold: bool) -> Pattern {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some((token, length)) = next_token(rest, fold) {
            if !(matches!(token, Token::Star) && matches!(tokens.last(), Some(Token::Star))) {
                tokens.push(token);
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        let suffix = if fold { None } else { literal_suffix(&tokens) };
        Pattern { tokens, suffix, fold }
    }

    /// Has it anything but characters that stand for themselves?
    pub fn is_literal(&self) -> bool {
        !self.fold
            && self.tokens.iter().all(|token| matches!(token, Token::Char(_) | Token::Byte(_)))
    }

    pub fn matches(&self, text: &[u8]) -> bool {
        if let Some(suffix) = &self.suffix {
            return text.ends_with(suffix);
        }
        let mut token = 0;
        let mut position = 0;
        // Where to go on when what follows the last star does not match: the star takes one more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match self.tokens.get(token) {
                Some(Token::Star) => {
                    token += 1;
                    retry = Some((token, position));
                    continue;
                }
                None if position == text.len() => return true,
                Some(one) if position < text.len() => {
                    if let Some(length) = self.one(one, text, position) {
                        token += 1;
                        position += length;
                        continue;
                    }
                }
                _ => {}
            }
            match retry {
                Some((after, start)) if start < text.len() => {
                    position = start + width(text, start);
                    token = after;
                    retry = Some((after, position));
                }
                _ => return false,
            }
        }
    }

    /// As [`Pattern::matches`], but a dot at the beginning is matched by a dot alone.
    pub fn matches_hidden(&self, text: &[u8]) -> bool {
        let dotted = matches!(self.tokens.first(), Some(Token::Char('.')));
        (dotted || !text.starts_with(b".")) && self.matches(text)
    }

    /// How many bytes the token takes here.
    fn one(&self, token: &Token, text: &[u8], position: usize) -> Option<usize> {
        let rest = text.get(position..).unwrap_or_default();
        let (character, length) = bstr::decode_utf8(rest);
        let length = if character.is_some() { length } else { 1 };
        let right = match (token, character) {
            (Token::Any, _) => true,
            (Token::Char(wanted), Some(character)) => {
                *wanted == character || (self.fold && folded(*wanted) == folded(character))
            }
            (Token::Byte(wanted), None) => rest.first() == Some(wanted),
            (Token::Set(set), Some(character)) => contains(set, character),
            _ => false,
        };
        right.then_some(length)
    }
}

fn folded(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => character,
    }
}

fn width(text: &[u8], position: usize) -> usize {
    match text.get(position) {
        Some(0..0x80) | None => 1,
        Some(_) => {
            bstr::decode_utf8(text.get(position..).unwrap_or_default()).0.map_or(1, char::len_utf8)
        }
    }
}

fn contains(set: &ClassUnicode, character: char) -> bool {
    let ranges = set.ranges();
    let at = ranges.partition_point(|range| range.end() < character);
    ranges.get(at).is_some_and(|range| range.start() <= character)
}

fn literal_suffix(tokens: &[Token]) -> Option<Vec<u8>> {
    let (Token::Star, rest) = tokens.split_first()? else { return None };
    let mut suffix = Vec::new();
    for token in rest {
        match token {
            Token::Char(character) => {
                suffix.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return None,
        }
    }
    Some(suffix)
}

fn literal(text: &[u8]) -> (Token, usize) {
    match bstr::decode_utf8(text) {
        (Some(character), length) => (Token::Char(character), length),
        (None, _) => (Token::Byte(text.first().copied().unwrap_or_default()), 1),
    }
}

fn next_token(text: &[u8], fold: bool) -> Option<(Token, usize)> {
    Some(match *text.first()? {
        b'*' => (Token::Star, 1),
        b'?' => (Token::Any, 1),
        b'\\' => {
            let rest = text.get(1..).unwrap_or_default();
            if rest.is_empty() {
                return Some((Token::Never, 1));
            }
            let (token, length) = literal(rest);
            (token, length + 1)
        }
        b'[' => set(text, fold).unwrap_or((Token::Char('['), 1)),
        _ => literal(text),
    })
}

/// `[…]`; `None` if it is not closed, then `[` stands for itself.
fn set(text: &[u8], fold: bool) -> Option<(Token, usize)> {
    let mut at = 1;
    let negated = matches!(text.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let mut class = ClassUnicode::empty();
    let mut first = true;
    loop {
        let rest = text.get(at..)?;
        if rest.first()? == &b']' && !first {
            at += 1;
            break;
        }
        first = false;
        if rest.starts_with(b"[:")
            && let Some(end) = rest.find(b":]")
        {
            class.union(&named_class(rest.get(2..end)?)?);
            at += end + 2;
            continue;
        }
        let (low, length) = member(rest)?;
        at += length;
        let mut high = low;
        if text.get(at) == Some(&b'-') && text.get(at + 1).is_some_and(|next| *next != b']') {
            let (end, length) = member(text.get(at + 1..)?)?;
            high = end;
            at += 1 + length;
        }
        if low <= high {
            class.union(&crate::regex::range_class(low, high));
        }
    }
    if fold {
        fold_case(&mut class);
    }
    if negated {
        class.negate();
    }
    Some((Token::Set(class), at))
}

/// One character of a set: itself, escaped, or `[.x.]`.
fn member(text: &[u8]) -> Option<(char, usize)> {
    let (skip, rest) = match text {
        [b'\\', rest @ ..] if !rest.is_empty() => (1, rest),
        [b'[', kind @ (b'.' | b'='), rest @ ..] => {
            let end = rest.find([*kind, b']'])?;
            let (character, length) = bstr::decode_utf8(rest.get(..end)?);
            return character.filter(|_| length == end).map(|character| (character, end + 4));
        }
        _ => (0, text),
    };
    let (character, length) = bstr::decode_utf8(rest);
    // A byte that is no character can be in no set; it must not end the pattern either.
    Some((character.unwrap_or(char::REPLACEMENT_CHARACTER), skip + length.max(1)))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn agrees_with_the_c_library() {
        let table: &[(&str, &str, bool)] = &[
            ("*", "", true),
            ("*", ".hidden/x", true),
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rs.bak", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?", "é", true),
            ("??", "é", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]x]", "]", true),
            ("[[:upper:]]*", "Abc", true),
            ("[[:upper:]]*", "abc", false),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("a\\", "a", false),
            ("a\\", "a\\", false),
            ("[\\]]", "]", true),
            ("[a-]", "-", true),
            ("[[.-.]]", "-", true),
            ("**", "x", true),
            ("x*", "x", true),
        ];
        for (pattern, text, expected) in table {
            let found = Pattern::new(pattern.as_bytes(), false).matches(text.as_bytes());
            assert_eq!(found, *expected, "{pattern} on {text}");
        }
        assert!(Pattern::new(b"*.TXT", true).matches(b"a.txt"));
        assert!(Pattern::new(b"[A-C]", true).matches(b"b"));
    }

    #[test]
    fn many_stars_are_not_exponential() {
        let pattern = "a*".repeat(50) + "b";
        assert!(!Pattern::new(pattern.as_bytes(), false).matches("a".repeat(2000).as_bytes()));
    }
}

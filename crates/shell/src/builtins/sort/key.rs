//! The keys of `sort`: `-k 2.3nr,4`, where they lie in a line, and how they compare.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::number::{self, is_blank, skip_blanks};
use crate::version;

/// How keys compare, as the letters say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub skip_start_blanks: bool,
    pub skip_end_blanks: bool,
    pub dictionary: bool,
    pub printable: bool,
    pub fold: bool,
    pub general: bool,
    pub human: bool,
    pub month: bool,
    pub numeric: bool,
    pub random: bool,
    pub reverse: bool,
    pub version: bool,
}

/// Where a letter `b` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blanks {
    Start,
    End,
    Both,
}

impl Flags {
    /// False if the letter is none of those that order.
    pub fn set(&mut self, letter: u8, blanks: Blanks) -> bool {
        match letter {
            b'b' => {
                self.skip_start_blanks |= blanks != Blanks::End;
                self.skip_end_blanks |= blanks != Blanks::Start;
            }
            b'd' => self.dictionary = true,
            b'f' => self.fold = true,
            b'g' => self.general = true,
            b'h' => self.human = true,
            b'i' => self.printable = true,
            b'M' => self.month = true,
            b'n' => self.numeric = true,
            b'R' => self.random = true,
            b'r' => self.reverse = true,
            b'V' => self.version = true,
            _ => return false,
        }
        true
    }

    /// Nothing but perhaps `r`.
    pub fn is_default(&self) -> bool {
        *self == Flags { reverse: self.reverse, ..Flags::default() }
    }

    /// The letters that cannot stand together, if there are such.
    pub fn conflict(&self) -> Option<String> {
        let other = self.version || self.random || self.dictionary || self.printable;
        let kinds = [self.numeric, self.general, self.human, self.month, other];
        if kinds.into_iter().filter(|set| *set).count() < 2 {
            return None;
        }
        let letters = [
            (self.dictionary, 'd'),
            (self.fold, 'f'),
            (self.general, 'g'),
            (self.human, 'h'),
            (self.printable && !self.dictionary, 'i'),
            (self.month, 'M'),
            (self.numeric, 'n'),
            (self.random, 'R'),
            (self.version, 'V'),
        ];
        Some(letters.iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect())
    }

    fn rewrites(&self) -> bool {
        self.dictionary || self.printable || self.fold
    }

    /// The bytes of a key that count, in the case that counts.
    fn significant(&self, text: &[u8]) -> impl Iterator<Item = u8> {
        text.iter()
            .copied()
            .filter(|byte| self.keeps(*byte))
            .map(|byte| if self.fold { byte.to_ascii_uppercase() } else { byte })
    }

    fn keeps(&self, byte: u8) -> bool {
        if self.dictionary {
            byte.is_ascii_alphanumeric() || is_blank(byte)
        } else {
            !self.printable || (b' '..=b'~').contains(&byte)
        }
    }

    fn rewritten<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.rewrites() { self.significant(text).collect() } else { Cow::Borrowed(text) }
    }
}

/// Part of a line and how to compare it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key {
    /// Fields and bytes to skip, from 0.
    pub start_field: usize,
    pub start_byte: usize,
    /// `None`: to the end of the line.
    pub end: Option<KeyEnd>,
    pub flags: Flags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyEnd {
    /// From 0: the last field of the key.
    pub field: usize,
    /// Bytes of that field that belong to the key; 0: all.
    pub bytes: usize,
}

impl Key {
    /// Reads a KEYDEF. The error is GNU's message.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let wrong = |message: &str| {
            let text = String::from_utf8_lossy(text);
            format!("{message}: invalid field specification '{text}'")
        };
        let mut key = Key::default();
        let mut rest = text;
        let field = count(&mut rest, "invalid number at field start")?;
        key.start_field = field.checked_sub(1).ok_or_else(|| wrong("field number is zero"))?;
        if skip(&mut rest, b'.') {
            let byte = count(&mut rest, "invalid number after '.'")?;
            key.start_byte =
                byte.checked_sub(1).ok_or_else(|| wrong("character offset is zero"))?;
        }
        take_letters(&mut rest, &mut key.flags, Blanks::Start);
        if skip(&mut rest, b',') {
            let field = count(&mut rest, "invalid number after ','")?;
            let field = field.checked_sub(1).ok_or_else(|| wrong("field number is zero"))?;
            let mut bytes = 0;
            if skip(&mut rest, b'.') {
                bytes = count(&mut rest, "invalid number after '.'")?;
            }
            key.end = Some(KeyEnd { field, bytes });
            take_letters(&mut rest, &mut key.flags, Blanks::End);
        }
        if rest.is_empty() { Ok(key) } else { Err(wrong("stray character in field spec")) }
    }

    /// The key in a line without its separator.
    pub fn of<'a>(&self, line: &'a [u8], tab: Option<u8>) -> &'a [u8] {
        let end = self.end.map_or(line.len(), |end| self.end_in(line, end, tab));
        let start = self.start_in(line, tab);
        line.get(start..end).unwrap_or_default()
    }

    fn start_in(&self, line: &[u8], tab: Option<u8>) -> usize {
        let mut at = skip_fields(line, self.start_field, tab, true);
        if self.flags.skip_start_blanks {
            at += blanks_at(line, at);
        }
        at.saturating_add(self.start_byte).min(line.len())
    }

    fn end_in(&self, line: &[u8], end: KeyEnd, tab: Option<u8>) -> usize {
        if end.bytes == 0 {
            return skip_fields(line, end.field.saturating_add(1), tab, false);
        }
        let mut at = skip_fields(line, end.field, tab, true);
        if self.flags.skip_end_blanks {
            at += blanks_at(line, at);
        }
        at.saturating_add(end.bytes).min(line.len())
    }

    /// Compares two keys, reversal included.
    pub fn compare(&self, one: &[u8], other: &[u8], seed: u64) -> Ordering {
        let order = self.compare_forward(one, other, seed);
        if self.flags.reverse { order.reverse() } else { order }
    }

    fn compare_forward(&self, one: &[u8], other: &[u8], seed: u64) -> Ordering {
        let flags = &self.flags;
        if flags.numeric {
            number::compare_numeric(one, other)
        } else if flags.general {
            number::rank_general(one).cmp(&number::rank_general(other))
        } else if flags.human {
            // A small letter that is folded may become a unit.
            number::compare_human(&flags.rewritten(one), &flags.rewritten(other))
        } else if flags.month {
            number::month(one).cmp(&number::month(other))
        } else if flags.random {
            let (one, other) = (flags.rewritten(one), flags.rewritten(other));
            hash(&one, seed).cmp(&hash(&other, seed)).then_with(|| one.cmp(&other))
        } else if flags.version {
            version::compare(&flags.rewritten(one), &flags.rewritten(other))
        } else if flags.rewrites() {
            flags.significant(one).cmp(flags.significant(other))
        } else {
            one.cmp(other)
        }
    }

    /// Are keys of equal rank always equal?
    pub fn is_rank_exact(&self) -> bool {
        self.flags.month || self.flags.general
    }

    /// 64 bits that never contradict [`Key::compare`]: equal ranks need the comparison.
    pub fn rank(&self, key: &[u8], seed: u64) -> u64 {
        let flags = &self.flags;
        let rank = if flags.numeric {
            number::rank_numeric(key)
        } else if flags.general {
            number::rank_general(key)
        } else if flags.human {
            number::rank_human(&flags.rewritten(key))
        } else if flags.month {
            number::month(key)
        } else if flags.random {
            hash(&flags.rewritten(key), seed)
        } else if flags.version {
            0
        } else if flags.rewrites() {
            first_eight(flags.significant(key))
        } else {
            rank_bytes(key)
        };
        if flags.reverse { !rank } else { rank }
    }
}

/// The first eight bytes as a number: its order is theirs.
pub fn rank_bytes(text: &[u8]) -> u64 {
    match text.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => first_eight(text.iter().copied()),
    }
}

fn first_eight(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.chain(std::iter::repeat(0)).take(8).fold(0, |rank, byte| (rank << 8) | u64::from(byte))
}

fn hash(text: &[u8], seed: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, text).hash(&mut hasher);
    hasher.finish()
}

/// Behind the first `count` fields. With a separator, `over` says whether also behind the one that ends the last.
fn skip_fields(line: &[u8], count: usize, tab: Option<u8>, over: bool) -> usize {
    let mut at = 0;
    let mut left = count;
    while left > 0 && at < line.len() {
        left -= 1;
        let rest = line.get(at..).unwrap_or_default();
        let Some(tab) = tab else {
            let text = skip_blanks(rest);
            let word = text.iter().take_while(|byte| !is_blank(**byte)).count();
            at += rest.len() - text.len() + word;
            continue;
        };
        match memchr::memchr(tab, rest) {
            Some(length) => at += length + usize::from(left > 0 || over),
            None => return line.len(),
        }
    }
    at
}

fn blanks_at(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    rest.len() - skip_blanks(rest).len()
}

/// A number at the start of what is left; one that is too large is as large as can be.
fn count(rest: &mut &[u8], message: &str) -> Result<usize, String> {
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = rest.split_at(length);
    if digits.is_empty() {
        let text = String::from_utf8_lossy(rest);
        return Err(format!("{message}: invalid count at start of '{text}'"));
    }
    *rest = behind;
    Ok(digits.iter().fold(0_usize, |number, digit| {
        number.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
    }))
}

fn skip(rest: &mut &[u8], byte: u8) -> bool {
    match rest.split_first() {
        Some((first, behind)) if *first == byte => {
            *rest = behind;
            true
        }
        _ => false,
    }
}

fn take_letters(rest: &mut &[u8], flags: &mut Flags, blanks: Blanks) {
    while let Some((letter, behind)) = rest.split_first() {
        if !flags.set(*letter, blanks) {
            return;
        }
        *rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_a_line() {
        let cases: [(&str, Option<u8>, &str, &str); 14] = [
            ("1", None, " a b  c", " a b  c"),
            ("2", None, " a b  c", " b  c"),
            ("2,2", None, " a b  c", " b"),
            ("2b,2", None, " a b  c", "b"),
            ("3.2,3", None, " a b  c", " c"),
            ("3.2b,3.3b", None, " a b  cdef", "de"),
            ("1.2,1.3", None, "abcdef", "bc"),
            ("4", None, "a b c", ""),
            ("2,2", Some(b':'), "a:b:c", "b"),
            ("2", Some(b':'), "a:b:c", "b:c"),
            ("2,3", Some(b':'), "a::c:d", ":c"),
            ("2.2,2.3", Some(b':'), "a:bcde:f", "cd"),
            ("3,2", Some(b':'), "a:b:c", ""),
            ("1,1.3", Some(b':'), "ab:cd", "ab:"),
        ];
        for (spec, tab, line, expected) in cases {
            let key = Key::parse(spec.as_bytes()).unwrap();
            let got = String::from_utf8_lossy(key.of(line.as_bytes(), tab)).into_owned();
            assert_eq!(got, expected, "{spec} in {line:?}");
        }
    }

    #[test]
    fn letters_of_keys() {
        let key = Key::parse(b"2.3nr,4.5b").unwrap();
        assert_eq!((key.start_field, key.start_byte), (1, 2));
        assert_eq!(key.end, Some(KeyEnd { field: 3, bytes: 5 }));
        assert!(key.flags.numeric && key.flags.reverse);
        assert!(key.flags.skip_end_blanks && !key.flags.skip_start_blanks);
    }

    #[test]
    fn wrong_keys() {
        let cases = [
            ("0", "field number is zero: invalid field specification '0'"),
            ("x", "invalid number at field start: invalid count at start of 'x'"),
            ("1.0", "character offset is zero: invalid field specification '1.0'"),
            ("1,x", "invalid number after ',': invalid count at start of 'x'"),
            ("1z", "stray character in field spec: invalid field specification '1z'"),
        ];
        for (spec, message) in cases {
            assert_eq!(Key::parse(spec.as_bytes()), Err(message.to_owned()));
        }
    }
}

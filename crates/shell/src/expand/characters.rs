//! Characters as the locale has them: UTF-8, where a byte that is part of none counts as one; or bytes (`LC_ALL=C`).

use crate::shell::Shell;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    Utf8,
    Bytes,
}

impl Shell {
    /// What the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set says.
    pub(crate) fn encoding(&self) -> Encoding {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"];
        let locale = names
            .into_iter()
            .find_map(|name| self.plain_value(name).filter(|text| !text.is_empty()));
        match locale {
            Some(locale) if *locale == *"C" || *locale == *"POSIX" => Encoding::Bytes,
            _ => Encoding::Utf8,
        }
    }
}

/// The first character as a number, and its length. A byte that is part of none gets a number above all characters.
pub fn decode(text: &[u8], encoding: Encoding) -> Option<(u32, usize)> {
    let first = *text.first()?;
    if first < 0x80 {
        return Some((u32::from(first), 1));
    }
    let lone = (0x0011_0000 + u32::from(first), 1);
    if encoding == Encoding::Bytes {
        return Some(lone);
    }
    Some(match bstr::decode_utf8(text) {
        (Some(character), length) => (u32::from(character), length),
        (None, _) => lone,
    })
}

/// The length of the character at `at`.
pub fn length_at(text: &[u8], at: usize, encoding: Encoding) -> usize {
    decode(text.get(at..).unwrap_or_default(), encoding).map_or(1, |(_, length)| length)
}

/// The length of the last character before `at`.
pub fn length_before(text: &[u8], at: usize, encoding: Encoding) -> usize {
    let before = text.get(..at).unwrap_or_default();
    if encoding == Encoding::Bytes || before.last().is_none_or(|byte| *byte < 0x80) {
        return 1;
    }
    match bstr::decode_last_utf8(before) {
        (Some(_), length) => length,
        (None, _) => 1,
    }
}

/// Each character's bytes.
pub fn each(text: &[u8], encoding: Encoding) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, length) = decode(rest, encoding)?;
        let (character, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(character)
    })
}

pub fn count(text: &[u8], encoding: Encoding) -> usize {
    if encoding == Encoding::Bytes || text.is_ascii() {
        text.len()
    } else {
        each(text, encoding).count()
    }
}

/// The characters from `start` up to `end`.
pub fn slice(text: &[u8], start: usize, end: usize, encoding: Encoding) -> &[u8] {
    if encoding == Encoding::Bytes || text.is_ascii() {
        return text.get(start.min(text.len())..end.min(text.len())).unwrap_or_default();
    }
    let length = |text, count| each(text, encoding).take(count).map(<[u8]>::len).sum();
    let rest = text.get(length(text, start)..).unwrap_or_default();
    rest.get(..length(rest, end.saturating_sub(start))).unwrap_or_default()
}

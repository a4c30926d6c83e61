//! `[…]`: single characters, ranges by code point, `[:class:]`.

use super::{fold, unfold};

#[derive(Debug, Clone, Default)]
pub(super) struct CharacterSet {
    pub negated: bool,
    /// Both ends included.
    pub ranges: Vec<(u32, u32)>,
    pub classes: Vec<Class>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Alphanumeric,
    Alphabetic,
    Ascii,
    Blank,
    Control,
    Digit,
    Graphic,
    Lower,
    Printable,
    Punctuation,
    Space,
    Upper,
    Word,
    HexDigit,
}

impl Class {
    pub fn named(name: &[u8]) -> Option<Class> {
        Some(match name {
            b"alnum" => Class::Alphanumeric,
            b"alpha" => Class::Alphabetic,
            b"ascii" => Class::Ascii,
            b"blank" => Class::Blank,
            b"cntrl" => Class::Control,
            b"digit" => Class::Digit,
            b"graph" => Class::Graphic,
            b"lower" => Class::Lower,
            b"print" => Class::Printable,
            b"punct" => Class::Punctuation,
            b"space" => Class::Space,
            b"upper" => Class::Upper,
            b"word" => Class::Word,
            b"xdigit" => Class::HexDigit,
            _ => return None,
        })
    }

    fn contains(self, letter: char) -> bool {
        match self {
            Class::Alphanumeric => letter.is_alphanumeric(),
            Class::Alphabetic => letter.is_alphabetic(),
            Class::Ascii => letter.is_ascii(),
            Class::Blank => letter == ' ' || letter == '\t',
            Class::Control => letter.is_control(),
            Class::Digit => letter.is_ascii_digit(),
            Class::Graphic => !letter.is_control() && !letter.is_whitespace(),
            Class::Lower => letter.is_lowercase(),
            Class::Printable => {
                !letter.is_control() && (letter == ' ' || !letter.is_ascii_whitespace())
            }
            Class::Punctuation if letter.is_ascii() => letter.is_ascii_punctuation(),
            Class::Punctuation => {
                !letter.is_alphanumeric() && !letter.is_whitespace() && !letter.is_control()
            }
            Class::Space => letter.is_whitespace(),
            Class::Upper => letter.is_uppercase(),
            Class::Word => letter.is_alphanumeric() || letter == '_',
            Class::HexDigit => letter.is_ascii_hexdigit(),
        }
    }
}

impl CharacterSet {
    pub fn contains(&self, character: u32, ignore_case: bool) -> bool {
        let found = self.has(character)
            || ignore_case && (self.has(fold(character)) || self.has(unfold(character)));
        found != self.negated
    }

    fn has(&self, character: u32) -> bool {
        self.ranges.iter().any(|&(first, last)| (first..=last).contains(&character))
            || char::from_u32(character)
                .is_some_and(|letter| self.classes.iter().any(|class| class.contains(letter)))
    }
}

//! Named classes of characters, as the C library has them in a UTF-8 locale.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

pub(crate) fn single(character: char) -> ClassUnicode {
    range(character, character)
}

pub fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

pub(crate) fn everything() -> ClassUnicode {
    range('\0', char::MAX)
}

fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(first, last)| ClassUnicodeRange::new(*first, *last)))
}

/// A class written in the syntax of the library, e.g. `\p{Alphabetic}`.
pub(crate) fn written(text: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(text).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            Some(single(text.chars().next()?))
        }
        _ => None,
    }
}

fn property(text: &str) -> ClassUnicode {
    written(text).unwrap_or_else(ClassUnicode::empty)
}

/// Letters of all alphabets, and digits that are not ASCII: collected once.
static ALPHABETIC: LazyLock<ClassUnicode> =
    LazyLock::new(|| property(r"[\p{Alphabetic}\p{Nd}--0-9]"));

static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| property(r"[\p{Alphabetic}\p{Nd}_]"));

/// `[:name:]`, for any alphabet.
pub fn named(name: &[u8]) -> Option<ClassUnicode> {
    Some(match name {
        b"alpha" => ALPHABETIC.clone(),
        b"digit" => range('0', '9'),
        b"alnum" => {
            let mut class = ALPHABETIC.clone();
            class.union(&range('0', '9'));
            class
        }
        b"upper" => property(r"\p{Uppercase}"),
        b"lower" => property(r"\p{Lowercase}"),
        b"space" => of_ranges(&SPACES),
        b"blank" => of_ranges(&BLANKS),
        b"punct" => property(r"[\P{C}--\p{Alphabetic}\p{Nd}\p{Zs}\p{Zl}\p{Zp}]"),
        b"print" => property(r"[\P{C}--\p{Zl}\p{Zp}]"),
        b"graph" => property(r"[\P{C}--\p{Z}]"),
        b"cntrl" => of_ranges(&[('\0', '\x1f'), ('\x7f', '\u{9f}'), ('\u{2028}', '\u{2029}')]),
        b"xdigit" => of_ranges(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return None,
    })
}

/// White space without the blanks that forbid a line break.
const SPACES: [(char, char); 8] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{2006}'),
    ('\u{2008}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

const BLANKS: [(char, char); 7] = [
    ('\t', '\t'),
    (' ', ' '),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{2006}'),
    ('\u{2008}', '\u{200a}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

/// `[:name:]` of ASCII characters alone, as Perl has it.
pub(crate) fn named_ascii(name: &[u8]) -> Option<ClassUnicode> {
    Some(match name {
        b"word" => word_ascii(),
        b"ascii" => range('\0', '\x7f'),
        b"space" => space_ascii(),
        b"alpha" => of_ranges(&[('A', 'Z'), ('a', 'z')]),
        b"digit" => range('0', '9'),
        b"alnum" => of_ranges(&[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        b"upper" => range('A', 'Z'),
        b"lower" => range('a', 'z'),
        b"blank" => of_ranges(&[('\t', '\t'), (' ', ' ')]),
        b"punct" => of_ranges(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        b"print" => range(' ', '~'),
        b"graph" => range('!', '~'),
        b"cntrl" => of_ranges(&[('\0', '\x1f'), ('\x7f', '\x7f')]),
        b"xdigit" => of_ranges(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return None,
    })
}

/// `\w`
pub(crate) fn word() -> ClassUnicode {
    WORD.clone()
}

pub(crate) fn word_ascii() -> ClassUnicode {
    of_ranges(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
}

pub(crate) fn space_ascii() -> ClassUnicode {
    of_ranges(&[('\t', '\r'), (' ', ' ')])
}

/// Is this a character of a word?
pub fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

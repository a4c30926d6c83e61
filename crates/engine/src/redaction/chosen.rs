//! Passwords that people put together from words: `Brave-Otter9`, `maple.Stone77`, `seven llamas drink 12 teas`. They look like
//! names of things, property accesses and prose; where they stand decides how much they must prove.

use super::names::{Name, PASSPHRASE};
use super::values::Makeup;
use super::vocabulary;

/// Words with signs between them, on a line that is plainly data.
pub fn is_joined(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let snake = value.contains(&b'_');
    let cased = makeup.upper > 0 && makeup.lower > 0;
    let bordered = [value.first(), value.last()]
        .iter()
        .all(|byte| byte.is_some_and(u8::is_ascii_alphanumeric));
    value.len() >= 8
        && bordered
        && value.iter().any(|byte| b"-._".contains(byte))
        && makeup.lower > 0
        && (cased || !snake || makeup.digits > 0)
        && is_of_own_words(value)
}

/// `OtterChess`
pub fn is_compound(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    value.len() >= 8
        && makeup.letters() == makeup.length
        && makeup.upper > 0
        && makeup.lower > makeup.upper
        && is_of_own_words(value)
}

/// The same with letters of both cases and a number: code and labels have that rarely.
pub fn is_mixed(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.upper > 0
        && makeup.digits > 0
        && makeup.upper + makeup.digits > 2
        && !value.contains(&b'_')
        && is_joined(value)
}

/// Words that a person has joined in any way, where the name promises a password and the value is in quotes.
pub fn is_chosen(value: &[u8]) -> bool {
    is_joined(value) || is_compound(value) || is_slashed(value)
}

/// A word of its own that a file of properties may give: `swordfish`.
pub fn is_own_word(value: &[u8]) -> bool {
    value.len() >= 8
        && value.iter().all(u8::is_ascii_lowercase)
        && !vocabulary::is_placeholder(value)
}

/// Neither code nor the name of something has this: words with capitals and hyphens between them, or a capital, a number and a
/// line below.
pub fn is_no_name(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let hyphens = value.contains(&b'-') && !value.contains(&b'_') && !value.contains(&b'.');
    let line_below = value.contains(&b'_') && !value.contains(&b'.') && makeup.digits > 0;
    makeup.upper > 0 && makeup.lower > makeup.upper && (hyphens || line_below) && is_joined(value)
}

/// `Heron-Vault-71`: words with capitals of which one may be a word of programs, if the first is none and a number ends it. Nobody
/// calls a thing so where the name promises a password.
pub fn is_titled(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'-');
    let number = parts.next_back().unwrap_or_default();
    let is_own = |word: &[u8]| {
        word.len() > 3
            && !vocabulary::is_of_code(word)
            && !vocabulary::is_of_placeholders(word)
            && !vocabulary::is_of_labels(word)
    };
    let titled = |word: &[u8]| {
        word.len() > 2
            && word.first().is_some_and(u8::is_ascii_uppercase)
            && word.iter().skip(1).all(u8::is_ascii_lowercase)
    };
    let others = parts.clone().filter(|word| !is_own(word)).count();
    (2..6).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && parts.clone().count() > 1
        && parts.clone().all(titled)
        && parts.next().is_some_and(is_own)
        && others < 2
}

/// `quartz/Bison4`: two words with letters of both cases and a number, which paths have rarely.
pub fn is_slashed(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let mut parts = value.split(|byte| *byte == b'/');
    value.len() >= 8
        && parts.clone().count() == 2
        && makeup.upper > 0
        && makeup.lower > 0
        && makeup.digits > 0
        && parts.all(|part| part.len() > 1 && is_of_own_words(part))
        && !vocabulary::is_placeholder(value)
}

/// No word of it is one that code has; without a number few that placeholders have either.
fn is_of_own_words(value: &[u8]) -> bool {
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(byte));
    let version = |part: &[u8]| matches!(part, [b'v' | b'V', digits @ ..] if digits.iter().all(u8::is_ascii_digit));
    if value.split(|byte| b"-._".contains(byte)).any(version) {
        return false;
    }
    let numbered = value.iter().any(u8::is_ascii_digit);
    let words = value.split(|byte| !byte.is_ascii_alphabetic());
    // `dbPassword` has two words.
    let mut words = words
        .flat_map(|word| word.chunk_by(|a, b| a.is_ascii_uppercase() || b.is_ascii_lowercase()))
        .filter(|word| word.len() > 1);
    let jumbled =
        value.len() >= 12 && value.iter().filter(|byte| byte.is_ascii_digit()).count() > 1;
    // `do-not-tell-the-lobster`: some words of placeholders among more that are not.
    let filling = words.clone().filter(|word| vocabulary::is_of_placeholders(word)).count();
    let own = words.clone().filter(|word| word.len() > 3 && !vocabulary::is_of_placeholders(word));
    plain
        && (jumbled || words.clone().any(|word| word.len() > 2))
        && (numbered || filling == 0 || own.count() > filling.max(1))
        && words.all(|word| {
            !vocabulary::is_of_code(word)
                && !vocabulary::is_ending(word)
                && (numbered || !vocabulary::is_of_labels(word))
        })
}

/// A few words, where it is plain that they are a value: `--password='blue bike 77'`.
pub fn is_plain_phrase(value: &[u8]) -> bool {
    let words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    value.len() >= 8
        && words.clone().count() <= 8
        && words.clone().all(|word| !vocabulary::is_of_prose(word) && !vocabulary::is_of_code(word))
}

/// Three words or more in quotes.
pub fn is_phrase(value: &[u8], name: Name) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_punctuation();
    let mut words = value.split(|byte| *byte == b' ');
    let least = if name.kind == PASSPHRASE { 3 } else { 4 };
    let wifi = value.len() >= 8 && value.iter().any(u8::is_ascii_digit);
    let enough = words.clone().count() >= if name.capitals || wifi { 3 } else { least };
    let signs = value.iter().filter(|byte| is_sign(byte)).count();
    (name.kind == PASSPHRASE || name.capitals && name.last)
        && enough
        && value.len() <= 128
        && (name.capitals || signs == 0)
        && signs < 4
        && words.all(|word| {
            let letters: Vec<u8> = word.iter().filter(|byte| !is_sign(byte)).copied().collect();
            !letters.is_empty() && !vocabulary::is_of_prose(&letters)
        })
}

//! The words that are always looked for, and where they may begin.

use super::blocks::{self, Start};
use super::gate::{self, Gate, Letters, Map, Words};
use super::programs::PROGRAMS;
use super::table::{NKEY, NUMBERED, TOKENS};
use super::{Meaning, calls, digests, keyed, lines, literals, names};

/// About as many as there are.
const COUNT: usize = 2048;

pub fn gate() -> Gate<Meaning> {
    Gate::new(&MAP, add_all, COUNT)
}

/// With the sign that follows: the word alone is everywhere.
const DEFAULTS: &[&str] =
    &["default = \"", "default  ", "default: \"", "default\": \"", "default=\""];

const OTHERS: &[(&str, Meaning)] = &[
    ("value", Meaning::Value),
    ("result\": \"", Meaning::Value),
    ("authorization", Meaning::Authorization),
    ("bearer ", Meaning::Scheme),
    ("bearer%20", Meaning::Scheme),
    ("basic ", Meaning::Scheme),
    ("cookie", Meaning::Cookie),
    ("://", Meaning::Address),
];

fn add_all(gate: &mut Words<Meaning>) {
    for token in TOKENS {
        for begin in token.begins {
            gate.add(begin.as_bytes(), Letters::AsWritten, Meaning::Token(token));
        }
    }
    for number in 10..100 {
        // The third letter is that of any third digit; the fourth would be its own.
        let mut begin = literals::to_base64(format!("{number}0").as_bytes());
        begin.truncate(gate::SHORTEST);
        gate.add(begin, Letters::AsWritten, Meaning::Token(&NUMBERED));
    }
    for kind in ["U", "A", "O", "X"] {
        // After the two that say what it is come zeros, so that the fourth letter is one of the first sixteen.
        for letter in 'A'..='P' {
            let begin = format!("S{kind}A{letter}");
            gate.add(begin.into_bytes(), Letters::AsWritten, Meaning::Token(&NKEY));
        }
    }
    for program in PROGRAMS {
        gate.add(program.gate.as_bytes(), Letters::AsWritten, Meaning::Program(program));
    }
    for hint in names::HINTS {
        gate.add(hint.as_bytes(), Letters::AnyCase, Meaning::Name);
    }
    for (word, line) in lines::WORDS {
        gate.add(word.as_bytes(), Letters::AnyCase, Meaning::Line(*line));
    }
    for (word, argument) in calls::CALLS {
        gate.add(word.as_bytes(), Letters::AnyCase, Meaning::Call(*argument));
    }
    for (word, argument) in keyed::KEYED {
        gate.add(word.as_bytes(), Letters::AsWritten, Meaning::Keyed(*argument));
    }
    for (word, start) in blocks::WORDS {
        gate.add(word.as_bytes(), Letters::AsWritten, Meaning::Block(*start));
    }
    for word in digests::HEADINGS {
        gate.add(word.as_bytes(), Letters::AsWritten, Meaning::Block(Start::Digests));
    }
    for word in DEFAULTS {
        gate.add(word.as_bytes(), Letters::AsWritten, Meaning::Value);
    }
    for (word, meaning) in OTHERS {
        gate.add(word.as_bytes(), Letters::AnyCase, meaning.clone());
    }
}

/// The map of all that [`add_all`] adds, made when the crate is built: a process that has nothing to redact makes nothing.
static MAP: Map = {
    let mut map = Map::new();
    add_tokens(&mut map);
    let mut at = 0;
    while at < PROGRAMS.len() {
        map.add(PROGRAMS[at].gate.as_bytes());
        at += 1;
    }
    add_texts(&mut map, names::HINTS);
    add_pairs(&mut map, lines::WORDS);
    add_pairs(&mut map, calls::CALLS);
    add_pairs(&mut map, keyed::KEYED);
    add_pairs(&mut map, blocks::WORDS);
    add_texts(&mut map, digests::HEADINGS);
    add_texts(&mut map, DEFAULTS);
    add_pairs(&mut map, OTHERS);
    map
};

const fn add_tokens(map: &mut Map) {
    let mut at = 0;
    while at < TOKENS.len() {
        add_texts(map, TOKENS[at].begins);
        at += 1;
    }
    let mut number = 10;
    while number < 100 {
        map.add(&base64_of(b'0' + number / 10, b'0' + number % 10));
        number += 1;
    }
    let kinds = b"UAOX";
    let mut kind = 0;
    while kind < kinds.len() {
        let mut letter = b'A';
        while letter <= b'P' {
            map.add(&[b'S', kinds[kind], b'A', letter]);
            letter += 1;
        }
        kind += 1;
    }
}

/// How two digits and any third begin in Base64.
const fn base64_of(first: u8, second: u8) -> [u8; gate::SHORTEST] {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = (first as usize) << 16 | (second as usize) << 8 | b'0' as usize;
    [DIGITS[bits >> 18], DIGITS[bits >> 12 & 63], DIGITS[bits >> 6 & 63]]
}

const fn add_texts(map: &mut Map, texts: &[&str]) {
    let mut at = 0;
    while at < texts.len() {
        map.add(texts[at].as_bytes());
        at += 1;
    }
}

const fn add_pairs<T>(map: &mut Map, pairs: &[(&str, T)]) {
    let mut at = 0;
    while at < pairs.len() {
        map.add(pairs[at].0.as_bytes());
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_that_was_built_is_that_of_the_words() {
        assert!(MAP == gate().map_of_words());
    }
}

//! Where to look: the positions of a text at which one of a few hundred words begins, found at memory speed.
//!
//! Four bytes, folded to 32 classes each, are hashed to one bit of a map of 8 KB, which stays in the nearest cache; it leaves one
//! place in a hundred to look at. An Aho-Corasick automaton of the same words is many times as large, has to be built by every
//! process that starts, and waits for its state after each byte; here a byte waits for a shift, and building costs microseconds.

use std::borrow::Cow;

/// What begins here.
#[derive(Debug, Clone)]
pub struct Word<T> {
    text: Cow<'static, [u8]>,
    letters: Letters,
    pub meaning: T,
    /// The next word in the same row, counted from one; nought: none.
    next: u16,
}

/// Whether upper and lower case are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    AsWritten,
    AnyCase,
}

/// The shortest word that a gate can find.
pub const SHORTEST: usize = 3;

#[derive(Debug, Clone)]
pub struct Gate<T> {
    map: Vec<u64>,
    /// The first word of each row, counted from one. Words are in one row when their first three bytes say so.
    rows: Vec<u16>,
    words: Vec<Word<T>>,
}

impl<T> Gate<T> {
    /// With room for so many words: every process that starts makes one, and each page of memory that it touches takes longer
    /// than to put a hundred words there.
    pub fn with_capacity(words: usize) -> Self {
        Gate { map: vec![0; MAP], rows: vec![0; ROWS], words: Vec::with_capacity(words) }
    }

    /// Words that are too short are left out, and so is what is one too many for a gate.
    pub fn add(&mut self, text: impl Into<Cow<'static, [u8]>>, letters: Letters, meaning: T) {
        let text = text.into();
        let [a, b, c, ..] = *text else { return };
        let triple = triple(a, b, c);
        let Ok(number) = u16::try_from(self.words.len() + 1) else { return };
        let fourth = text.get(3).map_or(0..CLASS_COUNT, |byte| class(*byte)..class(*byte) + 1);
        for fourth in fourth {
            let place = place((triple as u32) << 5 | fourth);
            if let Some(bits) = self.map.get_mut(place / 64) {
                *bits |= 1 << (place % 64);
            }
        }
        if let Some(first) = self.rows.get_mut(row(triple)) {
            let next = std::mem::replace(first, number);
            self.words.push(Word { text, letters, meaning, next });
        }
    }

    /// The first position from `from` and before `limit` at which a word may begin.
    pub fn next(&self, text: &[u8], from: usize, limit: usize) -> Option<usize> {
        let map: &[u64; MAP] = self.map.as_slice().try_into().ok()?;
        let end = limit.saturating_add(SHORTEST).min(text.len());
        let text = text.get(from..end)?;
        let (head, rest) = text.split_at_checked(SHORTEST)?;
        let mut four = head.iter().fold(0, |four, byte| (four << 5) | class(*byte));
        let bit = |four| {
            let place = place(four);
            (map[place / 64] >> (place % 64)) & 1
        };
        for (at, byte) in rest.iter().enumerate() {
            four = (four << 5) | class(*byte);
            if bit(four) != 0 {
                return Some(from + at);
            }
        }
        // The last three bytes of a text have no fourth: as if something followed that no word contains.
        let last = from + rest.len();
        (bit(four << 5) != 0 && last < limit).then_some(last)
    }

    /// The words that really begin here.
    pub fn words<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (&'a T, usize)> + 'a {
        let mut number = match text {
            [a, b, c, ..] => self.rows.get(row(triple(*a, *b, *c))).copied().unwrap_or_default(),
            _ => 0,
        };
        std::iter::from_fn(move || {
            while number != 0 {
                let word = self.words.get(usize::from(number) - 1)?;
                number = word.next;
                let Some(here) = text.get(..word.text.len()) else { continue };
                let same = match word.letters {
                    Letters::AsWritten => here == &*word.text,
                    Letters::AnyCase => here.eq_ignore_ascii_case(&word.text),
                };
                if same {
                    return Some((&word.meaning, word.text.len()));
                }
            }
            None
        })
    }
}

const ROW_BITS: u32 = 11;
const ROWS: usize = 1 << ROW_BITS;
const MAP_BITS: u32 = 16;
const MAP: usize = (1 << MAP_BITS) / 64;
const CLASS_COUNT: u32 = 32;

fn triple(a: u8, b: u8, c: u8) -> usize {
    (class(a) << 10 | class(b) << 5 | class(c)) as usize
}

fn row(triple: usize) -> usize {
    ((triple as u32).wrapping_mul(0x9e37_79b1) >> (32 - ROW_BITS)) as usize
}

/// The place of four bytes in the map. What was before them is shifted out.
fn place(four: u32) -> usize {
    ((four << 12).wrapping_mul(0x9e37_79b1) >> (32 - MAP_BITS)) as usize
}

/// Letters in one case, digits as one; of the rest only what words of ours contain.
fn class(byte: u8) -> u32 {
    u32::from(CLASSES[usize::from(byte)])
}

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            letter @ (b'a'..=b'z' | b'A'..=b'Z') => letter & 31,
            b'0'..=b'9' => 27,
            b'_' | b'-' => 28,
            b':' => 29,
            b'/' => 30,
            b'.' | b'$' | b'=' => 31,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_begin() {
        let mut gate = Gate::with_capacity(3);
        gate.add(&b"ghp_"[..], Letters::AsWritten, 1);
        gate.add(&b"token"[..], Letters::AnyCase, 2);
        gate.add(&b"://"[..], Letters::AsWritten, 3);
        let text = b"GHP_ ghp_x ToKeN http://";
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = gate.next(text, from, text.len()) {
            found.extend(gate.words(&text[at..]).map(|(meaning, length)| (at, *meaning, length)));
            from = at + 1;
        }
        assert_eq!(found, [(5, 1, 4), (11, 2, 5), (21, 3, 3)]);
    }
}

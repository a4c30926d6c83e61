//! Where to look: the positions of a text at which one of a few hundred words begins, found at memory speed.
//!
//! Four bytes, folded to 32 classes each, are hashed to one bit of a map of 8 KB, which stays in the nearest cache; it leaves one
//! place in a hundred to look at. An Aho-Corasick automaton of the same words is many times as large, has to be built by every
//! process that starts, and waits for its state after each byte; here a byte waits for a shift, and building costs microseconds.
//!
//! Most texts are short and have no such place. The map of the words that are always looked for is made when the crate is built,
//! and the words themselves are put in their rows when the first place has to be looked at.

use std::borrow::Cow;
use std::sync::OnceLock;

/// What begins here.
#[derive(Debug, Clone)]
struct Word<T> {
    text: Cow<'static, [u8]>,
    letters: Letters,
    meaning: T,
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

/// Where words may begin. The second half says the same in another way, and is asked about what the first has let through while
/// the words are not there yet: together they are wrong about one place in a hundred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map([u64; MAP], [u64; MAP]);

impl Map {
    pub const fn new() -> Self {
        Map([0; MAP], [0; MAP])
    }

    /// Words that are too short are left out.
    pub const fn add(&mut self, text: &[u8]) {
        let [a, b, c, rest @ ..] = text else { return };
        let triple = (triple(*a, *b, *c) as u32) << 5;
        // Whatever follows a word of three bytes.
        let (mut fourth, end) = match rest {
            [] => (0, CLASS_COUNT),
            [byte, ..] => (class(*byte), class(*byte) + 1),
        };
        while fourth < end {
            let (first, second) = (place(triple | fourth), other_place(triple | fourth));
            self.0[first / 64] |= 1 << (first % 64);
            self.1[second / 64] |= 1 << (second % 64);
            fourth += 1;
        }
    }

    /// Whether a word may begin with these bytes, by the second half.
    fn may_begin(&self, text: &[u8]) -> bool {
        let [a, b, c, rest @ ..] = text else { return false };
        let fourth = rest.first().map_or(0, |byte| class(*byte));
        let place = other_place((triple(*a, *b, *c) as u32) << 5 | fourth);
        (self.1[place / 64] >> (place % 64)) & 1 != 0
    }
}

/// Words by how they begin.
#[derive(Debug, Clone)]
pub struct Words<T> {
    /// The first word of each row, counted from one. Words are in one row when their first three bytes say so.
    rows: Vec<u16>,
    words: Vec<Word<T>>,
}

impl<T> Words<T> {
    /// With room for so many words: each page of memory that is touched takes longer than to put a hundred words there.
    fn with_capacity(words: usize) -> Self {
        Words { rows: vec![0; ROWS], words: Vec::with_capacity(words) }
    }

    /// Words that are too short are left out, and so is what is one too many for a gate.
    pub fn add(&mut self, text: impl Into<Cow<'static, [u8]>>, letters: Letters, meaning: T) {
        let text = text.into();
        let [a, b, c, ..] = *text else { return };
        let Ok(number) = u16::try_from(self.words.len() + 1) else { return };
        if let Some(first) = self.rows.get_mut(row(triple(a, b, c))) {
            let next = std::mem::replace(first, number);
            self.words.push(Word { text, letters, meaning, next });
        }
    }
}

/// A word that was added to those that are always looked for.
type Added<T> = (Vec<u8>, Letters, T);

#[derive(Debug, Clone)]
pub struct Gate<T: 'static> {
    map: Cow<'static, Map>,
    /// Those that are always looked for, and about how many they are.
    always: (fn(&mut Words<T>), usize),
    added: Vec<Added<T>>,
    words: OnceLock<Words<T>>,
}

impl<T: Clone> Gate<T> {
    /// The words that `always` adds have this map.
    pub const fn new(map: &'static Map, always: fn(&mut Words<T>), count: usize) -> Self {
        let map = Cow::Borrowed(map);
        Gate { map, always: (always, count), added: Vec::new(), words: OnceLock::new() }
    }

    pub fn add(&mut self, text: Vec<u8>, letters: Letters, meaning: T) {
        self.map.to_mut().add(&text);
        self.added.push((text, letters, meaning));
        self.words = OnceLock::new();
    }

    /// The first position from `from` and before `limit` at which a word may begin.
    pub fn next(&self, text: &[u8], from: usize, limit: usize) -> Option<usize> {
        let Map(map, _) = &*self.map;
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
        let known = self.words.get();
        let all = known.or_else(|| {
            self.map.may_begin(text).then(|| self.words.get_or_init(|| self.in_rows()))
        });
        let mut number = match (all, text) {
            (Some(all), [a, b, c, ..]) => {
                all.rows.get(row(triple(*a, *b, *c))).copied().unwrap_or_default()
            }
            _ => 0,
        };
        std::iter::from_fn(move || {
            let all = all?;
            while number != 0 {
                let word = all.words.get(usize::from(number) - 1)?;
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

    fn in_rows(&self) -> Words<T> {
        let (always, count) = self.always;
        let mut words = Words::with_capacity(count + self.added.len());
        always(&mut words);
        for (text, letters, meaning) in &self.added {
            words.add(text.clone(), *letters, meaning.clone());
        }
        words
    }

    /// The map that the words have.
    #[cfg(test)]
    pub fn map_of_words(&self) -> Map {
        let mut map = Map::new();
        self.in_rows().words.iter().for_each(|word| map.add(&word.text));
        map
    }
}

const ROW_BITS: u32 = 11;
const ROWS: usize = 1 << ROW_BITS;
const MAP_BITS: u32 = 16;
const MAP: usize = (1 << MAP_BITS) / 64;
const CLASS_COUNT: u32 = 32;

const fn triple(a: u8, b: u8, c: u8) -> usize {
    (class(a) << 10 | class(b) << 5 | class(c)) as usize
}

fn row(triple: usize) -> usize {
    ((triple as u32).wrapping_mul(0x9e37_79b1) >> (32 - ROW_BITS)) as usize
}

/// The place of four bytes in the map. What was before them is shifted out.
const fn place(four: u32) -> usize {
    ((four << 12).wrapping_mul(0x9e37_79b1) >> (32 - MAP_BITS)) as usize
}

/// The same in the second half of a map, mixed otherwise.
const fn other_place(four: u32) -> usize {
    ((four << 12).wrapping_mul(0x85eb_ca77) >> (32 - MAP_BITS)) as usize
}

/// Letters in one case, digits as one; of the rest only what words of ours contain.
const fn class(byte: u8) -> u32 {
    CLASSES[byte as usize] as u32
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
        static MAP: Map = {
            let mut map = Map::new();
            map.add(b"ghp_");
            map
        };
        let always = |words: &mut Words<_>| words.add(&b"ghp_"[..], Letters::AsWritten, 1);
        let mut gate = Gate::new(&MAP, always, 1);
        gate.add(b"token".to_vec(), Letters::AnyCase, 2);
        gate.add(b"://".to_vec(), Letters::AsWritten, 3);
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

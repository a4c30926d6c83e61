//! What a token looks like: texts and runs of characters, taken greedily from left to right. There is nothing to go
//! back to, so matching is linear whatever the input is.

/// A set of bytes.
pub type Set = u16;

pub const LOWER: Set = 1;
pub const UPPER: Set = 2;
pub const DIGIT: Set = 4;
const LOW_HEX: Set = 8;
const HIGH_HEX: Set = 16;
pub const UNDERLINE: Set = 32;
pub const DASH: Set = 64;
const PLUS_SLASH: Set = 128;
pub const EQUALS: Set = 256;
pub const POINT: Set = 512;
pub const TILDE: Set = 1024;
pub const PERCENT: Set = 2048;
pub const COLON: Set = 4096;

pub const LETTER: Set = LOWER | UPPER;
pub const ALNUM: Set = LETTER | DIGIT;
pub const HEX: Set = DIGIT | LOW_HEX;
pub const ANY_HEX: Set = HEX | HIGH_HEX;
pub const UPNUM: Set = UPPER | DIGIT;
pub const LOWNUM: Set = LOWER | DIGIT;
pub const WORD: Set = ALNUM | UNDERLINE;
/// Base64 for names in URLs.
pub const SAFE: Set = WORD | DASH;
pub const BASE: Set = ALNUM | PLUS_SLASH;
pub const BASE_PADDED: Set = BASE | EQUALS;
pub const UUID: Set = ANY_HEX | DASH;

#[derive(Debug, Clone, Copy)]
pub enum Part {
    Text(&'static str),
    /// One of these.
    Either(&'static [&'static str]),
    /// So many of these at least and at most.
    Run(Set, u16, u16),
    /// A text that may be missing.
    Maybe(&'static str),
}

pub fn is(byte: u8, set: Set) -> bool {
    SETS[usize::from(byte)] & set != 0
}

/// Where the shape ends that begins at `at`. A run that goes on beyond its greatest length is no match: it is something else.
pub fn end(shape: &[Part], text: &[u8], mut at: usize) -> Option<usize> {
    for (number, part) in shape.iter().enumerate() {
        let rest = text.get(at..)?;
        at += match part {
            Part::Text(wanted) => rest.starts_with(wanted.as_bytes()).then_some(wanted.len())?,
            Part::Either(all) => {
                all.iter().find(|one| rest.starts_with(one.as_bytes())).map(|one| one.len())?
            }
            Part::Maybe(text) => {
                if rest.starts_with(text.as_bytes()) {
                    text.len()
                } else {
                    0
                }
            }
            Part::Run(set, least, most) => {
                let most = usize::from(*most);
                let length = rest.iter().take(most + 1).take_while(|byte| is(**byte, *set)).count();
                let last = number + 1 == shape.len();
                if length < usize::from(*least) || (last && length > most) {
                    return None;
                }
                length.min(most)
            }
        };
    }
    Some(at)
}

const SETS: [Set; 256] = {
    let mut sets = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        sets[byte] = match byte as u8 {
            b'a'..=b'f' => LOWER | LOW_HEX,
            b'g'..=b'z' => LOWER,
            b'A'..=b'F' => UPPER | HIGH_HEX,
            b'G'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERLINE,
            b'-' => DASH,
            b'+' | b'/' => PLUS_SLASH,
            b'=' => EQUALS,
            b'.' => POINT,
            b'~' => TILDE,
            b'%' => PERCENT,
            b':' => COLON,
            _ => 0,
        };
        byte += 1;
    }
    sets
};

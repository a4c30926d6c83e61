//! Which requests a block of records can have, in a few kilobytes: so that a search passes over blocks that cannot.
//!
//! An outline has the time of the earliest request, and a Bloom filter of all that stands in three or four bytes side by side,
//! in lower case, in the commands of a block. It says "perhaps" or "certainly not", and is made once, when nothing can come
//! into its block any more. An index of every word would be as large as the commands, and be written with each of them. Three
//! bytes alone would tell too little: of what is random in commands, a block soon has them all.
//!
//! A search finds exactly what it would find without: `LIKE` of `SQLite` knows the two cases of ASCII, and reads what is no
//! UTF-8 in ways of its own. So a block with a command that is none says "perhaps" to everything that is not plain ASCII.

use super::entry::Moment;

/// Records of one block.
pub(super) const BLOCK: u64 = 4096;

/// The first byte of an outline: how it was made.
const VERSION: u8 = 1;

/// The second one: a command in the block is no UTF-8.
const FOREIGN: u8 = 1;

/// In front of the filter: how it was made, what is special, the earliest moment.
const HEADER: usize = 2 + 8;

/// Each of what stands side by side is marked at so many places.
const PLACES: u64 = 3;

/// Bytes of a filter: a power of two, as few as leave half of the bits free.
const MOST: usize = 128 << 10;
const LEAST: usize = 8;

/// Blocks into which nothing can come any more, if this is the last record.
pub(super) fn complete(head: u64) -> u64 {
    head.saturating_add(1) / BLOCK
}

/// What an outline is made of, while the requests of a block are looked at.
pub(super) struct Sketch {
    earliest: Moment,
    foreign: bool,
    /// The filter in its greatest size: folded when it is known how much it has to hold.
    filter: Vec<u8>,
}

impl Sketch {
    pub(super) fn new() -> Self {
        Sketch { earliest: Moment::MAX, foreign: false, filter: vec![0; MOST] }
    }

    pub(super) fn add(&mut self, command: &[u8], started: Moment) {
        self.earliest = self.earliest.min(started);
        self.foreign |= std::str::from_utf8(command).is_err();
        for piece in pieces(command) {
            for (byte, bit) in places(piece, MOST) {
                if let Some(byte) = self.filter.get_mut(byte) {
                    *byte |= bit;
                }
            }
        }
    }

    /// The outline of what was added, to the byte the same whoever makes it. Nothing is left then.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let filter = folded(std::mem::replace(&mut self.filter, vec![0; MOST]));
        let mut outline = Vec::with_capacity(HEADER + filter.len());
        outline.extend([VERSION, if self.foreign { FOREIGN } else { 0 }]);
        outline.extend(self.earliest.to_be_bytes());
        outline.extend(filter);
        (self.foreign, self.earliest) = (false, Moment::MAX);
        outline
    }
}

/// What is marked at a place of the whole is marked at the same place of its half, counted round.
fn folded(mut filter: Vec<u8>) -> Vec<u8> {
    while filter.len() > LEAST {
        let (low, high) = filter.split_at(filter.len() / 2);
        let half: Vec<u8> = low.iter().zip(high).map(|(one, other)| one | other).collect();
        let marked: usize = half.iter().map(|byte| byte.count_ones() as usize).sum();
        if marked > half.len() * 4 {
            break;
        }
        filter = half;
    }
    filter
}

/// What a request must have to be found.
#[derive(Debug)]
pub(super) struct Wanted {
    /// It began before this.
    until: Option<Moment>,
    /// All of these are in its command.
    plain: Vec<Piece>,
    /// And these, unless a command is no UTF-8.
    other: Vec<Piece>,
}

impl Wanted {
    /// `None`: no outline could tell.
    pub(super) fn new(text: &str, until: Option<Moment>) -> Option<Self> {
        // For `LIKE` a text ends there.
        let text = text.split('\0').next().unwrap_or_default();
        let (plain, other): (Vec<_>, Vec<_>) =
            pieces(text.as_bytes()).partition(|piece| is_plain(*piece));
        // What is no character is read as one of these.
        let replaced = text.contains(['\u{fffd}', '\u{fffe}', '\u{ffff}']);
        let other = if replaced { Vec::new() } else { other };
        let tells = until.is_some() || !plain.is_empty() || !other.is_empty();
        tells.then_some(Wanted { until, plain, other })
    }

    /// May it be in the block with this outline? One that cannot be read says yes.
    pub(super) fn may_be_in(&self, outline: &[u8]) -> bool {
        let Some(([VERSION, flags], rest)) = outline.split_first_chunk::<2>() else { return true };
        let Some((earliest, filter)) = rest.split_first_chunk::<8>() else { return true };
        if !filter.len().is_power_of_two() {
            return true;
        }
        if self.until.is_some_and(|until| Moment::from_be_bytes(*earliest) >= until) {
            return false;
        }
        let has = |piece: &Piece| {
            places(*piece, filter.len())
                .all(|(byte, bit)| filter.get(byte).is_none_or(|it| it & bit != 0))
        };
        let foreign = flags & FOREIGN != 0;
        self.plain.iter().all(has) && (foreign || self.other.iter().all(has))
    }
}

/// Three or four bytes side by side, and above them how many.
type Piece = u64;

fn pieces(text: &[u8]) -> impl Iterator<Item = Piece> {
    [3, 4].into_iter().flat_map(|length| {
        text.windows(length).map(move |window| {
            let lower = window.iter().map(|byte| u64::from(byte.to_ascii_lowercase()));
            lower.fold(length as u64, |piece, byte| piece << 8 | byte)
        })
    })
}

fn is_plain(piece: Piece) -> bool {
    piece & 0x80_80_80_80 == 0
}

/// Where it is marked in so many bytes, which are a power of two.
fn places(piece: Piece, length: usize) -> impl Iterator<Item = (usize, u8)> {
    let mixed = mixed(piece);
    (0..PLACES).map(move |turn| {
        let place = mixed >> (turn * 21);
        (place as usize >> 3 & (length - 1), 1 << (place & 7))
    })
}

/// Spreads numbers that are alike (the last steps of `splitmix64`).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(commands: &[&[u8]]) -> Vec<u8> {
        let mut sketch = Sketch::new();
        for command in commands {
            sketch.add(command, 7);
        }
        sketch.take()
    }

    fn may(text: &str, commands: &[&[u8]]) -> bool {
        Wanted::new(text, None).is_none_or(|wanted| wanted.may_be_in(&outline(commands)))
    }

    #[test]
    fn what_is_there_is_never_passed_over() {
        let commands: [&[u8]; 3] = [b"Grep -rn 'x_1%' src", "größe \u{1f600}".as_bytes(), b"ls"];
        for text in ["", "l", "ls", "GREP", "x_1%", "größe", "RÖSSE", "\u{1f600}", "p -r"] {
            let there = ["", "l", "ls", "GREP", "x_1%", "größe", "\u{1f600}", "p -r"];
            assert!(may(text, &commands) || !there.contains(&text), "{text}");
        }
        for text in ["nowhere", "grepp", "größer", "lss"] {
            assert!(!may(text, &commands), "{text}");
        }
    }

    /// What is no UTF-8 is read by `LIKE` as characters that nobody has written.
    #[test]
    fn what_is_no_text_is_looked_into() {
        let commands: [&[u8]; 1] = [b"echo \xa0\xe0\x83\xb6"];
        assert!(may("\u{a0}\u{f6}", &commands) && may("o \u{a0}", &commands));
        assert!(!may("nowhere", &commands) && !may("nowhere \u{a0}", &commands));
        assert!(may("\u{fffd}\u{fffd}", &[b"plain"]));
        assert!(may("lai\0nowhere", &[b"plain"]));
    }

    #[test]
    fn what_began_too_late_is_passed_over() {
        let outline = outline(&[b"ls"]);
        for (until, may) in [(7, false), (8, true), (Moment::MIN, false)] {
            let wanted = Wanted::new("", Some(until)).expect("it tells");
            assert_eq!(wanted.may_be_in(&outline), may, "{until}");
        }
        assert!(Wanted::new("ls", None).is_none());
    }

    /// These bytes are in databases, and compared with what is made anew.
    #[test]
    fn an_outline_stays_what_it_is() {
        assert_eq!(outline(&[b"ls -l"]), outline(&[b"LS -L", b"ls -l"]));
        let empty = [&[1, 0, 127][..], &[255; 7], &[0; 8]].concat();
        assert_eq!(outline(&[]), empty);
        assert_eq!(outline(&[b"\xff"]), [&[1, 1][..], &7_u64.to_be_bytes(), &[0; 8]].concat());
        let digest = crate::audit::hex(&super::super::chain::sha256(&outline(&[b"echo hello"])));
        assert_eq!(digest, "922795ca9efbd5398295df17e81a1de99ae8741b0174c29942d920d75f30f44f");
        let mut used = Sketch::new();
        used.add(b"something else \xff", -5);
        used.take();
        used.add(b"echo hello", 7);
        assert_eq!(used.take(), outline(&[b"echo hello"]));
    }

    #[test]
    fn few_are_taken_for_there_that_are_not() {
        let commands: Vec<String> =
            (0..4096).map(|n| format!("{:x}", mixed(n) & 0xffff_ffff_ffff)).collect();
        let commands: Vec<&[u8]> = commands.iter().map(String::as_bytes).collect();
        let outline = outline(&commands);
        let wanted = |n: u64| Wanted::new(&format!("{}{}{}", g(n), g(n / 16), g(n / 256)), None);
        let wrong = (0..4096).filter_map(wanted).filter(|wanted| wanted.may_be_in(&outline));
        let wrong = wrong.count();
        assert!(wrong < 4096 / 20, "{wrong}");
    }

    /// A letter that is no hexadecimal digit.
    fn g(number: u64) -> char {
        char::from(b'g' + (number % 16) as u8)
    }
}

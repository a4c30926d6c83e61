//! Entries as bytes: length, checksum, content. What is torn at the end is not there.

use super::entry::Entry;

/// Length and checksum, four bytes each.
const FRAME: usize = 8;

/// Entries that can be read, and where the last good one ends.
pub(crate) struct Decoded {
    pub entries: Vec<Entry>,
    pub good: usize,
}

/// `None` for what is too large for its length to be written down.
pub(crate) fn encode(entries: &[Entry]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(entries.len() * 64);
    for entry in entries {
        let content = postcard::to_stdvec(entry).ok()?;
        bytes.extend(u32::try_from(content.len()).ok()?.to_le_bytes());
        bytes.extend(checksum(&content).to_le_bytes());
        bytes.extend(content);
    }
    Some(bytes)
}

pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let mut decoded = Decoded { entries: Vec::new(), good: 0 };
    while let Some((entry, length)) = bytes.get(decoded.good..).and_then(first) {
        decoded.entries.push(entry);
        decoded.good += length;
    }
    decoded
}

fn first(bytes: &[u8]) -> Option<(Entry, usize)> {
    let length = u32::from_le_bytes(bytes.first_chunk().copied()?) as usize;
    let sum = u32::from_le_bytes(bytes.get(4..)?.first_chunk().copied()?);
    let content = bytes.get(FRAME..FRAME.checked_add(length)?)?;
    // A file that was made longer and never written is all zeros, and so would be the checksum of nothing.
    if length == 0 || checksum(content) != sum {
        return None;
    }
    Some((postcard::from_bytes(content).ok()?, FRAME + length))
}

/// CRC-32C.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let index = (sum ^ u32::from(*byte)) & 0xff;
        TABLE.get(index as usize).copied().unwrap_or(0) ^ (sum >> 8)
    };
    !bytes.iter().fold(!0, step)
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0x82f6_3b78 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Phase, Step};
    use super::*;
    use crate::facts::Time;
    use crate::record::Numbered;

    fn entries() -> Vec<Entry> {
        let path = bstr::BString::from(b"a\n\xff/b");
        vec![
            Entry::Step(Numbered { number: 7, step: Step::Create { path } }),
            Entry::Phase { phase: Phase::Applied, time: Time { seconds: -1, nanos: 999_999_999 } },
        ]
    }

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xe306_9283);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn whatever_is_torn_or_flipped_ends_the_record() {
        let bytes = encode(&entries()).unwrap();
        assert_eq!(decode(&bytes).entries, entries());
        for length in 0..bytes.len() {
            let decoded = decode(&bytes[..length]);
            assert!(decoded.entries.len() < 2 && decoded.good <= length);
            assert!(entries().starts_with(&decoded.entries));
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let decoded = decode(&flipped).entries;
                assert!(decoded.len() < 2 && entries().starts_with(&decoded), "{at} {bit}");
            }
        }
        assert!(decode(&[0; 64]).entries.is_empty());
    }
}

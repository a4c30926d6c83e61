//! What is kept of a stream of output: short ones within the record, longer ones compressed beside it.

use bstr::BString;

use super::chain::sha256;
use super::entry::{Kept, Output};

/// A stream up to this length stands in its record; of a longer one, half of this from either end.
pub const INLINE: usize = 2 << 10;

/// More than this is never unpacked.
const LONGEST: usize = 256 << 20;

/// A stream as it was captured.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// What is left of it: the whole, or head and tail with a mark between.
    pub bytes: Vec<u8>,
    /// Bytes that were written.
    pub total: u64,
    /// Nothing is missing in `bytes`.
    pub whole: bool,
}

impl Captured {
    pub fn whole(bytes: Vec<u8>) -> Self {
        Captured { total: bytes.len() as u64, whole: true, bytes }
    }
}

/// What goes into the record, and what beside it.
pub fn split(captured: Captured) -> (Output, Option<Vec<u8>>) {
    let Captured { bytes, total, whole } = captured;
    if whole && bytes.len() <= INLINE {
        let output = Output { total, head: bytes.into(), ..Output::default() };
        return (output, None);
    }
    let compressed = lz4_flex::block::compress_prepend_size(&bytes);
    let kept = Kept { digest: sha256(&compressed), length: bytes.len() as u64, whole };
    let half = (INLINE / 2).min(bytes.len());
    let head: BString = bytes.get(..half).unwrap_or_default().into();
    let tail: BString = bytes.get(bytes.len() - half..).unwrap_or_default().into();
    (Output { total, head, tail, kept: Some(kept) }, Some(compressed))
}

/// The content again. `None`: it is not what was put in.
pub fn unpacked(compressed: &[u8], kept: &Kept) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(*compressed.first_chunk()?) as usize;
    if length as u64 != kept.length || length > LONGEST || sha256(compressed) != kept.digest {
        return None;
    }
    lz4_flex::block::decompress_size_prepended(compressed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_stays_in_the_record() {
        let (output, beside) = split(Captured::whole(b"hi\n".to_vec()));
        assert_eq!((output.head.as_slice(), output.total, beside), (&b"hi\n"[..], 3, None));
        assert_eq!((output.tail.len(), output.kept), (0, None));
    }

    #[test]
    fn long_output_is_beside_it_and_comes_back() {
        let text: Vec<u8> = (0..9_000_u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let (output, beside) = split(Captured::whole(text.clone()));
        let (kept, mut beside) = (output.kept.expect("kept"), beside.expect("beside"));
        assert!(output.head.starts_with(b"0\n1\n") && output.tail.ends_with(b"8999\n"));
        assert!(beside.len() < text.len());
        assert_eq!(unpacked(&beside, &kept), Some(text));
        beside[20] ^= 1;
        assert_eq!(unpacked(&beside, &kept), None);
        assert_eq!(unpacked(b"", &kept), None);
    }
}

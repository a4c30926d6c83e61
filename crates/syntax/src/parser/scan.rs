//! Which bytes end a run of plain text in which surroundings, and how such a run is read in bulk.

use super::cursor::Reader;
use super::parts::Parts;

pub(super) type ByteSet = [bool; 256];

const fn byte_set(bytes: &[u8]) -> ByteSet {
    let mut set = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        set[bytes[index] as usize] = true;
        index += 1;
    }
    set
}

/// What ends an unquoted word, and what is special inside one.
pub(super) static WORD_STOPS: ByteSet = byte_set(b" \t\n|&;()<>\\'\"$`{~");
pub(super) static DOUBLE_QUOTE_STOPS: ByteSet = byte_set(b"\"\\$`");
pub(super) static DOCUMENT_STOPS: ByteSet = byte_set(b"\\$`");
/// Inside `${x:-…}`, `${x#…}` and the like.
pub(super) static PARAMETER_WORD_STOPS: ByteSet = byte_set(b"}/\\'\"$`<>");
/// Inside parentheses that belong to a pattern or a regular expression.
pub(super) static GROUP_STOPS: ByteSet = byte_set(b"()\\'\"$`");
pub(super) static SUBSCRIPT_STOPS: ByteSet = byte_set(b"[]\\'\"$`");
pub(super) static BRACED_SUBSCRIPT_STOPS: ByteSet = byte_set(b"[]}\\'\"$`");
pub(super) static ARITHMETIC_STOPS: ByteSet = byte_set(b"()[];:?}\\'\"$`");
/// What separates words wherever it stands unquoted.
pub(super) static METACHARACTERS: ByteSet = byte_set(b" \t\n|&;()<>");

pub(super) fn contains(set: &ByteSet, byte: u8) -> bool {
    set.get(usize::from(byte)).copied().unwrap_or(false)
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Reader<'_, '_> {
    /// Reads plain text up to the next byte of `stops` into `parts`, and returns that byte without consuming
    /// it. Line continuations vanish here.
    pub fn literal_run(&mut self, stops: &ByteSet, parts: &mut Parts) -> Option<u8> {
        loop {
            let rest = self.input.rest();
            let length = rest.iter().position(|byte| contains(stops, *byte)).unwrap_or(rest.len());
            let plain = rest.get(..length).unwrap_or_default();
            parts.literal(plain);
            self.input.position += length;
            let stop = self.input.byte_at(self.input.position)?;
            if stop != b'\\' || self.input.byte_at(self.input.position + 1) != Some(b'\n') {
                return Some(stop);
            }
            self.input.position += 2;
        }
    }

    /// Consumes one byte as plain text.
    pub fn literal_byte(&mut self, byte: u8, parts: &mut Parts) {
        self.bump();
        parts.literal(&[byte]);
    }
}

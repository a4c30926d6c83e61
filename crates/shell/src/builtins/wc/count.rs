//! Counting one input: only as carefully as the wanted columns need.

use std::io::{self, SeekFrom};
use std::sync::Arc;

use memchr::memchr_iter;

use crate::filesystem::OpenFile;
use crate::lines::LineReader;
use crate::width;

/// Which columns are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Columns {
    pub lines: bool,
    pub words: bool,
    pub characters: bool,
    pub bytes: bool,
    pub longest: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub lines: u64,
    pub words: u64,
    pub characters: u64,
    pub bytes: u64,
    pub longest: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.words += other.words;
        self.characters += other.characters;
        self.bytes += other.bytes;
        self.longest = self.longest.max(other.longest);
    }
}

/// Counts up to the end or the first error; what was counted before an error stands.
pub fn count(
    file: &Arc<dyn OpenFile>,
    reader: &mut LineReader,
    columns: Columns,
) -> (Counts, io::Result<()>) {
    let careful = columns.words || columns.characters || columns.longest;
    if !careful
        && !columns.lines
        && let Some(bytes) = remaining(file)
    {
        return (Counts { bytes, ..Counts::default() }, Ok(()));
    }
    let mut text = Text::default();
    let result = loop {
        match reader.next_chunk() {
            Ok(None) => break Ok(()),
            Ok(Some(chunk)) if careful => text.add(chunk, columns.longest),
            Ok(Some(chunk)) => {
                text.counts.bytes += chunk.len() as u64;
                if columns.lines {
                    text.counts.lines += memchr_iter(b'\n', chunk).count() as u64;
                }
            }
            Err(error) => break Err(error),
        }
    };
    (text.finish(), result)
}

/// Bytes of a regular file from its offset on, without reading them. Files of size 0 are read: some that
/// claim it (in /proc) are not empty.
fn remaining(file: &Arc<dyn OpenFile>) -> Option<u64> {
    let metadata = file.metadata().ok().filter(|data| data.is_file() && data.size > 0)?;
    let position = file.seek(SeekFrom::Current(0)).ok()?;
    let left = metadata.size.checked_sub(position)?;
    file.seek(SeekFrom::Start(metadata.size)).ok()?;
    Some(left)
}

/// What a character is to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Part of a word.
    Printable,
    Separator,
    /// Neither begins nor ends one.
    Nothing,
}

const ASCII: [Role; 128] = {
    let mut roles = [Role::Nothing; 128];
    let mut byte = 0;
    while byte < 128 {
        roles[byte] = match byte as u8 {
            b' ' | 9..=13 => Role::Separator,
            33..=126 => Role::Printable,
            _ => Role::Nothing,
        };
        byte += 1;
    }
    roles
};

#[derive(Default)]
struct Text {
    counts: Counts,
    in_word: bool,
    column: u64,
    /// The beginning of a character whose rest is in the next chunk.
    carried: Vec<u8>,
}

impl Text {
    fn add(&mut self, chunk: &[u8], longest: bool) {
        self.counts.bytes += chunk.len() as u64;
        if !self.carried.is_empty() {
            let mut joined = std::mem::take(&mut self.carried);
            joined.extend_from_slice(chunk);
            return self.scan(&joined, longest);
        }
        self.scan(chunk, longest);
    }

    fn scan(&mut self, mut text: &[u8], longest: bool) {
        while let Some(&byte) = text.first() {
            if byte < 128 {
                let length = text.iter().position(|&byte| byte >= 128).unwrap_or(text.len());
                let (ascii, rest) = text.split_at(length);
                self.scan_ascii(ascii, longest);
                text = rest;
                continue;
            }
            if is_unfinished(text) {
                self.carried = text.to_vec();
                return;
            }
            let (character, length) = bstr::decode_utf8(text);
            if let Some(character) = character {
                self.add_character(character);
            }
            text = text.get(length..).unwrap_or_default();
        }
    }

    fn scan_ascii(&mut self, text: &[u8], longest: bool) {
        self.counts.characters += text.len() as u64;
        self.counts.lines += memchr_iter(b'\n', text).count() as u64;
        let mut in_word = self.in_word;
        let mut words = 0;
        for &byte in text {
            match ASCII.get(byte as usize) {
                Some(Role::Separator) => in_word = false,
                Some(Role::Printable) => {
                    words += u64::from(!in_word);
                    in_word = true;
                }
                _ => {}
            }
        }
        self.in_word = in_word;
        self.counts.words += words;
        if longest {
            for &byte in text {
                self.advance(byte);
            }
        }
    }

    /// Moves the column that `-L` measures.
    fn advance(&mut self, byte: u8) {
        match byte {
            b'\n' | b'\r' | 12 => {
                self.counts.longest = self.counts.longest.max(self.column);
                self.column = 0;
            }
            b'\t' => self.column += 8 - self.column % 8,
            b' '..=b'~' => self.column += 1,
            _ => {}
        }
    }

    fn add_character(&mut self, character: char) {
        self.counts.characters += 1;
        let Some(columns) = width::columns(character) else { return };
        self.column += columns as u64;
        if character.is_whitespace() || character == '\u{2060}' {
            self.in_word = false;
        } else {
            self.counts.words += u64::from(!self.in_word);
            self.in_word = true;
        }
    }

    fn finish(mut self) -> Counts {
        self.counts.longest = self.counts.longest.max(self.column);
        self.counts
    }
}

/// Is this the beginning of a character that may go on in the next chunk?
fn is_unfinished(text: &[u8]) -> bool {
    text.len() < 4
        && std::str::from_utf8(text)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(chunks: &[&[u8]]) -> Counts {
        let mut text = Text::default();
        for chunk in chunks {
            text.add(chunk, true);
        }
        text.finish()
    }

    #[test]
    fn words_and_characters() {
        let counts = counts(&[b"\x01 a\xc3\xa9b \xff\xfe x\ty\n"]);
        let expected = Counts { lines: 1, words: 3, characters: 11, bytes: 14, longest: 9 };
        assert_eq!(counts, expected);
    }

    #[test]
    fn characters_cut_by_chunks() {
        let whole = counts(&["a日本\u{2003}b".as_bytes()]);
        let bytes = "a日本\u{2003}b".as_bytes();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(counts(&single), whole);
        assert_eq!((whole.words, whole.characters, whole.longest), (2, 5, 7));
    }
}

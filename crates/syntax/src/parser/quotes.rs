//! `'…'`, `"…"`, `$'…'` and `$"…"`.

use bstr::{BString, ByteSlice};

use super::Parsed;
use super::cursor::Reader;
use super::dollar::Quoting;
use super::parts::Parts;
use super::scan::DOUBLE_QUOTE_STOPS;
use crate::ast::WordPart;

impl Reader<'_, '_> {
    /// `'…'` at the position.
    pub fn single_quoted(&mut self) -> Parsed<BString> {
        let mark = self.mark();
        self.bump();
        let start = self.input.position;
        let Some(length) = self.input.rest().find_byte(b'\'') else {
            return self.unclosed('\'', mark);
        };
        let text = BString::from(self.input.slice(start, start + length));
        self.input.position = start + length + 1;
        Ok(text)
    }

    /// `"…"` at the position.
    pub fn double_quoted(&mut self) -> Parsed<Vec<WordPart>> {
        self.nested(|reader| {
            let mark = reader.mark();
            reader.bump();
            let mut parts = Parts::default();
            loop {
                match reader.literal_run(&DOUBLE_QUOTE_STOPS, &mut parts) {
                    None => return reader.unclosed('"', mark),
                    Some(b'"') => {
                        reader.bump();
                        return Ok(parts.into_vec());
                    }
                    Some(b'\\') => reader.quoted_backslash(&mut parts, b"$`\"\\"),
                    Some(b'$') => reader.dollar(&mut parts, Quoting::Double)?,
                    Some(_) => reader.backquoted(&mut parts, Quoting::Double)?,
                }
            }
        })
    }

    /// A backslash inside double quotes or the like: it goes only before one of `special`.
    pub fn quoted_backslash(&mut self, parts: &mut Parts, special: &[u8]) {
        self.bump();
        match self.input.byte_at(self.input.position) {
            Some(next) if special.contains(&next) => self.literal_byte(next, parts),
            _ => parts.literal(b"\\"),
        }
    }

    /// `\'` where single quotes are text but come in pairs: both bytes are, and this quote needs no partner.
    pub fn escaped_quote(&mut self, parts: &mut Parts) -> bool {
        let found = self.input.byte_at(self.input.position + 1) == Some(b'\'');
        if found {
            self.literal_byte(b'\\', parts);
            self.literal_byte(b'\'', parts);
        }
        found
    }

    /// `$'…'`; the position is at the quote.
    pub fn ansi_quoted(&mut self) -> Parsed<BString> {
        let mark = self.mark();
        self.bump();
        let start = self.input.position;
        let mut position = start;
        loop {
            match self.input.byte_at(position) {
                None => return self.unclosed('\'', mark),
                Some(b'\'') => break,
                Some(b'\\') => position += 2,
                Some(_) => position += 1,
            }
        }
        let text = decode_ansi(self.input.slice(start, position));
        self.input.position = position + 1;
        Ok(text)
    }
}

/// The inside of `$'…'`, with its escapes decoded. Like a C string it ends at the first NUL.
pub fn decode_ansi(text: &[u8]) -> BString {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            decoded.push(*byte);
            continue;
        }
        let length = decoded.len();
        let remaining = rest.len();
        rest = decode_escape(rest, &mut decoded);
        let consumed = rest.len() < remaining;
        if consumed && decoded.get(length..) == Some(b"\0") {
            decoded.truncate(length);
            break;
        }
    }
    BString::from(decoded)
}

/// One escape, behind its backslash; returns what follows it.
fn decode_escape<'text>(text: &'text [u8], decoded: &mut Vec<u8>) -> &'text [u8] {
    let Some((letter, rest)) = text.split_first() else {
        decoded.push(b'\\');
        return text;
    };
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => *letter,
        b'0'..=b'7' => return decode_octal(text, decoded),
        b'x' => return decode_hexadecimal(rest, decoded),
        b'u' => return decode_unicode(rest, 4, *letter, decoded),
        b'U' => return decode_unicode(rest, 8, *letter, decoded),
        b'c' => return decode_control(rest, decoded),
        _ => {
            decoded.extend_from_slice(&[b'\\', *letter]);
            return rest;
        }
    };
    decoded.push(byte);
    rest
}

fn decode_octal<'text>(text: &'text [u8], decoded: &mut Vec<u8>) -> &'text [u8] {
    let (value, rest) = digits(text, 3, 8);
    decoded.push(value as u8);
    rest
}

/// `\xHH`, or the `\x{HHHH}` that bash also knows.
fn decode_hexadecimal<'text>(text: &'text [u8], decoded: &mut Vec<u8>) -> &'text [u8] {
    if let Some(inside) = text.strip_prefix(b"{") {
        let (value, rest) = digits(inside, usize::MAX, 16);
        if rest.len() < inside.len() {
            decoded.push(value as u8);
            return rest.strip_prefix(b"}").unwrap_or(rest);
        }
    }
    let (value, rest) = digits(text, 2, 16);
    if rest.len() == text.len() {
        decoded.extend_from_slice(b"\\x");
    } else {
        decoded.push(value as u8);
    }
    rest
}

fn decode_unicode<'text>(
    text: &'text [u8],
    most: usize,
    letter: u8,
    decoded: &mut Vec<u8>,
) -> &'text [u8] {
    let (value, rest) = digits(text, most, 16);
    if rest.len() == text.len() {
        decoded.extend_from_slice(&[b'\\', letter]);
    } else {
        encode_utf8(value, decoded);
    }
    rest
}

/// Bash encodes surrogates too, which `char` cannot hold.
fn encode_utf8(value: u32, decoded: &mut Vec<u8>) {
    if let Some(character) = char::from_u32(value) {
        decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let tail = |shift: u32| 0x80 | ((value >> shift) & 0x3f) as u8;
    match value {
        0..=0xffff => decoded.extend_from_slice(&[0xe0 | (value >> 12) as u8, tail(6), tail(0)]),
        0x1_0000..=0x1f_ffff => {
            decoded.extend_from_slice(&[0xf0 | (value >> 18) as u8, tail(12), tail(6), tail(0)]);
        }
        0x20_0000..=0x3ff_ffff => decoded.extend_from_slice(&[
            0xf8 | (value >> 24) as u8,
            tail(18),
            tail(12),
            tail(6),
            tail(0),
        ]),
        0x400_0000..=0x7fff_ffff => decoded.extend_from_slice(&[
            0xfc | (value >> 30) as u8,
            tail(24),
            tail(18),
            tail(12),
            tail(6),
            tail(0),
        ]),
        _ => {}
    }
}

/// `\cX`: X without its upper bits; `\c?` is delete.
fn decode_control<'text>(text: &'text [u8], decoded: &mut Vec<u8>) -> &'text [u8] {
    let Some((letter, rest)) = text.split_first() else {
        decoded.extend_from_slice(b"\\c");
        return text;
    };
    // `\c\\` is written with two backslashes and means one.
    let rest = if *letter == b'\\' { rest.strip_prefix(b"\\").unwrap_or(rest) } else { rest };
    decoded.push(if *letter == b'?' { 0x7f } else { letter.to_ascii_uppercase() & 0x1f });
    rest
}

/// Up to `most` digits in `base`; bits that do not fit are lost.
fn digits(text: &[u8], most: usize, base: u32) -> (u32, &[u8]) {
    let mut value = 0_u32;
    let mut rest = text;
    while text.len() - rest.len() < most {
        let Some((byte, after)) = rest.split_first() else { break };
        let Some(digit) = char::from(*byte).to_digit(base) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        rest = after;
    }
    (value, rest)
}

//! Backslash escapes as in `$'…'`: for `${x@E}`.

use bstr::BString;

/// The text with its escapes decoded; one that means nothing stays as it is.
pub(super) fn unescape(text: &[u8]) -> BString {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'\\' {
            rest = escape(after, &mut result);
        } else {
            result.push(byte);
        }
    }
    result.into()
}

/// What follows a backslash; gives back what is left.
fn escape<'a>(text: &'a [u8], result: &mut Vec<u8>) -> &'a [u8] {
    let Some((&letter, rest)) = text.split_first() else {
        result.push(b'\\');
        return text;
    };
    let simple = match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => letter,
        b'0'..=b'7' => {
            let (number, used) = digits(text, 8, 3);
            result.push(number as u8);
            return text.get(used..).unwrap_or_default();
        }
        b'x' | b'u' | b'U' => {
            let (number, used) = digits(
                rest,
                16,
                match letter {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                },
            );
            if used == 0 {
                result.extend_from_slice(&[b'\\', letter]);
            } else if letter == b'x' {
                result.push(number as u8);
            } else if let Some(character) = char::from_u32(number) {
                let mut buffer = [0; 4];
                result.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            }
            return rest.get(used..).unwrap_or_default();
        }
        b'c' => {
            if let Some((&key, after)) = rest.split_first() {
                result.push(if key == b'?' { 0x7f } else { key.to_ascii_uppercase() & 0x1f });
                return after;
            }
            result.extend_from_slice(b"\\c");
            return rest;
        }
        other => {
            result.extend_from_slice(&[b'\\', other]);
            return rest;
        }
    };
    result.push(simple);
    rest
}

/// Up to `most` digits: their value and how many there were.
fn digits(text: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let mut number = 0_u32;
    let mut used = 0;
    for byte in text.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(radix) else { break };
        number = number.wrapping_mul(radix).wrapping_add(digit);
        used += 1;
    }
    (number, used)
}

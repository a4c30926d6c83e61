//! What `printf` and `echo -e` make of their texts.

use bstr::{BStr, BString, ByteSlice};

use super::output::LONGEST;

/// The format once, and again while there are arguments left.
pub(super) fn format_all(format: &BStr, arguments: &[&BStr]) -> Option<BString> {
    let mut text = BString::default();
    let mut rest = arguments.iter();
    loop {
        let before = rest.len();
        format_once(format, &mut rest, &mut text)?;
        if text.len() > LONGEST {
            return None;
        }
        if rest.len() == 0 || rest.len() == before {
            return Some(text);
        }
    }
}

fn format_once(
    format: &BStr,
    arguments: &mut std::slice::Iter<'_, &BStr>,
    text: &mut BString,
) -> Option<()> {
    let mut plain = BString::default();
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            plain.push(byte);
            if byte == b'\\' {
                plain.push(bytes.next()?);
            }
            continue;
        }
        text.extend_from_slice(&decoded(std::mem::take(&mut plain).as_bstr())?);
        match bytes.next()? {
            b'%' => text.push(b'%'),
            b's' => text.extend_from_slice(arguments.next().map_or(&b""[..], |word| word)),
            b'b' => text
                .extend_from_slice(&decoded(arguments.next().map_or(BStr::new(""), |word| word))?),
            b'd' | b'i' => {
                let number = arguments.next().map_or(BStr::new("0"), |word| word);
                let number: i64 = number.to_str().ok()?.parse().ok()?;
                text.extend_from_slice(number.to_string().as_bytes());
            }
            _ => return None,
        }
    }
    text.extend_from_slice(&decoded(plain.as_bstr())?);
    Some(())
}

/// Backslash escapes; `None` if there is one that this does not know.
pub(super) fn decoded(text: &BStr) -> Option<BString> {
    let mut decoded = BString::default();
    let mut rest: &[u8] = text;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'\\' {
            decoded.push(*byte);
            continue;
        }
        let Some((letter, tail)) = rest.split_first() else {
            decoded.push(b'\\');
            break;
        };
        rest = tail;
        let byte = match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'v' => 11,
            b'\\' => b'\\',
            b'x' => number(&mut rest, 16, 2)?,
            // A third digit belongs to it in `echo -e` and `%b`, but not in formats.
            b'0' => {
                let value = number(&mut rest, 8, 2).unwrap_or(0);
                if rest.first().is_some_and(|byte| matches!(byte, b'0'..=b'7')) {
                    return None;
                }
                value
            }
            b'1'..=b'7' => {
                let mut digits = vec![*letter];
                digits.extend(rest.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).take(2));
                rest = rest.get(digits.len() - 1..).unwrap_or_default();
                number(&mut digits.as_slice(), 8, 3)?
            }
            b'c' | b'u' | b'U' => return None,
            other => {
                decoded.push(b'\\');
                *other
            }
        };
        decoded.push(byte);
    }
    Some(decoded)
}

pub(super) fn number(rest: &mut &[u8], radix: u32, most: usize) -> Option<u8> {
    let mut value: u32 = 0;
    let mut count = 0;
    while let Some((byte, tail)) = rest.split_first()
        && count < most
        && let Some(digit) = char::from(*byte).to_digit(radix)
    {
        value = value * radix + digit;
        count += 1;
        *rest = tail;
    }
    (count > 0).then_some(value as u8)
}

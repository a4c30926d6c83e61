//! Backslash escapes of `echo -e`, of the format of `printf`, and of its `%b`.

/// The three differ in octal numbers, quotes and `\c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `\0nnn`; `\c` ends all output.
    Echo,
    /// `\nnn`, `\"`, `\'`, `\?`; no `\c`.
    Format,
    /// `\0nnn` and `\nnn`; `\c` ends all output.
    Argument,
}

/// What became of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// `\c`: nothing more is to be written.
    Stop,
}

/// Appends the text with its escapes replaced. `missing` is told of `\x` and `\u` without digits.
pub(super) fn expand(
    text: &[u8],
    style: Style,
    out: &mut Vec<u8>,
    missing: &mut dyn FnMut(&str),
) -> Outcome {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        match decode(escape, style, out, missing) {
            Some(used) => rest = escape.get(used..).unwrap_or_default(),
            None => return Outcome::Stop,
        }
    }
    out.extend_from_slice(rest);
    Outcome::Done
}

/// One escape, from its backslash on: how many bytes it takes. `None`: `\c`.
pub(super) fn decode(
    escape: &[u8],
    style: Style,
    out: &mut Vec<u8>,
    missing: &mut dyn FnMut(&str),
) -> Option<usize> {
    let Some(letter) = escape.get(1) else {
        out.push(b'\\');
        return Some(1);
    };
    let simple = match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' => b'\\',
        b'"' | b'\'' | b'?' if style == Style::Format => *letter,
        b'c' if style != Style::Format => return None,
        b'0'..=b'7' => return Some(octal(escape, *letter, style, out)),
        b'x' => return Some(hexadecimal(escape, out, missing)),
        b'u' => return Some(unicode(escape, 4, out, missing)),
        b'U' => return Some(unicode(escape, 8, out, missing)),
        // Only the backslash: what follows it may mean something of its own (`\%s`).
        _ => {
            out.push(b'\\');
            return Some(1);
        }
    };
    out.push(simple);
    Some(2)
}

/// Digits of the base at the beginning, at most so many: their value and count.
fn digits(text: &[u8], base: u32, most: usize) -> (u32, usize) {
    let mut value = 0_u32;
    let mut count = 0;
    for digit in text.iter().take(most).map_while(|byte| char::from(*byte).to_digit(base)) {
        value = value.wrapping_mul(base).wrapping_add(digit);
        count += 1;
    }
    (value, count)
}

fn octal(escape: &[u8], first: u8, style: Style, out: &mut Vec<u8>) -> usize {
    let leading_zero = first == b'0' && style != Style::Format;
    if first != b'0' && style == Style::Echo {
        out.extend_from_slice(&[b'\\', first]);
        return 2;
    }
    let start = if leading_zero { 2 } else { 1 };
    let (value, count) = digits(escape.get(start..).unwrap_or_default(), 8, 3);
    out.push(value as u8);
    start + count
}

fn hexadecimal(escape: &[u8], out: &mut Vec<u8>, missing: &mut dyn FnMut(&str)) -> usize {
    let (value, count) = digits(escape.get(2..).unwrap_or_default(), 16, 2);
    if count == 0 {
        missing("missing hex digit for \\x");
        out.extend_from_slice(b"\\x");
    } else {
        out.push(value as u8);
    }
    2 + count
}

fn unicode(escape: &[u8], most: usize, out: &mut Vec<u8>, missing: &mut dyn FnMut(&str)) -> usize {
    let (value, count) = digits(escape.get(2..).unwrap_or_default(), 16, most);
    if count == 0 {
        let letter = if most == 4 { 'u' } else { 'U' };
        missing(&format!("missing unicode digit for \\{letter}"));
        out.extend_from_slice(&[b'\\', letter as u8]);
    } else {
        encode(value, out);
    }
    2 + count
}

/// UTF-8 in its first definition, as bash writes it: surrogates, and up to 31 bits in six bytes.
fn encode(value: u32, out: &mut Vec<u8>) {
    let length = match value {
        0..=0x7f => {
            out.push(value as u8);
            return;
        }
        0x80..=0x7ff => 2,
        0x800..=0xffff => 3,
        0x1_0000..=0x1f_ffff => 4,
        0x20_0000..=0x3ff_ffff => 5,
        0x400_0000..=0x7fff_ffff => 6,
        0x8000_0000.. => return,
    };
    let lead = (0xff00_u32 >> length) as u8;
    out.push(lead | (value >> (6 * (length - 1))) as u8);
    for place in (0..length - 1).rev() {
        out.push(0x80 | (value >> (6 * place)) as u8 & 0x3f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str, style: Style) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let outcome = expand(text.as_bytes(), style, &mut out, &mut |_| {});
        (out, outcome == Outcome::Stop)
    }

    #[test]
    fn styles_differ_as_in_bash() {
        for (text, echo, format, argument) in [
            (r"\101", &br"\101"[..], &b"A"[..], &b"A"[..]),
            (r"\0101", b"A", b"\x081", b"A"),
            (r"\'", br"\'", b"'", br"\'"),
            (r"\u00e9\U1F600", "é😀".as_bytes(), "é😀".as_bytes(), "é😀".as_bytes()),
            (r"\uD800", b"\xed\xa0\x80", b"\xed\xa0\x80", b"\xed\xa0\x80"),
            (r"\777\", br"\777\", b"\xff\\", b"\xff\\"),
        ] {
            assert_eq!(expanded(text, Style::Echo).0, echo, "echo {text}");
            assert_eq!(expanded(text, Style::Format).0, format, "format {text}");
            assert_eq!(expanded(text, Style::Argument).0, argument, "%b {text}");
        }
        assert_eq!(expanded(r"a\cb", Style::Echo), (b"a".to_vec(), true));
        assert_eq!(expanded(r"a\cb", Style::Format), (br"a\cb".to_vec(), false));
    }
}

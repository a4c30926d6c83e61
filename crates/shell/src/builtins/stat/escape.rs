//! Backslashes in `--printf`.

/// Reads the escape at the start of `text`, which begins behind the backslash. Gives what it stands for and how
/// many bytes it took; `None` for the bytes: there is no such escape.
pub(super) fn read(text: &[u8]) -> (Option<u8>, usize) {
    let Some(&first) = text.first() else { return (None, 0) };
    let simple = match first {
        b'a' => Some(0x07),
        b'b' => Some(0x08),
        b'e' => Some(0x1b),
        b'f' => Some(0x0c),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'v' => Some(0x0b),
        b'"' | b'\\' => Some(first),
        _ => None,
    };
    if simple.is_some() {
        return (simple, 1);
    }
    match first {
        b'0'..=b'7' => digits(text, 0, 3, 8),
        b'x' if text.get(1).is_some_and(u8::is_ascii_hexdigit) => digits(text, 1, 2, 16),
        _ => (None, 1),
    }
}

fn digits(text: &[u8], start: usize, most: usize, base: u32) -> (Option<u8>, usize) {
    let mut value = 0;
    let mut taken = start;
    for byte in text.iter().skip(start).take(most) {
        let Some(digit) = char::from(*byte).to_digit(base) else { break };
        value = value * base + digit;
        taken += 1;
    }
    (Some((value & 0xff) as u8), taken)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn escapes() {
        assert_eq!(read(b"n"), (Some(b'\n'), 1));
        assert_eq!(read(b"101"), (Some(b'A'), 3));
        assert_eq!(read(b"0101"), (Some(8), 3));
        assert_eq!(read(b"x41g"), (Some(b'A'), 3));
        assert_eq!(read(b"x4g"), (Some(4), 2));
        assert_eq!(read(b"xg"), (None, 1));
        assert_eq!(read(b"q"), (None, 1));
        assert_eq!(read(b""), (None, 0));
    }
}

//! Numbers as the values of most variables are: decimal, without anything around them.

/// The number, if the text is one that needs no parser: no leading zero (octal), no sign but a minus, no base.
pub(super) fn plain(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let short = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 18;
    if !short {
        return None;
    }
    let mut number = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn only_plain_numbers() {
        assert_eq!(plain(b"0"), Some(0));
        assert_eq!(plain(b"-12"), Some(-12));
        assert_eq!(plain(b"999999999999999999"), Some(999_999_999_999_999_999));
        for text in ["", "-", "08", "+1", " 1", "1a", "0x1", "1000000000000000000"] {
            assert_eq!(plain(text.as_bytes()), None, "{text:?}");
        }
    }
}

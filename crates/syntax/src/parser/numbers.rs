//! Integer constants of arithmetic: decimal, `0x`, `0`, and `base#digits` up to base 64.

/// The value, or bash's words for what is wrong. Values that do not fit wrap around.
pub(super) fn parse_integer(token: &[u8]) -> Result<i64, &'static str> {
    let (mut base, mut explicit, mut rest) = match token {
        [b'0', b'x' | b'X', digits @ ..] => (16, true, digits),
        [b'0', digits @ ..] => (8, true, digits),
        digits => (10, false, digits),
    };
    let mut value = 0_i64;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'#' {
            if explicit {
                return Err("invalid number");
            }
            if !(2..=64).contains(&value) {
                return Err("invalid arithmetic base");
            }
            (base, value, explicit) = (value, 0, true);
            if rest.first().is_none_or(|next| digit(*next, base).is_none()) {
                return Err("invalid integer constant");
            }
            continue;
        }
        let Some(digit) = digit(*byte, base) else { break };
        if digit >= base {
            return Err("value too great for base");
        }
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    Ok(value)
}

/// Up to base 36 letters of either case are the same digits.
fn digit(byte: u8, base: i64) -> Option<i64> {
    Some(match byte {
        b'0'..=b'9' => i64::from(byte - b'0'),
        b'a'..=b'z' => i64::from(byte - b'a') + 10,
        b'A'..=b'Z' if base <= 36 => i64::from(byte - b'A') + 10,
        b'A'..=b'Z' => i64::from(byte - b'A') + 36,
        b'@' => 62,
        b'_' => 63,
        _ => return None,
    })
}

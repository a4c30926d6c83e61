//! Counts with a suffix, as `head -c 2K` takes them.

use bstr::{BStr, ByteSlice};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeError {
    Invalid,
    TooLarge,
}

/// A count with an optional suffix: `b` is 512, `K`, `KiB` 1024, `kB` 1000, and so on up to `Y`. A suffix
/// alone stands for one of it. Leading blanks and a plus are allowed, a minus is not.
pub fn parse(text: &BStr) -> Result<u64, SizeError> {
    let text = text.trim_start_with(|c| c.is_ascii_whitespace());
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, suffix) = digits.split_at(length);
    if digits.is_empty() && (suffix.is_empty() || text.starts_with(b"+")) {
        return Err(SizeError::Invalid);
    }
    let number = if digits.is_empty() { Some(1) } else { decimal(digits) };
    let factor = factor(suffix)?;
    number
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .map_or_else(|| if number == Some(0) { Ok(0) } else { Err(SizeError::TooLarge) }, Ok)
}

/// `None` if it does not fit.
fn decimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// `Ok(None)` for `Z` and `Y`, which fit nothing but zero.
fn factor(suffix: &[u8]) -> Result<Option<u64>, SizeError> {
    let Some((&letter, rest)) = suffix.split_first() else { return Ok(Some(1)) };
    if letter == b'b' {
        return if rest.is_empty() { Ok(Some(512)) } else { Err(SizeError::Invalid) };
    }
    let power = match letter {
        b'k' | b'K' => 1,
        b'm' | b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' => 7,
        b'Y' => 8,
        _ => return Err(SizeError::Invalid),
    };
    let base: u64 = match rest {
        b"" | b"iB" => 1024,
        b"B" | b"D" => 1000,
        _ => return Err(SizeError::Invalid),
    };
    Ok(base.checked_pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_and_limits() {
        let cases: [(&str, Result<u64, SizeError>); 16] = [
            ("5", Ok(5)),
            (" +7", Ok(7)),
            ("1b", Ok(512)),
            ("2K", Ok(2048)),
            ("2k", Ok(2048)),
            ("1kB", Ok(1000)),
            ("1KiB", Ok(1024)),
            ("K", Ok(1024)),
            ("3MB", Ok(3_000_000)),
            ("", Err(SizeError::Invalid)),
            ("x", Err(SizeError::Invalid)),
            ("-1", Err(SizeError::Invalid)),
            ("1kb", Err(SizeError::Invalid)),
            ("1Y", Err(SizeError::TooLarge)),
            ("0Y", Ok(0)),
            ("99999999999999999999", Err(SizeError::TooLarge)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text.into()), expected, "{text:?}");
        }
    }
}

//! Numbers compared as text, so that no number is too long (`-n`, `-h`), and as floating point (`-g`).
//!
//! For each there is also a rank: 64 bits whose order never contradicts that of the numbers, so that most
//! comparisons are a single instruction.

use std::cmp::Ordering;

use crate::float;

/// A number at the start of a text: what is no number is zero.
struct Number<'a> {
    negative: bool,
    /// Without leading zeros.
    integer: &'a [u8],
    /// Without trailing zeros.
    fraction: &'a [u8],
}

/// Digits that fit in a rank beside the sign and the length of the integer.
const RANKED_DIGITS: usize = 16;
const LENGTH_SHIFT: u32 = 55;
const LONGEST_RANKED: usize = 255;

impl<'a> Number<'a> {
    fn parse(text: &'a [u8]) -> (Self, &'a [u8]) {
        let text = skip_blanks(text);
        let (negative, digits) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        let (integer, rest) = split_digits(digits);
        let (fraction, rest) = match rest.split_first() {
            Some((b'.', rest)) => split_digits(rest),
            _ => (&b""[..], rest),
        };
        let zeros = integer.iter().take_while(|digit| **digit == b'0').count();
        let integer = integer.get(zeros..).unwrap_or_default();
        let last = fraction.iter().rposition(|digit| *digit != b'0');
        let fraction = fraction.get(..last.map_or(0, |last| last + 1)).unwrap_or_default();
        let is_zero = integer.is_empty() && fraction.is_empty();
        (Number { negative: negative && !is_zero, integer, fraction }, rest)
    }

    fn is_zero(&self) -> bool {
        self.integer.is_empty() && self.fraction.is_empty()
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_size(other),
            (true, true) => other.compare_size(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        (self.integer.len().cmp(&other.integer.len()))
            .then_with(|| self.integer.cmp(other.integer))
            .then_with(|| self.fraction.cmp(other.fraction))
    }

    fn rank(&self) -> u64 {
        let length = self.integer.len().min(LONGEST_RANKED);
        let mut digits = 0_u64;
        if length < LONGEST_RANKED {
            let all = self.integer.iter().chain(self.fraction).copied();
            for digit in all.chain(std::iter::repeat(b'0')).take(RANKED_DIGITS) {
                digits = digits * 10 + u64::from(digit - b'0');
            }
        }
        let size = (1 << 63) | ((length as u64) << LENGTH_SHIFT) | digits;
        if self.negative { !size } else { size }
    }
}

pub fn compare_numeric(one: &[u8], other: &[u8]) -> Ordering {
    Number::parse(one).0.compare(&Number::parse(other).0)
}

pub fn rank_numeric(text: &[u8]) -> u64 {
    Number::parse(text).0.rank()
}

/// `2K` before `1M`: the unit decides first, whatever the number.
pub fn compare_human(one: &[u8], other: &[u8]) -> Ordering {
    let (first, first_rest) = Number::parse(one);
    let (second, second_rest) = Number::parse(other);
    unit(&first, first_rest).cmp(&unit(&second, second_rest)).then_with(|| first.compare(&second))
}

pub fn rank_human(text: &[u8]) -> u64 {
    let (number, rest) = Number::parse(text);
    let unit = (unit(&number, rest) + 8) as u64;
    (unit << 59) | (number.rank() >> 5)
}

fn unit(number: &Number<'_>, rest: &[u8]) -> i32 {
    if number.is_zero() {
        return 0;
    }
    let power = match rest.first() {
        Some(b'k' | b'K') => 1,
        Some(b'M') => 2,
        Some(b'G') => 3,
        Some(b'T') => 4,
        Some(b'P') => 5,
        Some(b'E') => 6,
        Some(b'Z') => 7,
        Some(b'Y') => 8,
        _ => 0,
    };
    if number.negative { -power } else { power }
}

/// What is no number comes first, then what is none by name (NaN), then numbers.
pub fn rank_general(text: &[u8]) -> u64 {
    match float::parse(float_prefix(text)) {
        None => 0,
        Some(number) if number.is_nan() => 1,
        Some(number) => {
            // Adding zero makes -0 equal to 0.
            let bits = (number + 0.0).to_bits();
            if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
        }
    }
}

/// As much of the text as a floating-point number may have; empty if it does not begin with one.
fn float_prefix(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 11).count();
    let text = text.get(blanks..).unwrap_or_default();
    let at = |index: usize| text.get(index).copied().unwrap_or(0);
    let sign = usize::from(matches!(at(0), b'+' | b'-'));
    let unsigned = text.get(sign..).unwrap_or_default();
    for word in [&b"infinity"[..], b"inf", b"nan"] {
        if unsigned.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) {
            return text.get(..sign + word.len()).unwrap_or_default();
        }
    }
    let hexadecimal = at(sign) == b'0'
        && matches!(at(sign + 1), b'x' | b'X')
        && (at(sign + 2).is_ascii_hexdigit()
            || (at(sign + 2) == b'.' && at(sign + 3).is_ascii_hexdigit()));
    let is_digit = |byte: u8| {
        if hexadecimal { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() }
    };
    let mut end = if hexadecimal { sign + 2 } else { sign };
    let mut digits = 0;
    let mut seen_point = false;
    loop {
        match at(end) {
            byte if is_digit(byte) => digits += 1,
            b'.' if !seen_point => seen_point = true,
            _ => break,
        }
        end += 1;
    }
    if digits == 0 {
        return b"";
    }
    let marks: &[u8] = if hexadecimal { b"pP" } else { b"eE" };
    if marks.contains(&at(end)) && end < text.len() {
        let first = end + 1 + usize::from(matches!(at(end + 1), b'+' | b'-'));
        let count = text.iter().skip(first).take_while(|byte| byte.is_ascii_digit()).count();
        if count > 0 {
            end = first + count;
        }
    }
    text.get(..end).unwrap_or(text)
}

/// 1 for January; 0 if the text does not begin with the name of a month.
pub fn month(text: &[u8]) -> u64 {
    const NAMES: [&[u8; 3]; 12] = [
        b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV",
        b"DEC",
    ];
    let Some(start) = skip_blanks(text).get(..3) else { return 0 };
    let found = NAMES.iter().position(|name| start.eq_ignore_ascii_case(*name));
    found.map_or(0, |at| at as u64 + 1)
}

pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

pub fn skip_blanks(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| is_blank(**byte)).count();
    text.get(count..).unwrap_or_default()
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sorted: &[&str], compare: fn(&[u8], &[u8]) -> Ordering, rank: fn(&[u8]) -> u64) {
        for (at, one) in sorted.iter().enumerate() {
            for other in sorted.iter().skip(at + 1) {
                let (one, other) = (one.as_bytes(), other.as_bytes());
                assert_eq!(compare(one, other), Ordering::Less, "{one:?} {other:?}");
                assert!(rank(one) <= rank(other), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn numbers_of_any_length() {
        let sorted = [
            "-100000000000000000000000000001",
            "-100000000000000000000000000000",
            "-12.5",
            "-12",
            "-.001",
            "x",
            ".0000000000000000000001",
            "0.5",
            "  1",
            "1.5",
            "02",
            "10",
            "99999999999999999999",
            "100000000000000000000",
        ];
        check(&sorted, compare_numeric, rank_numeric);
    }

    #[test]
    fn units_decide_first() {
        let sorted = ["-1G", "-5K", "-1", "0", "5", "1023", "1K", "2k", "1M", "0.1G"];
        check(&sorted, compare_human, rank_human);
    }

    #[test]
    fn general_numbers() {
        let compare = |one: &[u8], other: &[u8]| rank_general(one).cmp(&rank_general(other));
        let sorted = ["x", "nan", "-inf", "-1e3", "-2", "0", "1e-3y", "0x10", "1e2", "inf"];
        check(&sorted, compare, rank_general);
        assert_eq!(rank_general(b"-0"), rank_general(b"0"));
    }
}

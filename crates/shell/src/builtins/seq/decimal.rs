//! Decimal numbers as they are written, exactly: `0.1` stays a tenth.

/// `digits` divided by ten to the power of `places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    pub digits: i128,
    pub places: u32,
    /// Digits before the point as they were written, leading zeros included.
    pub whole_width: usize,
    /// Written with a minus, which `-0` needs.
    pub negative: bool,
}

/// More would not fit in 128 bits.
const MOST_DIGITS: usize = 36;

impl Decimal {
    pub fn one() -> Self {
        Decimal { digits: 1, places: 0, whole_width: 1, negative: false }
    }

    /// `None` if this is not a decimal number, or one that does not fit.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let (negative, text) = match text.split_at_checked(1) {
            Some(("-", rest)) => (true, rest),
            Some(("+", rest)) => (false, rest),
            _ => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let shift = i64::from(exponent) - fraction.len() as i64;
        let zeros = usize::try_from(shift.max(0)).ok()?;
        let places = u32::try_from((-shift).max(0)).ok()?;
        let significant = whole.trim_start_matches('0').len() + fraction.len();
        if significant + zeros > MOST_DIGITS || places as usize > MOST_DIGITS {
            return None;
        }
        let all = whole.bytes().chain(fraction.bytes());
        let digits = all.fold(0, |number: i128, digit| number * 10 + i128::from(digit - b'0'));
        let digits = digits * 10_i128.pow(zeros as u32);
        Some(Decimal {
            digits: if negative { -digits } else { digits },
            places,
            whole_width: whole.len().max(1) + usize::try_from(exponent.max(0)).ok()?,
            negative,
        })
    }

    /// The same number with more places; `None` if it does not fit.
    pub fn scaled(&self, places: u32) -> Option<i128> {
        let factor = 10_i128.checked_pow(places.checked_sub(self.places)?)?;
        self.digits.checked_mul(factor)
    }

    /// How wide it is when written with this many places.
    pub fn width(&self, places: u32) -> usize {
        let behind = if places == 0 { 0 } else { places as usize + 1 };
        usize::from(self.negative) + self.whole_width + behind
    }
}

/// Writes `digits` with `places` behind the point, zeros in front up to `width`.
pub fn write(text: &mut Vec<u8>, digits: i128, places: u32, width: usize, minus_zero: bool) {
    let negative = digits < 0 || minus_zero;
    let number = digits.unsigned_abs().to_string();
    let places = places as usize;
    let whole = number.len().saturating_sub(places);
    let length = whole.max(1) + if places > 0 { places + 1 } else { 0 };
    if negative {
        text.push(b'-');
    }
    for _ in length + usize::from(negative)..width {
        text.push(b'0');
    }
    let (whole, fraction) = number.as_bytes().split_at(whole);
    text.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    if places > 0 {
        text.push(b'.');
        text.extend(std::iter::repeat_n(b'0', places - fraction.len()));
        text.extend_from_slice(fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing() {
        let cases = [
            ("1", Some((1, 0, 1))),
            ("-1.50", Some((-150, 2, 1))),
            (".5", Some((5, 1, 1))),
            ("1.", Some((1, 0, 1))),
            ("007", Some((7, 0, 3))),
            ("1e3", Some((1000, 0, 4))),
            ("1.5e-3", Some((15, 4, 1))),
            ("1.5e1", Some((15, 0, 2))),
            ("", None),
            (".", None),
            ("1x", None),
            ("0x10", None),
            ("inf", None),
            ("1e", None),
            ("--1", None),
        ];
        for (text, expected) in cases {
            let got = Decimal::parse(text).map(|d| (d.digits, d.places, d.whole_width));
            assert_eq!(got, expected, "{text:?}");
        }
    }

    #[test]
    fn writing() {
        let cases = [
            (15, 1, 0, "1.5"),
            (-5, 1, 0, "-0.5"),
            (-5, 1, 6, "-000.5"),
            (7, 0, 3, "007"),
            (0, 2, 0, "0.00"),
            (1, 3, 0, "0.001"),
        ];
        for (digits, places, width, expected) in cases {
            let mut text = Vec::new();
            write(&mut text, digits, places, width, false);
            assert_eq!(String::from_utf8_lossy(&text), expected);
        }
    }
}

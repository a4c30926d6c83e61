//! Numbers with a fraction as the C library's `long double` has them on x86: 64 bits of mantissa, 15 of exponent.
//!
//! `printf '%.20f' 0.1` shows them. Reading and printing are exact; there is no arithmetic.

mod big;
mod decimal;
mod parse;

pub use decimal::Decimal;
pub use parse::{Parsed, Problem, parse};

/// `±mantissa × 2^exponent`, infinity or not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extended {
    pub negative: bool,
    pub magnitude: Magnitude,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Magnitude {
    Zero,
    /// The highest bit of the mantissa is set, except for the very smallest numbers.
    Finite {
        mantissa: u64,
        exponent: i32,
    },
    Infinite,
    NotANumber,
}

/// Of the last bit of the smallest and the largest number.
const LOWEST_EXPONENT: i32 = -16_445;
const HIGHEST_EXPONENT: i32 = 16_320;

impl Extended {
    pub const ZERO: Extended = Extended { negative: false, magnitude: Magnitude::Zero };

    pub fn from_integer(number: u64) -> Self {
        if number == 0 {
            return Extended::ZERO;
        }
        let shift = number.leading_zeros();
        let magnitude = Magnitude::Finite { mantissa: number << shift, exponent: -(shift as i32) };
        Extended { negative: false, magnitude }
    }

    pub fn is_finite(self) -> bool {
        matches!(self.magnitude, Magnitude::Zero | Magnitude::Finite { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str, places: usize) -> String {
        let value = parse(text.as_bytes()).value;
        let decimal = Decimal::of(value).rounded_to_places(places);
        let sign = if value.negative { "-" } else { "" };
        format!("{sign}{}", decimal.fixed(places))
    }

    #[test]
    fn values_are_exact() {
        assert_eq!(fixed("0.1", 20), "0.10000000000000000000");
        assert_eq!(fixed("0.1", 25), "0.1000000000000000000013553");
        assert_eq!(fixed("2.5", 0), "2");
        assert_eq!(fixed("1.5", 0), "2");
        assert_eq!(fixed("0.5", 0), "0");
        assert_eq!(fixed("-1234.5678", 2), "-1234.57");
        assert_eq!(fixed("0x1.8p1", 1), "3.0");
        assert_eq!(fixed("1e22", 0), "10000000000000000000000");
        assert_eq!(fixed("123456789012345678901234567890", 0), "123456789012345678899921813504");
    }

    #[test]
    fn range() {
        assert_eq!(parse(b"1e5000").problem, Some(Problem::OutOfRange));
        assert_eq!(parse(b"1e5000").value.magnitude, Magnitude::Infinite);
        assert_eq!(parse(b"1e-5000").problem, Some(Problem::OutOfRange));
        assert_eq!(parse(b"1e99999999999999999999").value.magnitude, Magnitude::Infinite);
        assert!(parse(b"1e4932").value.is_finite());
        assert!(parse(b"0e99999999999999999999").value.is_finite());
    }

    #[test]
    fn how_much_is_a_number() {
        for (text, used) in [
            ("1.5abc", 3),
            ("1e", 1),
            ("1e+", 1),
            ("abc", 0),
            ("", 0),
            (" 7", 2),
            (".5", 2),
            ("5.", 2),
            (".", 0),
            ("0x", 1),
            ("inf", 3),
            ("infinity", 8),
            ("infinit", 3),
            ("nan(1)", 6),
            ("-nan", 4),
        ] {
            assert_eq!(parse(text.as_bytes()).used, used, "{text}");
        }
    }
}

//! Floating-point numbers as C reads and writes them: strtod(3), and `%e`, `%f`, `%g` of printf(3).

use bstr::ByteSlice;

/// One directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FloatFormat {
    /// `e`, `f`, `g`, or the large letter.
    pub conversion: u8,
    /// `-`
    pub left: bool,
    /// `+`
    pub plus: bool,
    /// A space.
    pub space: bool,
    /// `0`
    pub zero: bool,
    /// `#`
    pub alternate: bool,
    pub width: usize,
    /// 6 if not given.
    pub precision: Option<usize>,
}

impl FloatFormat {
    pub fn format(&self, value: f64) -> String {
        let mut body = self.body(value.abs());
        if self.conversion.is_ascii_uppercase() {
            body.make_ascii_uppercase();
        }
        let sign = match (value.is_sign_negative(), self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        };
        let missing = self.width.saturating_sub(sign.len() + body.chars().count());
        if self.left {
            return format!("{sign}{body}{}", " ".repeat(missing));
        }
        if self.zero && value.is_finite() {
            return format!("{sign}{}{body}", "0".repeat(missing));
        }
        format!("{}{sign}{body}", " ".repeat(missing))
    }

    /// The number without its sign, in small letters.
    fn body(&self, value: f64) -> String {
        if value.is_nan() {
            return "nan".to_owned();
        }
        if value.is_infinite() {
            return "inf".to_owned();
        }
        let precision = self.precision.unwrap_or(6);
        match self.conversion.to_ascii_lowercase() {
            b'e' => self.scientific(value, precision),
            b'f' => self.fixed(value, precision),
            _ => self.shortest(value, precision.max(1)),
        }
    }

    fn fixed(&self, value: f64, precision: usize) -> String {
        let point = if self.alternate && precision == 0 { "." } else { "" };
        format!("{value:.precision$}{point}")
    }

    fn scientific(&self, value: f64, precision: usize) -> String {
        let (mantissa, exponent) = split_scientific(value, precision);
        let point = if self.alternate && precision == 0 { "." } else { "" };
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
    }

    /// `%g`: whichever of the two is shorter, without zeros at the end.
    fn shortest(&self, value: f64, precision: usize) -> String {
        let (_, exponent) = split_scientific(value, precision - 1);
        let is_fixed = exponent >= -4 && exponent < i32::try_from(precision).unwrap_or(i32::MAX);
        if is_fixed {
            let places = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
            return self.trimmed(self.fixed(value, places));
        }
        let text = self.scientific(value, precision - 1);
        match text.split_once('e') {
            Some((mantissa, exponent)) => {
                format!("{}e{exponent}", self.trimmed(mantissa.to_owned()))
            }
            None => text,
        }
    }

    fn trimmed(&self, text: String) -> String {
        if self.alternate || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Digits with one before the point, rounded to `precision` behind it, and the power of ten.
fn split_scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse().unwrap_or(0)),
        None => (text, 0),
    }
}

/// As strtod(3) reads a whole word: decimal or hexadecimal, `inf`, `nan`, leading blanks.
pub fn parse(text: &[u8]) -> Option<f64> {
    let text = text.trim_start_with(|c| c.is_ascii_whitespace()).to_str().ok()?;
    let (negative, digits) = match text.split_at_checked(1) {
        Some(("-", rest)) => (true, rest),
        Some(("+", rest)) => (false, rest),
        _ => (false, text),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let value = match hexadecimal {
        Some(digits) => parse_hexadecimal(digits)?,
        None if digits.starts_with(['+', '-']) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let shift = exponent.saturating_sub(i32::try_from(fraction.len() * 4).unwrap_or(i32::MAX));
    Some(value * 2.0_f64.powi(shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        let usual = FloatFormat::default();
        let with = |conversion, width, precision| FloatFormat {
            conversion,
            width,
            precision: Some(precision),
            ..usual
        };
        let general = FloatFormat { conversion: b'g', ..usual };
        let cases = [
            (general, 1.0, "1"),
            (general, 0.0001, "0.0001"),
            (general, 0.00001, "1e-05"),
            (general, 123_456.0, "123456"),
            (general, 1_234_567.0, "1.23457e+06"),
            (general, -0.0, "-0"),
            (FloatFormat { alternate: true, ..general }, 1.0, "1.00000"),
            (with(b'f', 8, 2), 7.71828, "    7.72"),
            (FloatFormat { zero: true, ..with(b'f', 8, 2) }, -7.71828, "-0007.72"),
            (FloatFormat { left: true, ..with(b'f', 6, 1) }, 2.5, "2.5   "),
            (FloatFormat { plus: true, ..with(b'e', 0, 3) }, 12345.0, "+1.234e+04"),
            (with(b'E', 0, 0), 1e100, "1E+100"),
            (with(b'g', 0, 0), 15.0, "2e+01"),
            (FloatFormat { zero: true, ..with(b'f', 6, 1) }, f64::INFINITY, "   inf"),
        ];
        for (format, value, expected) in cases {
            assert_eq!(format.format(value), expected, "{format:?} {value}");
        }
    }
}

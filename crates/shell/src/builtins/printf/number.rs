//! Numbers as the C library's printf(3) writes them.

use super::specification::Specification;
use crate::extended::{Decimal, Extended, Magnitude};

pub(super) fn signed(number: i64, specification: &Specification) -> Vec<u8> {
    let digits = with_precision(number.unsigned_abs(), 10, specification);
    assemble(sign(number < 0, specification), &digits, specification, true)
}

pub(super) fn unsigned(number: u64, letter: u8, specification: &Specification) -> Vec<u8> {
    let base = match letter {
        b'o' => 8,
        b'x' | b'X' => 16,
        _ => 10,
    };
    let mut digits = with_precision(number, base, specification);
    let mut prefix = "";
    if specification.alternative {
        match letter {
            b'o' if !digits.starts_with('0') => digits.insert(0, '0'),
            b'x' if number != 0 => prefix = "0x",
            b'X' if number != 0 => prefix = "0X",
            _ => {}
        }
    }
    if letter == b'X' {
        digits.make_ascii_uppercase();
    }
    assemble(prefix, &digits, specification, true)
}

/// At least as many digits as the precision says; zero with precision 0 has none.
fn with_precision(number: u64, base: u32, specification: &Specification) -> String {
    let digits = match base {
        8 => format!("{number:o}"),
        16 => format!("{number:x}"),
        _ => number.to_string(),
    };
    match specification.precision {
        Some(0) if number == 0 => String::new(),
        Some(least) => "0".repeat(least.saturating_sub(digits.len())) + &digits,
        None => digits,
    }
}

fn sign(negative: bool, specification: &Specification) -> &'static str {
    match (negative, specification.plus, specification.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// Zeros go between the sign and the digits, unless an integer has a precision.
fn assemble(
    prefix: &str,
    digits: &str,
    specification: &Specification,
    is_integer: bool,
) -> Vec<u8> {
    let missing = specification.width.saturating_sub(prefix.len() + digits.len());
    let zeros = specification.zeros
        && !specification.left
        && !(is_integer && specification.precision.is_some());
    let mut text = Vec::with_capacity(prefix.len() + digits.len() + missing);
    if !zeros && !specification.left {
        text.resize(missing, b' ');
    }
    text.extend_from_slice(prefix.as_bytes());
    if zeros {
        text.resize(text.len() + missing, b'0');
    }
    text.extend_from_slice(digits.as_bytes());
    if specification.left {
        text.resize(text.len() + missing, b' ');
    }
    text
}

pub(super) fn float(number: Extended, letter: u8, specification: &Specification) -> Vec<u8> {
    let sign = sign(number.negative, specification);
    let upper = letter.is_ascii_uppercase();
    if !number.is_finite() {
        let word = if number.magnitude == Magnitude::Infinite { "inf" } else { "nan" };
        let word = if upper { word.to_ascii_uppercase() } else { word.to_owned() };
        let unfilled = Specification { zeros: false, ..specification.clone() };
        return assemble(sign, &word, &unfilled, false);
    }
    let precision = specification.precision.unwrap_or(6);
    let mut text = match letter.to_ascii_lowercase() {
        b'f' => fixed(number, precision, specification.alternative),
        b'e' => scientific(number, precision, specification.alternative),
        b'g' => general(number, precision.max(1), specification.alternative),
        _ => hexadecimal(number, specification),
    };
    if upper {
        text.make_ascii_uppercase();
    }
    // The zeros of `%010a` go after the prefix.
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => {
            let prefix = format!("{sign}{}", text.get(..2).unwrap_or_default());
            assemble(&prefix, digits, specification, false)
        }
        None => assemble(sign, &text, specification, false),
    }
}

fn fixed(number: Extended, places: usize, keep_point: bool) -> String {
    let mut text = Decimal::of(number).rounded_to_places(places).fixed(places);
    if keep_point && places == 0 {
        text.push('.');
    }
    text
}

fn scientific(number: Extended, places: usize, keep_point: bool) -> String {
    let decimal = Decimal::of(number).rounded_to_significant(places.saturating_add(1));
    let point = if keep_point && places == 0 { "." } else { "" };
    let exponent = decimal.exponent();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}{point}e{sign}{:02}", decimal.mantissa(places), exponent.unsigned_abs())
}

/// Fixed for exponents from -4 up to the precision, else scientific; without zeros at the end.
fn general(number: Extended, significant: usize, keep_zeros: bool) -> String {
    let exponent = Decimal::of(number).rounded_to_significant(significant).exponent();
    let is_fixed = exponent >= -4 && i64::from(exponent) < significant as i64;
    if is_fixed {
        let places = (significant as i64 - 1 - i64::from(exponent)).max(0) as usize;
        let text = fixed(number, places, keep_zeros);
        return if keep_zeros { text } else { without_zeros(&text).to_owned() };
    }
    let text = scientific(number, significant - 1, keep_zeros);
    match text.split_once('e') {
        Some((mantissa, exponent)) if !keep_zeros => {
            format!("{}e{exponent}", without_zeros(mantissa))
        }
        _ => text,
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `0xc.8p-2`: the first digit is the highest four bits of the mantissa.
fn hexadecimal(number: Extended, specification: &Specification) -> String {
    let (mut mantissa, mut exponent) = match number.magnitude {
        Magnitude::Finite { mantissa, exponent } => {
            let shift = mantissa.leading_zeros();
            (u128::from(mantissa << shift), exponent - shift as i32 + 60)
        }
        _ => (0, 0),
    };
    // 15 digits after the point; fewer if the precision says so, rounded to even.
    if let Some(places @ 0..15) = specification.precision {
        let dropped = 60 - 4 * places as u32;
        let half = 1_u128 << (dropped - 1);
        let remainder = mantissa & ((1 << dropped) - 1);
        let odd = mantissa >> dropped & 1 == 1;
        mantissa -= remainder;
        if remainder > half || remainder == half && odd {
            mantissa += 1 << dropped;
        }
        if mantissa >> 64 != 0 {
            mantissa >>= 4;
            exponent += 4;
        }
    }
    let digits = format!("{mantissa:016x}");
    let (first, rest) = digits.split_at(1);
    let rest = match specification.precision {
        Some(places) => format!("{rest:0<places$}").chars().take(places).collect(),
        None => rest.trim_end_matches('0').to_owned(),
    };
    let point = if rest.is_empty() && !specification.alternative { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("0x{first}{point}{rest}p{sign}{}", exponent.unsigned_abs())
}

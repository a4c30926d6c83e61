//! Text to number, as strtold(3) reads it.

use std::cmp::Ordering;

use super::big::Big;
use super::{Extended, HIGHEST_EXPONENT, LOWEST_EXPONENT, Magnitude};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed {
    pub value: Extended,
    /// How many bytes were a number; 0: none.
    pub used: usize,
    pub problem: Option<Problem>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    OutOfRange,
}

/// More digits than this change nothing but the last bit of numbers nobody writes.
const DIGITS: usize = 20_000;

/// The longest number at the beginning of the text, white space before it skipped.
pub fn parse(text: &[u8]) -> Parsed {
    let spaces =
        text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let rest = text.get(spaces..).unwrap_or_default();
    let (negative, sign) = match rest.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    };
    let rest = rest.get(sign..).unwrap_or_default();
    let number = word(rest).or_else(|| hexadecimal(rest)).or_else(|| decimal(rest));
    match number {
        Some((magnitude, used, problem)) => {
            let value = Extended { negative, magnitude };
            Parsed { value, used: spaces + sign + used, problem }
        }
        None => Parsed { value: Extended::ZERO, used: 0, problem: None },
    }
}

type Number = (Magnitude, usize, Option<Problem>);

fn word(text: &[u8]) -> Option<Number> {
    let starts =
        |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if starts(b"infinity") {
        return Some((Magnitude::Infinite, 8, None));
    }
    if starts(b"inf") {
        return Some((Magnitude::Infinite, 3, None));
    }
    if !starts(b"nan") {
        return None;
    }
    let payload = text.get(3..).unwrap_or_default();
    let length = match payload.split_first() {
        Some((b'(', rest)) => {
            let word =
                rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
            let length = word.count();
            if rest.get(length) == Some(&b')') { length + 2 } else { 0 }
        }
        _ => 0,
    };
    Some((Magnitude::NotANumber, 3 + length, None))
}

/// Digits around a point: the significant ones, how far the point is from their end, and the bytes used.
struct Digits {
    significant: Vec<u8>,
    /// Digits after the point among them; negative: digits before the point that were left out.
    places: i64,
    used: usize,
}

fn read_digits(text: &[u8], is_digit: fn(&u8) -> bool) -> Option<Digits> {
    let mut read = Digits { significant: Vec::new(), places: 0, used: 0 };
    let mut after_point = false;
    let mut any = false;
    for byte in text {
        if *byte == b'.' && !after_point {
            after_point = true;
        } else if is_digit(byte) {
            any = true;
            let significant = !(read.significant.is_empty() && *byte == b'0');
            if significant && read.significant.len() < DIGITS {
                read.significant.push(*byte);
                read.places += i64::from(after_point);
            } else if significant {
                read.places -= i64::from(!after_point);
            } else {
                read.places += i64::from(after_point);
            }
        } else {
            break;
        }
        read.used += 1;
    }
    any.then_some(read)
}

/// `e-5`: its value and length.
fn read_exponent(text: &[u8], letter: u8) -> (i64, usize) {
    match text.first() {
        Some(byte) if byte.eq_ignore_ascii_case(&letter) => {}
        _ => return (0, 0),
    }
    let (negative, sign) = match text.get(1) {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    };
    let digits = text.get(1 + sign..).unwrap_or_default();
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return (0, 0);
    }
    let value = digits
        .iter()
        .take(count)
        .fold(0_i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(1 << 40));
    (if negative { -value } else { value }, 1 + sign + count)
}

fn decimal(text: &[u8]) -> Option<Number> {
    let read = read_digits(text, u8::is_ascii_digit)?;
    let (exponent, length) = read_exponent(text.get(read.used..).unwrap_or_default(), b'e');
    let used = read.used + length;
    let exponent = exponent - read.places;
    let top = exponent + read.significant.len() as i64;
    if read.significant.is_empty() {
        return Some((Magnitude::Zero, used, None));
    }
    if top > 5_000 {
        return Some((Magnitude::Infinite, used, Some(Problem::OutOfRange)));
    }
    if top < -5_000 {
        return Some((Magnitude::Zero, used, Some(Problem::OutOfRange)));
    }
    let mut numerator = Big::default();
    for digit in &read.significant {
        numerator.multiply_add(10, u32::from(digit - b'0'));
    }
    let mut denominator = Big::from_u64(1);
    let power = exponent.unsigned_abs() as u32;
    if exponent >= 0 {
        numerator.multiply_power(10, power);
    } else {
        denominator.multiply_power(10, power);
    }
    let (magnitude, problem) = divide(numerator, denominator);
    Some((magnitude, used, problem))
}

fn hexadecimal(text: &[u8]) -> Option<Number> {
    let rest = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let read = read_digits(rest, u8::is_ascii_hexdigit)?;
    let (exponent, length) = read_exponent(rest.get(read.used..).unwrap_or_default(), b'p');
    let used = 2 + read.used + length;
    let exponent = exponent - read.places * 4;
    let mut numerator = Big::default();
    for digit in &read.significant {
        numerator.multiply_add(16, char::from(*digit).to_digit(16).unwrap_or(0));
    }
    if numerator.is_zero() {
        return Some((Magnitude::Zero, used, None));
    }
    let top = exponent + numerator.bits();
    if top > 20_000 {
        return Some((Magnitude::Infinite, used, Some(Problem::OutOfRange)));
    }
    if top < -20_000 {
        return Some((Magnitude::Zero, used, Some(Problem::OutOfRange)));
    }
    let mut denominator = Big::from_u64(1);
    let power = exponent.unsigned_abs() as u32;
    if exponent >= 0 {
        numerator.shift_left(power);
    } else {
        denominator.shift_left(power);
    }
    let (magnitude, problem) = divide(numerator, denominator);
    Some((magnitude, used, problem))
}

/// The nearest number to a fraction: 64 bits of quotient, to even when halfway.
fn divide(mut numerator: Big, mut denominator: Big) -> (Magnitude, Option<Problem>) {
    let mut exponent = (numerator.bits() - denominator.bits() - 64) as i32;
    exponent = exponent.max(LOWEST_EXPONENT);
    if exponent >= 0 {
        denominator.shift_left(exponent.unsigned_abs());
    } else {
        numerator.shift_left(exponent.unsigned_abs());
    }
    // The quotient has 64 or 65 bits now, or fewer for the smallest numbers.
    denominator.shift_left(65);
    let mut quotient = 0_u128;
    for bit in (0..=65).rev() {
        quotient <<= 1;
        if numerator.compare(&denominator) != Ordering::Less {
            numerator.subtract(&denominator);
            quotient |= 1;
        }
        if bit > 0 {
            denominator.shift_right_one();
        }
    }
    let exact = numerator.is_zero();
    numerator.shift_left(1);
    let mut halfway = numerator.compare(&denominator);
    if quotient >> 64 != 0 {
        halfway = match (quotient & 1 == 1, exact) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, _) => Ordering::Less,
        };
        quotient >>= 1;
        exponent += 1;
    }
    let up = halfway == Ordering::Greater || halfway == Ordering::Equal && quotient & 1 == 1;
    quotient += u128::from(up);
    if quotient >> 64 != 0 {
        quotient >>= 1;
        exponent += 1;
    }
    if exponent > HIGHEST_EXPONENT {
        return (Magnitude::Infinite, Some(Problem::OutOfRange));
    }
    match u64::try_from(quotient) {
        Ok(0) | Err(_) => (Magnitude::Zero, Some(Problem::OutOfRange)),
        Ok(mantissa) => {
            // Too small for all of its digits.
            let short = mantissa >> 63 == 0 && !exact;
            (Magnitude::Finite { mantissa, exponent }, short.then_some(Problem::OutOfRange))
        }
    }
}

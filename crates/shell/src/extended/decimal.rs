//! All decimal digits of a number, and rounding them: to even when it is exactly halfway, as the C library does.

use super::big::Big;
use super::{Extended, Magnitude};

/// `0.digits × 10^point`, without its sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    /// ASCII, the first one not zero; none: zero.
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// Exact. What is not finite counts as zero.
    pub fn of(value: Extended) -> Self {
        let Magnitude::Finite { mantissa, exponent } = value.magnitude else {
            return Decimal { digits: Vec::new(), point: 0 };
        };
        // Fewer factors of two below the point make fewer digits.
        let common = mantissa.trailing_zeros().min(exponent.min(0).unsigned_abs());
        let mut big = Big::from_u64(mantissa >> common);
        let exponent = exponent + common as i32;
        let places = if exponent < 0 {
            // m / 2^n = m × 5^n / 10^n
            big.multiply_power(5, exponent.unsigned_abs());
            exponent.unsigned_abs() as i32
        } else {
            big.shift_left(exponent.unsigned_abs());
            0
        };
        let digits = big.digits();
        let point = digits.len() as i32 - places;
        Decimal { digits, point }
    }

    /// So many digits after the point.
    pub fn rounded_to_places(mut self, places: usize) -> Self {
        let keep = i64::from(self.point) + i64::try_from(places).unwrap_or(i64::MAX / 2);
        self.round(keep);
        self
    }

    /// So many digits in all.
    pub fn rounded_to_significant(mut self, digits: usize) -> Self {
        self.round(i64::try_from(digits).unwrap_or(i64::MAX));
        self
    }

    fn round(&mut self, keep: i64) {
        if keep >= self.digits.len() as i64 {
            return;
        }
        if keep < 0 {
            self.digits.clear();
            return;
        }
        let keep = keep as usize;
        let dropped = self.digits.split_off(keep);
        let odd = self.digits.last().is_some_and(|digit| digit % 2 == 1);
        let up = match dropped.split_first() {
            Some((b'6'..=b'9', _)) => true,
            Some((b'5', rest)) => odd || rest.iter().any(|digit| *digit != b'0'),
            _ => false,
        };
        if up {
            self.increment();
        }
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        // All nines, or nothing was left: one more digit in front.
        self.digits.insert(0, b'1');
        self.point += 1;
    }

    fn digit(&self, at: i64) -> u8 {
        usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(b'0')
    }

    /// The power of ten of the first digit; 0 for zero.
    pub fn exponent(&self) -> i32 {
        if self.digits.is_empty() { 0 } else { self.point - 1 }
    }

    /// `12.340`, of digits that are rounded to the places already.
    pub fn fixed(&self, places: usize) -> String {
        let mut text = String::with_capacity(places + 8);
        if self.point <= 0 || self.digits.is_empty() {
            text.push('0');
        } else {
            text.extend((0..i64::from(self.point)).map(|at| char::from(self.digit(at))));
        }
        if places > 0 {
            text.push('.');
            let first = if self.digits.is_empty() { 0 } else { i64::from(self.point) };
            text.extend((first..first + places as i64).map(|at| char::from(self.digit(at))));
        }
        text
    }

    /// `1.2340`, the digits of the scientific form.
    pub fn mantissa(&self, places: usize) -> String {
        let mut text = String::with_capacity(places + 2);
        text.push(char::from(self.digit(0)));
        if places > 0 {
            text.push('.');
            text.extend((1..=places as i64).map(|at| char::from(self.digit(at))));
        }
        text
    }
}

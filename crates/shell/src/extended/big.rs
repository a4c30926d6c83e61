//! Whole numbers of any size, as far as reading and printing need them.

use std::cmp::Ordering;

/// Least significant limb first, no zeros at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Big {
    limbs: Vec<u32>,
}

const BILLION: u32 = 1_000_000_000;

impl Big {
    pub fn from_u64(number: u64) -> Self {
        let mut big = Big { limbs: vec![number as u32, (number >> 32) as u32] };
        big.trim();
        big
    }

    pub fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }

    /// How many bits it takes.
    pub fn bits(&self) -> i64 {
        match self.limbs.last() {
            Some(last) => self.limbs.len() as i64 * 32 - i64::from(last.leading_zeros()),
            None => 0,
        }
    }

    pub fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.limbs {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.limbs.push(carry as u32);
        }
    }

    /// Times `base` to the power of `exponent`; `base` to the ninth power must fit 32 bits.
    pub fn multiply_power(&mut self, base: u32, exponent: u32) {
        let ninth = base.pow(9);
        for _ in 0..exponent / 9 {
            self.multiply_add(ninth, 0);
        }
        self.multiply_add(base.pow(exponent % 9), 0);
    }

    pub fn shift_left(&mut self, bits: u32) {
        if self.is_zero() {
            return;
        }
        let (whole, part) = (bits as usize / 32, bits % 32);
        if part > 0 {
            self.multiply_add(1 << part, 0);
        }
        self.limbs.splice(0..0, std::iter::repeat_n(0, whole));
    }

    pub fn shift_right_one(&mut self) {
        let mut carry = 0;
        for limb in self.limbs.iter_mut().rev() {
            let low = *limb & 1;
            *limb = *limb >> 1 | carry << 31;
            carry = low;
        }
        self.trim();
    }

    /// `self` must not be smaller.
    pub fn subtract(&mut self, other: &Big) {
        let mut borrow = 0_i64;
        for (at, limb) in self.limbs.iter_mut().enumerate() {
            let part = i64::from(other.limbs.get(at).copied().unwrap_or(0));
            let difference = i64::from(*limb) - part + borrow;
            *limb = difference as u32;
            borrow = difference >> 32;
        }
        self.trim();
    }

    pub fn compare(&self, other: &Big) -> Ordering {
        let lengths = self.limbs.len().cmp(&other.limbs.len());
        lengths.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }

    /// Decimal digits, most significant first; none for zero.
    pub fn digits(mut self) -> Vec<u8> {
        let mut groups = Vec::new();
        while !self.is_zero() {
            let mut remainder = 0_u64;
            for limb in self.limbs.iter_mut().rev() {
                let part = remainder << 32 | u64::from(*limb);
                *limb = (part / u64::from(BILLION)) as u32;
                remainder = part % u64::from(BILLION);
            }
            self.trim();
            groups.push(remainder);
        }
        let mut digits = Vec::with_capacity(groups.len() * 9);
        for group in groups.iter().rev() {
            digits.extend_from_slice(format!("{group:09}").as_bytes());
        }
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        digits
    }
}

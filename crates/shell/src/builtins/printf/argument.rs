//! The arguments of `printf`, one after the other; what is missing is empty or zero.

use bstr::{BStr, BString, ByteSlice};

use crate::extended::{self, Extended, Problem};
use crate::shell::Shell;

pub(super) struct Arguments<'a> {
    rest: &'a [BString],
}

impl<'a> Arguments<'a> {
    pub fn new(rest: &'a [BString]) -> Self {
        Arguments { rest }
    }

    pub fn left(&self) -> usize {
        self.rest.len()
    }

    pub fn text(&mut self) -> &'a [u8] {
        match self.rest.split_first() {
            Some((first, rest)) => {
                self.rest = rest;
                first
            }
            None => b"",
        }
    }

    /// As strtoimax(3) reads it. What is wrong is reported; then what could be read counts.
    pub fn integer(&mut self, shell: &Shell, failed: &mut bool) -> i64 {
        let text = self.text();
        if let Some(value) = character(text) {
            return i64::from(value);
        }
        let read = read_integer(text);
        let limit = if read.negative { 1_u128 << 63 } else { (1 << 63) - 1 };
        let magnitude = read.magnitude.min(limit);
        report(shell, text, &read, read.magnitude > limit, failed);
        if read.negative { (magnitude as i64).wrapping_neg() } else { magnitude as i64 }
    }

    /// As strtoumax(3) reads it: a minus sign wraps around.
    pub fn unsigned(&mut self, shell: &Shell, failed: &mut bool) -> u64 {
        let text = self.text();
        if let Some(value) = character(text) {
            return u64::from(value);
        }
        let read = read_integer(text);
        let beyond = read.magnitude > u128::from(u64::MAX);
        report(shell, text, &read, beyond, failed);
        let magnitude = u64::try_from(read.magnitude).unwrap_or(u64::MAX);
        if read.negative && !beyond { magnitude.wrapping_neg() } else { magnitude }
    }

    pub fn float(&mut self, shell: &Shell, failed: &mut bool) -> Extended {
        let text = self.text();
        if let Some(value) = character(text) {
            return Extended::from_integer(u64::from(value));
        }
        if text.is_empty() {
            return Extended::ZERO;
        }
        let parsed = extended::parse(text);
        if parsed.used < text.len() {
            *failed = true;
            complain(shell, text, "invalid number");
        } else if parsed.problem == Some(Problem::OutOfRange) {
            warn_of_range(shell, text);
        }
        parsed.value
    }
}

/// `'A` is the number of the character.
fn character(text: &[u8]) -> Option<u32> {
    let (b'\'' | b'"', rest) = text.split_first()? else { return None };
    let (letter, length) = bstr::decode_utf8(rest);
    match letter {
        Some(letter) => Some(u32::from(letter)),
        None if length > 0 => rest.first().map(|byte| u32::from(*byte)),
        None => Some(0),
    }
}

struct Integer {
    negative: bool,
    /// Saturates far beyond what any conversion can show.
    magnitude: u128,
    base: u32,
    /// All of the text was a number.
    complete: bool,
}

fn read_integer(text: &[u8]) -> Integer {
    let spaces =
        text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let unspaced = text.get(spaces..).unwrap_or_default();
    let (negative, digits) = match unspaced.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, unspaced),
    };
    let hexadecimal = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X"));
    let (base, body) = match hexadecimal {
        Some(rest) => (16, rest),
        None if digits.starts_with(b"0") => (8, digits),
        None => (10, digits),
    };
    let mut magnitude = 0_u128;
    let mut count = 0;
    for digit in body.iter().map_while(|byte| char::from(*byte).to_digit(base)) {
        magnitude = (magnitude * u128::from(base) + u128::from(digit)).min(1 << 100);
        count += 1;
    }
    let complete = count == body.len() && (count > 0 || text.is_empty());
    Integer { negative, magnitude, base, complete }
}

fn report(shell: &Shell, text: &[u8], read: &Integer, beyond: bool, failed: &mut bool) {
    if !read.complete {
        *failed = true;
        let unsigned = text.first() == Some(&b'0');
        let what = match read.base {
            16 if unsigned => "invalid hex number",
            8 if unsigned && text.get(1).is_some_and(u8::is_ascii_digit) => "invalid octal number",
            _ => "invalid number",
        };
        complain(shell, text, what);
    } else if beyond {
        warn_of_range(shell, text);
    }
}

fn complain(shell: &Shell, text: &[u8], what: &str) {
    shell.complain([b"printf: ", text, format!(": {what}").as_bytes()].concat());
}

fn warn_of_range(shell: &Shell, text: &[u8]) {
    let text: &BStr = text.as_bstr();
    shell.complain([b"printf: warning: ", &**text, b": Numerical result out of range"].concat());
}

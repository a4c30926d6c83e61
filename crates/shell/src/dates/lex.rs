//! Splits the text of a date into numbers, words and signs.

use super::BILLION;
use super::words::{LocalNames, Meridian, Unit, look_up};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// Digits without a sign.
    Unsigned(Number),
    /// Digits after `+` or `-`.
    Signed(Number),
    UnsignedDecimal(Decimal),
    SignedDecimal(Decimal),
    Meridian(Meridian),
    Month(i64),
    /// 0 is Sunday.
    Day(i64),
    /// Seconds east of Greenwich.
    Zone(i64),
    /// The same before daylight saving adds its hour.
    DaylightZone(i64),
    /// A name of the local zone, and whether it is that of daylight saving.
    LocalZone(bool),
    DaylightSaving,
    Unit(Unit, i64),
    Ordinal(i64),
    DayShift(i64),
    /// `ago`, `hence`
    Direction(i64),
    LetterT,
    Character(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub value: i64,
    pub digits: usize,
    pub negative: bool,
}

/// Seconds with a fraction; the fraction counts upwards also when the seconds are negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub seconds: i64,
    pub nanoseconds: u32,
}

/// `None`: a word that means nothing or a number that does not fit.
pub(super) fn tokens(text: &[u8], local: &LocalNames) -> Option<Vec<Token>> {
    let mut rest = text;
    let mut tokens = Vec::new();
    while let Some((&first, after)) = rest.split_first() {
        match first {
            b' ' | b'\t'..=b'\r' => rest = after,
            b'(' => rest = skip_comment(rest),
            b'+' | b'-' => {
                let unspaced = skip_spaces(after);
                // A sign before anything but a number means nothing.
                rest = if unspaced.first().is_some_and(u8::is_ascii_digit) {
                    let (token, after) = number(unspaced, Some(first))?;
                    tokens.push(token);
                    after
                } else {
                    unspaced
                };
            }
            b'0'..=b'9' => {
                let (token, after) = number(rest, None)?;
                tokens.push(token);
                rest = after;
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                let is_part = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'.';
                let (word, after) = split_while(rest, is_part);
                tokens.push(look_up(std::str::from_utf8(word).ok()?, local)?);
                rest = after;
            }
            other => {
                tokens.push(Token::Character(other));
                rest = after;
            }
        }
    }
    Some(tokens)
}

fn split_while(text: &[u8], belongs: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !belongs(byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, &[]))
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    split_while(text, |byte| matches!(byte, b' ' | b'\t'..=b'\r')).1
}

/// Comments nest; one that is not closed reaches to the end.
fn skip_comment(text: &[u8]) -> &[u8] {
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    &[]
}

fn number(text: &[u8], sign: Option<u8>) -> Option<(Token, &[u8])> {
    let negative = sign == Some(b'-');
    let (digits, rest) = split_while(text, u8::is_ascii_digit);
    let mut value: i64 = 0;
    for digit in digits {
        let digit = i64::from(digit - b'0');
        value = value.checked_mul(10)?.checked_add(if negative { -digit } else { digit })?;
    }
    if let &[b'.' | b',', b'0'..=b'9', ..] = rest {
        let (fraction, rest) = split_while(rest.get(1..)?, u8::is_ascii_digit);
        let decimal = decimal(value, negative, fraction)?;
        let token = match sign {
            Some(_) => Token::SignedDecimal(decimal),
            None => Token::UnsignedDecimal(decimal),
        };
        return Some((token, rest));
    }
    let number = Number { value, digits: digits.len(), negative };
    Some((if sign.is_some() { Token::Signed(number) } else { Token::Unsigned(number) }, rest))
}

fn decimal(seconds: i64, negative: bool, fraction: &[u8]) -> Option<Decimal> {
    let digit_at = |at: usize| fraction.get(at).map_or(0, |digit| u32::from(digit - b'0'));
    let mut nanoseconds = (0..9).fold(0, |sum, at| sum * 10 + digit_at(at));
    if !negative {
        return Some(Decimal { seconds, nanoseconds });
    }
    // Rounded down, which for a negative number is away from zero.
    if fraction.iter().skip(9).any(|digit| *digit != b'0') {
        nanoseconds += 1;
    }
    match nanoseconds {
        0 => Some(Decimal { seconds, nanoseconds }),
        _ => Some(Decimal { seconds: seconds.checked_sub(1)?, nanoseconds: BILLION - nanoseconds }),
    }
}

//! Reading a line: quotes of several depths, and where a value without quotes ends.

use super::values::LONGEST;

/// A quote as it stands in the text: plain, or escaped so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// Backslashes before it, and the mark.
    Mark(usize, u8),
    /// `&quot;`
    Entity(&'static [u8]),
}

impl Quote {
    pub fn length(self) -> usize {
        match self {
            Quote::Mark(escapes, _) => escapes + 1,
            Quote::Entity(text) => text.len(),
        }
    }
}

/// What ends a value that is in no quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stops {
    /// White space only, and trailing semicolons.
    Line,
    /// White space, quotes, and separators with something behind them that goes on as such.
    Word,
    /// The next parameter of an address.
    Query,
    /// The next field of a connection string.
    Semicolon,
}

pub fn at(line: &[u8], place: usize) -> u8 {
    line.get(place).copied().unwrap_or(0)
}

pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

pub fn after_spaces(line: &[u8], from: usize) -> usize {
    let spaces = line.iter().skip(from).take(64).take_while(|byte| matches!(byte, b' ' | b'\t'));
    from + spaces.count()
}

/// Over what a terminal takes for colours: `␛[1;32m`.
pub fn after_escapes(line: &[u8], from: usize) -> usize {
    let mut place = from;
    for _ in 0..4 {
        let Some(rest) = line.get(place..).and_then(|rest| rest.strip_prefix(b"\x1b[")) else {
            break;
        };
        let numbers = rest.iter().take(24).take_while(|byte| matches!(byte, b'0'..=b'?')).count();
        if !at(rest, numbers).is_ascii_alphabetic() {
            break;
        }
        place += 2 + numbers + 1;
    }
    place
}

pub fn opening_quote(line: &[u8], place: usize) -> Option<Quote> {
    let rest = line.get(place..)?;
    for entity in [&b"&quot;"[..], b"&#34;", b"&#39;", b"%22"] {
        if rest.starts_with(entity) {
            return Some(Quote::Entity(entity));
        }
    }
    let escapes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
    match rest.get(escapes) {
        Some(mark @ (b'"' | b'\'' | b'`')) => Some(Quote::Mark(escapes, *mark)),
        _ => None,
    }
}

/// Where the same quote stands again.
pub fn closing_quote(line: &[u8], from: usize, quote: Quote) -> Option<usize> {
    let rest = line.get(from..)?;
    let rest = rest.get(..(LONGEST + 8).min(rest.len()))?;
    match quote {
        Quote::Entity(text) => {
            rest.windows(text.len()).position(|window| window == text).map(|length| from + length)
        }
        Quote::Mark(escapes, mark) => {
            let mut backslashes = 0;
            for (length, byte) in rest.iter().enumerate() {
                if *byte == b'\\' {
                    backslashes += 1;
                } else {
                    let whole =
                        if escapes == 0 { backslashes % 2 == 0 } else { backslashes <= escapes };
                    if *byte == mark && whole {
                        return Some(from + length - escapes.min(backslashes));
                    }
                    backslashes = 0;
                }
            }
            None
        }
    }
}

pub fn unquoted_end(line: &[u8], from: usize, stops: Stops) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    // One more than any value has: it is none.
    let rest = rest.get(..(LONGEST + 1).min(rest.len())).unwrap_or_default();
    let mut end = rest.len();
    for (length, byte) in rest.iter().enumerate() {
        let behind = rest.get(length + 1..).unwrap_or_default();
        let stop = match (stops, byte) {
            (_, b' ' | b'\t' | b'\r' | b'\n' | 0..=31) => true,
            (Stops::Line, b'&') => {
                behind.first().is_some_and(u8::is_ascii_alphabetic) && goes_on(behind)
            }
            (Stops::Line, _) => false,
            (_, b'"' | b'\'' | b'`' | b'<' | b'>')
            | (Stops::Semicolon, b';')
            | (Stops::Query, b'&' | b'#' | b')' | b']' | b'}' | b'|' | b'\\' | b';' | b',') => true,
            (Stops::Word, b',' | b';' | b'&' | b'|') => goes_on(behind),
            (Stops::Word, b')' | b'}' | b']') => {
                !behind.first().is_some_and(u8::is_ascii_alphanumeric)
            }
            (Stops::Word, b'\\') => {
                matches!(behind.first(), Some(b'n' | b'r' | b't' | b'"' | b'\\' | b'u') | None)
            }
            _ => false,
        };
        if stop {
            end = length;
            break;
        }
    }
    while stops != Stops::Query && end > 0 && matches!(rest.get(end - 1), Some(b';' | b',')) {
        end -= 1;
    }
    from + end
}

/// After a separator something follows that is no part of the value.
fn goes_on(behind: &[u8]) -> bool {
    let name = behind.iter().take_while(|byte| is_name_byte(**byte) || **byte == b' ').count();
    match behind.first() {
        None
        | Some(
            b' ' | b'\t' | b'\r' | b'"' | b'\'' | b'}' | b')' | b']' | b'&' | b'|' | b'{' | b'\\',
        ) => true,
        _ => name > 0 && matches!(behind.get(name), Some(b'=' | b':')),
    }
}

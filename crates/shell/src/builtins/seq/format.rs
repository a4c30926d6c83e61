//! The format of `seq -f`: some text with exactly one directive for a floating-point number.

use bstr::{BStr, ByteSlice};

use crate::builtins::{ToolError, input};
use crate::float::FloatFormat;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    before: Vec<u8>,
    directive: FloatFormat,
    after: Vec<u8>,
}

impl Format {
    pub fn parse(text: &BStr) -> Result<Self, ToolError> {
        let wrong =
            |problem: &str| ToolError::usage(format!("format {} {problem}", input::shown(text)));
        let mut before = Vec::new();
        let mut rest = literal(text, &mut before);
        if rest.is_empty() {
            return Err(wrong("has no % directive"));
        }
        rest = rest.get(1..).unwrap_or_default();
        let mut directive = FloatFormat::default();
        rest = parse_flags(rest, &mut directive);
        directive.width = take_number(&mut rest).unwrap_or(0);
        if let Some(behind) = rest.strip_prefix(b".") {
            rest = behind;
            directive.precision = Some(take_number(&mut rest).unwrap_or(0));
        }
        rest = rest.strip_prefix(b"L").unwrap_or(rest);
        let Some((conversion, behind)) = rest.split_first() else {
            return Err(wrong("ends in %"));
        };
        match conversion {
            b'e' | b'f' | b'g' | b'E' | b'F' | b'G' => directive.conversion = *conversion,
            b'a' | b'A' => return Err(ToolError::Unsupported("-f %a".to_owned())),
            other => {
                return Err(wrong(&format!("has unknown %{} directive", char::from(*other))));
            }
        }
        let mut after = Vec::new();
        if !literal(behind, &mut after).is_empty() {
            return Err(wrong("has too many % directives"));
        }
        Ok(Format { before, directive, after })
    }

    pub fn apply(&self, number: f64) -> Vec<u8> {
        [&self.before, self.directive.format(number).as_bytes(), &self.after].concat()
    }
}

/// Text up to a directive, `%%` as `%`; gives what begins with the directive.
fn literal<'a>(mut text: &'a [u8], into: &mut Vec<u8>) -> &'a [u8] {
    while let Some(at) = text.find_byte(b'%') {
        let (plain, rest) = text.split_at(at);
        into.extend_from_slice(plain);
        match rest.strip_prefix(b"%%") {
            Some(behind) => {
                into.push(b'%');
                text = behind;
            }
            None => return rest,
        }
    }
    into.extend_from_slice(text);
    b""
}

fn parse_flags<'a>(mut text: &'a [u8], directive: &mut FloatFormat) -> &'a [u8] {
    while let Some((flag, rest)) = text.split_first() {
        match flag {
            b'-' => directive.left = true,
            b'+' => directive.plus = true,
            b' ' => directive.space = true,
            b'0' => directive.zero = true,
            b'#' => directive.alternate = true,
            // Groups of thousands, of which this locale has none.
            b'\'' => {}
            _ => break,
        }
        text = rest;
    }
    text
}

/// Bounded: a width that nobody could want is not worth the memory.
fn take_number(rest: &mut &[u8]) -> Option<usize> {
    const LARGEST: usize = 1 << 16;
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = rest.split_at(length);
    *rest = behind;
    if digits.is_empty() {
        return None;
    }
    Some(digits.to_str_lossy().parse().unwrap_or(LARGEST).min(LARGEST))
}

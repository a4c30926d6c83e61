//! Python's tokens: prefixes of texts, triple quotes, expressions in f-strings.

use std::borrow::Cow;

use crate::code::tokens::{Escapes, Kind, Scanner, Tokens, is_name, unescape};

const ESCAPES: Escapes = Escapes { keep_unknown: true, decimal: false, unicode: true };

/// Texts in texts in texts: beyond this it is not meant to be read.
const DEEPEST: usize = 6;

pub(super) fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    if other_encoding(text) {
        return None;
    }
    let mut scanner = Scanner::new(text);
    code(&mut scanner)?;
    scanner.finish()
}

/// A comment in the first lines may say that the text means something else altogether.
fn other_encoding(text: &[u8]) -> bool {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).take(3).any(|line| {
        let comment = line.iter().position(|byte| *byte == b'#').and_then(|at| line.get(at..));
        comment.is_some_and(|comment| {
            let found = comment.windows(6).position(|window| window == b"coding");
            let after = found.and_then(|at| comment.get(at + 6..)).unwrap_or_default();
            let named = after.strip_prefix(b":").or_else(|| after.strip_prefix(b"="));
            named.is_some_and(|name| {
                let name = name.trim_ascii_start().to_ascii_lowercase();
                !name.starts_with(b"utf-8") && !name.starts_with(b"utf8")
            })
        })
    })
}

fn code(scanner: &mut Scanner<'_>) -> Option<()> {
    // Within brackets a newline is a space.
    let mut brackets = 0usize;
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | 12 => scanner.skip_space(),
            b'\n' | b'\r' if brackets > 0 => scanner.skip_space(),
            b'\n' | b'\r' => scanner.newline(),
            b'#' => scanner.skip_line(),
            b'\\' => {
                let rest = scanner.rest();
                if !rest.starts_with(b"\\\n") && !rest.starts_with(b"\\\r\n") {
                    return None;
                }
                scanner.at += if rest.starts_with(b"\\\n") { 2 } else { 3 };
                scanner.spaced = true;
            }
            b'"' | b'\'' => text(scanner, b"")?,
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => word(scanner)?,
            // Python sees letters of all scripts as if they were Latin ones, and so hides names from a reader.
            _ if !byte.is_ascii_punctuation() || matches!(byte, b'$' | b'?' | b'`') => return None,
            _ => {
                match byte {
                    b'(' | b'[' | b'{' => brackets += 1,
                    b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                scanner.sign();
            }
        }
    }
    Some(())
}

/// A name, or the prefix of a text.
fn word(scanner: &mut Scanner<'_>) -> Option<()> {
    let start = scanner.at;
    let name = scanner.take(is_name);
    let quoted = matches!(scanner.peek(), Some(b'"' | b'\''));
    if quoted && name.len() <= 2 && name.iter().all(|byte| b"rRbBuUfFtT".contains(byte)) {
        return text(scanner, name);
    }
    scanner.at = start;
    scanner.name(b"");
    // A letter of another script goes on with it.
    scanner.peek().is_none_or(|byte| byte.is_ascii()).then_some(())
}

fn text(scanner: &mut Scanner<'_>, prefix: &[u8]) -> Option<()> {
    let has = |letter: u8| prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    let raw = body(scanner)?;
    if has(b'f') || has(b't') {
        scanner.push(Kind::Mixed, raw);
        return interpolated(scanner, raw);
    }
    let value = if has(b'r') { Some(Cow::Borrowed(raw)) } else { unescape(raw, ESCAPES) };
    match value {
        Some(value) => scanner.push(Kind::Text, value),
        None => scanner.push(Kind::Mixed, raw),
    }
    Some(())
}

/// The inside of the quotes.
fn body<'a>(scanner: &mut Scanner<'a>) -> Option<&'a [u8]> {
    let quote = scanner.peek()?;
    let triple = [quote; 3];
    if !scanner.rest().starts_with(&triple) {
        scanner.at += 1;
        let raw = scanner.quoted(quote)?;
        let mut rest = raw;
        // A newline in it is an error, unless a backslash is before it.
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let before = rest.get(..at)?;
            if before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 {
                return None;
            }
            rest = rest.get(at + 1..)?;
        }
        return Some(raw);
    }
    scanner.at += 3;
    let start = scanner.at;
    while !scanner.rest().starts_with(&triple) {
        scanner.at += if scanner.peek()? == b'\\' { 2 } else { 1 };
    }
    let raw = scanner.slice(start..scanner.at);
    scanner.at += 3;
    Some(raw)
}

/// The tokens of all `{…}` of an f-string, each in brackets.
fn interpolated<'a>(scanner: &mut Scanner<'a>, raw: &'a [u8]) -> Option<()> {
    if scanner.depth >= DEEPEST {
        return None;
    }
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'{' | b'}')) {
        let doubled = rest.get(at) == rest.get(at + 1);
        if doubled || rest.get(at) == Some(&b'}') {
            rest = rest.get(at + if doubled { 2 } else { 1 }..).unwrap_or_default();
            continue;
        }
        let inside = rest.get(at + 1..)?;
        let end = closing(inside)?;
        let mut inner = Scanner::new(inside.get(..end)?);
        inner.depth = scanner.depth + 1;
        code(&mut inner)?;
        scanner.push(Kind::Sign, &b"("[..]);
        scanner.tokens.append(&mut inner.tokens);
        scanner.push(Kind::Sign, &b")"[..]);
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    Some(())
}

/// Where the expression ends. Its format after `:` may hold expressions too and is read as code as well: what is
/// not code there is only names and signs.
fn closing(inside: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, byte) in inside.iter().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (_, b'\\') => return None,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'{' | b'(' | b'[') => depth += 1,
            (None, b'}') if depth == 0 => return Some(at),
            (None, b'}' | b')' | b']') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

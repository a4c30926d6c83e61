//! Quotes of Perl, in all their shapes, and what is evaluated inside them.

use std::borrow::Cow;

use super::scan::{DEEPEST, ESCAPES, code};
use crate::code::tokens::{Kind, Scanner, is_name, unescape};

pub(super) fn single(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().peekable();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && matches!(bytes.peek(), Some(b'\\' | b'\'')) {
            continue;
        }
        out.push(*byte);
    }
    Cow::Owned(out)
}

/// A text in which variables are put in.
pub(super) fn double<'a>(scanner: &mut Scanner<'a>, raw: &'a [u8]) -> Option<()> {
    let plain = interpolated(raw)?;
    match unescape(raw, ESCAPES) {
        Some(text) if plain => scanner.push(Kind::Text, text),
        _ => scanner.push(Kind::Mixed, raw),
    }
    Some(())
}

/// Is there nothing to put in? `None` if code could be.
fn interpolated(raw: &[u8]) -> Option<bool> {
    let mut plain = true;
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'$' | b'@' => {
                let rest = raw.get(at..).unwrap_or_default();
                if let Some(inside) = rest.strip_prefix(b"{") {
                    let end = inside.iter().take(80).position(|byte| *byte == b'}')?;
                    let name = inside.get(..end)?;
                    let name =
                        name.strip_prefix(b"$").or_else(|| name.strip_prefix(b"^")).unwrap_or(name);
                    if name.is_empty() || !name.iter().all(|byte| is_name(*byte)) {
                        return None;
                    }
                    plain = false;
                    at += end + 2;
                } else if rest
                    .first()
                    .is_some_and(|byte| is_name(*byte) || matches!(byte, b'$' | b'&' | b':'))
                {
                    plain = false;
                    at += rest
                        .iter()
                        .position(|byte| !is_name(*byte) && !matches!(byte, b'$' | b'&' | b':'))
                        .unwrap_or(rest.len());
                } else {
                    plain &= *byte == b'@' || rest.is_empty();
                    continue;
                }
                at = subscripts(raw, at)?;
            }
            _ => {}
        }
    }
    Some(plain)
}

/// Over `[…]`, `{…}` and arrows after a variable; only simple ones are no code.
fn subscripts(raw: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = raw.get(at..).unwrap_or_default();
        let body = rest.strip_prefix(b"->").unwrap_or(rest);
        let Some(&open @ (b'[' | b'{')) = body.first() else { return Some(at) };
        let close = if open == b'[' { b']' } else { b'}' };
        let end = body.iter().take(120).position(|byte| *byte == close)?;
        let inside = body.get(1..end)?;
        let simple = inside.iter().all(|byte| {
            is_name(*byte)
                || matches!(
                    byte,
                    b'$' | b'\'' | b'"' | b'-' | b' ' | b'.' | b',' | b'+' | b'^' | b'\\'
                )
        });
        if !simple {
            return None;
        }
        at += rest.len() - body.len() + end + 1;
    }
}

/// A pattern: what is in it matters only if it is code.
pub(super) fn pattern<'a>(scanner: &mut Scanner<'a>, raw: &'a [u8]) -> Option<()> {
    let code =
        raw.windows(3).any(|part| part == b"(?{") || raw.windows(4).any(|part| part == b"(??{");
    if code {
        scanner.push(Kind::Sign, &b"(?{"[..]);
    } else {
        interpolated(raw)?;
        scanner.push(Kind::Pattern, raw);
    }
    Some(())
}

/// The inside of a quote with a delimiter of the writer's choice; brackets nest.
fn delimited<'a>(scanner: &mut Scanner<'a>) -> Option<(&'a [u8], u8)> {
    let spaced = scanner.take(|byte| byte.is_ascii_whitespace());
    let open = scanner.peek()?;
    if is_name(open) || open == b'#' && !spaced.is_empty() || !open.is_ascii_punctuation() {
        return None;
    }
    scanner.at += 1;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => return Some((scanner.quoted(open)?, open)),
    };
    let start = scanner.at;
    let mut depth = 1usize;
    loop {
        let byte = scanner.peek()?;
        scanner.at += 1;
        if byte == b'\\' {
            scanner.at += 1;
        } else if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some((scanner.slice(start..scanner.at - 1), open));
            }
        }
    }
}

pub(super) fn quote_like(scanner: &mut Scanner<'_>, name: &[u8]) -> Option<()> {
    let (raw, delimiter) = delimited(scanner)?;
    match name {
        b"q" => scanner.push(Kind::Text, single(raw)),
        b"qq" => double(scanner, raw)?,
        b"qx" => {
            scanner.push(Kind::Sign, &b"`"[..]);
            double(scanner, raw)?;
        }
        b"qw" => {
            scanner.push(Kind::Sign, &b"("[..]);
            for part in raw.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()) {
                scanner.push(Kind::Text, part);
                scanner.push(Kind::Sign, &b","[..]);
            }
            scanner.push(Kind::Sign, &b")"[..]);
        }
        b"m" | b"qr" => {
            scanner.take(|byte| byte.is_ascii_alphabetic());
            pattern(scanner, raw)?;
        }
        _ => {
            let paired = matches!(delimiter, b'(' | b'[' | b'{' | b'<');
            let second = if paired { delimited(scanner)?.0 } else { scanner.quoted(delimiter)? };
            let flags = scanner.take(|byte| byte.is_ascii_alphabetic());
            if name == b"s" {
                substitution(scanner, raw, second, flags)?;
            } else {
                scanner.push(Kind::Pattern, raw);
            }
        }
    }
    Some(())
}

fn substitution<'a>(
    scanner: &mut Scanner<'a>,
    raw: &'a [u8],
    second: &'a [u8],
    flags: &[u8],
) -> Option<()> {
    pattern(scanner, raw)?;
    let evaluations: usize = flags.iter().map(|flag| usize::from(*flag == b'e')).sum();
    match evaluations {
        0 => {
            interpolated(second)?;
        }
        // The replacement is code: read it as such.
        1 if scanner.depth < DEEPEST => {
            let mut inner = Scanner::new(second);
            inner.depth = scanner.depth + 1;
            code(&mut inner)?;
            let last = scanner.tokens.pop()?;
            scanner.push(Kind::Sign, &b"("[..]);
            scanner.tokens.append(&mut inner.tokens);
            scanner.push(Kind::Sign, &b")"[..]);
            scanner.tokens.push(last);
        }
        _ => scanner.push(Kind::Sign, &b"s///ee"[..]),
    }
    Some(())
}

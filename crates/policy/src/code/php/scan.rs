//! PHP's tokens. A variable is a number to the reader: a thing that has no name of its own to look up.

use crate::code::tokens::{Escapes, Kind, Scanner, Tokens, is_name, unescape};

const ESCAPES: Escapes = Escapes { keep_unknown: true, decimal: false, unicode: true };

pub(super) fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let trimmed = text.trim_ascii_start();
    let body =
        trimmed.strip_prefix(b"<?php").or_else(|| trimmed.strip_prefix(b"<?=")).unwrap_or(text);
    // Outside of the tags text is printed, and a comment ends with them: such code is not read.
    if body.windows(2).any(|pair| pair == b"?>" || pair == b"<?") {
        return None;
    }
    let mut scanner = Scanner::new(body);
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => scanner.skip_space(),
            b'#' if scanner.peek_at(1) != Some(b'[') => scanner.skip_line(),
            b'/' if scanner.peek_at(1) == Some(b'/') => scanner.skip_line(),
            b'/' if scanner.peek_at(1) == Some(b'*') => {
                scanner.at += 2;
                scanner.skip_past(b"*/")?;
            }
            b'\'' => {
                scanner.at += 1;
                let raw = scanner.quoted(b'\'')?;
                if raw.contains(&b'\\') {
                    let text: Vec<u8> = raw.iter().copied().filter(|byte| *byte != b'\\').collect();
                    scanner.push(Kind::Text, text);
                } else {
                    scanner.push(Kind::Text, raw);
                }
            }
            b'"' | b'`' => {
                scanner.at += 1;
                let raw = scanner.quoted(byte)?;
                if byte == b'`' {
                    scanner.push(Kind::Sign, &b"`"[..]);
                }
                double(&mut scanner, raw)?;
            }
            b'$' => {
                let start = scanner.at;
                scanner.take(|byte| byte == b'$');
                scanner.take(is_name);
                let name = scanner.slice(start..scanner.at);
                scanner.push(Kind::Number, name);
            }
            b'<' if scanner.rest().starts_with(b"<<<") => return None,
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => scanner.name(b""),
            _ if !byte.is_ascii_punctuation() => return None,
            _ => scanner.sign(),
        }
    }
    scanner.finish()
}

fn double<'a>(scanner: &mut Scanner<'a>, raw: &'a [u8]) -> Option<()> {
    // `{$…}` and `${…}` hold expressions; only those without a call are let pass.
    let expressions = raw.windows(2).any(|pair| pair == b"{$" || pair == b"${");
    if expressions && raw.contains(&b'(') {
        return None;
    }
    match unescape(raw, ESCAPES) {
        Some(text) if !raw.contains(&b'$') => scanner.push(Kind::Text, text),
        _ => scanner.push(Kind::Mixed, raw),
    }
    Some(())
}

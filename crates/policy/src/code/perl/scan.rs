//! Perl's tokens. What a character means depends on what came before it; wherever that is not certain, the code
//! counts as not read.
//!
//! Variables and handles in angle brackets are tokens of the kind number: values, nothing to look up. A command in
//! backquotes is a sign `` ` `` with its text behind it, code in a pattern a sign `(?{`.

use super::names;
use super::quotes::{double, pattern, quote_like, single};
use crate::code::tokens::{Escapes, Kind, Scanner, Tokens, among, is_name};

pub(super) const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: true };
pub(super) const DEEPEST: usize = 4;

pub(super) fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let mut scanner = Scanner::new(text);
    code(&mut scanner)?;
    scanner.finish()
}

/// What a closing brace closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    Subscript,
    Block,
}

pub(super) fn code(scanner: &mut Scanner<'_>) -> Option<()> {
    let mut braces = Vec::new();
    let mut closed = Brace::Block;
    while let Some(byte) = scanner.peek() {
        let value = value_expected(scanner, closed);
        match byte {
            b'\n' => {
                scanner.skip_space();
                // Documentation begins so.
                if scanner.peek() == Some(b'=') {
                    return None;
                }
            }
            b' ' | b'\t' | b'\r' => scanner.skip_space(),
            b'#' => {
                scanner.take(|byte| byte != b'\n');
            }
            b'$' => scalar(scanner)?,
            b'@' => list(scanner)?,
            b'%' | b'&' if value? => sigil(scanner, byte)?,
            b'*' if value? => return None,
            b'\'' | b'"' | b'`' => quotes(scanner, byte)?,
            b'/' if value? => {
                scanner.at += 1;
                let raw = scanner.quoted(b'/')?;
                scanner.take(|byte| byte.is_ascii_alphabetic());
                pattern(scanner, raw)?;
            }
            b'<' if value? => angle(scanner)?,
            b'-' if value == Some(true) && is_file_test(scanner) => {
                scanner.at += 2;
                scanner.push(Kind::Sign, &b"-"[..]);
            }
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => word(scanner, braces.last().copied())?,
            b'{' => {
                braces.push(brace(scanner));
                scanner.sign();
            }
            b'}' => {
                closed = braces.pop()?;
                scanner.sign();
            }
            b'?' | b'%' | b'&' | b'<' => {
                value?;
                scanner.sign();
            }
            _ if !byte.is_ascii_punctuation() => return None,
            _ => scanner.sign(),
        }
    }
    Some(())
}

fn quotes(scanner: &mut Scanner<'_>, quote: u8) -> Option<()> {
    scanner.at += 1;
    let raw = scanner.quoted(quote)?;
    match quote {
        b'\'' => {
            scanner.push(Kind::Text, single(raw));
            Some(())
        }
        b'`' => {
            scanner.push(Kind::Sign, &b"`"[..]);
            double(scanner, raw)
        }
        _ => double(scanner, raw),
    }
}

/// Does a value begin here, or does an operator? `None`: it depends on more than is known.
fn value_expected(scanner: &Scanner<'_>, closed: Brace) -> Option<bool> {
    let Some(last) = scanner.last() else { return Some(true) };
    match (last.kind, last.text.as_ref()) {
        (Kind::Sign, b")" | b"]") => Some(false),
        (Kind::Sign, b"}") if closed == Brace::Subscript => Some(false),
        (Kind::Sign, b"}" | b"++" | b"--") => None,
        (Kind::Sign, _) => Some(true),
        (Kind::Name, name) if among(names::OPERATORS, name) => Some(true),
        (Kind::Name, _) => None,
        _ => Some(false),
    }
}

fn brace(scanner: &Scanner<'_>) -> Brace {
    let subscript = scanner.last().is_some_and(|last| match last.kind {
        Kind::Number => true,
        Kind::Sign => {
            matches!(last.text.as_ref(), b"->" | b"]" | b"}" | b"$" | b"@" | b"%")
                && !scanner.spaced
        }
        _ => false,
    });
    if subscript { Brace::Subscript } else { Brace::Block }
}

fn is_file_test(scanner: &Scanner<'_>) -> bool {
    scanner.peek_at(1).is_some_and(|byte| byte.is_ascii_alphabetic())
        && scanner.peek_at(2).is_none_or(|byte| !is_name(byte) && byte != b'=')
}

fn identifier(scanner: &mut Scanner<'_>) {
    loop {
        scanner.take(is_name);
        let more = scanner.rest().starts_with(b"::") && scanner.peek_at(2).is_some_and(is_name);
        if !more {
            return;
        }
        scanner.at += 2;
    }
}

fn value(scanner: &mut Scanner<'_>, start: usize) {
    let text = scanner.slice(start..scanner.at);
    scanner.push(Kind::Number, text);
}

fn scalar(scanner: &mut Scanner<'_>) -> Option<()> {
    let start = scanner.at;
    scanner.at += 1;
    let last = scanner.peek_at(1).is_some_and(|byte| is_name(byte) || matches!(byte, b'{' | b'$'));
    if scanner.peek() == Some(b'#') && last {
        scanner.at += 1;
    }
    while scanner.peek() == Some(b'$')
        && scanner.peek_at(1).is_some_and(|byte| is_name(byte) || byte == b'{' || byte == b'$')
    {
        scanner.at += 1;
    }
    match scanner.peek()? {
        b'{' => braced(scanner, start)?,
        b'^' if scanner.peek_at(1).is_some_and(|byte| byte.is_ascii_uppercase()) => {
            scanner.at += 2;
            value(scanner, start);
        }
        byte if is_name(byte) => {
            identifier(scanner);
            value(scanner, start);
        }
        b':' if scanner.rest().starts_with(b"::") => {
            scanner.at += 2;
            identifier(scanner);
            value(scanner, start);
        }
        byte if byte.is_ascii_punctuation() && !matches!(byte, b'{' | b'}') => {
            scanner.at += 1;
            value(scanner, start);
        }
        _ => return None,
    }
    Some(())
}

/// `${name}` is a variable, anything else in the braces is code.
fn braced(scanner: &mut Scanner<'_>, start: usize) -> Option<()> {
    let inside = scanner.rest().get(1..)?;
    let length = inside.iter().position(|byte| !is_name(*byte) && *byte != b'^')?;
    if length > 0 && inside.get(length) == Some(&b'}') {
        scanner.at += length + 2;
        value(scanner, start);
    } else {
        // The sign alone: the block follows as code.
        let sign = scanner.slice(start..start + 1);
        scanner.push(Kind::Sign, sign);
    }
    Some(())
}

fn list(scanner: &mut Scanner<'_>) -> Option<()> {
    let start = scanner.at;
    scanner.at += 1;
    match scanner.peek()? {
        b'{' => braced(scanner, start)?,
        b'$' => {
            scanner.take(|byte| byte == b'$');
            if scanner.peek() == Some(b'{') {
                return None;
            }
            identifier(scanner);
            value(scanner, start);
        }
        byte if is_name(byte) => {
            identifier(scanner);
            value(scanner, start);
        }
        b'-' | b'+' => {
            scanner.at += 1;
            value(scanner, start);
        }
        _ => return None,
    }
    Some(())
}

/// `%hash`, `&function`
fn sigil(scanner: &mut Scanner<'_>, sigil: u8) -> Option<()> {
    let start = scanner.at;
    scanner.at += 1;
    match scanner.peek()? {
        byte if is_name(byte) => {
            identifier(scanner);
            if sigil == b'&' {
                let name = scanner.slice(start + 1..scanner.at);
                scanner.push(Kind::Name, name);
            } else {
                value(scanner, start);
            }
        }
        b'$' | b'{' if sigil == b'&' => return None,
        b'$' => {
            scanner.take(|byte| byte == b'$');
            identifier(scanner);
            value(scanner, start);
        }
        b'{' => scanner.push(Kind::Sign, &b"%"[..]),
        b'+' | b'-' => {
            scanner.at += 1;
            value(scanner, start);
        }
        _ => return None,
    }
    Some(())
}

/// `<>`, `<STDIN>`, `<$handle>`, `<*.c>`. A here-document is not read.
fn angle(scanner: &mut Scanner<'_>) -> Option<()> {
    let start = scanner.at;
    if scanner.rest().starts_with(b"<<") {
        if !scanner.rest().starts_with(b"<<>>") {
            return None;
        }
        scanner.at += 4;
    } else {
        scanner.at += 1;
        scanner
            .take(|byte| is_name(byte) || matches!(byte, b'$' | b'*' | b'.' | b'/' | b'-' | b':'));
        if scanner.peek()? != b'>' {
            return None;
        }
        scanner.at += 1;
    }
    value(scanner, start);
    Some(())
}

/// A word, or one of the quoting ones.
fn word(scanner: &mut Scanner<'_>, brace: Option<Brace>) -> Option<()> {
    let start = scanner.at;
    let after_arrow =
        scanner.last().is_some_and(|last| last.kind == Kind::Sign && last.text.as_ref() == b"->");
    let in_braces = brace == Some(Brace::Subscript)
        && scanner.last().is_some_and(|last| last.kind == Kind::Sign && last.text.as_ref() == b"{");
    identifier(scanner);
    let name = scanner.slice(start..scanner.at);
    if matches!(name, b"__END__" | b"__DATA__" | b"format") {
        return None;
    }
    let quoting = matches!(name, b"q" | b"qq" | b"qw" | b"qr" | b"qx" | b"m" | b"s" | b"tr" | b"y");
    let rest = scanner.rest().trim_ascii_start();
    let key = rest.starts_with(b"=>") || in_braces && rest.starts_with(b"}");
    if !quoting || after_arrow || key {
        scanner.push(Kind::Name, name);
        return Some(());
    }
    quote_like(scanner, name)
}

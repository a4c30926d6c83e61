//! JavaScript's tokens: templates with code in them, regular expressions, newlines that end statements.

use crate::code::tokens::{Escapes, Kind, Scanner, Tokens, is_name, unescape};

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: true };
const DEEPEST: usize = 6;

/// What a bracket was opened for; decides what a slash after its end is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `if (`, `while (`: an expression may follow.
    Condition,
    Round,
    Square,
    Curly,
}

pub(super) fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let mut scanner = Scanner::new(text);
    if text.starts_with(b"#!") {
        scanner.skip_line();
    }
    code(&mut scanner, false)?;
    scanner.finish()
}

/// Up to the end, or in a template up to its closing brace.
fn code(scanner: &mut Scanner<'_>, template: bool) -> Option<()> {
    let mut open: Vec<Open> = Vec::new();
    let mut closed = Open::Round;
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | 11 | 12 => scanner.skip_space(),
            b'\n' => newline(scanner, &open),
            b'/' if scanner.peek_at(1) == Some(b'/') => scanner.skip_line(),
            b'/' if scanner.peek_at(1) == Some(b'*') => {
                scanner.at += 2;
                scanner.skip_past(b"*/")?;
            }
            b'/' if pattern_may_begin(scanner, closed)? => pattern(scanner)?,
            b'"' | b'\'' => {
                scanner.at += 1;
                let raw = scanner.quoted(byte)?;
                let broken = raw.iter().enumerate().any(|(at, byte)| {
                    *byte == b'\n'
                        && at.checked_sub(1).and_then(|before| raw.get(before)) != Some(&b'\\')
                });
                if broken {
                    return None;
                }
                scanner.push(Kind::Text, unescape(raw, ESCAPES)?);
            }
            b'`' => template_text(scanner)?,
            b'0'..=b'9' => scanner.number(),
            b'#' | b'$' => {
                scanner.at += 1;
                let start = scanner.at - 1;
                scanner.take(|byte| is_name(byte) || byte == b'$');
                let name = scanner.slice(start..scanner.at);
                scanner.push(Kind::Name, name);
            }
            _ if is_name(byte) => scanner.name(b"$"),
            b'(' | b'[' | b'{' => {
                open.push(opened(scanner, byte));
                scanner.sign();
            }
            b'}' if template && open.is_empty() => return Some(()),
            b')' | b']' | b'}' => {
                closed = open.pop()?;
                scanner.sign();
            }
            // Old browsers' comments still are some.
            _ if scanner.rest().starts_with(b"<!--") || scanner.rest().starts_with(b"-->") => {
                return None;
            }
            _ if !byte.is_ascii_punctuation() || byte == b'\\' => return None,
            _ => scanner.sign(),
        }
    }
    (!template && open.is_empty()).then_some(())
}

fn opened(scanner: &Scanner<'_>, byte: u8) -> Open {
    let condition = scanner.last().is_some_and(|last| {
        last.kind == Kind::Name && matches!(last.text.as_ref(), b"if" | b"while" | b"for" | b"with")
    });
    match byte {
        b'(' if condition => Open::Condition,
        b'(' => Open::Round,
        b'[' => Open::Square,
        _ => Open::Curly,
    }
}

/// A newline is kept only where it can end a statement.
fn newline(scanner: &mut Scanner<'_>, open: &[Open]) {
    let rest = scanner.rest();
    let next = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
    let goes_on = matches!(rest.get(next), Some(b'.' | b'?'));
    let begun = scanner.last().is_some_and(|last| {
        last.kind == Kind::Sign && !matches!(last.text.as_ref(), b")" | b"]" | b"}" | b"++" | b"--")
    });
    let inside = matches!(open.last(), Some(Open::Round | Open::Square | Open::Condition));
    if goes_on || begun || inside {
        scanner.spaced = true;
    } else {
        scanner.push(Kind::Newline, &b"\n"[..]);
    }
    scanner.at += next;
}

/// `None`: it depends on more than is known here.
fn pattern_may_begin(scanner: &Scanner<'_>, closed: Open) -> Option<bool> {
    let Some(last) = scanner.last() else { return Some(true) };
    Some(match (last.kind, last.text.as_ref()) {
        (Kind::Newline, _) => return before_newline(scanner, closed),
        (Kind::Name, name) => matches!(
            name,
            b"return"
                | b"typeof"
                | b"case"
                | b"in"
                | b"of"
                | b"delete"
                | b"void"
                | b"throw"
                | b"new"
                | b"instanceof"
                | b"do"
                | b"else"
                | b"await"
                | b"yield"
        ),
        (Kind::Sign, b")") => closed == Open::Condition,
        (Kind::Sign, b"]") => false,
        (Kind::Sign, b"}" | b"++" | b"--") => return None,
        (Kind::Sign, _) => true,
        _ => false,
    })
}

/// After a newline a slash still divides what was before it, unless that was a statement's end.
fn before_newline(scanner: &Scanner<'_>, closed: Open) -> Option<bool> {
    let last = scanner.tokens.iter().rev().find(|token| token.kind != Kind::Newline);
    match last.map(|token| (token.kind, token.text.as_ref())) {
        None | Some((Kind::Sign, b";" | b"{")) => Some(true),
        Some((Kind::Sign, b")")) if closed == Open::Condition => Some(true),
        Some((Kind::Sign, b")" | b"]") | (Kind::Number | Kind::Text | Kind::Pattern, _)) => {
            Some(false)
        }
        _ => None,
    }
}

fn pattern(scanner: &mut Scanner<'_>) -> Option<()> {
    let start = scanner.at + 1;
    scanner.at = start;
    let mut class = false;
    loop {
        match scanner.peek()? {
            b'\n' | b'\r' => return None,
            b'\\' => scanner.at += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => break,
            _ => {}
        }
        scanner.at += 1;
    }
    let raw = scanner.slice(start..scanner.at);
    scanner.at += 1;
    scanner.take(|byte| byte.is_ascii_alphabetic());
    scanner.push(Kind::Pattern, raw);
    Some(())
}

/// A template; its expressions follow it in brackets.
fn template_text(scanner: &mut Scanner<'_>) -> Option<()> {
    if scanner.depth >= DEEPEST {
        return None;
    }
    scanner.at += 1;
    let mut text = scanner.begin_text();
    loop {
        match scanner.peek()? {
            b'\\' => scanner.at += 2,
            b'`' => break,
            b'$' if scanner.peek_at(1) == Some(b'{') => {
                scanner.embedded(&mut text, |scanner| code(scanner, true))?;
            }
            _ => scanner.at += 1,
        }
    }
    scanner.end_text(&text, ESCAPES)
}

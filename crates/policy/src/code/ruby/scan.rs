//! Ruby's tokens. A slash, a percent sign and a question mark mean several things; where it is not certain which, the
//! code counts as not read. A command in backquotes is a sign `` ` `` with its text behind it.

use crate::code::tokens::{Escapes, Kind, Scanner, Tokens, is_name};

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: true };

pub(super) fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let mut scanner = Scanner::new(text);
    code(&mut scanner, false)?;
    scanner.finish()
}

fn code(scanner: &mut Scanner<'_>, inside: bool) -> Option<()> {
    let mut depth = 0usize;
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' => scanner.skip_space(),
            b'\n' => {
                scanner.newline();
                if scanner.rest().starts_with(b"=begin") || scanner.rest().starts_with(b"__END__") {
                    return None;
                }
            }
            b'#' => {
                scanner.take(|byte| byte != b'\n');
            }
            b'\'' | b'"' | b'`' => quotes(scanner, byte)?,
            b'/' if value_expected(scanner)? => pattern(scanner)?,
            b'%' if value_expected(scanner)? => percent(scanner)?,
            b'<' if is_here_document(scanner) => return None,
            // A character, or the sign between two values.
            b'?' if value_expected(scanner)?
                && scanner.peek_at(1).is_some_and(|byte| !byte.is_ascii_whitespace()) =>
            {
                return None;
            }
            b'$' | b'@' => variable(scanner),
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => name(scanner),
            b'}' if inside && depth == 0 => return Some(()),
            b'{' | b'(' | b'[' => {
                depth += 1;
                scanner.sign();
            }
            b'}' | b')' | b']' => {
                depth = depth.checked_sub(1)?;
                scanner.sign();
            }
            b'\\' if scanner.rest().starts_with(b"\\\n") => scanner.at += 2,
            _ if !byte.is_ascii_punctuation() || byte == b'\\' => return None,
            _ => scanner.sign(),
        }
    }
    (!inside).then_some(())
}

fn quotes(scanner: &mut Scanner<'_>, quote: u8) -> Option<()> {
    scanner.at += 1;
    match quote {
        b'\'' => {
            let raw = scanner.quoted(quote)?;
            if raw.contains(&b'\\') {
                let text: Vec<u8> = raw.iter().copied().filter(|byte| *byte != b'\\').collect();
                scanner.push(Kind::Text, text);
            } else {
                scanner.push(Kind::Text, raw);
            }
            Some(())
        }
        b'`' => {
            scanner.push(Kind::Sign, &b"`"[..]);
            double(scanner, quote, 0)
        }
        _ => double(scanner, quote, 0),
    }
}

fn pattern(scanner: &mut Scanner<'_>) -> Option<()> {
    scanner.at += 1;
    double(scanner, b'/', 0)?;
    if let Some(token) = scanner.tokens.last_mut()
        && token.kind == Kind::Text
    {
        token.kind = Kind::Pattern;
    }
    scanner.take(|byte| byte.is_ascii_alphabetic());
    Some(())
}

fn is_here_document(scanner: &Scanner<'_>) -> bool {
    scanner.rest().starts_with(b"<<")
        && scanner.peek_at(2).is_some_and(|byte| {
            matches!(byte, b'~' | b'-' | b'"' | b'\'' | b'`') || byte.is_ascii_uppercase()
        })
}

fn variable(scanner: &mut Scanner<'_>) {
    let start = scanner.at;
    scanner.at += 1;
    if scanner.take(|byte| is_name(byte) || byte == b'@').is_empty() {
        scanner.at += 1;
    }
    let name = scanner.slice(start..scanner.at);
    scanner.push(Kind::Number, name);
}

fn name(scanner: &mut Scanner<'_>) {
    let start = scanner.at;
    scanner.take(is_name);
    if matches!(scanner.peek(), Some(b'?' | b'!')) && scanner.peek_at(1) != Some(b'=') {
        scanner.at += 1;
    }
    let name = scanner.slice(start..scanner.at);
    scanner.push(Kind::Name, name);
}

fn value_expected(scanner: &Scanner<'_>) -> Option<bool> {
    let Some(last) = scanner.last() else { return Some(true) };
    match (last.kind, last.text.as_ref()) {
        (Kind::Sign, b")" | b"]") => Some(false),
        (Kind::Sign, b"}") => None,
        (Kind::Sign | Kind::Newline, _)
        | (
            Kind::Name,
            b"if" | b"unless" | b"while" | b"and" | b"or" | b"not" | b"return" | b"when" | b"puts"
            | b"print" | b"p" | b"in" | b"elsif" | b"then" | b"do" | b"else",
        ) => Some(true),
        // `x /2` and `puts /x/` look alike; with spaces on both sides it divides.
        (Kind::Name, _) if scanner.spaced && scanner.peek_at(1) == Some(b' ') => Some(false),
        (Kind::Name, _) if !scanner.spaced => Some(false),
        (Kind::Name, _) => None,
        _ => Some(false),
    }
}

/// A text with `#{…}` in it; a nesting bracket ends at its partner.
fn double(scanner: &mut Scanner<'_>, end: u8, open: u8) -> Option<()> {
    if scanner.depth > 5 {
        return None;
    }
    let mut text = scanner.begin_text();
    let mut depth = 0usize;
    loop {
        let byte = scanner.peek()?;
        if byte == end && depth == 0 {
            break;
        }
        match byte {
            b'\\' => scanner.at += 2,
            b'#' if scanner.peek_at(1) == Some(b'{') => {
                scanner.embedded(&mut text, |scanner| code(scanner, true))?;
            }
            _ => {
                if open != 0 && byte == open {
                    depth += 1;
                } else if byte == end {
                    depth -= 1;
                }
                scanner.at += 1;
            }
        }
    }
    // What its escapes mean is not always known; then it stays a text of which nothing is.
    let _ = scanner.end_text(&text, ESCAPES);
    Some(())
}

/// `%w[…]`, `%q(…)`, `%x{…}`, `%r{…}`
fn percent(scanner: &mut Scanner<'_>) -> Option<()> {
    let kind = scanner.peek_at(1)?;
    let (kind, skip) = if kind.is_ascii_alphabetic() { (kind, 2) } else { (b'Q', 1) };
    let open = scanner.peek_at(skip)?;
    if !open.is_ascii_punctuation() {
        return None;
    }
    scanner.at += skip + 1;
    let (end, nested) = match open {
        b'(' => (b')', open),
        b'[' => (b']', open),
        b'{' => (b'}', open),
        b'<' => (b'>', open),
        other => (other, 0),
    };
    match kind {
        b'x' => {
            scanner.push(Kind::Sign, &b"`"[..]);
            double(scanner, end, nested)
        }
        b'r' => {
            double(scanner, end, nested)?;
            scanner.take(|byte| byte.is_ascii_alphabetic());
            Some(())
        }
        b'q' | b'Q' | b'w' | b'W' | b'i' | b'I' | b's' => double(scanner, end, nested),
        _ => None,
    }
}

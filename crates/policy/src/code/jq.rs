//! Filters of jq: they cannot start or write anything; modules and yq's `load` read files.

use super::findings::Findings;
use super::tokens::{Escapes, Kind, Scanner, Token, is_name, unescape};
use crate::event::Access;

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: true };

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut scanner = Scanner::new(text);
    while let Some(byte) = scanner.peek() {
        match byte {
            b'#' => scanner.skip_line(),
            b'"' => {
                if text_token(&mut scanner, findings).is_none() {
                    return findings.unclear("a text without end");
                }
            }
            _ if is_name(byte) => scanner.name(b""),
            _ if byte.is_ascii_whitespace() => scanner.skip_space(),
            b'(' => {
                scanner.at += 1;
                scanner.spaced = true;
            }
            _ => {
                let sign = scanner.slice(scanner.at..scanner.at + 1);
                scanner.at += 1;
                scanner.push(Kind::Sign, sign);
            }
        }
    }
    modules(&scanner.tokens, findings);
}

/// A text, and whether code in it could read files.
fn text_token(scanner: &mut Scanner<'_>, findings: &mut Findings) -> Option<()> {
    scanner.at += 1;
    // Code in `\(…)` may have quotes of its own; then what seems to be text and code changes places, and both are
    // looked at.
    let raw = scanner.quoted(b'"')?;
    let words: &[&[u8]] = &[b"import", b"include", b"load"];
    if contains(raw, b"\\(") && words.iter().any(|word| contains(raw, word)) {
        findings.unclear("load");
    }
    match unescape(raw, ESCAPES) {
        Some(text) => scanner.push(Kind::Text, text),
        None => scanner.push(Kind::Mixed, raw),
    }
    Some(())
}

/// `import "path"`, `include "path"`, `load("path")`
fn modules(tokens: &[Token<'_>], findings: &mut Findings) {
    for (index, token) in tokens.iter().enumerate() {
        let field = index
            .checked_sub(1)
            .and_then(|before| tokens.get(before))
            .is_some_and(|before| before.kind == Kind::Sign && before.text.as_ref() == b".");
        let reads = matches!(token.text.as_ref(), b"import" | b"include")
            || token.text.starts_with(b"load")
            || token.text.as_ref() == b"strload";
        if token.kind != Kind::Name
            || !reads
            || field && matches!(token.text.as_ref(), b"import" | b"include")
        {
            continue;
        }
        match tokens.get(index + 1).filter(|next| next.kind == Kind::Text) {
            Some(path) => findings.open(&path.text, Access::Read),
            None if matches!(
                token.text.as_ref(),
                b"load" | b"strload" | b"load_xml" | b"load_props"
            ) && !field =>
            {
                findings.unclear("load of a computed path");
            }
            None => {}
        }
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

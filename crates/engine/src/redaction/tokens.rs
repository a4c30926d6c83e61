//! Whether a token of the table stands where it seems to begin.

use super::code::is_in_digest;
use super::found::{Found, Hit};
use super::reading::at;
use super::shape::{self, is};
use super::table::{Check, Cover, Token};
use super::vocabulary;

pub fn look(hit: &Hit<'_>, token: &'static Token, begin: usize, found: &mut Found<'_>) {
    let Some(start) = start(hit, token) else { return };
    let behind = hit.at + begin;
    let Some(end) = shape::end(token.then, hit.line, behind) else { return };
    if at(hit.line, end).is_ascii_alphanumeric() {
        return;
    }
    let body = hit.line.get(behind..end).unwrap_or_default();
    let body =
        if token.before.is_some() { hit.line.get(start..end).unwrap_or_default() } else { body };
    if passes(token.check, body) && !is_in_digest(hit.line.get(..hit.at).unwrap_or_default()) {
        let from = if token.cover == Cover::Rest { behind } else { start };
        found.add_token(from, end, token.kind);
    }
}

/// Where it begins: a word of its own, or what belongs in front.
fn start(hit: &Hit<'_>, token: &Token) -> Option<usize> {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    if let Some((set, least, most)) = token.before {
        let most = usize::from(most);
        let length = before.iter().rev().take(most + 1).take_while(|byte| is(**byte, set)).count();
        return (length >= usize::from(least) && length <= most).then(|| hit.at - length);
    }
    // A host may have another name in front.
    if token.cover == Cover::Rest {
        return Some(hit.at);
    }
    let free = match before {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()),
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [.., last] => !last.is_ascii_alphanumeric() && *last != b'_',
    };
    // A variable with the token in its name, as in `x_ghp_…`, is none; one after an underline of a prefix may be.
    (free || before.last() == Some(&b'_') && before.len() > 1 && token.then.len() > 2)
        .then_some(hit.at)
}

fn passes(check: Check, body: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| body.iter().any(test);
    let enough = match check {
        Check::Nothing => return true,
        Check::Real => true,
        Check::Digit => has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic),
        Check::Mixed => {
            has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
        }
    };
    // `…EXAMPLE` is how the keys in the manuals of a large cloud end.
    enough && !body.ends_with(b"EXAMPLE") && !vocabulary::is_filler(body)
}

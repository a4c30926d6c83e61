//! A name and its value in fields of the same object: `{"name":"sessionid","value":"…"}`, in either order.

use super::found::{Found, Hit};
use super::headers;
use super::names::{self, Name, Promise};
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::values::{Form, is_secret};

/// So far the other field may be.
const REACH: usize = 256;

/// Fields that hold a name.
const NAMES: &[&[u8]] =
    &[b"name", b"key", b"label", b"id", b"keyname", b"parameterkey", b"variable"];

/// `"value"` ends here, without its quote. False: there is no such object.
pub fn look(hit: &Hit<'_>, end: usize, found: &mut Found<'_>) -> bool {
    let line = hit.line;
    let Some((start, close, behind)) = string_of_field(line, end) else { return false };
    let value = line.get(start..close).unwrap_or_default();
    let Some((field, name)) = name_before(line, hit.at).or_else(|| name_after(line, behind)) else {
        return false;
    };
    let keys = field.eq_ignore_ascii_case(b"keyname");
    let known = names::classify(name);
    let promised = known.or(keys.then_some(Name {
        promise: Promise::Perhaps,
        kind: "api-key",
        capitals: false,
        last: true,
    }));
    let secret = promised.is_some_and(|name| is_secret(value, name, Form::Quoted));
    // Only cookies have a path or may be kept from scripts.
    let cookie = field.eq_ignore_ascii_case(b"name")
        && (is_cookie(line, hit.at) || headers::is_session_name(name))
        && headers::is_session(name, value);
    if secret {
        found.add(start, close, promised.map_or("secret", |name| name.kind));
    } else if cookie {
        found.add(start, close, "cookie");
    }
    secret || cookie
}

/// The string after a field whose name ends here, and the place behind its quote.
fn string_of_field(line: &[u8], end: usize) -> Option<(usize, usize, usize)> {
    let quote = opening_quote(line, end)?;
    let colon = after_spaces(line, end + quote.length());
    if at(line, colon) != b':' {
        return None;
    }
    let open = after_spaces(line, colon + 1);
    let quote = opening_quote(line, open)?;
    let start = open + quote.length();
    let close = closing_quote(line, start, quote)?;
    Some((start, close, close + quote.length()))
}

/// The nearest field before this place in the same object that holds a name.
fn name_before(line: &[u8], place: usize) -> Option<(&[u8], &[u8])> {
    let from = place.saturating_sub(REACH);
    let text = line.get(from..place)?;
    let open = text.iter().rposition(|byte| matches!(byte, b'{' | b'}')).map_or(0, |at| at + 1);
    name_in(line, from + open, place)
}

fn name_after(line: &[u8], place: usize) -> Option<(&[u8], &[u8])> {
    let text = line.get(place..(place + REACH).min(line.len()))?;
    let end = text.iter().position(|byte| matches!(byte, b'{' | b'}')).unwrap_or(text.len());
    name_in(line, place, place + end)
}

fn name_in(line: &[u8], from: usize, to: usize) -> Option<(&[u8], &[u8])> {
    let mut place = from;
    while place < to {
        let Some(quote) = opening_quote(line, place) else {
            place += 1;
            continue;
        };
        let start = place + quote.length();
        let end = closing_quote(line, start, quote).filter(|end| *end <= to)?;
        let field = line.get(start..end)?;
        if NAMES.iter().any(|one| field.eq_ignore_ascii_case(one))
            && let Some((start, end, _)) = string_of_field(line, end)
        {
            return Some((field, line.get(start..end)?));
        }
        place = end + quote.length();
    }
    None
}

fn is_cookie(line: &[u8], place: usize) -> bool {
    let near = line.get(place.saturating_sub(REACH)..(place + 2 * REACH).min(line.len()));
    let near = near.unwrap_or_default();
    [&b"httponly\""[..], b"samesite\"", b"\"domain\"", b"\"hostonly\""]
        .iter()
        .any(|one| near.windows(one.len()).any(|window| window.eq_ignore_ascii_case(one)))
}

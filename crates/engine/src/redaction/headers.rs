//! Headers of HTTP: `Authorization`, `Cookie`, `Set-Cookie`, in raw form or as a string of some program. The name of the header,
//! the scheme and the names of cookies stay readable.

use super::found::{Found, Hit};
use super::names;
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::values::{LONGEST, Makeup};
use super::vocabulary;

/// `authorization` begins here.
pub fn look_for_authorization(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) {
    let Some((start, end)) = value(hit.line, hit.at + length) else { return };
    let text = hit.line.get(start..end).unwrap_or_default();
    let first = text.iter().take_while(|byte| !matches!(byte, b' ' | b'%' | b'+')).count();
    let gap = match at(text, first) {
        b' ' | b'+' => 1,
        b'%' if text.get(first..first + 3) == Some(b"%20") => 3,
        _ => 0,
    };
    let scheme = text.get(..first).unwrap_or_default();
    let is_scheme =
        gap > 0 && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let is_scheme = is_scheme && scheme.len() <= 24;
    let from = if is_scheme { after_spaces(text, first + gap) } else { 0 };
    let word = text.get(from..).unwrap_or_default();
    // `Credential=…, Signature=…`: what is secret there is found by its own name.
    let parameters = word.contains(&b'=') && word.contains(&b',');
    let word = word
        .split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b',' | b';' | b'\\' | b'"'))
        .next()
        .unwrap_or_default();
    if !parameters && is_credential(word, is_scheme) {
        found.add(start + from, start + from + word.len(), "authorization-header");
    }
}

/// `bearer ` or `basic ` begins here.
pub fn look_for_scheme(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) {
    let before = hit.at.checked_sub(1).map_or(b' ', |place| at(hit.line, place));
    if before.is_ascii_alphanumeric() {
        return;
    }
    let from = after_spaces(hit.line, hit.at + length);
    let rest = hit.line.get(from..).unwrap_or_default();
    let word = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=:%|".contains(byte))
        .count();
    let text = rest.get(..word).unwrap_or_default();
    let text = text.strip_suffix(b".").or(text.strip_suffix(b":")).unwrap_or(text);
    let basic = hit.rest().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic"));
    let makeup = Makeup::of(text);
    let known = if basic {
        super::literals::from_base64(text).is_some_and(|plain| {
            plain.contains(&b':') && plain.iter().all(|byte| (32..127).contains(byte))
        })
    } else {
        makeup.length >= 16
            && makeup.digits > 0
            && makeup.entropy >= 3.0
            && !text.contains(&b':')
            && !vocabulary::is_placeholder(text)
    };
    if known {
        found.add(from, from + text.len(), "authorization-header");
    }
}

/// `cookie` begins here.
pub fn look_for_cookie(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    if before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return;
    }
    let prefix = before.get(before.len().saturating_sub(4)..).unwrap_or_default();
    let set = prefix.eq_ignore_ascii_case(b"set-");
    let flag = before.ends_with(b"--") && at(hit.line, hit.at + length) == b' ';
    let place = if flag { Some(hit.at + length + 1) } else { None };
    let whole = place
        .map(|place| within(hit.line, place))
        .or_else(|| beside(hit.line, hit.at + length))
        .or_else(|| value(hit.line, hit.at + length));
    let Some((start, end)) = whole else { return };
    pairs(hit.line, start, end, set, found);
}

/// A line of a file of cookies, as curl and browsers write it: seven fields with tabs between them. True if it is one.
pub fn look_for_jar(hit: &Hit<'_>, found: &mut Found<'_>) -> bool {
    let mut fields = hit.line.split(|byte| *byte == b'\t');
    let mut next = || fields.next().unwrap_or_default();
    let (_, wide, path, secure, until, name, value) =
        (next(), next(), next(), next(), next(), next(), next());
    let is_flag = |text: &[u8]| matches!(text, b"TRUE" | b"FALSE");
    let jar = hit.begins
        && is_flag(wide)
        && is_flag(secure)
        && path.starts_with(b"/")
        && !until.is_empty()
        && until.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && fields.next().is_none();
    let value = value.trim_ascii_end();
    if jar && is_session(name, value) {
        let start = hit.line.trim_ascii_end().len() - value.len();
        found.add(start, start + value.len(), "cookie");
    }
    jar
}

/// `"name": "Cookie", "value": "…"`, as traces have it.
fn beside(line: &[u8], after: usize) -> Option<(usize, usize)> {
    let rest = line.get(after..).unwrap_or_default();
    let rest = rest.strip_prefix(b"\\").unwrap_or(rest).strip_prefix(b"\"")?;
    let rest = rest.trim_ascii_start().strip_prefix(b",")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\\").unwrap_or(rest).strip_prefix(b"\"value")?;
    value(line, line.len() - rest.len())
}

/// Each `name=value`; of `Set-Cookie` the first one, because the others say how long and where.
pub fn pairs(line: &[u8], start: usize, end: usize, only_first: bool, found: &mut Found<'_>) {
    let mut from = start;
    let mut left = 64;
    while from < end && left > 0 {
        left -= 1;
        let piece = line.get(from..end).unwrap_or_default();
        let length = piece.iter().position(|byte| *byte == b';').unwrap_or(piece.len());
        let pair = piece.get(..length).unwrap_or_default();
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=') {
            let name = pair.get(..equals).unwrap_or_default().trim_ascii();
            let value = pair.get(equals + 1..).unwrap_or_default();
            let value = value.trim_ascii_end();
            let quotes = usize::from(value.first() == Some(&b'"'));
            let inner = value.get(quotes..).unwrap_or_default();
            let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
            let inner = inner
                .split(|byte| matches!(byte, b' ' | b'\\' | b'\'' | b','))
                .next()
                .unwrap_or_default();
            let is_name =
                name.iter().all(|byte| byte.is_ascii_graphic() && !b"()<>{}[]'\"".contains(byte));
            if is_name && is_session(name, inner) {
                let at = from + equals + 1 + quotes;
                found.add(at, at + inner.len(), "cookie");
            }
        }
        if only_first {
            return;
        }
        from += length + 1;
    }
}

/// Cookies that count visitors or keep what they like.
#[rustfmt::skip]
const COUNTING: &[&str] = &[
    "_ga", "_gid", "_gat", "_fbp", "_fbc", "__utm", "_hj", "_gcl", "ajs_", "optimizely", "amp_",
    "mp_", "intercom-id", "consent", "locale", "lang", "theme", "timezone",
];

/// Parts of the names of those that let somebody in.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "login", "remember", "user_id_enc",
    "secure", "identity", "ticket", "_id", "cf_clearance", "access", "refresh", "secret",
    "credential",
];

/// The name alone says it.
pub fn is_session_name(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    [&b"sess"[..], b"csrf", b"xsrf", b"remember"]
        .iter()
        .any(|one| lower.windows(one.len()).any(|window| window == *one))
        || lower.ends_with(b".sid")
}

pub fn is_session(name: &[u8], value: &[u8]) -> bool {
    if name.len() > 128 {
        return false;
    }
    let value = value.get(..512.min(value.len())).unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let has = |part: &str| lower.windows(part.len()).any(|window| window == part.as_bytes());
    if COUNTING.iter().any(|one| lower.starts_with(one.as_bytes()))
        || vocabulary::is_placeholder(value)
        || value.starts_with(b"$")
        || value.starts_with(b"{")
        || value.starts_with(b"<")
    {
        return false;
    }
    let makeup = Makeup::of(value);
    if TELLING.iter().any(|one| has(one)) || names::classify(name).is_some() {
        return makeup.length >= 8
            && (makeup.digits > 0 || makeup.length >= 16 && makeup.changes >= 3);
    }
    makeup.length >= 20 && makeup.is_random() && makeup.digits < makeup.length
}

fn is_credential(word: &[u8], after_scheme: bool) -> bool {
    let word = word.get(..512.min(word.len())).unwrap_or_default();
    let makeup = Makeup::of(word);
    if vocabulary::is_placeholder(word)
        || matches!(word.first(), Some(b'$' | b'{' | b'<' | b'%' | b'#' | b'(' | b'`' | b'\''))
    {
        return false;
    }
    let code = word.contains(&b'(')
        || word.contains(&b'{')
        || word.contains(&b'$') && !word.starts_with(b"$2");
    let least = if after_scheme { 6 } else { 12 };
    let code = code
        || word.windows(2).any(|pair| pair == b"::" || pair == b"//")
        || !after_scheme && !makeup.is_random();
    !code
        && makeup.length >= least
        && (makeup.digits > 0
            || makeup.length >= 12
                && makeup.changes >= 3
                && makeup.other <= 3
                && after_scheme
                && makeup.upper > 0)
}

/// The value of a header: after the sign, to the closing quote or the end of the line.
fn value(line: &[u8], end_of_name: usize) -> Option<(usize, usize)> {
    let quote = opening_quote(line, end_of_name);
    let behind = quote.map_or(end_of_name, |quote| end_of_name + quote.length());
    let behind = if at(line, behind) == b']' { behind + 1 } else { behind };
    let operator = after_spaces(line, behind);
    let width = match (at(line, operator), at(line, operator + 1)) {
        (b'=', b'>') | (b':', b'=') => 2,
        (b':', b':') => return None,
        (b':' | b'=', _) => 1,
        (b',', _) if quote.is_some() => 1,
        _ => return None,
    };
    let start = after_spaces(line, operator + width);
    // Several values of one name, as some libraries write them.
    let start = if at(line, start) == b'[' { start + 1 } else { start };
    Some(within(line, start))
}

/// What is in quotes that open here, or the rest; an enclosing quote that was opened before closes it too.
fn within(line: &[u8], start: usize) -> (usize, usize) {
    if let Some(quote) = opening_quote(line, start) {
        let inner = start + quote.length();
        return (
            inner,
            closing_quote(line, inner, quote).unwrap_or(line.len().min(inner + LONGEST)),
        );
    }
    let rest = line.get(start..).unwrap_or_default();
    let rest = rest.get(..LONGEST.min(rest.len())).unwrap_or_default();
    let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\r'));
    (start, start + length.unwrap_or(rest.len()))
}

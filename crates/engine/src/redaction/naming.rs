//! The name around a word of the gate: where it begins and ends on its line, and what it promises there.

use super::names::{self, Name, Promise};
use super::reading::{Quote, after_spaces, at, is_name_byte};

/// A name on a line and what is around it.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    pub start: usize,
    pub end: usize,
    pub name: Name,
    /// `--password`
    pub dashes: usize,
    /// After `?` or `&`.
    pub in_query: bool,
    /// `"password"`
    pub quoted: bool,
}

/// Most names stand in sentences: `the token bucket is full`. What follows them decides without a look at the name.
pub fn is_worth_it(line: &[u8], start: usize, behind: usize, operator_at: usize) -> bool {
    let next = at(line, operator_at);
    if operator_at == behind {
        return !matches!(next, b'/' | b'.' | b';' | b'*' | b'&' | b'@');
    }
    if !next.is_ascii_alphanumeric() || at(line, start) == b'-' {
        return true;
    }
    // A word follows: it must have something in it, or be a verb, or the line must be of a kind that is written like this.
    let rest = line.get(operator_at..).unwrap_or_default();
    let word = rest.iter().take(80).take_while(|byte| !matches!(byte, b' ' | b'\t'));
    let odd = word.clone().any(|byte| !byte.is_ascii_alphabetic() && !b".,:;)".contains(byte));
    let word_length = word.count();
    odd || word_length == rest.len()
        || matches!(word_length, 2 | 3 | 6)
        || word_length > 12
        || start == after_spaces(line, 0)
}

/// The whole name around a hint.
pub fn extent(line: &[u8], hint: usize) -> (usize, usize) {
    let is_name = |place: usize| line.get(place).copied().is_some_and(is_name_byte);
    let mut start = hint;
    while start > 0 && hint - start < 64 && is_name(start - 1) {
        start -= 1;
    }
    let mut end = hint;
    while end - hint < 64 && is_name(end) {
        end += 1;
    }
    while end > start && matches!(at(line, end - 1), b'.' | b'-') {
        end -= 1;
    }
    (start, end)
}

/// What the name is, without the escapes and signs in front of it.
pub fn classify(line: &[u8], start: usize, end: usize, quote: Option<Quote>) -> Option<Named> {
    let mut from = start;
    let before = start.checked_sub(1).map_or(b' ', |place| at(line, place));
    if before == b'\\' && matches!(at(line, from), b'n' | b'r' | b't') {
        from += 1;
    } else if before == b'\\' && line.get(from..).is_some_and(|rest| rest.starts_with(b"u00")) {
        from += 5;
    } else if before == b'%' && at(line, from).is_ascii_hexdigit() {
        from += 2;
    }
    from = from.max(after_colour(line, start, end));
    let escaped_ampersand = line
        .get(start..from)
        .is_some_and(|text| text == b"u0026" || text == b"26" || text == b"3F");
    let entity = line.get(..from).is_some_and(|text| text.ends_with(b"&amp;"));
    let mut dashes = 0;
    while matches!(at(line, from), b'-' | b'.') && from < end {
        dashes += usize::from(at(line, from) == b'-');
        from += 1;
    }
    let in_query = matches!(before, b'?' | b'&') || escaped_ampersand || entity;
    // `arn:…:secret:name`
    if before == b':' && at(line, end) == b':' && from == start {
        return None;
    }
    // `"AWS::IAM::AccessKey"`: a type.
    if quote.is_some() && line.get(..from).is_some_and(|front| front.ends_with(b"::")) {
        return None;
    }
    let text = line.get(from..end)?;
    if is_public(line, from, text) || is_style(text) || is_of_checksum(line, from) {
        return None;
    }
    let name = of_words(line, from, text)
        .or_else(|| names::classify(text))
        .or_else(|| in_query.then(|| of_query(text)).flatten())?;
    Some(Named { start: from, end, name, dashes, in_query, quoted: quote.is_some() })
}

/// After the bracket that ends the name of a field, as PHP prints it: `["password":protected]`, `[token:Config:private]`.
pub fn after_bracket(line: &[u8], place: usize) -> usize {
    if at(line, place) == b']' {
        return place + 1;
    }
    let rest = line.get(place..).unwrap_or_default();
    let inner =
        rest.iter().take(64).take_while(|byte| is_name_byte(**byte) || b":\"\\".contains(byte));
    let length = inner.count();
    let seen = rest.get(..length).unwrap_or_default();
    let visibility = seen.ends_with(b":protected") || seen.ends_with(b":private");
    if visibility && at(rest, length) == b']' { place + length + 1 } else { place }
}

/// `␛[32mpassword`: the end of the sequence is no part of the name.
fn after_colour(line: &[u8], start: usize, end: usize) -> usize {
    let text = line.get(start..end).unwrap_or_default();
    let digits = text.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let front = line.get(..start).unwrap_or_default();
    let numbers =
        front.iter().rev().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b';');
    let front = front.get(..front.len() - numbers.count()).unwrap_or_default();
    let coloured = text.get(digits) == Some(&b'm') && front.ends_with(b"\x1b[");
    if coloured { start + digits + 1 } else { start }
}

/// `Login_password__or18m`: the class of an element, with what a bundler adds to keep it apart from others.
fn is_style(text: &[u8]) -> bool {
    let Some(place) = text.windows(2).rposition(|pair| pair == b"__") else { return false };
    let (front, hash) = text.split_at(place);
    let hash = hash.get(2..).unwrap_or_default();
    // `Smtp__Password__Local` is a setting.
    let odd =
        hash.iter().any(u8::is_ascii_digit) || hash.iter().skip(1).any(u8::is_ascii_uppercase);
    (5..9).contains(&hash.len())
        && odd
        && front.iter().any(u8::is_ascii_lowercase)
        && names::classify(hash).is_none()
}

/// `checksum/secret: …`, as the annotations of a deployment have it.
fn is_of_checksum(line: &[u8], start: usize) -> bool {
    let before = line.get(..start).unwrap_or_default();
    [&b"checksum/"[..], b"checksums/", b"sha256/", b"hash/", b"digest/", b"checksum.", b"checksum-"]
        .iter()
        .any(|one| before.ends_with(one))
}

/// `API key: …`
fn of_words(line: &[u8], start: usize, text: &[u8]) -> Option<Name> {
    let before = line.get(..start)?.strip_suffix(b" ")?;
    let word = before.rsplit(|byte| !byte.is_ascii_alphabetic()).next()?;
    let known = [
        &b"api"[..],
        b"secret",
        b"access",
        b"private",
        b"encryption",
        b"master",
        b"license",
        b"signing",
        b"account",
        b"auth",
        b"service",
        b"unseal",
        b"recovery",
    ];
    let owned =
        text.eq_ignore_ascii_case(b"key") && known.iter().any(|one| word.eq_ignore_ascii_case(one));
    owned.then_some(Name { promise: Promise::Secret, kind: "api-key", capitals: false, last: true })
}

/// `minisign public key: …`, `recaptcha site key: …`: everybody may have it.
fn is_public(line: &[u8], start: usize, text: &[u8]) -> bool {
    let before = line.get(..start).and_then(|before| before.strip_suffix(b" ")).unwrap_or_default();
    let word = before.rsplit(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    let public =
        [&b"public"[..], b"site", b"publishable", b"verify", b"verification", b"host", b"primary"];
    let of_public_key =
        text.eq_ignore_ascii_case(b"token") && before.to_ascii_lowercase().ends_with(b"public key");
    of_public_key
        || text.eq_ignore_ascii_case(b"key")
            && public.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// Names that promise something only in an address.
fn of_query(text: &[u8]) -> Option<Name> {
    let known = [
        &b"code"[..],
        b"key",
        b"sig",
        b"auth",
        b"sid",
        b"session",
        b"sessionid",
        b"session_id",
        b"state_token",
        b"hash_key",
        b"s",
    ];
    let name = Name { promise: Promise::Perhaps, kind: "url-secret", capitals: false, last: true };
    let is = |list: &[&[u8]]| list.iter().any(|one| text.eq_ignore_ascii_case(one));
    let weak: [&[u8]; 8] =
        [b"appid", b"app_id", b"apiid", b"api_id", b"apiuser", b"userkey", b"ticket", b"license"];
    if is(&weak) {
        return Some(Name { kind: names::WEAK_KEY, ..name });
    }
    is(&known).then_some(name)
}

//! Statements that create a user or set a key: SQL, Redis, SNMP, and the codes by which telephones join a network.

use super::found::{Found, Hit};
use super::lines::{is_real, quoted};
use super::reading::{Stops, after_spaces, at, opening_quote, unquoted_end};

/// `WIFI:S:name;T:WPA;P:password;;`
pub fn wifi(hit: &Hit<'_>, found: &mut Found<'_>) {
    let rest = hit.rest().get(..160.min(hit.rest().len())).unwrap_or_default();
    let Some(field) = rest.windows(3).position(|window| window == b";P:") else { return };
    let start = hit.at + field + 3;
    let end = unquoted_end(hit.line, start, Stops::Semicolon);
    if at(hit.line, end) == b';' && hit.line.get(start..end).is_some_and(is_real) {
        found.add(start, end, "password");
    }
}

/// `createUser name SHA "password" AES "password"`
pub fn snmp_user(hit: &Hit<'_>, found: &mut Found<'_>) {
    for kind in [&b" SHA"[..], b" MD5", b" AES", b" DES"] {
        let place = hit.rest().windows(4).take(200).position(|window| window == kind);
        let Some(place) = place else { continue };
        let word = unquoted_end(hit.line, hit.at + place + 1, Stops::Word);
        quoted(hit, word, "password", found);
    }
}

/// `ACL SETUSER name on >password`
pub fn access_list(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) {
    let rest = hit.rest().get(length..).unwrap_or_default();
    let rest = rest.get(..160.min(rest.len())).unwrap_or_default();
    let sign = rest.windows(2).position(|pair| pair == b" >");
    if let Some(sign) = sign {
        let start = hit.at + length + sign + 2;
        let end = unquoted_end(hit.line, start, Stops::Line);
        if hit.line.get(start..end).is_some_and(is_real) {
            found.add(start, end, "password");
        }
    }
}

/// `IDENTIFIED BY '…'`, `IDENTIFIED WITH plugin BY '…'`, and without quotes, where a user is created or altered.
pub fn identified(hit: &Hit<'_>, place: usize, found: &mut Found<'_>) {
    let rest = hit.line.get(place..).unwrap_or_default();
    let rest = rest.get(..80.min(rest.len())).unwrap_or_default();
    let plugin =
        hit.rest().get(..15).is_some_and(|text| text.eq_ignore_ascii_case(b"identified with"));
    let by = rest.windows(4).position(|window| window.eq_ignore_ascii_case(b" by "));
    let start = match (plugin, by) {
        (true, Some(by)) => after_spaces(hit.line, place + by + 4),
        (true, None) => return,
        _ => after_spaces(hit.line, place),
    };
    if opening_quote(hit.line, start).is_some() {
        return quoted(hit, start, "password", found);
    }
    let before = hit.line.get(..hit.at).unwrap_or_default().to_ascii_lowercase();
    let has = |word: &[u8]| before.windows(word.len()).any(|window| window == word);
    let end = unquoted_end(hit.line, start, Stops::Word);
    let text = hit.line.get(start..end).unwrap_or_default();
    let statement =
        (has(b"create ") || has(b"alter ") || has(b"grant ")) && (has(b"user ") || has(b" to "));
    if statement && text.len() > 4 && !text.eq_ignore_ascii_case(b"values") && is_real(text) {
        found.add(start, end, "password");
    }
}

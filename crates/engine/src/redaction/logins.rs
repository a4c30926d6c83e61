//! A user and a password beside each other in a sentence: `login is admin / …`, `credentials: anna:…`, `user/pass: anna / …`.

use super::found::{Found, Hit};
use super::reading::{Stops, after_spaces, unquoted_end};
use super::values::Makeup;
use super::{chosen, vocabulary};

/// What promises a login ends here.
pub fn look(hit: &Hit<'_>, behind: usize, found: &mut Found<'_>) -> bool {
    let line = hit.line;
    let Some(user) = after_verb(line, behind) else { return false };
    let rest = line.get(user..).unwrap_or_default();
    let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"._@+-".contains(byte);
    let length = rest.iter().take(64).take_while(|byte| is_user(byte)).count();
    let sign = rest.get(length..).unwrap_or_default();
    let signs = [&b" / "[..], b" : ", b":", b"/"];
    let width = signs.iter().find(|one| sign.starts_with(one));
    let (Some(width), true) = (width.map(|one| one.len()), length > 1) else { return false };
    let start = user + length + width;
    let end = unquoted_end(line, start, Stops::Word);
    let text = line.get(start..end).unwrap_or_default();
    let text = text.strip_suffix(b".").unwrap_or(text);
    let spaced = width == 3;
    if is_password(text, spaced) {
        found.add(start, start + text.len(), "password");
        return true;
    }
    false
}

/// `is `, `are `, `: `, `= `; without one of them nothing is said.
fn after_verb(line: &[u8], behind: usize) -> Option<usize> {
    let mut place = after_spaces(line, behind);
    let mut seen = line.get(..behind)?.trim_ascii_end().ends_with(b":");
    for verb in [&b"is "[..], b"are ", b"details ", b"info ", b"is: ", b"are: ", b": ", b"= "] {
        if line.get(place..).is_some_and(|rest| rest.starts_with(verb)) {
            place = after_spaces(line, place + verb.len());
            seen = true;
        }
    }
    seen.then_some(place)
}

/// It could be a path, a date or a share of something.
fn is_password(text: &[u8], spaced: bool) -> bool {
    let makeup = Makeup::of(text);
    let mixed = makeup.digits > 0 && makeup.letters() > 2 && makeup.upper > 0 && makeup.lower > 0;
    let signed = makeup.digits > 0
        && makeup.letters() > 2
        && text.iter().any(|byte| b"!#$%&*?^~".contains(byte));
    let odd = text.iter().any(|byte| b"/(){}[]<>".contains(byte)) || text.starts_with(b"$");
    makeup.length >= 7
        && !odd
        && (spaced && chosen::is_mixed(text) || mixed || signed)
        && !vocabulary::is_placeholder(text)
}

//! A user and a password beside each other: pairs of strings, `user:password` of mail servers, and sentences: `login is admin / …`, `credentials: anna:…`, `user/pass: anna / …`.

use super::found::{Found, Hit};
use super::lines::{is_real, string_or_word};
use super::reading::{
    Quote, Stops, after_spaces, at, closing_quote, is_name_byte, opening_quote, unquoted_end,
};
use super::values::Makeup;
use super::{chosen, names, vocabulary};

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
        && (spaced && (chosen::is_mixed(text) || chosen::is_no_name(text)) || mixed || signed)
        && !vocabulary::is_placeholder(text)
}

/// The last of two or more strings.
pub fn pair(hit: &Hit<'_>, from: usize, found: &mut Found<'_>) {
    let mut strings = Vec::new();
    let mut place = from;
    while strings.len() < 4 && place < hit.line.len() && at(hit.line, place) != b')' {
        match opening_quote(hit.line, place) {
            Some(quote) => {
                let start = place + quote.length();
                let Some(end) = closing_quote(hit.line, start, quote) else { return };
                strings.push((start, end));
                place = end + quote.length();
            }
            None => place += 1,
        }
    }
    let ([.., (start, end)], true) = (strings.as_slice(), strings.len() > 1) else { return };
    // `passwordVariable: '…'`: an argument by name, and no promise in the name.
    let front = hit.line.get(..start - 1).unwrap_or_default().trim_ascii_end();
    if let Some(front) = front.strip_suffix(b":").or(front.strip_suffix(b"=")) {
        let name = front.rsplit(|byte| !is_name_byte(*byte)).next().unwrap_or_default();
        if names::classify(name).is_none() && name.first().is_some_and(u8::is_ascii_alphabetic) {
            return;
        }
    }
    let text = hit.line.get(*start..*end).unwrap_or_default();
    let odd = text.iter().any(|byte| !byte.is_ascii_alphabetic());
    if odd && text.len() >= 6 && !text.contains(&b' ') && is_real(text) {
        found.add(*start, *end, "password");
    }
}

pub fn mail_map(hit: &Hit<'_>, from: usize, found: &mut Found<'_>) {
    let start = after_spaces(hit.line, from);
    let end = unquoted_end(hit.line, start, Stops::Line);
    let text = hit.line.get(start..end).unwrap_or_default();
    let Some(colon) = text.iter().position(|byte| *byte == b':') else { return };
    let password = text.get(colon + 1..).unwrap_or_default();
    let odd = password.iter().any(|byte| !byte.is_ascii_alphabetic())
        && password.iter().any(u8::is_ascii_alphabetic);
    let closed = hit.line.get(end..).is_some_and(|rest| rest.trim_ascii().is_empty());
    if odd && closed && colon > 0 && password.len() >= 6 && is_real(password) {
        found.add(start + colon + 1, end, "password");
    }
}

/// `user/password@`
pub fn oracle(hit: &Hit<'_>, place: usize, found: &mut Found<'_>) {
    let rest = hit.line.get(place..).unwrap_or_default();
    let Some(sign) = rest.iter().take(160).position(|byte| *byte == b'@') else { return };
    let Some(slash) = rest.iter().take(sign).position(|byte| *byte == b'/') else { return };
    if rest.get(slash + 1..sign).is_some_and(is_real) {
        found.add(place + slash + 1, place + sign, "connection-string");
    }
}

/// The string of the next argument, from its colon on.
pub fn user_password(hit: &Hit<'_>, place: usize, found: &mut Found<'_>) {
    let place = after_spaces(hit.line, place);
    if !matches!(at(hit.line, place), b',' | b':' | b'=') {
        return;
    }
    let place = after_spaces(hit.line, place + 1);
    if opening_quote(hit.line, place).is_none() {
        return;
    }
    let (start, end) = string_or_word(hit.line, place);
    let text = hit.line.get(start..end).unwrap_or_default();
    let Some(colon) = text.iter().position(|byte| *byte == b':') else { return };
    if colon > 0 && text.get(colon + 1..).is_some_and(is_real) {
        found.add(start + colon + 1, end, "password");
    }
}

/// `snmp-server community …`, `snmp_community: …`, `rocommunity …`
pub fn community(hit: &Hit<'_>, behind: usize, found: &mut Found<'_>) {
    let line = hit.line;
    let mut place = behind;
    let rest = line.get(behind..).unwrap_or_default();
    for between in [&b"-server community "[..], b" community ", b"_community", b"-community"] {
        if rest.starts_with(between) {
            place = behind + between.len();
        }
    }
    if place == behind && at(line, behind.wrapping_sub(1)) != b' ' {
        return;
    }
    let signs = line.iter().skip(place).take(8).take_while(|byte| b" :=\"'".contains(byte)).count();
    let start = place + signs;
    let end = unquoted_end(line, start, Stops::Word);
    let text = line.get(start..end).unwrap_or_default();
    let odd = text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic);
    if odd && text.len() >= 6 && is_real(text) {
        found.add(start, end, "password");
    }
}

/// `net user name password /add`: of the words after the name the first that is no option.
pub fn windows_user(hit: &Hit<'_>, place: usize, found: &mut Found<'_>) {
    let line = hit.line;
    let before = hit.at.checked_sub(1).map_or(b' ', |place| at(line, place));
    // `.net user interfaces`, `dotnet user secrets`
    if before == b'.' || before.is_ascii_alphanumeric() {
        return;
    }
    let after = |start: usize| {
        let quote = opening_quote(line, start).map_or(0, Quote::length);
        let (from, to) = string_or_word(line, start);
        (from, to, after_spaces(line, to + quote), quote > 0)
    };
    let (user, user_end, place, _) = after(after_spaces(line, place));
    let (start, end, rest, quoted) = after(place);
    let text = line.get(start..end).unwrap_or_default();
    let added = line.get(rest..).is_some_and(|rest| rest.starts_with(b"/"));
    let odd = text.iter().any(|byte| !byte.is_ascii_alphabetic()) || text.len() > 12;
    let plain = quoted || added || odd && text.len() >= 6;
    let named = user_end > user && !matches!(at(line, user), b'/' | b'[' | b'<');
    if named && place > user_end && plain && is_real(text) && !matches!(at(text, 0), b'*' | b'[') {
        found.add(start, end, "password-argument");
    }
}

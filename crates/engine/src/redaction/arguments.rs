//! Passwords in the short options of programs that are known to take one: `mysql -pSECRET`, `sshpass -p SECRET`,
//! `curl -u user:SECRET`. What `-p` means elsewhere (`mkdir -p`, `ssh -p 22`) is not looked at.

use super::found::{Found, Hit};
use super::programs::Program;
use super::programs::Takes::{
    self, After, Attached, Cookies, Key, Last, Made, Next, Odd, Pair, Percent, Second, Slash,
    Target,
};
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::references::is_crypted;
use super::values::Makeup;
use super::{headers, vocabulary};

/// The name of a program begins here.
pub fn look(hit: &Hit<'_>, program: &Program, found: &mut Found<'_>) {
    let end = hit.at + program.name.len();
    if !is_called(hit, end) {
        return;
    }
    let mut words = Words { line: hit.line, place: end };
    let mut verb = program.verb.is_empty();
    let mut seen = 0;
    // The name is the first word: what it takes may follow at once.
    let mut next = Some((hit.at, end));
    while let Some((start, stop)) = next {
        seen += 1;
        let (start, stop) = bare(hit.line, start, stop);
        let word = hit.line.get(start..stop).unwrap_or_default();
        if seen > 64 || matches!(word, b"|" | b"||" | b"&&" | b";") {
            return;
        }
        verb = verb || word == program.verb.as_bytes();
        if verb {
            look_at_word(hit.line, program, &words, (start, stop), found);
        }
        next = words.next();
    }
}

fn look_at_word(
    line: &[u8],
    program: &Program,
    words: &Words<'_>,
    word: (usize, usize),
    found: &mut Found<'_>,
) {
    for (option, takes) in program.options {
        if *takes == Cookies && line.get(word.0..word.1) == Some(option.as_bytes()) {
            let cookies = words.clone().next().map(|(from, to)| unquoted(line, from, to));
            let (from, to) = cookies.unwrap_or_default();
            headers::pairs(line, from, to, false, found);
            continue;
        }
        if let Some((from, to)) = secret(line, words, word, option, *takes) {
            found.add(from, to, "password-argument");
        }
    }
}

/// A name of its own, not a part of one: the end of a path is fine.
fn is_called(hit: &Hit<'_>, end: usize) -> bool {
    let before = hit.at.checked_sub(1).map_or(b' ', |place| at(hit.line, place));
    b" \t/\"'`(|;&$[,>:=\\".contains(&before)
        && matches!(at(hit.line, end), b' ' | b'\t' | b'"' | b'\'')
}

/// `'-pSECRET'`: an option whose quotes are around all of it.
fn bare(line: &[u8], start: usize, end: usize) -> (usize, usize) {
    match opening_quote(line, start) {
        Some(quote)
            if matches!(at(line, start + quote.length()), b'-' | b'/')
                && closing_quote(line, start + quote.length(), quote)
                    == end.checked_sub(quote.length()) =>
        {
            unquoted(line, start, end)
        }
        _ => (start, end),
    }
}

/// The secret that belongs to an option, if the word is that option.
fn secret(
    line: &[u8],
    words: &Words<'_>,
    word: (usize, usize),
    option: &str,
    takes: Takes,
) -> Option<(usize, usize)> {
    let text = line.get(word.0..word.1)?;
    match takes {
        Slash => return user_and_secret(line, word, option),
        Target => return of_target(line, word),
        Key => return key(line, word),
        _ => {}
    }
    let attached = match takes {
        // `zip -rP`: short options of one letter in one word.
        Next if is_bundle(text, option) => b"",
        _ => text.strip_prefix(option.as_bytes())?,
    };
    // `"-u, --user USER:PASS  what it is"`: help, as a string.
    if attached.starts_with(b", ") {
        return None;
    }
    let (start, end) = match takes {
        After => words.clone().next()?,
        Second => words.clone().nth(1)?,
        Last(count) | Made(count) | Odd(count) if attached.is_empty() => last(line, words, count)?,
        Last(_) | Made(_) | Odd(_) => return None,
        Attached if attached.is_empty() => return None,
        _ if attached.is_empty() => words.clone().next()?,
        Next | Pair | Percent if option.starts_with("--") || option.len() > 2 => {
            let rest = attached.strip_prefix(b"=")?;
            (word.1 - rest.len(), word.1)
        }
        _ => (word.0 + option.len(), word.1),
    };
    let (start, end) = unquoted(line, start, end);
    let value = line.get(start..end)?;
    let skip = match takes {
        Pair => value.iter().position(|byte| *byte == b':')? + 1,
        Percent => value.iter().position(|byte| *byte == b'%')? + 1,
        Cookies => return None,
        Made(_) if !is_made(value) => return None,
        Odd(_) if !is_odd(value) => return None,
        After if matches!(at(value, 0), b'/' | b'*' | b'\\') => return None,
        _ if value.starts_with(b"pass:") => 5,
        _ if option == "--from-literal" => value.iter().position(|byte| *byte == b'=')? + 1,
        _ if option == "-u" => value.iter().position(|byte| *byte == b',')? + 1,
        _ => 0,
    };
    let value = value.get(skip..)?;
    is_value(value).then_some((start + skip, end))
}

/// The last of so many words. Options of one letter may stand between; a long one may have a word of its own.
fn last(line: &[u8], words: &Words<'_>, count: usize) -> Option<(usize, usize)> {
    let text = |range: &(usize, usize)| line.get(range.0..range.1).unwrap_or_default();
    let rest = words.clone().filter(|range| !matches!(text(range), [b'-', _]));
    rest.take_while(|range| !text(range).starts_with(b"-")).nth(count - 1)
}

/// `-rP` where `-P` is meant: capitals only, for `-np` may be anything.
fn is_bundle(text: &[u8], option: &str) -> bool {
    let [b'-', letter] = option.as_bytes() else { return false };
    matches!(text, [b'-', front @ .., last] if last == letter
        && letter.is_ascii_uppercase()
        && (1..4).contains(&front.len())
        && front.iter().all(u8::is_ascii_lowercase))
}

/// `scott/tiger@host`, as Oracle's programs take it.
fn user_and_secret(line: &[u8], word: (usize, usize), option: &str) -> Option<(usize, usize)> {
    let (start, end) = unquoted(line, word.0, word.1);
    let start = if line.get(start..end)?.starts_with(option.as_bytes()) {
        start + option.len()
    } else {
        return None;
    };
    let text = line.get(start..end)?;
    let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$#".contains(byte);
    let user = text.iter().take_while(|byte| is_user(byte)).count();
    if user == 0 || text.get(user) != Some(&b'/') {
        return None;
    }
    let rest = text.get(user + 1..)?;
    // In quotes it may have any sign.
    let quoted =
        rest.strip_prefix(b"\"").and_then(|rest| rest.iter().position(|byte| *byte == b'"'));
    let host = || rest.iter().position(|byte| *byte == b'@').unwrap_or(rest.len());
    let length = quoted.map_or_else(host, |length| length + 2);
    let value = rest.get(..length)?;
    // A file, where no host follows: `sqlplus scripts/nightly.sql`.
    let file = length == rest.len() && (value.contains(&b'/') || value.contains(&b'.'));
    let inset = usize::from(quoted.is_some() && length > 4);
    let from = start + user + 1;
    (!file && is_value(value)).then_some((from + inset, from + length - inset))
}

/// `[domain/]user:SECRET[@host]`, any word of the command.
fn of_target(line: &[u8], word: (usize, usize)) -> Option<(usize, usize)> {
    let (start, end) = unquoted(line, word.0, word.1);
    let text = line.get(start..end)?;
    let colon = text.iter().position(|byte| *byte == b':')?;
    let sign = text.iter().rposition(|byte| *byte == b'@').unwrap_or(text.len());
    let value = text.get(colon + 1..sign)?;
    // An address, the drive of a path, an option with a value.
    let other = colon < 2
        || text.starts_with(b"/")
        || matches!(at(value, 0), b'/' | b'\\')
        || text.get(..colon)?.iter().any(|byte| b"=-@~".contains(byte));
    (!other && is_value(value)).then_some((start + colon + 1, start + sign))
}

/// What one-time passwords are made of, in Base32 or hexadecimal, any word of the command.
fn key(line: &[u8], word: (usize, usize)) -> Option<(usize, usize)> {
    let (start, end) = unquoted(line, word.0, word.1);
    let text = line.get(start..end)?;
    let close = text.iter().rev().take_while(|byte| b")`;\"'".contains(byte)).count();
    let text = text.get(..text.len() - close)?;
    let signs = text.iter().filter(|byte| !b" =-".contains(byte));
    let base32 = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7');
    let lower = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'2'..=b'7');
    let numbered = text.iter().any(u8::is_ascii_digit);
    let made = signs.clone().all(base32)
        || numbered && (signs.clone().all(lower) || signs.clone().all(u8::is_ascii_hexdigit));
    let long = signs.count() >= 16 && !text.starts_with(b"-");
    (long && made && is_value(text)).then_some((start, start + text.len()))
}

/// A machine made it, and it is no address.
fn is_made(value: &[u8]) -> bool {
    Makeup::of(value).is_random() && !value.windows(3).any(|three| three == b"://")
}

/// More than a word of a sentence.
fn is_odd(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.length >= 6
        && makeup.letters() > 0
        && makeup.letters() < makeup.length
        && value.last() != Some(&b'.')
}

fn is_value(value: &[u8]) -> bool {
    // `password="$password"`: quotes within the word.
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let refers = matches!(value.first(), Some(b'$' | b'<' | b'{' | b'-' | b'%' | b'`' | b'@'))
        && !is_crypted(value)
        || [&b"env:"[..], b"file:", b"stdin", b"fd:", b"&[", b"[("]
            .iter()
            .any(|one| value.starts_with(one));
    let port = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b':') && value.len() < 6;
    value.len() > 2 && !refers && !port && !vocabulary::is_placeholder(value)
}

/// Without the quotes around it.
fn unquoted(line: &[u8], start: usize, end: usize) -> (usize, usize) {
    match opening_quote(line, start) {
        Some(quote) if end >= start + 2 * quote.length() => {
            (start + quote.length(), end - quote.length())
        }
        _ => (start, end),
    }
}

/// The words of a command, quotes and all.
#[derive(Clone)]
struct Words<'a> {
    line: &'a [u8],
    place: usize,
}

impl Iterator for Words<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let mut start = after_spaces(self.line, self.place);
        // A list of words in code: `["mysql", "-pSECRET"]`.
        while matches!(at(self.line, start), b',' | b' ')
            || start == self.place && matches!(at(self.line, start), b'"' | b'\'')
        {
            start += 1;
        }
        // Only in a list a word ends before a comma.
        let listed = matches!(at(self.line, self.place), b'"' | b'\'' | b',');
        if start >= self.line.len() || matches!(at(self.line, start), b']' | b')') {
            return None;
        }
        let mut end = start;
        while end < self.line.len() {
            if let Some(quote) = opening_quote(self.line, end) {
                let inner = end + quote.length();
                match closing_quote(self.line, inner, quote) {
                    Some(close) => end = close + quote.length(),
                    None => break,
                }
            } else if matches!(at(self.line, end), b' ' | b'\t' | b'\r' | b'\n' | b',')
                && (listed || at(self.line, end) != b',')
                || matches!(at(self.line, end), b'`')
            {
                break;
            } else {
                end += 1;
            }
        }
        self.place = end.max(start + 1);
        if end <= start {
            return None;
        }
        if listed && opening_quote(self.line, start).is_some() {
            return Some(unquoted(self.line, start, end));
        }
        Some((start, end))
    }
}

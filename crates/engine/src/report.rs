//! Pieces of the report on a request: clipped output, times, the words of a simple command.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Argument, Command, Word, WordPart};

/// Output as it is shown.
pub struct Clipped {
    pub text: String,
    pub cut: bool,
}

/// Keeps the head and the tail of what is longer than `limit`, and marks the cut.
pub fn clip(bytes: &[u8], limit: u64) -> Clipped {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if bytes.len() <= limit {
        return Clipped { text: bytes.to_str_lossy().into_owned(), cut: false };
    }
    let half = limit / 2;
    let head = bytes.get(..limit - half).unwrap_or_default().to_str_lossy();
    let tail = bytes.get(bytes.len() - half..).unwrap_or_default().to_str_lossy();
    let left_out = bytes.len() - limit;
    Clipped { text: format!("{head}\n[… {left_out} bytes left out …]\n{tail}"), cut: true }
}

/// Writes the whole output where the next request can read it; gives that path.
pub fn spill(root: &Path, id: &str, stdout: &[u8], stderr: &[u8]) -> io::Result<String> {
    crate::project::write_spill(root, &format!("output-{id}.txt"), &[stdout, stderr])
}

/// RFC 3339, UTC.
pub fn timestamp(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default()
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

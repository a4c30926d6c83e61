//! The words that a wrapper adds to its command when it runs: `echo / | xargs rm -rf`.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use crate::event::Input;
use crate::word::{Dynamic, Word};

/// Words taken from a known input; with more of them nothing is said about any.
const MOST: usize = 4_096;
/// How people are shown what nobody knows yet.
const UNKNOWN: &str = "…";

/// Words that come from an input or from files, and may be any.
pub(super) fn unknown(subjected: &Subjected<'_>) -> Word {
    let written = if lists_files(&subjected.invocation.input) { "{}" } else { UNKNOWN };
    Word::Dynamic(Box::new(Dynamic { written: written.into(), splits: true, ..Dynamic::default() }))
}

/// `find tests -name '*.sh' | xargs -n1 bash`: what comes are files that are there.
fn lists_files(input: &Input) -> bool {
    const LISTERS: [&str; 13] = [
        "ag", "fd", "fdfind", "find", "git", "grep", "head", "ls", "rg", "sort", "tail", "tree",
        "uniq",
    ];
    let Input::Pipe(names) = input else { return false };
    let known = |name: &Word| LISTERS.iter().any(|lister| name.shown() == *lister);
    !names.is_empty() && names.iter().all(known)
}

pub(super) fn is_unknown(word: &Word) -> bool {
    matches!(word, Word::Dynamic(dynamic) if dynamic.splits && dynamic.written == UNKNOWN)
}

/// The whole command, if `xargs` has its words from an input that is known.
pub(super) fn words(subjected: &Subjected<'_>, command: &[Word]) -> Option<Vec<Word>> {
    let reading = subjected.reading;
    let has = |wanted: &str| {
        let names = reading.options.iter().flat_map(|option| &option.names);
        names.into_iter().any(|name| name == wanted)
    };
    // A file of words, one place for all of them, or a separator of one's own: not read here.
    if reading.name != "xargs" || ["-a", "-I", "-i", "-J", "-d"].iter().any(|option| has(option)) {
        return None;
    }
    let Input::Text(Word::Literal(text)) = &subjected.invocation.input else { return None };
    let found =
        if has("-0") { between_zeros(text.as_bstr()) } else { between_blanks(text.as_bstr()) };
    (found.len() <= MOST).then(|| command.iter().cloned().chain(found).collect())
}

fn between_zeros(text: &BStr) -> Vec<Word> {
    text.split_str("\0").filter(|word| !word.is_empty()).map(Word::literal).collect()
}

/// Quotes and backslashes keep blanks in a word. What they hide is of no use to somebody who hides a path.
fn between_blanks(text: &BStr) -> Vec<Word> {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let plain = |byte: &u8| !b"\"'\\".contains(byte);
            Word::Literal(BString::from(word.iter().copied().filter(plain).collect::<Vec<u8>>()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_input() {
        let all = |words: Vec<Word>| bstr::join(" ", words.iter().map(Word::shown));
        assert_eq!(all(between_blanks("-rf  '/'\n".into())), b"-rf /");
        assert_eq!(all(between_zeros("a b\0/\0".into())), b"a b /");
    }
}

//! `${x^p}`, `${x^^p}`, `${x,p}`, `${x,,p}`, `${x~p}`, `${x~~p}`.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::CaseChange;

use crate::expand::pattern::Pattern;

/// Changes the first character, or `all`, of those that match the pattern (none: every one does).
pub(super) fn change(
    text: &[u8],
    change: CaseChange,
    all: bool,
    pattern: Option<&Pattern>,
) -> BString {
    let mut result = Vec::with_capacity(text.len());
    for (start, end, letter) in text.char_indices() {
        let bytes = text.get(start..end).unwrap_or_default();
        let wanted = (all || start == 0) && pattern.is_none_or(|pattern| pattern.matches(bytes));
        // A byte that is no character is shown as U+FFFD, which has no case.
        if wanted && letter != char::REPLACEMENT_CHARACTER {
            push_changed(letter, change, &mut result);
        } else {
            result.extend_from_slice(bytes);
        }
    }
    result.into()
}

fn push_changed(letter: char, change: CaseChange, result: &mut Vec<u8>) {
    let upper = match change {
        CaseChange::Upper => true,
        CaseChange::Lower => false,
        CaseChange::Toggle => letter.is_lowercase(),
    };
    let changed = if upper { single(letter.to_uppercase()) } else { single(letter.to_lowercase()) };
    let mut buffer = [0; 4];
    result.extend_from_slice(changed.unwrap_or(letter).encode_utf8(&mut buffer).as_bytes());
}

/// Bash changes character by character: `ß` has no capital of one character and stays.
fn single(mut letters: impl Iterator<Item = char>) -> Option<char> {
    match (letters.next(), letters.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

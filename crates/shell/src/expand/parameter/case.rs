//! `${x^p}`, `${x^^p}`, `${x,p}`, `${x,,p}`, `${x~p}`, `${x~~p}`.

use bstr::BString;
use exacta_syntax::ast::CaseChange;

use crate::expand::characters::{self, Encoding};
use crate::expand::pattern::Pattern;
use crate::long::Pace;
use crate::status::Stop;

/// Changes the first character, or `all`, of those that match the pattern (none: every one does).
pub(super) fn change(
    text: &[u8],
    change: CaseChange,
    all: bool,
    pattern: Option<&Pattern>,
    encoding: Encoding,
) -> Result<BString, Stop> {
    let mut result = Vec::with_capacity(text.len());
    let mut pace = Pace::default();
    for bytes in characters::each(text, encoding) {
        pace.walked(bytes.len())?;
        let wanted = all || result.is_empty();
        match bstr::decode_utf8(bytes) {
            (Some(letter), _) if wanted && pattern.is_none_or(|one| one.matches(bytes)) => {
                push_changed(letter, change, &mut result);
            }
            _ => result.extend_from_slice(bytes),
        }
    }
    Ok(result.into())
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

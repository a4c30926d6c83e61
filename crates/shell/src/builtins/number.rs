//! Numbers as `exit`, `return`, `break` and `shift` take them.

use bstr::{BString, ByteSlice};

/// A decimal number with an optional sign and blanks around it, as bash's own arguments allow.
pub(super) fn parse(word: &BString) -> Option<i64> {
    let text = word.to_str().ok()?.trim_matches([' ', '\t', '\n']);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

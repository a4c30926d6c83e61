//! Numbers as `exit`, `return`, `break` and `shift` take them.

use bstr::{BString, ByteSlice};

use crate::shell::Shell;

/// A decimal number with an optional sign and blanks around it, as bash's own arguments allow.
pub(super) fn parse(word: &BString) -> Option<i64> {
    let text = word.to_str().ok()?.trim_matches([' ', '\t', '\n']);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The same; what is no number is `shift: x: numeric argument required`.
pub(super) fn required(shell: &Shell, builtin: &str, word: &BString) -> Option<i64> {
    let number = parse(word);
    if number.is_none() {
        let word = word.to_str_lossy();
        shell.complain(format!("{builtin}: {word}: numeric argument required"));
    }
    number
}

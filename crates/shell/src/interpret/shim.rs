//! The shared implementations of the primaries, under the names the interpreter uses.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::ConditionalOperator;

use crate::expand::pattern::{Pattern, PatternOptions};
use crate::expand::quote;
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};

pub(super) fn unary(shell: &mut Shell, operator: u8, operand: &BStr) -> Running<bool> {
    shell.unary_condition(operator, operand)
}

pub(super) fn files(
    shell: &mut Shell,
    operator: ConditionalOperator,
    left: &BStr,
    right: &BStr,
) -> Running<bool> {
    Ok(shell.file_comparison(operator, left, right))
}

pub(super) fn regex(shell: &mut Shell, text: &BStr, pattern: &BStr) -> Running<bool> {
    match shell.match_regex(text, pattern)? {
        ExitStatus::USAGE => Err(Interrupt::Discard(ExitStatus::USAGE)),
        status => Ok(status.success()),
    }
}

/// Extended patterns are always on in `[[ == ]]`.
pub(super) fn matches(pattern: &[u8], subject: &[u8], fold: bool, extglob: bool) -> bool {
    let options = PatternOptions { extglob, ignore_case: fold, leading_dot: false };
    Pattern::new(pattern.as_bstr(), options).matches(subject)
}

pub(super) fn traced(word: &[u8]) -> BString {
    quote::traced(word)
}

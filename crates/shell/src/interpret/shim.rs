//! Stand-ins until the shared implementations of the primaries arrive.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::ConditionalOperator;

use crate::filesystem::{Access, Follow};
use crate::shell::Shell;
use crate::status::Running;
use crate::variables::{IndexedArray, Value};

pub(super) fn unary(shell: &mut Shell, operator: u8, operand: &BStr) -> Running<bool> {
    let path = shell.absolute(operand);
    let files = shell.host.files();
    let follow = if matches!(operator, b'h' | b'L') { Follow::No } else { Follow::Yes };
    let metadata = || files.metadata(path.as_bstr(), follow).ok();
    Ok(match operator {
        b'n' => !operand.is_empty(),
        b'z' => operand.is_empty(),
        b'v' => shell.value_of(operand).is_some(),
        b'a' | b'e' => metadata().is_some(),
        b'f' => metadata().is_some_and(|metadata| metadata.is_file()),
        b'd' => metadata().is_some_and(|metadata| metadata.is_directory()),
        b's' => metadata().is_some_and(|metadata| metadata.size > 0),
        b'h' | b'L' => metadata().is_some_and(|metadata| metadata.is_symlink()),
        b'r' => files.access(path.as_bstr(), Access::Read).is_ok(),
        b'w' => files.access(path.as_bstr(), Access::Write).is_ok(),
        b'x' => files.access(path.as_bstr(), Access::Execute).is_ok(),
        _ => false,
    })
}

pub(super) fn files(
    shell: &mut Shell,
    operator: ConditionalOperator,
    left: &BStr,
    right: &BStr,
) -> Running<bool> {
    let files = shell.host.files();
    let left = files.metadata(shell.absolute(left).as_bstr(), Follow::Yes).ok();
    let right = files.metadata(shell.absolute(right).as_bstr(), Follow::Yes).ok();
    Ok(match (operator, left, right) {
        (ConditionalOperator::SameFile, Some(left), Some(right)) => {
            left.device == right.device && left.inode == right.inode
        }
        (ConditionalOperator::Newer, Some(left), Some(right)) => left.modified > right.modified,
        (ConditionalOperator::Newer, Some(_), None) => true,
        (ConditionalOperator::Older, Some(left), Some(right)) => left.modified < right.modified,
        (ConditionalOperator::Older, None, Some(_)) => true,
        _ => false,
    })
}

pub(super) fn regex(shell: &mut Shell, text: &BStr, pattern: &BStr) -> Running<bool> {
    let Ok(regex) = regex::bytes::Regex::new(&pattern.to_str_lossy()) else { return Ok(false) };
    let captures = regex.captures(text);
    let matched = captures.is_some();
    let groups: Vec<BString> = captures.map_or_else(Vec::new, |captures| {
        captures
            .iter()
            .map(|group| group.map_or(BString::default(), |group| group.as_bytes().into()))
            .collect()
    });
    let variable = shell.variables.get_or_create("BASH_REMATCH".into());
    variable.value = Some(Value::Indexed(IndexedArray::from_iter(groups)));
    Ok(matched)
}

pub(super) fn matches(pattern: &BStr, subject: &BStr, fold: bool) -> bool {
    crate::fnmatch::Pattern::new(pattern, fold).matches(subject)
}

pub(super) fn traced(word: &[u8]) -> BString {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./,:=+%@".contains(byte);
    if !word.is_empty() && word.iter().all(plain) {
        return word.into();
    }
    let mut quoted = BString::from("'");
    quoted.extend_from_slice(&word.replace(b"'", b"'\\''"));
    quoted.push(b'\'');
    quoted
}

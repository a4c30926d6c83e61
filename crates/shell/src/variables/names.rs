//! What a variable may be called, and references to elements written as text (`a[1]`).

use bstr::{BStr, ByteSlice};

/// A name with an optional subscript, as `unset`, `read`, `printf -v` and namerefs take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'a> {
    pub name: &'a BStr,
    /// What stands between the brackets.
    pub subscript: Option<&'a BStr>,
}

/// Letters, digits and underscores, no digit first.
pub fn is_name(text: &[u8]) -> bool {
    match text.split_first() {
        Some((first, rest)) => {
            (first.is_ascii_alphabetic() || *first == b'_')
                && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }
        None => false,
    }
}

/// `name` or `name[subscript]`; `None` for anything else.
pub fn parse_reference(text: &BStr) -> Option<Reference<'_>> {
    let Some(open) = text.find_byte(b'[') else {
        return is_name(text).then_some(Reference { name: text, subscript: None });
    };
    let name = text.get(..open)?;
    let subscript = text.get(open + 1..)?.strip_suffix(b"]")?;
    let valid = is_name(name) && !subscript.is_empty() && is_balanced(subscript);
    valid.then_some(Reference { name: name.into(), subscript: Some(subscript.into()) })
}

/// `a[b]c]` is no reference: the first bracket that closes the subscript must be the last character.
fn is_balanced(subscript: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut bytes = subscript.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'\'' | b'"' => {
                bytes.find(|other| *other == byte);
            }
            b'[' => depth += 1,
            b']' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    true
}

/// The parts of `name=value`, `name+=value`, `name[subscript]=value`, when a word turns out to be an assignment.
#[derive(Debug, PartialEq, Eq)]
pub struct TextAssignment<'a> {
    pub target: Reference<'a>,
    /// `name` or `name[subscript]` as written.
    pub written: &'a BStr,
    pub append: bool,
    pub value: &'a BStr,
}

/// `None`: not of the form of an assignment. The subscript may be anything up to the first `]=` or `]+=`.
pub fn parse_assignment(text: &BStr) -> Option<TextAssignment<'_>> {
    let name_end = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    let mut end = name_end;
    if text.get(name_end) == Some(&b'[') {
        end = name_end + subscript_end(text.get(name_end..)?)?;
    }
    let rest = text.get(end..)?;
    let (append, value) = match (rest.strip_prefix(b"+="), rest.strip_prefix(b"=")) {
        (Some(value), _) => (true, value),
        (None, Some(value)) => (false, value),
        (None, None) => return None,
    };
    let written = text.get(..end)?.as_bstr();
    let name = text.get(..name_end)?.as_bstr();
    let subscript = written.get(name_end + 1..);
    let subscript = subscript.map(|rest| rest.strip_suffix(b"]").unwrap_or(rest).as_bstr());
    let target = Reference { name, subscript };
    is_name(name).then_some(TextAssignment { target, written, append, value: value.into() })
}

/// Length of `[…]` at the beginning of the text.
fn subscript_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' | b'"' => at += 1 + text.get(at + 1..)?.find_byte(*byte)?,
            b'[' => depth += 1,
            b']' if depth == 1 => return Some(at + 1),
            b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        for good in ["a", "_1", "a[1]", "a[b[c]]", "a['x]']", "a[@]"] {
            assert!(parse_reference(good.into()).is_some(), "{good}");
        }
        for bad in ["", "1a", "a[", "a[]", "a[1]x", "a]", "a[b]c]", "a-b", "é"] {
            assert!(parse_reference(bad.into()).is_none(), "{bad}");
        }
    }

    #[test]
    fn assignments() {
        let found = parse_assignment("a[x]=1]+=y".into()).map(|found| (found.append, found.value));
        assert_eq!(found, Some((false, "1]+=y".into())));
        let found = parse_assignment("name+=v".into()).map(|found| (found.append, found.value));
        assert_eq!(found, Some((true, "v".into())));
        assert_eq!(parse_assignment("1a=2".into()), None);
        assert_eq!(parse_assignment("a b=2".into()), None);
        assert_eq!(parse_assignment("a[1".into()), None);
    }
}

//! Paths as records have them: relative to the project's root, raw bytes, no `.` or `..`, never through a link.

use bstr::{BStr, BString};

use crate::error::UndoError;

/// Of the project's own state; nobody's business, at any depth.
pub(crate) const STATE: &[u8] = b".clada";

/// Checks a path and takes slashes off its ends. The empty path is the root itself.
pub(crate) fn check(path: &[u8]) -> Result<BString, UndoError> {
    let invalid = |why: &'static str| UndoError::InvalidPath { path: BString::from(path), why };
    let mut clean = BString::default();
    for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
        match name {
            b"." | b".." => return Err(invalid("it is not resolved")),
            STATE => return Err(invalid("it belongs to the journal itself")),
            name if name.contains(&0) => return Err(invalid("it contains a zero byte")),
            name => push(&mut clean, name),
        }
    }
    Ok(clean)
}

pub(crate) fn push(path: &mut BString, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

pub(crate) fn join(path: &[u8], name: &[u8]) -> BString {
    let mut joined = BString::from(path);
    if !name.is_empty() {
        push(&mut joined, name);
    }
    joined
}

/// The directory that holds a path, and its name there. The root is `.` in itself.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None if path.is_empty() => (b"", b"."),
        None => (b"", path),
    }
}

/// What is left of a path below another: `Some("")` for the same.
pub(crate) fn below<'a>(path: &'a [u8], ancestor: &[u8]) -> Option<&'a [u8]> {
    if ancestor.is_empty() {
        return Some(path);
    }
    match path.strip_prefix(ancestor)? {
        b"" => Some(b""),
        rest => rest.strip_prefix(b"/"),
    }
}

/// One is the other, or lies in it.
pub(crate) fn overlap(one: &[u8], other: &[u8]) -> bool {
    below(one, other).is_some() || below(other, one).is_some()
}

/// For messages: what is not text is shown as its bytes.
pub(crate) fn show(path: &[u8]) -> String {
    if path.is_empty() { ".".to_owned() } else { BStr::new(path).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resolved_paths_are_taken() {
        let taken = |path: &[u8]| check(path).ok();
        assert_eq!(taken(b"/a//b/"), Some("a/b".into()));
        assert_eq!(taken(b""), Some("".into()));
        assert_eq!(taken(b"...\xff"), Some(BString::from(b"...\xff")));
        for refused in [&b"a/../b"[..], b"./a", b"..", b".clada/x", b"a/.clada", b"a\0b"] {
            assert_eq!(taken(refused), None, "{:?}", BStr::new(refused));
        }
    }

    #[test]
    fn ancestors() {
        assert_eq!(below(b"a/b", b"a"), Some(&b"b"[..]));
        assert_eq!(below(b"ab", b"a"), None);
        assert_eq!(below(b"a", b"a"), Some(&b""[..]));
        assert!(overlap(b"a", b"a/b/c") && overlap(b"a/b/c", b"") && !overlap(b"a/b", b"a/bc"));
        assert_eq!(split(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split(b"a"), (&b""[..], &b"a"[..]));
        assert_eq!(split(b""), (&b""[..], &b"."[..]));
    }
}

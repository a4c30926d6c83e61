//! Names as text: their last component, their parent, one below the other.

use bstr::{BStr, BString, ByteSlice};

/// Without the slashes at its end; a name of slashes alone stays `/`.
pub(in crate::builtins) fn without_slashes(name: &BStr) -> &BStr {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    match name.get(..end.max(usize::from(name.starts_with(b"/")))) {
        Some(stripped) => stripped.as_bstr(),
        None => name,
    }
}

/// What follows the last slash that is not at the end.
pub(in crate::builtins) fn last(name: &BStr) -> &BStr {
    let name = without_slashes(name);
    match name.rfind_byte(b'/') {
        Some(_) if name == "/" => name,
        Some(at) => name.get(at + 1..).unwrap_or_default().as_bstr(),
        None => name,
    }
}

/// The directory of a name; `.` if it has none.
pub(in crate::builtins) fn parent(name: &BStr) -> &BStr {
    let name = without_slashes(name);
    match name.rfind_byte(b'/') {
        Some(at) => without_slashes(name.get(..=at).unwrap_or_default().as_bstr()),
        None => BStr::new("."),
    }
}

pub(in crate::builtins) fn join(directory: &BStr, name: &BStr) -> BString {
    let mut joined = BString::from(directory);
    if !joined.is_empty() && !joined.ends_with(b"/") {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}

pub(in crate::builtins) fn is_dot_or_dot_dot(name: &BStr) -> bool {
    name == "." || name == ".."
}

/// Without `.`, `..` and double slashes, by the text alone.
pub(in crate::builtins) fn normalized(absolute: &BStr) -> BString {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in absolute.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut path = BString::from("/");
    path.extend_from_slice(&parts.join(&b'/'));
    path
}

/// Whether the first path is the second or lies above it; both normalised.
pub(in crate::builtins) fn contains(outer: &BStr, inner: &BStr) -> bool {
    match inner.strip_prefix(&**outer) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/") || outer == "/",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        for (name, expected_last, expected_parent) in [
            ("a", "a", "."),
            ("a/b", "b", "a"),
            ("a/b//", "b", "a"),
            ("a//b", "b", "a"),
            ("/a", "a", "/"),
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("a/.", ".", "a"),
            ("", "", "."),
        ] {
            assert_eq!(last(name.into()), expected_last, "{name}");
            assert_eq!(parent(name.into()), expected_parent, "{name}");
        }
    }

    #[test]
    fn paths_are_normalised_and_compared() {
        assert_eq!(normalized("/a/./b/../c//".into()), "/a/c");
        assert_eq!(normalized("/../..".into()), "/");
        assert!(contains("/a".into(), "/a/b".into()) && contains("/".into(), "/a".into()));
        assert!(contains("/a".into(), "/a".into()) && !contains("/a".into(), "/ab".into()));
    }
}

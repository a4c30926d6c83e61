//! Paths as text: components, mount points, and the names that do not exist for a script. No system calls here.

use bstr::{BStr, BString, ByteSlice};

/// The directory of exacta's own state; no script ever sees a component of this name.
pub(crate) const STATE: &str = ".clada";

/// Linux gives up on a path after this many symbolic links; so do we.
pub(crate) const MAXIMUM_LINKS: u32 = 40;

/// What the kernel takes in one call, with its closing NUL.
pub(crate) const PATH_MAX: usize = 4096;

/// Whether a component is exacta's own.
///
/// A case-folding file system finds `.clada` under other spellings: other case, with code points that folding
/// ignores (as git learned in CVE-2014-9390), or under the short name that FAT makes. All of them are hidden.
pub(crate) fn is_hidden(name: &[u8]) -> bool {
    match name.first() {
        Some(b'.') if name.is_ascii() => name.eq_ignore_ascii_case(STATE.as_bytes()),
        Some(b'c' | b'C') if name.is_ascii() => is_short_name(name),
        Some(_) if !name.is_ascii() => is_folded_state(name),
        _ => false,
    }
}

fn is_short_name(name: &[u8]) -> bool {
    matches!(name, [word @ .., b'~', digit] if digit.is_ascii_digit() && word.eq_ignore_ascii_case(b"clada"))
}

fn is_folded_state(name: &[u8]) -> bool {
    let Ok(text) = name.to_str() else { return false };
    let visible = text.chars().filter(|&character| !is_ignorable(character));
    visible.flat_map(char::to_lowercase).eq(STATE.chars())
}

/// Code points that the kernel's case folding drops (`Default_Ignorable_Code_Point`).
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether any component of a path below a mount is hidden.
pub(crate) fn has_hidden(rest: &[u8]) -> bool {
    rest.split(|&byte| byte == b'/').any(is_hidden)
}

/// A name that can be one directory entry: what callers of a directory handle may pass.
pub(crate) fn is_single_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b".." && !name.contains(&b'/') && !name.contains(&0)
}

/// What is left of `path` below `point`, or nothing if it is elsewhere. Repeated slashes and `.` do not count;
/// `..` never matches, so a path that climbs before it reaches the mount is outside.
pub(crate) fn strip_point<'a>(path: &'a BStr, point: &BStr) -> Option<&'a BStr> {
    let mut rest: &[u8] = path.strip_prefix(b"/")?;
    for wanted in components(point) {
        let (component, after) = next_component(rest)?;
        if component != wanted {
            return None;
        }
        rest = after;
    }
    Some(rest.as_bstr())
}

fn next_component(mut path: &[u8]) -> Option<(&[u8], &[u8])> {
    loop {
        path = path.trim_start_with(|character| character == '/');
        if path.is_empty() {
            return None;
        }
        let end = path.find_byte(b'/').unwrap_or(path.len());
        let (component, after) = path.split_at(end);
        if component != b"." {
            return Some((component, after));
        }
        path = after;
    }
}

/// The components of a path without empty ones and `.`.
pub(crate) fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = path.split(|&byte| byte == b'/');
    parts.filter(|part| !part.is_empty() && *part != b".")
}

/// Whether the text asks for a directory: it ends in a slash, `.` or `..`.
pub(crate) fn asks_directory(path: &[u8]) -> bool {
    matches!(path.rsplit(|&byte| byte == b'/').next(), Some(b"" | b"." | b".."))
}

/// Splits off the last component, if it is a real name. Slashes behind it are reported, not kept.
pub(crate) fn split_last(path: &[u8]) -> Option<Last<'_>> {
    let trimmed = path.trim_end_with(|character| character == '/');
    let start = trimmed.rfind_byte(b'/').map_or(0, |slash| slash + 1);
    let (parent, name) = trimmed.split_at(start);
    match name {
        b"" | b"." | b".." => None,
        _ => Some(Last { parent, name, slash: trimmed.len() < path.len() }),
    }
}

pub(crate) struct Last<'a> {
    pub parent: &'a [u8],
    pub name: &'a [u8],
    pub slash: bool,
}

/// The path without `.`, `..` and extra slashes, by its text alone. True only where no symbolic link is.
pub(crate) fn normalize(point: &BStr, rest: &[u8]) -> BString {
    let mut names: Vec<&[u8]> = components(point).collect();
    for name in components(rest) {
        if name == b".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    join(names)
}

pub(crate) fn join<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> BString {
    let mut path = Vec::new();
    for name in names {
        path.push(b'/');
        path.extend_from_slice(name);
    }
    if path.is_empty() {
        path.push(b'/');
    }
    path.into()
}

/// Names with slashes between them; nothing at all for the mount itself.
pub(crate) fn relative<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> BString {
    let mut path = join(names);
    path.remove(0);
    path
}

/// What is left of a path below a mount, as names alone. True only where no symbolic link is.
pub(crate) fn below(rest: &[u8]) -> BString {
    let mut path = normalize(BStr::new(""), rest);
    path.remove(0);
    path
}

/// `directory/name`, with one slash between.
pub(crate) fn child(directory: &BStr, name: &[u8]) -> BString {
    let mut path = Vec::with_capacity(directory.len() + 1 + name.len());
    path.extend_from_slice(directory);
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names() {
        for name in [".clada", ".CLADA", ".Clada", "clada~1", ".cl\u{200b}ada", ".\u{ad}CLADA"] {
            assert!(is_hidden(name.as_bytes()), "{name}");
        }
        for name in ["clada", ".clada2", ".clad", ".trash", "..clada", "clada~", "über", ".", ".."]
        {
            assert!(!is_hidden(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn mount_points_match_by_component() {
        let point = BStr::new("/home/user/project");
        let cases: [(&str, Option<&str>); 9] = [
            ("/home/user/project", Some("")),
            ("/home/user/project/", Some("/")),
            ("//home/./user//project/a/b", Some("/a/b")),
            ("/home/user/project2", None),
            ("/home/user", None),
            ("/home/user/x/../project", None),
            ("/", None),
            ("home/user/project", None),
            ("/home/user/project/..", Some("/..")),
        ];
        for (path, rest) in cases {
            assert_eq!(strip_point(BStr::new(path), point), rest.map(BStr::new), "{path}");
        }
    }
}

//! Which program a name means: `/usr/bin/python3.12`, `curl.exe`, `gsed`.

use bstr::{BStr, BString, ByteSlice};

use super::table::{self, Found, Table};
use crate::word::Word;

/// A program's name, taken apart.
#[derive(Debug)]
pub struct Resolved {
    /// As its table calls it, or the last part of what was given.
    pub name: BString,
    pub table: Option<&'static Table>,
    /// It was given as a path that is in no system directory.
    pub path: bool,
}

pub fn resolve(word: &Word) -> Resolved {
    let given = word.as_literal().unwrap_or_else(|| BStr::new(b""));
    let (directory, base) = split(given);
    let found = find(base);
    Resolved {
        name: found
            .map_or_else(|| without_extension(base).unwrap_or(base).into(), |it| it.1.into()),
        table: found.map(|(table, _)| table),
        path: directory.is_some_and(|directory| !is_system(directory)),
    }
}

/// The directory, and the name without it. A package with a scope (`@scope/name`) is one name.
fn split(given: &BStr) -> (Option<&[u8]>, &[u8]) {
    let given = given.strip_prefix(b"\\").unwrap_or(given);
    if given.starts_with(b"@") {
        return (None, given);
    }
    match given.rfind_byteset(b"/\\") {
        Some(at) => (given.get(..at), given.get(at + 1..).unwrap_or_default()),
        None => (None, given),
    }
}

fn is_system(directory: &[u8]) -> bool {
    // `//usr/./bin` is the same place; `..` is not looked through, such a path stays a path.
    let parts: Vec<&[u8]> =
        directory.split_str("/").filter(|part| !part.is_empty() && *part != b".").collect();
    let lower = directory.to_ascii_lowercase();
    if lower.get(1..).is_some_and(|rest| rest.starts_with(b":\\windows")) {
        return true;
    }
    if !directory.starts_with(b"/") || parts.contains(&&b".."[..]) {
        return false;
    }
    matches!(
        parts.as_slice(),
        [b"bin" | b"sbin"]
            | [b"usr", b"bin" | b"sbin" | b"games"]
            | [b"usr", b"local", b"bin" | b"sbin"]
            | [b"opt", _, b"bin"]
            | [b"usr", b"lib" | b"lib64" | b"libexec", ..]
            | [b"lib" | b"lib64", ..]
    )
}

fn find(base: &[u8]) -> Option<Found> {
    if base.is_empty() {
        return None;
    }
    exact(base)
        .or_else(|| exact(without_extension(base)?))
        // GNU tools where another system's come first: gsed, gtar.
        .or_else(|| exact(base.strip_prefix(b"g").filter(|rest| rest.len() > 1)?))
}

fn exact(name: &[u8]) -> Option<Found> {
    table::plain(name)
        .or_else(|| table::versioned(without_version(name)?))
        .or_else(|| table::any_case(&name.to_ascii_lowercase()))
        .or_else(|| table::by_glob(name))
        .or_else(|| table::by_glob(without_version(name)?))
}

fn without_extension(name: &[u8]) -> Option<&[u8]> {
    let (stem, extension) = name.rsplit_once_str(".")?;
    let known: [&[u8]; 5] = [b"exe", b"com", b"cmd", b"bat", b"ps1"];
    known.iter().any(|it| extension.eq_ignore_ascii_case(it)).then_some(stem)
}

fn without_version(name: &[u8]) -> Option<&[u8]> {
    let stem = name.trim_end_with(|c| c.is_ascii_digit() || c == '.');
    let stem = stem.strip_suffix(b"-").unwrap_or(stem);
    (stem.len() < name.len() && !stem.is_empty()).then_some(stem)
}

/// `*` matches any text; everything else itself.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = rest.get(at + piece.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(given: &str) -> (String, bool, bool) {
        let name = resolve(&Word::literal(given));
        (name.name.to_string(), name.table.is_some(), name.path)
    }

    #[test]
    fn patterns() {
        assert!(matches(b"a*c*", b"abcd"));
        assert!(matches(b"*-gcc", b"arm-none-gcc"));
        assert!(matches(b"mkfs.*", b"mkfs.ext4"));
        assert!(!matches(b"mkfs.*", b"mkfs"));
        assert!(!matches(b"a*a", b"a"));
        assert!(matches(b"same", b"same"));
        assert!(!matches(b"same", b"same "));
    }

    #[test]
    fn spellings_of_one_program() {
        for given in [
            "python",
            "python3",
            "python3.12",
            "/usr/bin/python3.12",
            "//usr//bin/./python",
            "python.exe",
            "python3.exe",
            "/opt/tools/bin/python2",
            "\\python",
        ] {
            assert_eq!(name(given), ("python".into(), true, false), "{given}");
        }
        for given in ["./python", "bin/python3", "/tmp/python", "/usr/bin/../../tmp/python"] {
            assert_eq!(name(given), ("python".into(), true, true), "{given}");
        }
        assert_eq!(name("nodejs").0, "node");
        assert_eq!(name("tac").0, "tac");
        assert_eq!(name("mkfs.ext4").0, "mkfs");
        assert_eq!(name("pip3.12").0, "pip");
        assert_eq!(name("gtimeout"), ("timeout".into(), true, false));
        assert_eq!(name("no-such-thing"), ("no-such-thing".into(), false, false));
        assert_eq!(name("sub/run.sh"), ("run.sh".into(), false, true));
        assert_eq!(name("@scope/no-such"), ("@scope/no-such".into(), false, false));
    }
}

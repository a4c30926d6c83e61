//! Where a command would run: `cd` followed by its words alone. Links are the judge's business.

use bstr::{BStr, BString, ByteSlice};

use crate::event::Directory;

/// The working directory and what `cd -` and `popd` go back to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub directory: Directory,
    pub previous: Directory,
    /// Nearest last. `None`: not known any more.
    pub stack: Option<Vec<Directory>>,
}

impl Place {
    pub fn enter(&mut self, directory: Directory) {
        self.previous = std::mem::replace(&mut self.directory, directory);
    }

    pub fn lose(&mut self) {
        *self = Place { directory: Directory::Unknown, previous: Directory::Unknown, stack: None };
    }

    /// What is known when it is either of two.
    pub fn join(&mut self, other: &Place) {
        if self.directory != other.directory {
            self.directory = Directory::Unknown;
        }
        if self.previous != other.previous {
            self.previous = Directory::Unknown;
        }
        if self.stack != other.stack {
            self.stack = None;
        }
    }
}

/// A path as seen from a directory.
pub(super) fn resolve(directory: &Directory, path: &BStr) -> Directory {
    if path.starts_with(b"/") {
        return Directory::Known(normalize(path));
    }
    match directory {
        Directory::Unknown => Directory::Unknown,
        Directory::Known(base) => {
            let mut whole = base.clone();
            whole.push(b'/');
            whole.extend_from_slice(path);
            Directory::Known(normalize(whole.as_bstr()))
        }
    }
}

/// An absolute path without `.`, `..` and empty parts.
pub(super) fn normalize(path: &BStr) -> BString {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let mut normal = BString::default();
    for part in parts {
        normal.push(b'/');
        normal.extend_from_slice(part);
    }
    if normal.is_empty() {
        normal.push(b'/');
    }
    normal
}

#[cfg(test)]
mod tests {
    use bstr::BStr;

    use super::normalize;

    #[test]
    fn normal_paths_have_no_dots() {
        for (path, normal) in [
            ("/a/b", "/a/b"),
            ("/a//b/./c/", "/a/b/c"),
            ("/a/../b", "/b"),
            ("/../..", "/"),
            ("/a/b/../../c", "/c"),
        ] {
            assert_eq!(normalize(BStr::new(path)), normal, "{path}");
        }
    }
}

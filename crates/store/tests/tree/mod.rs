//! A whole directory tree as a value, to be compared with another: bytes, kinds, modes, owners, times to the nanosecond,
//! extended attributes, groups of hard links, holes, targets of links, names that are not text.
//!
//! For any test that wants to know whether a tree is exactly what it was:
//! `#[path = "…/crates/store/tests/tree/mod.rs"] mod tree;`

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Everything below a directory, by path as raw bytes; the directory itself is the empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<Vec<u8>, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: char,
    pub mode: u32,
    pub owner: (u32, u32),
    /// Seconds and nanoseconds.
    pub modified: (i64, i64),
    pub content: Vec<u8>,
    /// In units of 512 bytes; only where there are holes.
    pub blocks: Option<u64>,
    /// Names it has anywhere, also outside this tree.
    pub names: u64,
    /// The first path of the same object.
    pub linked_to: Option<Vec<u8>>,
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What is left out of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum But {
    Nothing,
    /// Holes and groups of links, for what an overlay shows: its names of one file have different numbers.
    Overlay,
    /// Times and holes, for two trees that came about in different ways.
    Times,
}

/// Reads a tree, without the names at its top that are not of interest.
pub fn read(root: &Path, without: &[&str]) -> Tree {
    let mut tree = BTreeMap::new();
    let mut seen: HashMap<(u64, u64), Vec<Vec<u8>>> = HashMap::new();
    let mut waiting = vec![Vec::new()];
    let mut opened = Vec::new();
    while let Some(path) = waiting.pop() {
        let place = root.join(OsStr::from_bytes(&path));
        opened.extend(open_closed(&place));
        let mut entry = entry(&place, &path, &mut seen);
        if let Some((_, mode)) = opened.last().filter(|(last, _)| *last == place) {
            entry.mode = *mode;
        }
        if entry.kind == 'd' {
            let names = fs::read_dir(&place).expect("a directory can be listed");
            for name in names.map(|found| found.expect("an entry can be read").file_name()) {
                let name = name.as_bytes();
                if path.is_empty() && without.iter().any(|one| one.as_bytes() == name) {
                    continue;
                }
                let separator: &[u8] = if path.is_empty() { b"" } else { b"/" };
                waiting.push([&path, separator, name].concat());
            }
        }
        tree.insert(path, entry);
    }
    for (place, mode) in opened.into_iter().rev() {
        fs::set_permissions(place, fs::Permissions::from_mode(mode)).expect("it is ours");
    }
    // Names elsewhere do not count: what a journal keeps is not part of the tree.
    for group in seen.into_values().filter(|group| group.len() > 1) {
        for path in &group {
            let first = group.iter().min().cloned();
            tree.entry(path.clone()).and_modify(|entry| entry.linked_to = first);
        }
    }
    Tree(tree)
}

/// What its owner may not read is open until all is read.
fn open_closed(place: &Path) -> Option<(PathBuf, u32)> {
    let found = fs::symlink_metadata(place).expect("what is listed is there");
    let mode = found.mode() & 0o7777;
    let needed = if found.is_dir() { 0o500 } else { 0o400 };
    let closed = (found.is_dir() || found.is_file()) && mode & needed != needed;
    if !closed || rustix::process::geteuid().is_root() {
        return None;
    }
    fs::set_permissions(place, fs::Permissions::from_mode(mode | needed)).expect("it is ours");
    Some((place.to_owned(), mode))
}

fn entry(place: &Path, path: &[u8], seen: &mut HashMap<(u64, u64), Vec<Vec<u8>>>) -> Entry {
    let found = fs::symlink_metadata(place).expect("what is listed is there");
    let kind = found.file_type();
    let (kind, content) = if kind.is_dir() {
        ('d', Vec::new())
    } else if kind.is_symlink() {
        ('l', fs::read_link(place).expect("a link can be read").as_os_str().as_bytes().to_vec())
    } else if kind.is_file() {
        ('f', fs::read(place).expect("a file can be read"))
    } else if kind.is_fifo() {
        ('p', Vec::new())
    } else {
        ('?', found.rdev().to_string().into_bytes())
    };
    let identity = (found.dev(), found.ino());
    if kind != 'd' {
        seen.entry(identity).or_default().push(path.to_vec());
    }
    let sparse = kind == 'f' && found.blocks() * 512 < found.size();
    Entry {
        kind,
        mode: found.mode() & 0o7777,
        owner: (found.uid(), found.gid()),
        modified: (found.mtime(), found.mtime_nsec()),
        content,
        blocks: sparse.then(|| found.blocks()),
        names: if kind == 'd' { 0 } else { found.nlink() },
        linked_to: None,
        attributes: attributes(place),
    }
}

fn attributes(place: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut buffer = [0_u8; 8192];
    let count = rustix::fs::llistxattr(place, &mut buffer[..]).unwrap_or(0);
    let mut found: Vec<_> = buffer[..count]
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let mut value = vec![0_u8; 65_536];
            let count = rustix::fs::lgetxattr(place, name, &mut value[..]).unwrap_or(0);
            (name.to_vec(), value[..count].to_vec())
        })
        .collect();
    found.sort();
    found
}

impl Tree {
    /// One line for each difference.
    pub fn differences(&self, other: &Tree, but: But) -> Vec<String> {
        let mut lines = Vec::new();
        for path in self.0.keys().chain(other.0.keys().filter(|path| !self.0.contains_key(*path))) {
            let name = path.escape_ascii();
            match (self.0.get(path), other.0.get(path)) {
                (Some(_), None) => lines.push(format!("{name}: missing")),
                (None, Some(_)) => lines.push(format!("{name}: too much")),
                (Some(one), Some(other)) => lines.extend(
                    one.differences(other, but).into_iter().map(|line| format!("{name}: {line}")),
                ),
                (None, None) => {}
            }
        }
        lines
    }
}

impl Entry {
    fn differences(&self, other: &Entry, but: But) -> Vec<String> {
        let mut lines = Vec::new();
        let mut compare = |what: &str, same: bool, one: String, other: String| {
            if !same {
                lines.push(format!("{what} is {other}, not {one}"));
            }
        };
        let show =
            |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        compare("kind", self.kind == other.kind, self.kind.into(), other.kind.into());
        compare(
            "content",
            self.content == other.content,
            show(&self.content),
            show(&other.content),
        );
        let (one, two) = (format!("{:o}", self.mode), format!("{:o}", other.mode));
        compare("mode", one == two, one, two);
        let (one, two) = (format!("{:?}", self.owner), format!("{:?}", other.owner));
        compare("owner", one == two, one, two);
        let (one, two) = (format!("{:?}", self.attributes), format!("{:?}", other.attributes));
        compare("attributes", one == two, one, two);
        let (one, two) = (format!("{:?}", self.linked_to), format!("{:?}", other.linked_to));
        compare("group of links", but == But::Overlay || one == two, one, two);
        if but != But::Times {
            let (one, two) = (format!("{:?}", self.modified), format!("{:?}", other.modified));
            compare("time", one == two, one, two);
        }
        if but == But::Nothing {
            compare(
                "names",
                self.names == other.names,
                self.names.to_string(),
                other.names.to_string(),
            );
            let (one, two) = (format!("{:?}", self.blocks), format!("{:?}", other.blocks));
            compare("blocks", one == two, one, two);
        }
        lines
    }
}

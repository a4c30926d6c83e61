//! What stands in a directory afterwards: types, modes, contents, targets of links.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::case::{Entry, decode};

pub type Tree = BTreeMap<String, Node>;

#[derive(Clone, PartialEq, Eq)]
pub struct Node {
    kind: String,
    mode: Option<u32>,
}

/// Everything beneath the project but what exacta keeps for itself.
pub fn read(project: &Path) -> Tree {
    let mut tree = Tree::new();
    read_into(project, project, &mut tree);
    tree
}

fn read_into(project: &Path, folder: &Path, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let relative = path.strip_prefix(project).unwrap_or(&path);
        if relative == Path::new(".trash") || relative == Path::new(".clada") {
            continue;
        }
        let name = relative.as_os_str().as_bytes().escape_ascii().to_string();
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let mode = Some(metadata.permissions().mode() & 0o7777);
        if metadata.is_dir() {
            tree.insert(format!("{name}/"), Node { kind: "directory".into(), mode });
            read_into(project, &path, tree);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).unwrap_or_default();
            tree.insert(name, Node { kind: format!("link to {}", target.display()), mode: None });
        } else if metadata.is_file() {
            let content = fs::read(&path).unwrap_or_default();
            tree.insert(name, Node { kind: format!("file {}", content.escape_ascii()), mode });
        } else {
            tree.insert(name, Node { kind: "special".into(), mode });
        }
    }
}

/// The lines in which two trees differ.
pub fn difference(expected: &Tree, found: &Tree) -> (String, String) {
    (lines_missing_in(expected, found), lines_missing_in(found, expected))
}

fn lines_missing_in(one: &Tree, other: &Tree) -> String {
    one.iter().filter(|(name, node)| other.get(*name) != Some(*node)).map(line).collect()
}

fn line((name, node): (&String, &Node)) -> String {
    let mode = node.mode.map_or(String::new(), |mode| format!(" {mode:o}"));
    format!("{name}{mode} {}\n", node.kind)
}

/// The same for a tree given in a case; modes count only where they are given.
pub fn difference_to_given(given: &BTreeMap<String, Entry>, found: &Tree) -> (String, String) {
    let expected: Tree =
        given.iter().map(|(name, entry)| (name.clone(), node(name, entry))).collect();
    let mut shown = Tree::new();
    for (name, node) in found {
        let mut node = node.clone();
        if expected.get(name).is_some_and(|expected| expected.mode.is_none()) {
            node.mode = None;
        }
        // Directories need not be listed when something in them is.
        if name.ends_with('/')
            && given.keys().any(|other| other != name && other.starts_with(name.as_str()))
        {
            continue;
        }
        shown.insert(name.clone(), node);
    }
    difference(&expected, &shown)
}

fn node(name: &str, entry: &Entry) -> Node {
    let directory = name.ends_with('/');
    match entry {
        Entry::Text(_) if directory => Node { kind: "directory".into(), mode: None },
        Entry::Text(text) => {
            Node { kind: format!("file {}", text.as_bytes().escape_ascii()), mode: None }
        }
        Entry::Hex { hex } => {
            Node { kind: format!("file {}", decode(hex).escape_ascii()), mode: None }
        }
        Entry::Link { link } => Node { kind: format!("link to {link}"), mode: None },
        Entry::Full { content, mode } => {
            Node { kind: format!("file {}", content.as_bytes().escape_ascii()), mode: Some(*mode) }
        }
        Entry::Mode { mode } => Node { kind: "directory".into(), mode: Some(*mode) },
    }
}

/// A case may take away its own permissions; give them back so that the directory can go.
pub fn make_removable(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_removable(&entry.path());
        }
    }
}

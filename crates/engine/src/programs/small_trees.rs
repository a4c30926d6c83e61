//! Settings that are small enough to be copied: single files, and trees, for to mount one takes the parts of a jail longer than to
//! see that a copy of it is still true.
//!
//! Which those are is remembered with what they were found from, and said with a digest of all that is in them. A tree with anything
//! in it that not everybody may read, or that is no file, directory or link, is none of them.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system, which programs see read-only"
)]

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use exacta_jail::plan::{Access, Tree};
use rustix::fs::Stat;
use sha2::{Digest as _, Sha256};

use super::kept_parts::{add, make_folder, write};
use super::remembered::Remembered;
use super::seen::{Kind, Seen};

/// Directories and files that are looked at each time: more of them take longer than a mount.
const MOST_LOOKS: usize = 16;
/// With links, which their directory tells of.
const MOST_NAMES: usize = 1000;
const MOST_BYTES: u64 = 1 << 20;

/// A larger file is none of settings.
const LARGEST_FILE: u64 = 4 << 20;

/// A tree with what is in it.
#[derive(Debug, PartialEq, Eq)]
pub struct SmallTree<'a> {
    pub tree: &'a Tree,
    pub digest: BString,
}

/// What can be copied.
pub struct Copiable<'a> {
    pub trees: Vec<SmallTree<'a>>,
    /// Of all single files. `None`: one of them is not certain, or not for everybody.
    pub files: Option<BString>,
}

/// Which of the trees can be copied, and whether all of the files can.
pub fn among<'a>(trees: &[&'a Tree], files: &[&Path], remembered: &mut Remembered) -> Copiable<'a> {
    let mut question = b"copies".to_vec();
    for file in files {
        question.extend([b"\n", file.as_os_str().as_bytes()].into_iter().flatten());
    }
    for tree in trees {
        let hidden = tree.hidden.iter().flat_map(|it| [&b" "[..], it.as_os_str().as_bytes()]);
        question.extend(
            [b"\n", tree.source.as_os_str().as_bytes()].into_iter().chain(hidden).flatten(),
        );
    }
    let mut answer = remembered
        .ask(&question, |seen| {
            let files = digest_of_files(files, seen).unwrap_or_default();
            let digest = |tree: &&Tree| digest(tree, seen).unwrap_or_default();
            let trees: Vec<BString> = trees.iter().map(digest).collect();
            [files].into_iter().chain(trees).collect()
        })
        .into_iter();
    let files = answer.next().filter(|digest| !digest.is_empty());
    let told = trees.iter().zip(answer).filter(|(_, digest)| !digest.is_empty());
    Copiable { trees: told.map(|(tree, digest)| SmallTree { tree, digest }).collect(), files }
}

/// Of single files, wherever their paths lead. `None`: one of them is not to be copied.
pub fn digest_of_files(files: &[&Path], seen: &mut Seen) -> Option<BString> {
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|found| found.mode() & 0o001 != 0);
    let mut own = Seen::default();
    let mut digest = Sha256::new();
    for path in files {
        // It may lie elsewhere, behind a directory that is not for everybody.
        let place = own.real(path).filter(|place| place.ancestors().skip(1).all(is_open))?;
        let (known, found) = own.file(&place)?;
        if found.st_mode & 0o004 == 0 || length(&found) > LARGEST_FILE {
            return None;
        }
        add(&mut digest, &[path.as_os_str().as_bytes(), &known]);
    }
    seen.include_lasting(own)?;
    Some(exacta_store::audit::hex(&digest.finalize()).into())
}

fn length(found: &Stat) -> u64 {
    u64::try_from(found.st_size).unwrap_or(u64::MAX)
}

/// Of all that is in it. `None`: it is not to be copied.
fn digest(tree: &Tree, seen: &mut Seen) -> Option<BString> {
    let mut own = Seen::default();
    let entries = entries(tree, &mut own)?;
    seen.include_lasting(own)?;
    let mut digest = Sha256::new();
    for Entry { place, content } in &entries {
        let (kind, known) = match content {
            Content::Folder => (&b"folder"[..], &b""[..]),
            Content::Link(text) => (&b"link"[..], text.as_os_str().as_bytes()),
            Content::File { known, .. } => (&b"file"[..], known.as_bytes()),
        };
        add(&mut digest, &[kind, place.as_os_str().as_bytes(), known]);
    }
    Some(exacta_store::audit::hex(&digest.finalize()).into())
}

/// One thing in a tree; its place is relative to it.
struct Entry {
    place: PathBuf,
    content: Content,
}

enum Content {
    Folder,
    Link(PathBuf),
    File { known: BString, mode: u32 },
}

/// All that is in it and not hidden, what lies in a directory behind that. `None`: it is not to be copied.
fn entries(tree: &Tree, seen: &mut Seen) -> Option<Vec<Entry>> {
    if tree.access != Access::Read {
        return None;
    }
    let (mut entries, mut looks, mut bytes) = (Vec::new(), 0, 0);
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let path = tree.source.join(&folder);
        looks += 1;
        let mode = fs::symlink_metadata(&path).ok()?.mode();
        let mut names = seen.names(&path).filter(|_| mode & 0o005 == 0o005)?;
        names.sort_by(|one, other| one.name.cmp(&other.name));
        for name in names {
            let place = folder.join(name.name.to_path().ok()?);
            if tree.hidden.contains(&place) {
                continue;
            }
            let path = tree.source.join(&place);
            let content = match name.kind {
                Kind::Directory => {
                    waiting.push(place.clone());
                    Content::Folder
                }
                Kind::Link => Content::Link(fs::read_link(&path).ok()?),
                Kind::Other => {
                    let (known, found) = seen.file(&path)?;
                    looks += 1;
                    bytes += length(&found);
                    let mode = Some(found.st_mode).filter(|mode| mode & 0o004 != 0)?;
                    Content::File { known, mode }
                }
            };
            entries.push(Entry { place, content });
        }
        if looks > MOST_LOOKS || bytes > MOST_BYTES || entries.len() > MOST_NAMES {
            return None;
        }
    }
    Some(entries)
}

impl SmallTree<'_> {
    /// Copies all of it into a directory, unless it is something else by now.
    pub fn copy(&self, to: &Path) -> io::Result<()> {
        let changed = || io::Error::from(io::ErrorKind::ResourceBusy);
        for Entry { place, content } in
            entries(self.tree, &mut Seen::default()).ok_or_else(changed)?
        {
            let (from, to) = (self.tree.source.join(&place), to.join(&place));
            match content {
                Content::Folder => make_folder(&to)?,
                Content::Link(text) => symlink(text, to)?,
                Content::File { mode, .. } => write(&to, &fs::read(from)?, 0o644 | mode & 0o111)?,
            }
        }
        let now = digest(self.tree, &mut Seen::default());
        if now.as_ref() == Some(&self.digest) { Ok(()) } else { Err(changed()) }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::seen::settle;
    use super::*;

    fn tree(source: &Path) -> Tree {
        let (source, target) = (source.to_owned(), "/etc/some".into());
        Tree { source, target, access: Access::Read, hidden: vec!["private".into()] }
    }

    #[test]
    fn what_everybody_may_read_is_copied_until_it_changes() {
        let top = std::env::temp_dir().join(format!("exacta-small-{}", std::process::id()));
        let (folder, state) = (top.join("settings"), top.join("state"));
        for folder in [&folder, &folder.join("deeper/empty"), &folder.join("private")] {
            fs::create_dir_all(folder).expect("a directory");
        }
        for name in ["plain", "deeper/script", "private/key"] {
            fs::write(folder.join(name), name).expect("a file");
        }
        let mode = |name: &str, mode| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.join(name), mode).expect("a mode");
        };
        mode("deeper/script", 0o755);
        mode("private/key", 0o600);
        symlink("../elsewhere", folder.join("link")).expect("a link");
        let tree = tree(&folder);
        let digest = || -> Option<BString> {
            let mut remembered = Remembered::open(Some(&state));
            let found = among(&[&tree], &[], &mut remembered);
            let digest = found.trees.into_iter().next().map(|it| it.digest);
            remembered.remember();
            digest
        };
        assert_eq!(digest(), None, "it may change once more");
        settle();
        let first = digest().expect("it is small");
        assert_eq!(digest().as_ref(), Some(&first), "remembered");
        let (copy, small) = (top.join("copy"), SmallTree { tree: &tree, digest: first.clone() });
        fs::create_dir(&copy).expect("a directory");
        small.copy(&copy).expect("a copy");
        assert_eq!(fs::read(copy.join("plain")).expect("a file"), b"plain");
        assert_eq!(fs::read_link(copy.join("link")).expect("a link"), Path::new("../elsewhere"));
        let script = fs::metadata(copy.join("deeper/script")).expect("a file");
        assert_eq!(script.mode() & 0o777, 0o755);
        assert!(copy.join("deeper/empty").is_dir() && !copy.join("private").exists());
        // In place, which its directory does not tell of.
        fs::write(folder.join("plain"), "other").expect("a file");
        assert_eq!(digest(), None, "it may change once more");
        let again = top.join("again");
        fs::create_dir(&again).expect("a directory");
        assert!(small.copy(&again).is_err(), "it is something else by now");
        settle();
        assert!(digest().is_some_and(|other| other != first));
        mode("plain", 0o640);
        settle();
        assert_eq!(digest(), None, "not everybody may read it");
        fs::remove_dir_all(&top).expect("it can be removed");
    }

    #[test]
    fn what_is_large_is_not_copied() {
        let top = std::env::temp_dir().join(format!("exacta-large-{}", std::process::id()));
        fs::create_dir_all(&top).expect("a directory");
        for number in 0..MOST_LOOKS {
            fs::write(top.join(number.to_string()), "").expect("a file");
        }
        settle();
        let tree = tree(&top);
        assert!(entries(&tree, &mut Seen::default()).is_none(), "too much to be looked at");
        fs::remove_file(top.join("0")).expect("it is there");
        assert!(entries(&tree, &mut Seen::default()).is_some());
        let file = fs::File::create(top.join("1")).expect("a file");
        file.set_len(MOST_BYTES + 1).expect("a length");
        assert!(entries(&tree, &mut Seen::default()).is_none(), "too much to be copied");
        fs::remove_dir_all(&top).expect("it can be removed");
    }
}

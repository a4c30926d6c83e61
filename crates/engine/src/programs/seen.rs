//! What was seen of the system's directories while something was looked for in them: enough to know later whether one would
//! find the same.
//!
//! A directory whose times are the same has the same entries, and its links lead to the same texts, because a link cannot be
//! changed but only replaced. What lies in directories that are not known by their times is known by itself.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system, which programs see read-only"
)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bstr::{BString, ByteSlice};
use rustix::fs::{FileType, Stat, lstat};

/// What was changed so shortly before it was looked at may change once more without its time telling.
const SETTLED: Duration = Duration::from_secs(3);
/// As many links as the kernel follows.
const MOST_LINKS: u32 = 40;

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub name: BString,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Link,
    Directory,
    Other,
}

/// Texts, each about one thing:
///
/// - `d`, what it is known by, and the path of a directory with these entries;
/// - `f` and the same of a file with this content;
/// - `p` and the path of a directory with any entries;
/// - `n` and a path where no directory is;
/// - `l` and the path of a link, and after it `t` and where it leads.
#[derive(Default)]
pub struct Seen {
    texts: Vec<BString>,
    /// Something is not certain: what was found is not to be remembered.
    uncertain: bool,
}

impl Seen {
    /// The names in a directory. `None`: it is none, or only a link to one, or it cannot be listed.
    pub fn names(&mut self, folder: &Path) -> Option<Vec<Name>> {
        if !self.entries(folder) {
            return None;
        }
        let Ok(entries) = fs::read_dir(folder) else {
            self.uncertain = true;
            return None;
        };
        let mut names = Vec::new();
        for entry in entries {
            let Ok((entry, kind)) =
                entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))
            else {
                self.uncertain = true;
                continue;
            };
            let kind = match kind {
                kind if kind.is_symlink() => Kind::Link,
                kind if kind.is_dir() => Kind::Directory,
                _ => Kind::Other,
            };
            names.push(Name { name: entry.file_name().into_vec().into(), kind });
        }
        Some(names)
    }

    /// What a file is known by, for as long as it has this content, and what the kernel says of it. `None`: it is none.
    pub fn file(&mut self, path: &Path) -> Option<(BString, Stat)> {
        let found = found(path, FileType::RegularFile)?;
        let known = known_by(b'f', path, &found);
        self.uncertain |= !has_settled(found.st_ctime);
        self.add(known.clone());
        Some((known, found))
    }

    /// The path of what a path leads to, without links, as realpath(3) says it.
    pub fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let mut place = PathBuf::from("/");
        let mut rest = waiting(path);
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                place.pop();
                continue;
            }
            let next = place.join(name);
            let found = fs::symlink_metadata(&next);
            match &found {
                Ok(found) if found.is_symlink() => {
                    links += 1;
                    let text = fs::read_link(&next).ok().filter(|_| links <= MOST_LINKS);
                    let Some(text) = text else {
                        self.uncertain = true;
                        return None;
                    };
                    self.link(&place, &next, &text);
                    if text.is_absolute() {
                        place = PathBuf::from("/");
                    }
                    rest.extend(waiting(&text));
                }
                Ok(found) if found.is_dir() => {
                    self.directory(&next);
                    place = next;
                }
                _ => {
                    self.entries(&place);
                    let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
                    self.uncertain |= found.as_ref().is_err_and(|error| !missing(error));
                    return (found.is_ok() && rest.is_empty()).then_some(next);
                }
            }
        }
        Some(place)
    }

    /// What was seen apart too. `None`: it may have changed just now, and so may once more. Next time, perhaps.
    pub fn include_lasting(&mut self, other: Seen) -> Option<()> {
        let lasting = other.lasting();
        self.uncertain |= lasting.is_none();
        for text in lasting? {
            self.add(text);
        }
        Some(())
    }

    /// Everything that was seen, if it is still so, and would be seen to change.
    pub fn lasting(self) -> Option<Vec<BString>> {
        let mut texts = Vec::new();
        for text in &self.texts {
            texts.extend_from_slice(text);
            texts.push(0);
        }
        (!self.uncertain && is_still(&texts)).then_some(self.texts)
    }

    /// What is in a directory is asked for. `false`: it is none.
    fn entries(&mut self, folder: &Path) -> bool {
        let found = found(folder, FileType::Directory);
        self.uncertain |= found.is_some_and(|found| !has_settled(found.st_ctime));
        let known = found.map(|found| known_by(b'd', folder, &found));
        self.add(known.unwrap_or_else(|| about(b'n', folder)));
        found.is_some()
    }

    fn directory(&mut self, path: &Path) {
        if !self.knows_entries(path) {
            self.add(about(b'p', path));
        }
    }

    fn link(&mut self, place: &Path, path: &Path, text: &Path) {
        let link = about(b'l', path);
        if !self.knows_entries(place) && !self.texts.contains(&link) {
            self.texts.extend([link, about(b't', text)]);
        }
    }

    fn knows_entries(&self, folder: &Path) -> bool {
        self.texts.iter().any(|text| text.starts_with(b"d") && path_in(text) == Some(folder))
    }

    fn add(&mut self, text: BString) {
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }
}

/// Whether all of this is as it was: texts that end with a zero.
pub fn is_still(texts: &[u8]) -> bool {
    let Some(texts) = texts.strip_suffix(&[0]) else { return texts.is_empty() };
    let mut texts = texts.split(|byte| *byte == 0);
    while let Some(text) = texts.next() {
        let Some((kind, path)) = text.first().zip(path_in(text)) else { return false };
        let same = match kind {
            b'd' => is_known_by(text, path, FileType::Directory),
            b'f' => is_known_by(text, path, FileType::RegularFile),
            b'p' => found(path, FileType::Directory).is_some(),
            b'n' => found(path, FileType::Directory).is_none(),
            b'l' => {
                let leads = fs::read_link(path);
                let text = texts.next().and_then(|text| text.strip_prefix(b"t"));
                leads.is_ok_and(|leads| text == Some(leads.as_os_str().as_bytes()))
            }
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}

/// What the kernel says of a path, if that is of this kind itself.
fn found(path: &Path, kind: FileType) -> Option<Stat> {
    lstat(path).ok().filter(|found| FileType::from_raw_mode(found.st_mode) == kind)
}

/// The numbers by which entries of a directory, and a file's content, are known to be the same, as they are written.
fn marks(found: &Stat) -> String {
    let marks: [u64; 7] = [
        found.st_dev,
        found.st_ino,
        found.st_size.cast_unsigned(),
        found.st_mtime.cast_unsigned(),
        found.st_mtime_nsec,
        found.st_ctime.cast_unsigned(),
        found.st_ctime_nsec,
    ];
    exacta_store::audit::hex(marks.map(u64::to_be_bytes).as_flattened())
}

/// The text about such a directory or file.
fn known_by(kind: u8, path: &Path, found: &Stat) -> BString {
    [&[kind], marks(found).as_bytes(), path.as_os_str().as_bytes()].concat().into()
}

/// Whether that is the text about it.
fn is_known_by(text: &[u8], path: &Path, kind: FileType) -> bool {
    let known = text.get(1..).and_then(|text| text.strip_suffix(path.as_os_str().as_bytes()));
    found(path, kind).is_some_and(|found| known == Some(marks(&found).as_bytes()))
}

fn has_settled(changed: i64) -> bool {
    let changed = u64::try_from(changed).map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let since = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    since.is_some_and(|since| since > SETTLED)
}

fn about(kind: u8, path: &Path) -> BString {
    [&[kind], path.as_os_str().as_bytes()].concat().into()
}

/// The path that a text is about: before it there is no slash.
fn path_in(text: &[u8]) -> Option<&Path> {
    text.get(text.find_byte(b'/')?..)?.to_path().ok()
}

/// The components of a path that are still to be gone, the next one last.
fn waiting(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

/// As if nothing had happened for a long time.
#[cfg(test)]
pub fn settle() {
    std::thread::sleep(SETTLED + Duration::from_millis(1100));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_and_noticed_when_they_change() {
        let top = std::env::temp_dir().join(format!("exacta-seen-{}", std::process::id()));
        let top = fs::create_dir_all(&top).and_then(|()| fs::canonicalize(top)).expect("a place");
        for folder in ["bin", "etc/alternatives", "deep/er", "other"] {
            fs::create_dir_all(top.join(folder)).expect("a directory");
        }
        for file in ["bin/nc.one", "bin/nc.two", "other/nc.one"] {
            fs::write(top.join(file), "").expect("a file");
        }
        let alternative = top.join("etc/alternatives/nc");
        symlink(&alternative, top.join("bin/nc")).expect("a link");
        symlink("../../outer/../bin/nc.one", &alternative).expect("a link");
        symlink("deep/er/", top.join("outer")).expect("a link");
        symlink("round", top.join("bin/round")).expect("a link");
        symlink("nc.one/no", top.join("bin/through")).expect("a link");
        symlink("missing", top.join("bin/broken")).expect("a link");
        fs::create_dir_all(top.join("deep/bin")).expect("a directory");
        fs::write(top.join("deep/bin/nc.one"), "").expect("a file");
        settle();
        let names =
            ["bin/nc", "bin/nc.one", "outer", "bin/round", "bin/through", "bin/broken", "."];
        for name in names {
            let path = top.join(name);
            assert_eq!(Seen::default().real(&path), fs::canonicalize(&path).ok(), "{name}");
        }
        let lasting = || {
            let mut seen = Seen::default();
            seen.names(&top.join("bin"));
            let real = seen.real(&top.join("bin/nc"));
            let mut texts = Vec::new();
            for text in seen.lasting().expect("nothing changes") {
                texts.extend_from_slice(&text);
                texts.push(0);
            }
            (real, texts)
        };
        let (real, before) = lasting();
        assert_eq!(real, Some(top.join("deep/bin/nc.one")));
        assert!(is_still(&before));
        // Far from where it was looked for, in a directory that is not listed.
        let point = |to: &str, at: &Path| {
            fs::remove_file(at).and_then(|()| symlink(to, at)).expect("another link");
        };
        point("other", &top.join("outer"));
        assert!(!is_still(&before), "a link on the way");
        point("deep/er/", &top.join("outer"));
        assert!(is_still(&before), "what lies elsewhere is known by itself");
        point("../../bin/nc.two", &alternative);
        assert!(!is_still(&before), "the alternative");
        settle();
        let (real, before) = lasting();
        assert_eq!(real, Some(top.join("bin/nc.two")));
        fs::remove_file(top.join("bin/nc.two")).expect("it is removed");
        assert!(!is_still(&before), "what it leads to");
        let mut fresh = Seen::default();
        fresh.names(&top.join("bin"));
        assert!(fresh.lasting().is_none(), "it has just changed");
        fs::remove_dir_all(&top).expect("it can be removed");
    }
}

//! The names in the directories of the system's programs, remembered between runs: to list them takes as long as a good part
//! of a jail, and they change only when something is installed.
//!
//! What is remembered is believed only while its directory is the same one and was not changed since, by the kernel's own
//! times; and only from a file of the operator's own, in a directory that nobody else may write to and that lies outside of
//! the project, so that nothing in a jail reaches it. In every other case the directory is listed.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system and state, which no script can see"
)]

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, fstat, statat};
use rustix::process::geteuid;

use crate::filesystem::state;
use crate::kept_file;

const NAME: &str = "programs";
const NEW: &str = "programs.new";
const LOCK: &str = "programs.lock";
/// Of the format.
const FIRST: &[u8] = b"exacta programs 1\0";
/// A larger file is none of ours.
const LARGEST: u64 = 8 << 20;
/// What was changed so shortly before it was listed may change once more without its time telling.
const SETTLED: Duration = Duration::from_secs(3);

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub name: BString,
    pub is_link: bool,
}

/// Listings of directories: remembered ones where they are still true.
///
/// The file consists of texts that end with a zero: for each directory one that says by what it is known again, and then one
/// for each name, `l` and a link, `f` and anything else.
#[derive(Default)]
pub struct Listings {
    state: Option<PathBuf>,
    remembered: Vec<u8>,
    /// Those that were asked for.
    asked: Vec<u8>,
    changed: bool,
}

impl Listings {
    /// As far as they are remembered in this directory.
    pub fn open(state: Option<&Path>) -> Self {
        let remembered = state.and_then(|state| read(state).ok().flatten()).unwrap_or_default();
        Listings { state: state.map(Path::to_owned), remembered, ..Listings::default() }
    }

    /// The names in a directory that are wanted; a link to one, or what cannot be listed, has none.
    pub fn among(&mut self, folder: &Path, wanted: impl Fn(&BStr) -> bool) -> Vec<Name> {
        let Some(line) = known_by(folder) else { return Vec::new() };
        if let Some(section) = section(&self.remembered, &line) {
            self.asked.extend_from_slice(&line);
            self.asked.extend_from_slice(section);
            return chosen(section, wanted);
        }
        let (listed, complete) = listed(folder);
        let unchanged = || known_by(folder).is_some_and(|again| again == line);
        if complete && has_settled(folder) && unchanged() {
            self.asked.extend_from_slice(&line);
            self.asked.extend_from_slice(&listed);
            self.changed = true;
        }
        chosen(&listed, wanted)
    }

    /// Remembers what was asked for, if that is news.
    pub fn remember(self) {
        if let Some(state) = self.state.filter(|_| self.changed) {
            // The next one has to look again: nothing else is lost.
            let _it_is_only_slower = write(&state, &[FIRST, &self.asked].concat());
        }
    }
}

fn read(state: &Path) -> io::Result<Option<Vec<u8>>> {
    let directory = state::open_existing_path(state)?;
    if !is_own(&directory)? {
        return Ok(None);
    }
    let content = kept_file::read(&directory, NAME, LARGEST)?;
    Ok(content.filter(|content| content.starts_with(FIRST)))
}

fn write(state: &Path, content: &[u8]) -> io::Result<()> {
    let directory = state::open_path(state)?;
    let lock = kept_file::lock(&directory, LOCK)?;
    kept_file::replace(&directory, NAME, NEW, content, &lock)
}

/// Whether nobody but the operator can have written what is remembered.
fn is_own(directory: &OwnedFd) -> io::Result<bool> {
    let found = [fstat(directory)?, statat(directory, NAME, AtFlags::SYMLINK_NOFOLLOW)?];
    let owner = geteuid().as_raw();
    Ok(found.iter().all(|found| found.st_uid == owner && found.st_mode & 0o022 == 0))
}

/// The text of a directory; `None`: it is none.
fn known_by(folder: &Path) -> Option<Vec<u8>> {
    let found = fs::symlink_metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    let (device, inode) = (found.dev(), found.ino());
    let modified = (found.mtime(), found.mtime_nsec());
    let changed = (found.ctime(), found.ctime_nsec());
    let mut line = format!("d {device} {inode} {modified:?} {changed:?} ").into_bytes();
    line.extend_from_slice(folder.as_os_str().as_bytes());
    line.push(0);
    Some(line)
}

fn has_settled(folder: &Path) -> bool {
    let changed = fs::symlink_metadata(folder).map_or(i64::MAX, |found| found.ctime());
    let changed = u64::try_from(changed).map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let since = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    since.is_some_and(|since| since > SETTLED)
}

/// The names that are remembered after this text.
fn section<'a>(remembered: &'a [u8], line: &[u8]) -> Option<&'a [u8]> {
    let start = remembered.find([b"\0", line].concat())? + 1;
    let rest = remembered.get(start + line.len()..)?;
    let end = if rest.starts_with(b"d ") { Some(0) } else { rest.find(b"\0d ").map(|end| end + 1) };
    rest.get(..end.unwrap_or(rest.len()))
}

/// The names, and whether these are all.
fn listed(folder: &Path) -> (Vec<u8>, bool) {
    let (mut names, mut complete) = (Vec::new(), true);
    let Ok(entries) = fs::read_dir(folder) else { return (names, false) };
    for entry in entries {
        let Ok(entry) = entry else {
            complete = false;
            continue;
        };
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        names.push(if is_link { b'l' } else { b'f' });
        names.extend_from_slice(entry.file_name().as_bytes());
        names.push(0);
    }
    (names, complete)
}

fn chosen(section: &[u8], wanted: impl Fn(&BStr) -> bool) -> Vec<Name> {
    let names = section.split(|byte| *byte == 0).filter_map(|text| text.split_first());
    let wanted = names.filter(|(_, name)| wanted(name.as_bstr()));
    wanted.map(|(kind, name)| Name { name: name.into(), is_link: *kind == b'l' }).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn all(listings: &mut Listings, folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = listings
            .among(folder, |name| name != "not")
            .into_iter()
            .map(|it| format!("{}{}", if it.is_link { "@" } else { "" }, it.name))
            .collect();
        names.sort();
        names
    }

    /// As if nothing had happened there for a long time.
    fn settle() {
        std::thread::sleep(SETTLED + Duration::from_millis(1100));
    }

    #[test]
    fn names_are_remembered_until_their_directory_changes() {
        let top = std::env::temp_dir().join(format!("exacta-listing-{}", std::process::id()));
        let (folder, other, state) = (top.join("bin"), top.join("other"), top.join("state"));
        fs::create_dir_all(&folder).expect("a directory");
        fs::create_dir_all(&other).expect("a directory");
        for name in ["one", "not", "d 1 2\n3"] {
            fs::write(folder.join(name), "").expect("a file");
        }
        std::os::unix::fs::symlink("one", folder.join("link")).expect("a link");
        let expected = ["@link", "d 1 2\n3", "one"];
        let mut fresh = Listings::open(Some(&state));
        assert_eq!(all(&mut fresh, &folder), expected);
        assert!(!fresh.changed, "it has just changed");
        settle();
        let mut settled = Listings::open(Some(&state));
        assert_eq!(all(&mut settled, &folder), expected);
        assert_eq!(all(&mut settled, &other), [""; 0]);
        assert!(settled.changed);
        settled.remember();
        let mut known = Listings::open(Some(&state));
        assert_eq!(all(&mut known, &other), [""; 0]);
        assert_eq!(all(&mut known, &folder), expected);
        assert!(!known.changed, "both were remembered");
        // What is remembered is used: a lie would be believed, so nobody else may write it.
        let file = state.join(NAME);
        let lie = fs::read(&file).expect("it").replace("fone", "ftwo");
        fs::write(&file, lie).expect("a lie");
        assert_eq!(all(&mut Listings::open(Some(&state)), &folder), ["@link", "d 1 2\n3", "two"]);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).expect("a mode");
        assert_eq!(all(&mut Listings::open(Some(&state)), &folder), expected, "anybody's");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
        fs::write(folder.join("new"), "").expect("a file");
        assert!(all(&mut Listings::open(Some(&state)), &folder).contains(&"new".to_owned()));
        for broken in ["", "exacta programs 1", "exacta programs 2\0", "\0\0\0d"] {
            fs::write(&file, broken).expect("something broken");
            assert!(all(&mut Listings::open(Some(&state)), &folder).contains(&"new".to_owned()));
        }
        fs::remove_dir_all(&top).expect("it can be removed");
    }
}

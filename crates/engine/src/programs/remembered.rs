//! What was found in the directories of the system, remembered between runs with what it was found from: to list them and to
//! follow their links takes as long as a good part of a jail, and they change only when something is installed.
//!
//! What is remembered is believed only while all of that is as it was, by the kernel's own times; and only from a file of the
//! operator's own, in a directory that nobody else may write to and that lies outside of the project, so that nothing in a jail
//! reaches it. In every other case it is found again.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system and state, which no script can see"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use rustix::fs::{AtFlags, fstat, statat};
use rustix::process::geteuid;

use super::seen::{self, Seen};
use crate::filesystem::state;
use crate::kept_file;

const NAME: &str = "system";
const NEW: &str = "system.new";
const LOCK: &str = "system.lock";
/// Of the format, and of how things are found.
const FIRST: &[u8] = concat!("exacta system 4 ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();
/// A larger file is none of ours.
const LARGEST: u64 = 1 << 20;
/// So many questions are remembered, the latest first: each policy has its own.
const MOST: usize = 24;

/// Answers to questions about the system: remembered ones where they are still true.
///
/// The file consists of texts that end with a zero: for each question `q` and the question, then by what the answer is known
/// to be true (`seen.rs`), then `a` and each part of the answer.
#[derive(Default)]
pub struct Remembered {
    state: Option<PathBuf>,
    known: Vec<u8>,
    /// What was found anew.
    found: Vec<u8>,
}

impl Remembered {
    /// As far as something is remembered in this directory.
    pub fn open(state: Option<&Path>) -> Self {
        let known = state.and_then(|state| read(state).ok().flatten()).unwrap_or_default();
        Remembered { state: state.map(Path::to_owned), known, ..Remembered::default() }
    }

    /// The answer to a question, which has no zeros in it: remembered, or found now.
    pub fn ask(
        &mut self,
        question: &[u8],
        find: impl FnOnce(&mut Seen) -> Vec<BString>,
    ) -> Vec<BString> {
        let about = |section: &Section<'_>| section.question == question;
        let known = sections(&self.known).find(about);
        if let Some(known) = known.filter(|known| seen::is_still(known.seen)) {
            return parts(known.answer).collect();
        }
        let mut seen = Seen::default();
        let answer = find(&mut seen);
        if let Some(seen) = seen.lasting() {
            let seen = seen.into_iter().map(|text| (None, text));
            let answer = answer.iter().cloned().map(|part| (Some(ANSWER), part));
            let texts = [(Some(QUESTION), question.into())].into_iter().chain(seen).chain(answer);
            for (kind, text) in texts {
                self.found.extend(kind);
                self.found.extend_from_slice(&text);
                self.found.push(0);
            }
        }
        answer
    }

    /// Remembers what was found, if that is news.
    pub fn remember(&mut self) {
        let Some(state) = self.state.as_ref().filter(|_| !self.found.is_empty()) else { return };
        let mut all: Vec<Section<'_>> = sections(&self.found).collect();
        for old in sections(&self.known) {
            if all.len() < MOST && all.iter().all(|new| new.question != old.question) {
                all.push(old);
            }
        }
        let texts = all.iter().map(|section| section.whole);
        let content = [FIRST].into_iter().chain(texts).collect::<Vec<_>>().concat();
        // The next one has to look again: nothing else is lost.
        let _it_is_only_slower = write(state, &content);
        self.known = content.get(FIRST.len()..).unwrap_or_default().to_vec();
        self.found.clear();
    }
}

const QUESTION: u8 = b'q';
const ANSWER: u8 = b'a';

/// A question with its answer, each as the texts in the file.
struct Section<'a> {
    whole: &'a [u8],
    question: &'a [u8],
    seen: &'a [u8],
    answer: &'a [u8],
}

/// Those that are in a file, as far as it can be understood.
fn sections(mut rest: &[u8]) -> impl Iterator<Item = Section<'_>> {
    std::iter::from_fn(move || {
        let end = rest.find([0, QUESTION]).map_or(rest.len(), |at| at + 1);
        let (whole, behind) = rest.split_at_checked(end)?;
        rest = behind;
        let (question, below) = whole.strip_prefix(&[QUESTION])?.split_once_str(&[0])?;
        let answer = if below.starts_with(&[ANSWER]) {
            Some(0)
        } else {
            below.find([0, ANSWER]).map(|at| at + 1)
        };
        let (seen, answer) = below.split_at_checked(answer.unwrap_or(below.len()))?;
        Some(Section { whole, question, seen, answer })
    })
}

fn parts(answer: &[u8]) -> impl Iterator<Item = BString> {
    answer.split(|byte| *byte == 0).filter_map(|text| Some(text.split_first()?.1.into()))
}

fn read(state: &Path) -> io::Result<Option<Vec<u8>>> {
    let directory = state::open_existing_path(state)?;
    if !is_own(&directory)? {
        return Ok(None);
    }
    let content = kept_file::read(&directory, NAME, LARGEST)?;
    let content = content.filter(|content| content.starts_with(FIRST) && content.ends_with(&[0]));
    Ok(content.map(|mut content| content.split_off(FIRST.len())))
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// The names in a directory, and whether they had to be found.
    fn names(remembered: &mut Remembered, folder: &Path) -> (Vec<String>, bool) {
        let mut found = false;
        let question = folder.as_os_str().as_encoded_bytes();
        let answer = remembered.ask(question, |seen| {
            found = true;
            seen.names(folder).into_iter().flatten().map(|name| name.name).collect()
        });
        let mut names: Vec<String> = answer.iter().map(ToString::to_string).collect();
        names.sort();
        (names, found)
    }

    fn told(names: &[&str], found: bool) -> (Vec<String>, bool) {
        (names.iter().map(ToString::to_string).collect(), found)
    }

    #[test]
    fn answers_are_remembered_until_something_changes() {
        let top = std::env::temp_dir().join(format!("exacta-remembered-{}", std::process::id()));
        let (folder, empty, state) = (top.join("bin"), top.join("empty"), top.join("state"));
        fs::create_dir_all(&folder).expect("a directory");
        fs::create_dir_all(&empty).expect("a directory");
        for name in ["one", "q1", "a 1 2\n3"] {
            fs::write(folder.join(name), "").expect("a file");
        }
        symlink("one", folder.join("link")).expect("a link");
        let expected = ["a 1 2\n3", "link", "one", "q1"];
        let again = || Remembered::open(Some(&state));
        let mut fresh = again();
        assert_eq!(names(&mut fresh, &folder), told(&expected, true));
        assert!(fresh.found.is_empty(), "it has just changed");
        seen::settle();
        let mut settled = again();
        assert_eq!(names(&mut settled, &folder), told(&expected, true));
        assert_eq!(names(&mut settled, &empty), told(&[], true));
        settled.remember();
        assert_eq!(names(&mut again(), &empty), told(&[], false));
        assert_eq!(names(&mut again(), &folder), told(&expected, false));
        // What is remembered is used: a lie would be believed, so nobody else may write it.
        let file = state.join(NAME);
        let truth = fs::read(&file).expect("it");
        fs::write(&file, truth.replace("aone", "atwo")).expect("a lie");
        let lie = ["a 1 2\n3", "link", "q1", "two"];
        assert_eq!(names(&mut again(), &folder), told(&lie, false));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).expect("a mode");
        assert_eq!(names(&mut again(), &folder), told(&expected, true), "anybody's");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
        fs::write(folder.join("new"), "").expect("a file");
        assert!(names(&mut again(), &folder).0.contains(&"new".to_owned()));
        for broken in [&b""[..], b"exacta system", b"\0\0\0q", FIRST, &[FIRST, b"q"].concat()] {
            fs::write(&file, broken).expect("something broken");
            assert!(names(&mut again(), &folder).1, "{:?}", broken.as_bstr());
        }
        fs::remove_dir_all(&top).expect("it can be removed");
    }

    #[test]
    fn the_latest_questions_are_kept() {
        let top = std::env::temp_dir().join(format!("exacta-questions-{}", std::process::id()));
        let answer = |text: &str| vec![BString::from(text)];
        for number in 0..=MOST {
            let mut remembered = Remembered::open(Some(&top));
            let question = format!("{number}");
            let asked = remembered.ask(question.as_bytes(), |_| answer(&question));
            assert_eq!(asked, answer(&question));
            remembered.remember();
        }
        for number in 0..=MOST {
            let mut remembered = Remembered::open(Some(&top));
            let asked = remembered.ask(format!("{number}").as_bytes(), |_| answer("new"));
            let expected = if number == 0 { "new".to_owned() } else { number.to_string() };
            assert_eq!(asked, answer(&expected));
        }
        fs::remove_dir_all(&top).expect("it can be removed");
    }
}

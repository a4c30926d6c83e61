//! Which words of a command are paths, and whether any of them leads out of the project.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::Place;
use exacta_policy::effect::Effect;
use exacta_policy::programs::{self, Reading};
use exacta_policy::word::Word;
use exacta_shell::filesystem::FileSystem;

use crate::places::{absolute, place};

/// Directories that every machine has. Text that begins like one of them is taken for a path wherever it stands.
const TOP: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "Users",
    "Library",
    "System",
    "Applications",
    "private",
];

/// Commands inside commands inside commands: more than a person writes.
const MAXIMUM_DEPTH: u32 = 16;

/// The first of these paths that is not the command's to open.
pub(super) fn first_outside(
    files: &dyn FileSystem,
    directory: &BStr,
    paths: &[String],
) -> Option<String> {
    let outside = |path: &&String| is_outside(files, directory, path.as_bytes().as_bstr());
    paths.iter().find(outside).cloned()
}

/// The same for a command of tier 2, whose words must be understood first.
pub(super) fn first_outside_of(
    files: &dyn FileSystem,
    directory: &BStr,
    words: &[String],
) -> Option<String> {
    let words: Vec<Word> = words.iter().map(|word| Word::literal(word.as_str())).collect();
    let mut search = Search { files, found: None };
    search.command(&words, directory, 0);
    search.found
}

fn is_outside(files: &dyn FileSystem, directory: &BStr, path: &BStr) -> bool {
    let place = place(files, absolute(directory, path).as_bstr());
    matches!(place, Place::Outside | Place::Hidden | Place::System)
}

struct Search<'a> {
    files: &'a dyn FileSystem,
    found: Option<String>,
}

impl Search<'_> {
    fn check(&mut self, directory: &BStr, path: &BStr) {
        if self.found.is_none() && is_outside(self.files, directory, path) {
            self.found = Some(path.to_str_lossy().into_owned());
        }
    }

    fn command(&mut self, words: &[Word], directory: &BStr, depth: u32) {
        let Some((name, rest)) = words.split_first() else { return };
        let name = name.shown();
        if name.contains(&b'/') {
            self.check(directory, name);
        }
        if depth > MAXIMUM_DEPTH {
            return;
        }
        let reading = programs::read(words);
        if reading.known {
            self.known(&reading, rest, directory, depth);
        } else {
            for word in rest {
                self.unknown(word.shown(), directory);
            }
        }
    }

    /// The table says which words are paths; of the others only those count that can hardly be anything else.
    fn known(&mut self, reading: &Reading, rest: &[Word], directory: &BStr, depth: u32) {
        let mut base: BString = directory.into();
        for effect in &reading.effects {
            if let Effect::Directory(path) = effect {
                self.check(base.as_bstr(), path.shown());
                base = absolute(base.as_bstr(), path.shown());
            }
        }
        let mut texts: Vec<&BStr> = Vec::new();
        for effect in &reading.effects {
            match effect {
                Effect::Open { path, .. } | Effect::ScriptFile { path, .. }
                    if path.shown() != "-" =>
                {
                    self.check(base.as_bstr(), path.shown());
                }
                Effect::Run { words, .. } => self.command(words, base.as_bstr(), depth + 1),
                Effect::Code { text, .. } | Effect::Shell(text) | Effect::Split(text) => {
                    texts.push(text.shown());
                }
                Effect::Connect(name) => texts.push(name.shown()),
                _ => {}
            }
        }
        for word in rest.iter().map(Word::shown).filter(|word| !texts.contains(word)) {
            if looks_like_path(word) {
                self.check(base.as_bstr(), word);
            }
        }
    }

    /// Nobody knows what this program does with its words: each of them may be a path.
    fn unknown(&mut self, word: &BStr, directory: &BStr) {
        if let Some((_, value)) = word.split_once_str("=") {
            self.unknown(value.as_bstr(), directory);
        }
        if word.starts_with(b"-") || word.contains_str("://") {
            return;
        }
        self.check(directory, word);
    }
}

/// `/`, `/etc/passwd`, `../../x`: a pattern or a script for another program does not look like this.
fn looks_like_path(word: &BStr) -> bool {
    if word == ".." || word.starts_with(b"../") {
        return true;
    }
    let Some(below) = word.strip_prefix(b"/") else { return false };
    let top = below.split_str("/").find(|part| !part.is_empty()).unwrap_or_default();
    top.is_empty() || TOP.iter().any(|known| known.as_bytes() == top)
}

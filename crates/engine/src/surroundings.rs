//! What the judge may know of a session: where it is, what its variables hold, where paths lead.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::surroundings::is_system;
use exacta_policy::{Place, Surroundings};
use exacta_shell::builtins;
use exacta_shell::filesystem::{FileSystem, Follow};
use exacta_shell::fnmatch::Pattern;
use exacta_shell::shell::Shell;

use crate::places;

/// A session as the judge sees it.
pub struct World<'a> {
    pub files: &'a dyn FileSystem,
    pub directory: &'a BStr,
    /// Its variables, functions and aliases; absent while it runs, when every word is known.
    pub shell: Option<&'a Shell>,
    pub grants: &'a Grants,
}

/// What the operator opens: paths outside the project, and the project itself to programs without a layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    pub readable: Vec<BString>,
    pub writable: Vec<BString>,
    /// What programs write goes into the project at once: it was asked for, or there is nothing else here.
    pub direct: bool,
}

impl Surroundings for World<'_> {
    fn root(&self) -> &BStr {
        self.files.root()
    }

    fn directory(&self) -> &BStr {
        self.directory
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        self.shell.and_then(|shell| shell.scalar_of(name).map(std::borrow::Cow::into_owned))
    }

    fn place(&self, path: &BStr) -> Place {
        match places::place(self.files, path) {
            Place::Outside if beneath(path, &self.grants.writable) => {
                Place::Granted { writable: true }
            }
            Place::Outside if beneath(path, &self.grants.readable) => {
                Place::Granted { writable: false }
            }
            Place::Outside if is_system(path) => Place::System,
            place => place,
        }
    }

    fn real_path(&self, path: &BStr) -> Option<BString> {
        places::real_path(self.files, path)
    }

    fn is_builtin(&self, name: &BStr) -> bool {
        builtins::find(name).is_some()
    }

    fn writes_directly(&self) -> bool {
        self.grants.direct
    }

    fn is_defined(&self, name: &BStr) -> bool {
        self.shell.is_some_and(|shell| {
            shell.functions.contains_key::<[u8]>(name.as_ref())
                || shell.aliases.contains_key::<[u8]>(name.as_ref())
        })
    }

    fn glob(&self, pattern: &BStr, limit: usize) -> Vec<BString> {
        // Only the last part of a pattern can be one: a directory that is itself a pattern stays unknown, and asks.
        let Some(slash) = pattern.rfind_byte(b'/') else { return Vec::new() };
        let (folder, last) = pattern.split_at(slash);
        let last = last.get(1..).unwrap_or_default();
        let opened = self.files.open_directory(folder.as_bstr(), Follow::Yes);
        let Ok(entries) = opened.and_then(|directory| directory.entries()) else {
            return Vec::new();
        };
        let wanted = Pattern::new(last, false);
        let matching = entries.into_iter().map(|entry| entry.name);
        let matching = matching.filter(|name| wanted.matches_hidden(name));
        let joined = matching.map(|name| BString::from([folder, b"/", name.as_slice()].concat()));
        joined.take(limit).collect()
    }
}

fn beneath(path: &BStr, folders: &[BString]) -> bool {
    folders.iter().any(|folder| is_beneath(path, folder))
}

fn is_beneath(path: &BStr, folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

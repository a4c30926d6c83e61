//! The agent's own shell as the judge has to see it: the caller's variables and home, no private `/tmp`, and nothing that
//! remembers what was there before.

#![expect(
    clippy::disallowed_methods,
    reason = "a command that runs in the agent's own shell has the agent's environment, which is this process's"
)]

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use bstr::{BStr, BString, ByteSlice};
use exacta::policy::{Place, Surroundings};
use exacta::surroundings::World;

pub struct Unconfined<'a> {
    pub world: World<'a>,
    pub question: Question,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Do the rules object?
    Rules,
    /// Does it change nothing, so that nobody misses what exacta would hold and take back?
    Harmless,
}

/// Of exacta's own commands those that change files. In the agent's shell they are programs like any other.
const CHANGING: &[&str] = &[
    "chgrp", "chmod", "chown", "cp", "dd", "find", "install", "ln", "mkdir", "mkfifo", "mknod",
    "mktemp", "mv", "patch", "rm", "rmdir", "sed", "shred", "sort", "split", "csplit", "tar",
    "tee", "touch", "truncate", "uniq", "unlink", "xargs",
];

impl Surroundings for Unconfined<'_> {
    fn root(&self) -> &BStr {
        self.world.root()
    }

    fn directory(&self) -> &BStr {
        self.world.directory()
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        if name == "PWD" {
            return self.world.variable(name);
        }
        let value = std::env::var_os(std::ffi::OsStr::from_bytes(name));
        value.map(|value| value.into_vec().into())
    }

    fn place(&self, path: &BStr) -> Place {
        match self.world.place(path) {
            // Everybody's, and not the private one.
            Place::Scratch if self.question == Question::Harmless => Place::Outside,
            place => place,
        }
    }

    fn real_path(&self, path: &BStr) -> Option<BString> {
        self.world.real_path(path)
    }

    fn is_builtin(&self, name: &BStr) -> bool {
        let changes = CHANGING.iter().any(|known| known.as_bytes() == name.as_bytes());
        self.world.is_builtin(name) && !(changes && self.question == Question::Harmless)
    }

    fn is_defined(&self, name: &BStr) -> bool {
        self.world.is_defined(name)
    }

    fn writes_directly(&self) -> bool {
        self.question == Question::Harmless
    }

    fn glob(&self, pattern: &BStr, limit: usize) -> Vec<BString> {
        self.world.glob(pattern, limit)
    }
}

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

/// Of exacta's own commands those that only ever read and tell, whatever their options are, also as programs of the host. All others
/// are programs here, like any.
const READING: &[&str] = &[
    ":",
    "[",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "comm",
    "command",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "fmt",
    "fold",
    "grep",
    "head",
    "id",
    "join",
    "ls",
    "md5sum",
    "nl",
    "od",
    "paste",
    "pr",
    "printenv",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "stat",
    "sum",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "type",
    "uname",
    "unexpand",
    "wc",
    "which",
    "whoami",
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
        let reads = || READING.iter().any(|known| known.as_bytes() == name.as_bytes());
        self.world.is_builtin(name) && (self.question == Question::Rules || reads())
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

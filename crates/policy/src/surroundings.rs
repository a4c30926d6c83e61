//! What the judge must know of the world and cannot find out by itself.

use bstr::{BStr, BString};

/// Asked while a verdict is made; answers without changing anything.
pub trait Surroundings {
    /// The project's root, absolute and real.
    fn root(&self) -> &BStr;

    /// Where the command would start; absolute.
    fn directory(&self) -> &BStr;

    /// The value of a variable that is set before the text runs. `None`: unset.
    fn variable(&self, name: &BStr) -> Option<BString>;

    /// Where a path leads, links followed; `path` is absolute. A missing last part leads to where it would be made.
    fn place(&self, path: &BStr) -> Place;

    /// Does this name run in process?
    fn is_builtin(&self, name: &BStr) -> bool;

    /// A function or alias of the session.
    fn is_defined(&self, name: &BStr) -> bool;

    /// The files that an absolute pattern matches now, at most `limit` of them.
    fn glob(&self, pattern: &BStr, limit: usize) -> Vec<BString>;
}

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Project,
    /// The private `/tmp`.
    Scratch,
    /// `/dev/null` and its like.
    Device,
    /// What the operator's configuration lets commands read.
    Granted {
        writable: bool,
    },
    /// What a jailed program may read: `/usr`, libraries, toolchains.
    System,
    /// exacta's own state: does not exist.
    Hidden,
    Outside,
}

/// A world with nothing in it but a root: for examples in rules, and tests.
#[derive(Debug, Clone)]
pub struct Nowhere {
    pub root: BString,
    pub builtins: &'static [&'static str],
}

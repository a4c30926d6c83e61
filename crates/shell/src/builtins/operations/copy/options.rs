//! How to copy.

use super::super::backup::Backup;
use crate::filesystem::Follow;

#[derive(Debug, Clone)]
pub(in crate::builtins) struct Options {
    pub recursive: bool,
    /// Directories are left out on purpose, not for lack of `-r`.
    pub recursion_excluded: bool,
    pub dereference: Dereference,
    pub overwrite: Overwrite,
    pub update: Update,
    /// `-f`: what cannot be opened for writing is replaced.
    pub force: bool,
    pub remove_destination: bool,
    pub make: Make,
    pub preserve: Preserve,
    pub verbose: bool,
    pub attributes_only: bool,
    pub one_file_system: bool,
    pub sparse: Sparse,
    pub backup: Option<Backup>,
    /// The sources will be deleted: the second half of a move.
    pub moving: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Dereference {
    Never,
    /// `-H`: only what the user named.
    CommandLine,
    Always,
}

impl Dereference {
    pub(super) fn for_source(self, top: bool) -> Follow {
        match self {
            Dereference::Always => Follow::Yes,
            Dereference::CommandLine if top => Follow::Yes,
            Dereference::CommandLine | Dereference::Never => Follow::No,
        }
    }
}

/// What happens to a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Overwrite {
    Always,
    /// `-i`
    Ask,
    /// `-n`
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Update {
    All,
    /// `-u`: only where the source is newer.
    Older,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Make {
    Copies,
    /// `-l`
    HardLink,
    /// `-s`
    SymbolicLink,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::builtins) struct Preserve {
    pub mode: bool,
    pub ownership: bool,
    pub timestamps: bool,
    pub links: bool,
    /// `--no-preserve=mode`: new files are as if they had been made by a redirect.
    pub default_mode: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Sparse {
    /// Holes where the source has holes.
    Auto,
    Always,
    Never,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            recursive: false,
            recursion_excluded: false,
            dereference: Dereference::Always,
            overwrite: Overwrite::Always,
            update: Update::All,
            force: false,
            remove_destination: false,
            make: Make::Copies,
            preserve: Preserve::default(),
            verbose: false,
            attributes_only: false,
            one_file_system: false,
            sparse: Sparse::Auto,
            backup: None,
            moving: false,
        }
    }
}

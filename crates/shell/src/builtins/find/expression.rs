//! What an expression is made of.

use std::sync::Arc;
use std::time::SystemTime;

use bstr::BString;

use super::Context;
use super::printf::Format;
use crate::dates::{Moment, Zone};
use crate::filesystem::{Access, FileKind};
use crate::fnmatch::Pattern;
use crate::regex::Matcher;
use crate::walk::Symlinks;

pub(super) enum Expression {
    Primary(Primary),
    Not(Box<Expression>),
    /// `-a`: the first that is false decides.
    And(Vec<Expression>),
    /// `-o`: the first that is true decides.
    Or(Vec<Expression>),
    /// `,`: all, and the last counts.
    Comma(Vec<Expression>),
}

pub(super) enum Primary {
    True,
    False,
    Name(Pattern),
    Path(Pattern),
    /// `-lname`
    LinkTarget(Pattern),
    Regex(Arc<Matcher>),
    Type(Vec<FileKind>),
    /// `-xtype`: what a link leads to, or with `-L` the link.
    OtherType(Vec<FileKind>),
    /// In units of so many bytes, rounded up.
    Size(Number, u64),
    Links(Number),
    Inode(Number),
    User(Number),
    Group(Number),
    Permissions(Permissions),
    Age(Age),
    Newer(Stamp, Moment),
    Empty,
    Same {
        device: u64,
        inode: u64,
    },
    Access(Access),
    Prune,
    Quit,
    Print(Target, Ending),
    Format(Target, Format),
    List(Target),
    Execute(Execute),
    Delete,
}

/// `+5`, `-5`, `5`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) compare: Compare,
    pub(super) value: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    More,
    Less,
    Exactly,
}

impl Number {
    pub(super) fn holds(self, value: u64) -> bool {
        match self.compare {
            Compare::More => value > self.value,
            Compare::Less => value < self.value,
            Compare::Exactly => value == self.value,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Permissions {
    pub(super) compare: PermissionCompare,
    /// `X` gives a directory other bits.
    pub(super) of_files: u32,
    pub(super) of_directories: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermissionCompare {
    Exactly,
    /// `-mode`
    All,
    /// `/mode`
    Any,
}

/// One of the times of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    Accessed,
    Created,
    Changed,
    Modified,
}

/// `-mtime`, `-mmin` and the like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Age {
    pub(super) stamp: Stamp,
    pub(super) compare: Compare,
    /// How many units ago.
    pub(super) units: f64,
    /// Days count from when the search began, or with `-daystart` from the end of today.
    pub(super) unit: AgeUnit,
    pub(super) from: Moment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgeUnit {
    Minutes,
    Days,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Newline,
    Nul,
}

/// Standard output, or one of the files of `-fprint` by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Output,
    File(usize),
}

/// `-exec`, `-execdir`, `-ok`, `-okdir`.
#[derive(Debug)]
pub(super) struct Execute {
    pub(super) words: Vec<BString>,
    /// In the directory of the file.
    pub(super) in_directory: bool,
    pub(super) asks: bool,
    /// `+`: which collection of paths; without `{}`, which is the last word.
    pub(super) batch: Option<usize>,
}

/// What holds for the whole search.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) symlinks: Symlinks,
    pub(super) depth_first: bool,
    pub(super) depth_given: bool,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) one_device: bool,
    /// Files to write to (`-fprint`).
    pub(super) files: Vec<BString>,
    pub(super) batches: usize,
    pub(super) now: Moment,
    /// Where days begin.
    pub(super) day_start: Moment,
    pub(super) zone: Zone,
}

impl Settings {
    pub(super) fn new(context: &Context<'_>) -> Settings {
        let now: SystemTime = context.host().now();
        Settings {
            symlinks: Symlinks::Never,
            depth_first: false,
            depth_given: false,
            least: 0,
            most: usize::MAX,
            one_device: false,
            files: Vec::new(),
            batches: 0,
            now: Moment::from(now),
            day_start: Moment::from(now),
            zone: Zone::of(context),
        }
    }
}

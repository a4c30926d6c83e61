//! What each program does with its words. The knowledge is data; this reads words by it.

pub mod schema;

use bstr::BString;

use crate::effect::Effect;
use crate::word::Word;

/// A command's words, understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The program's name without directory, version and `.exe`, as its table calls it: `python3.12` is `python`.
    pub name: BString,
    /// Is there a table for it?
    pub known: bool,
    /// Named by a path that is not in a system directory: `./curl`.
    pub path: Option<Word>,
    pub options: Vec<GivenOption>,
    /// Subcommands first: `git -C x push origin` gives `push`, `origin`.
    pub operands: Vec<Word>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenOption {
    /// All its names, if the table knows it; else the one given. A cluster is taken apart.
    pub names: Vec<BString>,
    pub value: Option<Word>,
}

/// Reads a command by the table of its program; `words` begins with the name.
pub fn read(words: &[Word]) -> Reading {
    let _ = words;
    Reading::default()
}

//! What each program does with its words. The knowledge is data; this reads words by it.
//!
//! ```text
//! words --names--> table --reader, options--> options, operands --effects--> Effect
//! ```

mod effects;
mod names;
mod options;
mod reader;
mod roles;
mod run;
pub mod schema;
mod settings;
mod split;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::sync::Arc;

use bstr::{BStr, BString};

use crate::effect::Effect;
use crate::word::Word;
use reader::Reader;
use table::Table;

/// How often a text may be split into words that are read again: `env -S "env -S …"`.
const SPLICES: usize = 8;

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
    /// Subcommands first: `git -C x push origin` gives `push`, `origin`. The words of a command that is run by this
    /// one are not among them.
    pub operands: Vec<Word>,
    pub effects: Vec<Effect>,
}

/// The names of an option, shared with the table that has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(Arc<[BString]>);

impl Deref for Names {
    type Target = [BString];

    fn deref(&self) -> &[BString] {
        &self.0
    }
}

impl FromIterator<BString> for Names {
    fn from_iter<I: IntoIterator<Item = BString>>(names: I) -> Self {
        Names(names.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Names {
    type Item = &'a BString;
    type IntoIter = std::slice::Iter<'a, BString>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenOption {
    /// All its names, if the table knows it; else the one given. A cluster is taken apart.
    pub names: Names,
    pub value: Option<Word>,
    /// Does the table say what it does?
    pub known: bool,
}

/// What several programs have in common: `programs/kinds.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    AppliesPatches,
    Compiles,
    Hides,
    LoadsNothing,
    RunsProject,
    TakesIn,
    WordsFromFile,
}

impl Kind {
    /// Is the program of this kind? `name` is the one it goes by.
    pub fn includes(self, name: &BStr) -> bool {
        let number = match self {
            Kind::AppliesPatches => 0,
            Kind::Compiles => 1,
            Kind::Hides => 2,
            Kind::LoadsNothing => 3,
            Kind::RunsProject => 4,
            Kind::TakesIn => 5,
            Kind::WordsFromFile => 6,
        };
        table::is_of_kind(number, name)
    }
}

/// The names of all programs that have a table.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    table::names()
}

/// Reads a command by the table of its program; `words` begins with the name.
pub fn read(words: &[Word]) -> Reading {
    let Some(first) = words.first() else {
        return Reading::default();
    };
    let name = names::resolve(first);
    let mut reading = match name.table {
        Some(table) => read_by(words, table),
        None => read_without(words),
    };
    reading.name = name.name;
    reading.known = name.table.is_some();
    reading.path = name.path.then(|| first.clone());
    reading
}

fn read_by(words: &[Word], table: &Table) -> Reading {
    let mut words = std::borrow::Cow::Borrowed(words);
    for _ in 0..SPLICES {
        let mut reader = Reader::new(&words, Some(table));
        reader.read();
        match reader.spliced.take() {
            Some(spliced) => words = spliced.into(),
            None => return finish(&reader),
        }
    }
    let mut reading = Reading::default();
    if let Some(word) = words.get(1) {
        reading.effects.push(Effect::UnknownOption(word.clone()));
    }
    reading
}

fn read_without(words: &[Word]) -> Reading {
    let mut reader = Reader::new(words, None);
    reader.read();
    finish(&reader)
}

fn finish(reader: &Reader<'_, '_>) -> Reading {
    let options = reader.given.iter().map(|given| GivenOption {
        names: match given.row {
            Some(row) => row.shared_names(),
            None => Names(Arc::from([given.name.clone()])),
        },
        value: given.value.as_deref().cloned(),
        known: given.row.is_some(),
    });
    Reading {
        options: options.collect(),
        operands: reader.operands.iter().map(|word| (*word).clone()).collect(),
        effects: effects::effects(reader),
        ..Reading::default()
    }
}

//! Words taken apart into options and operands by a table. What they do is said in [`super::effects`].

use std::borrow::Cow;

use bstr::{BString, ByteSlice};

use super::roles::{Layout, Role};
use super::schema::Style;
use super::table::{OptionRow, Table, WhenRow};
use crate::word::Word;

/// An option as given.
#[derive(Debug)]
pub struct Given<'t, 'w> {
    pub row: Option<&'t OptionRow>,
    /// The name as it was written.
    pub name: BString,
    pub value: Option<Cow<'w, Word>>,
    /// The words after its value that belong to it as well: `-exec rm {} ;`.
    pub rest: &'w [Word],
    /// A cluster that nobody knows, kept whole beside its letters.
    pub whole: bool,
}

#[derive(Debug)]
pub struct Reader<'t, 'w> {
    pub words: &'w [Word],
    pub at: usize,
    /// The program, its subcommand, and that one's.
    pub levels: Vec<&'t Table>,
    pub style: Style,
    pub given: Vec<Given<'t, 'w>>,
    /// Each option that was given, once: however long the line, this is no longer than the table.
    distinct: Vec<&'t OptionRow>,
    /// Subcommands are among them, at the front.
    pub operands: Vec<&'w Word>,
    /// How many of the operands are subcommands.
    pub chosen: usize,
    /// Leading assignments of a wrapper.
    pub assignments: Vec<&'w Word>,
    /// The words of an operand that takes all that follow.
    pub rest: &'w [Word],
    /// Options that a wrapper's table does not know.
    pub unknown: Vec<&'w Word>,
    /// No more options.
    pub ended: bool,
    /// Words that take the place of all words: `env -S`.
    pub spliced: Option<Vec<Word>>,
}

impl<'t, 'w> Reader<'t, 'w> {
    pub fn new(words: &'w [Word], table: Option<&'t Table>) -> Self {
        Reader {
            words,
            at: 1,
            style: table.map_or(Style::Gnu, |table| table.style),
            levels: table.into_iter().collect(),
            given: Vec::new(),
            distinct: Vec::new(),
            operands: Vec::new(),
            chosen: 0,
            assignments: Vec::new(),
            rest: &[],
            unknown: Vec::new(),
            ended: false,
            spliced: None,
        }
    }

    pub fn read(&mut self) {
        if self.style == Style::Bundled {
            self.bundle();
        }
        while let Some(word) = self.words.get(self.at) {
            self.at += 1;
            if self.ended || self.style == Style::None || !self.option(word) {
                self.operand(word);
            }
            if self.spliced.is_some() {
                return;
            }
        }
    }

    pub fn table(&self) -> Option<&'t Table> {
        self.levels.last().copied()
    }

    /// The tables whose options count now, the nearest first.
    pub fn option_tables(&self) -> impl Iterator<Item = &'t Table> + use<'t, '_, 'w> {
        let last = self.levels.len().saturating_sub(1);
        let first = self.operands.len() == self.chosen;
        self.levels
            .iter()
            .enumerate()
            .rev()
            .filter(move |(level, table)| !table.options_first || (first && *level == last))
            .map(|(_, table)| *table)
    }

    pub fn has_option(&self, name: &str) -> bool {
        self.given.iter().any(|given| match given.row {
            Some(row) => row.names.iter().any(|known| known == name),
            None => given.name == name,
        })
    }

    /// What the options given so far change.
    pub fn when(&self) -> Option<&'t WhenRow> {
        let given = |name: &String| self.distinct.iter().any(|row| row.names.contains(name));
        let any = |names: &[String]| names.iter().any(given);
        self.table()?
            .when
            .iter()
            .find(|when| any(&when.options) && (when.and.is_empty() || any(&when.and)))
    }

    pub fn layout(&self) -> Option<&'t Layout> {
        let changed = self.when().and_then(|when| when.layout.as_ref());
        changed.or(self.table().map(|table| &table.layout))
    }

    fn operand(&mut self, word: &'w Word) {
        if self.choose(word) {
            return;
        }
        let place = self.operands.len() - self.chosen;
        if let Some(layout) = self.layout() {
            if layout.assignments && place == 0 && is_assignment(word) {
                self.assignments.push(word);
                return;
            }
            if layout.rest == Some(place) {
                self.rest = self.words.get(self.at - 1..).unwrap_or_default();
                self.at = self.words.len();
                return;
            }
        }
        self.operands.push(word);
        if self.style == Style::Posix {
            self.ended = true;
        }
    }

    /// Is this operand a subcommand?
    pub fn choose(&mut self, word: &'w Word) -> bool {
        if self.operands.len() != self.chosen {
            return false;
        }
        let Some(table) = self.table().filter(|table| !table.subcommands.is_empty()) else {
            return false;
        };
        let found = word.as_literal().and_then(|name| table.subcommand(name));
        let Some(found) = found else {
            // Something nobody knows was chosen: an alias, a plugin. Only what it shares is known of it.
            return false;
        };
        self.levels.push(found);
        self.style = found.style;
        self.operands.push(word);
        self.chosen += 1;
        if found.itself {
            self.rest = self.words.get(self.at - 1..).unwrap_or_default();
            self.at = self.words.len();
        }
        true
    }

    pub fn push(&mut self, row: Option<&'t OptionRow>, name: &[u8], value: Option<Cow<'w, Word>>) {
        if let Some(row) = row
            && !self.distinct.iter().any(|known| std::ptr::eq(*known, row))
        {
            self.distinct.push(row);
        }
        let rest: &'w [Word] = &[];
        self.given.push(Given { row, name: name.into(), value, rest, whole: false });
    }

    /// Takes the words of an option's value from those that follow.
    pub fn take(&mut self, row: &'t OptionRow, name: &[u8]) {
        let value = self.words.get(self.at);
        self.at += 1;
        self.finish(row, name, value.map(Cow::Borrowed));
    }

    /// An option with its value, and the further words it takes.
    pub fn finish(&mut self, row: &'t OptionRow, name: &[u8], value: Option<Cow<'w, Word>>) {
        let start = self.at.min(self.words.len());
        let follow = self.words.get(start..).unwrap_or_default();
        let taken = match row.value {
            Some(Role::CommandUntil) => until_semicolon(value.as_deref(), follow),
            Some(Role::Splice) => {
                self.splice(value.as_deref());
                0
            }
            Some(ref role) if role.takes_rest() => follow.len(),
            _ => row.count.saturating_sub(1).min(follow.len()),
        };
        self.push(Some(row), name, value);
        if let Some(given) = self.given.last_mut() {
            given.rest = follow.get(..taken).unwrap_or_default();
        }
        self.at = start + taken;
        if row.last {
            self.ended = true;
        }
    }

    /// The words of a text take its place, and all is read again.
    fn splice(&mut self, value: Option<&Word>) {
        let Some(text) = value.and_then(Word::as_literal) else {
            return;
        };
        let mut words: Vec<Word> = self.words.iter().take(1).cloned().collect();
        words.extend(self.assignments.iter().map(|word| (*word).clone()));
        words.extend(super::split::split(text).into_iter().map(Word::Literal));
        words.extend(self.words.iter().skip(self.at).cloned());
        self.spliced = Some(words);
    }
}

/// How many of the words belong to a command that `;` ends, or `+` after `{}`.
fn until_semicolon(first: Option<&Word>, follow: &[Word]) -> usize {
    let mut before = first;
    for (place, word) in follow.iter().enumerate() {
        let ends = match word.as_literal() {
            Some(text) if text == ";" => true,
            Some(text) if text == "+" => {
                before.and_then(Word::as_literal).is_some_and(|text| text == "{}")
            }
            _ => false,
        };
        if ends {
            return place + 1;
        }
        before = Some(word);
    }
    follow.len()
}

/// `NAME=VALUE`, as far as the word is known.
pub fn is_assignment(word: &Word) -> bool {
    let Some(at) = word.prefix().find_byte(b'=') else {
        return false;
    };
    let name = word.prefix().get(..at).unwrap_or_default();
    !name.is_empty()
        && !name.starts_with(b"-")
        && !name.contains(&b'/')
        && name.iter().all(u8::is_ascii_graphic)
}

//! The tables as they are read by: each decoded when its program is first asked for, and kept.

use std::sync::{LazyLock, OnceLock};

use super::Names;
use super::roles::{Layout, Role, language};
use super::schema::{MoreWords, OptionSpec, Program, Setting, Shape, Style, When};
use crate::effect::Language;

use index::{ANY_CASE, COUNT, GLOBS, KINDS, PLAIN, RANGES, SETTINGS, TEXTS, VERSIONED};

#[expect(clippy::unreadable_literal, reason = "made by the build, for nobody to read")]
mod index {
    /// A name, which table, and the name that the program goes by; names are pieces of [`TEXTS`].
    pub type Row = ((u32, u16), u16, (u32, u16));

    include!(concat!(env!("OUT_DIR"), "/programs_index.rs"));
}

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs.bin"));
static TABLES: [OnceLock<Option<Table>>; COUNT] = [const { OnceLock::new() }; COUNT];
static SETTING_ROWS: LazyLock<Vec<SettingRow>> = LazyLock::new(|| {
    let rows: Vec<Setting> = decode(SETTINGS).unwrap_or_default();
    rows.into_iter().map(SettingRow::new).collect()
});

/// What is known of a program or a subcommand.
#[derive(Debug)]
pub struct Table {
    pub names: Vec<String>,
    pub style: Style,
    pub any_case: bool,
    pub options: Vec<OptionRow>,
    /// Every name of every option, sorted, and which option it is.
    lookup: Vec<(String, usize)>,
    /// Some options have no dash before them.
    pub bare_options: bool,
    /// Some options can have their value attached although the style has no clusters.
    pub joined_options: bool,
    pub options_first: bool,
    pub layout: Layout,
    pub when: Vec<WhenRow>,
    pub shapes: Vec<ShapeRow>,
    pub subcommands: Vec<Subcommand>,
    pub reads_code: Option<Language>,
    /// A subcommand that is itself the command it runs.
    pub itself: bool,
    pub executes: Option<String>,
    pub placeholders: Vec<String>,
    pub more: MoreWords,
    /// Runs the command in its operands: an option that nobody knows may hide which one.
    pub wraps: bool,
}

/// Decoded when it is first given.
#[derive(Debug)]
pub struct Subcommand {
    names: Vec<String>,
    range: (usize, usize),
    table: OnceLock<Option<Table>>,
}

/// The names of a subcommand, and where its record is.
type Stored = (Vec<String>, (usize, usize));

#[derive(Debug)]
pub struct OptionRow {
    pub names: Vec<String>,
    /// … as those who are given the option see them.
    shared: OnceLock<Names>,
    pub value: Option<Role>,
    pub optional: bool,
    pub joined: bool,
    pub digits: bool,
    pub last: bool,
    pub count: usize,
    /// The role of the words after the first.
    pub then: Option<Role>,
    pub executes: Option<String>,
    pub unless: Vec<String>,
    pub only: Vec<String>,
}

#[derive(Debug)]
pub struct WhenRow {
    pub options: Vec<String>,
    pub and: Vec<String>,
    /// Absent: only roles of options change.
    pub layout: Option<Layout>,
    pub takes: Vec<(String, Role)>,
}

#[derive(Debug)]
pub struct ShapeRow {
    pub pattern: String,
    pub value: Option<Role>,
    pub executes: Option<String>,
}

#[derive(Debug)]
pub struct SettingRow {
    pub table: String,
    pub keys: Vec<String>,
    pub value: Role,
    pub executes: Option<String>,
    pub unless: Vec<String>,
    pub only: Vec<String>,
}

/// The table of a program by its number in the index.
pub fn table(number: usize) -> Option<&'static Table> {
    let made = TABLES.get(number)?.get_or_init(|| Table::decode(*RANGES.get(number)?));
    made.as_ref()
}

/// A table, and the name that the program goes by.
pub type Found = (&'static Table, &'static str);

/// Is the program of that kind? The number is that of the kind in [`super::schema::KINDS`].
pub fn is_of_kind(number: usize, name: &[u8]) -> bool {
    let names = KINDS.get(number).copied().unwrap_or_default();
    names.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok()
}

/// Every plain name.
pub fn names() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().map(|row| text(row.0))
}

pub fn plain(name: &[u8]) -> Option<Found> {
    search(PLAIN, name)
}

pub fn versioned(stem: &[u8]) -> Option<Found> {
    search(VERSIONED, stem)
}

/// `name` in small letters.
pub fn any_case(name: &[u8]) -> Option<Found> {
    search(ANY_CASE, name)
}

pub fn by_glob(name: &[u8]) -> Option<Found> {
    let is_meant = |row: &&index::Row| super::names::matches(text(row.0).as_bytes(), name);
    GLOBS.iter().find(is_meant).and_then(found)
}

pub fn settings() -> &'static [SettingRow] {
    &SETTING_ROWS
}

fn search(index: &[index::Row], name: &[u8]) -> Option<Found> {
    let at = index.binary_search_by(|row| text(row.0).as_bytes().cmp(name)).ok()?;
    index.get(at).and_then(found)
}

fn found(row: &index::Row) -> Option<Found> {
    Some((table(usize::from(row.1))?, text(row.2)))
}

/// A piece of the texts. The build script wrote both.
fn text((start, length): (u32, u16)) -> &'static str {
    let start = start as usize;
    TEXTS.get(start..start + usize::from(length)).unwrap_or_default()
}

fn decode<T: serde::de::DeserializeOwned>((start, end): (usize, usize)) -> Option<T> {
    postcard::from_bytes(BYTES.get(start..end)?).ok()
}

impl Table {
    fn decode(range: (usize, usize)) -> Option<Table> {
        let (program, subcommands): (Program, Vec<Stored>) = decode(range)?;
        Some(Table::new(program, subcommands))
    }

    fn new(program: Program, subcommands: Vec<Stored>) -> Table {
        let options: Vec<OptionRow> = program.options.into_iter().map(OptionRow::new).collect();
        let mut lookup: Vec<(String, usize)> = Vec::new();
        for (number, option) in options.iter().enumerate() {
            lookup.extend(option.names.iter().map(|name| (fold(name, program.any_case), number)));
        }
        lookup.sort();
        let layout = Layout::new(&program.operands);
        let when: Vec<WhenRow> = program.when.into_iter().map(WhenRow::new).collect();
        let wraps = layout.rest.is_some()
            || when.iter().filter_map(|when| when.layout.as_ref()).any(|it| it.rest.is_some());
        Table {
            style: program.style,
            any_case: program.any_case,
            bare_options: lookup
                .iter()
                .any(|(name, _)| name == "-" || !name.starts_with(['-', '/'])),
            joined_options: options.iter().any(|option| option.joined),
            lookup,
            options,
            options_first: program.options_first,
            layout,
            when,
            shapes: program.shapes.into_iter().map(ShapeRow::new).collect(),
            subcommands: subcommands
                .into_iter()
                .map(|(names, range)| Subcommand { names, range, table: OnceLock::new() })
                .collect(),
            reads_code: program.reads_code.as_deref().map(language),
            itself: program.itself,
            executes: program.executes,
            placeholders: program.placeholders,
            more: program.more,
            wraps,
            names: program.names,
        }
    }

    pub fn option(&self, name: &[u8]) -> Option<&OptionRow> {
        let folded;
        let mut key = name;
        if self.any_case {
            folded = name.to_ascii_lowercase();
            key = &folded;
        }
        let at = self.lookup.binary_search_by(|(known, _)| known.as_bytes().cmp(key)).ok()?;
        self.options.get(self.lookup.get(at)?.1)
    }

    /// The one option that `name` is the beginning of. Of several, one that executes: a version of the program that
    /// lacks the others would take it.
    pub fn abbreviated(&self, name: &[u8]) -> Option<&OptionRow> {
        let name = if self.any_case { name.to_ascii_lowercase() } else { name.to_vec() };
        let first = self.lookup.partition_point(|(known, _)| known.as_bytes() < name.as_slice());
        let numbers: Vec<usize> = self
            .lookup
            .iter()
            .skip(first)
            .take_while(|(known, _)| known.as_bytes().starts_with(&name))
            .map(|(_, number)| *number)
            .collect();
        let only = numbers.first().filter(|first| numbers.iter().all(|number| number == *first));
        let row = |number: &usize| self.options.get(*number);
        match only {
            Some(number) => row(number),
            None => numbers.iter().filter_map(row).find(|row| row.runs_something()),
        }
    }

    /// The option with the longest name that `word` begins with, among those whose value may be attached.
    pub fn joined(&self, word: &[u8]) -> Option<(&OptionRow, usize)> {
        if !self.joined_options {
            return None;
        }
        let mut best = None;
        for option in self.options.iter().filter(|option| option.joined) {
            for name in &option.names {
                let longer = best.is_none_or(|(_, length)| name.len() > length);
                if longer && word.starts_with(name.as_bytes()) {
                    best = Some((option, name.len()));
                }
            }
        }
        best
    }

    pub fn subcommand(&self, name: &[u8]) -> Option<&Table> {
        let same = |known: &String| {
            known.as_bytes() == name
                || (self.any_case && known.as_bytes().eq_ignore_ascii_case(name))
        };
        let found = self.subcommands.iter().find(|subcommand| subcommand.names.iter().any(same))?;
        found.table.get_or_init(|| Table::decode(found.range)).as_ref()
    }
}

impl OptionRow {
    pub fn shared_names(&self) -> Names {
        let made = || self.names.iter().map(|name| bstr::BString::from(name.as_str())).collect();
        self.shared.get_or_init(made).clone()
    }

    fn new(spec: OptionSpec) -> OptionRow {
        OptionRow {
            value: spec.value.as_deref().map(Role::new),
            names: spec.names,
            shared: OnceLock::new(),
            optional: spec.optional,
            joined: spec.joined,
            digits: spec.digits,
            last: spec.last,
            count: spec.count,
            then: spec.then.as_deref().map(Role::new),
            executes: spec.executes,
            unless: spec.unless,
            only: spec.only,
        }
    }

    fn runs_something(&self) -> bool {
        self.executes.is_some() || self.value.as_ref().is_some_and(Role::runs_something)
    }
}

impl WhenRow {
    fn new(when: When) -> WhenRow {
        let takes = when.takes.iter().flat_map(|(role, texts)| {
            texts
                .iter()
                .flat_map(|text| text.split_whitespace())
                .map(|name| (name.to_owned(), Role::new(role)))
        });
        WhenRow {
            takes: takes.collect(),
            layout: (!when.operands.is_empty()).then(|| Layout::new(&when.operands)),
            options: when.options,
            and: when.and,
        }
    }
}

impl ShapeRow {
    fn new(shape: Shape) -> ShapeRow {
        ShapeRow {
            value: shape.value.as_deref().map(Role::new),
            pattern: shape.pattern,
            executes: shape.executes,
        }
    }
}

impl SettingRow {
    fn new(setting: Setting) -> SettingRow {
        SettingRow {
            value: Role::new(&setting.value),
            keys: setting.keys.iter().map(|key| key.to_ascii_lowercase()).collect(),
            table: setting.table,
            executes: setting.executes,
            unless: setting.unless,
            only: setting.only,
        }
    }
}

fn fold(name: &str, any_case: bool) -> String {
    if any_case { name.to_ascii_lowercase() } else { name.to_owned() }
}

//! The programs' half of the build: checks `programs/*.toml` and writes
//!
//! - `programs.bin`: one record per program, so that only those asked for are ever decoded,
//! - `programs_index.rs`: names and where their records are, as constants that need no loading,
//! - `program_examples.bin`: the examples, for the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::programs::{
    CODE_ROLES, Example, KINDS, Kind, LANGUAGES, OptionSpec, Program, ROLES, SETTING_ROLES, Setting,
};
use crate::texts::Texts;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ProgramFile {
    program: Vec<Program>,
    setting: Vec<Setting>,
    /// Options that several programs or subcommands have in common.
    shared: Vec<Program>,
    kind: Vec<Kind>,
}

/// What a name leads to: the number of the program, and the name it goes by.
type Row = (usize, String);

/// What names lead to, sorted for a binary search.
#[derive(Default)]
struct Index {
    plain: BTreeMap<String, Row>,
    versioned: BTreeMap<String, Row>,
    any_case: BTreeMap<String, Row>,
    globs: Vec<(String, Row)>,
}

pub fn write(files: Vec<(String, String)>, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut programs = Vec::new();
    let mut settings = Vec::new();
    let mut shared = BTreeMap::new();
    let mut kinds = Vec::new();
    for (name, text) in files {
        let file: ProgramFile =
            toml::from_str(&text).map_err(|error| format!("programs/{name}: {error}"))?;
        programs.extend(file.program);
        settings.extend(file.setting);
        kinds.extend(file.kind);
        for set in file.shared {
            let first = set.names.first().cloned().unwrap_or_default();
            shared.insert(first, set);
        }
    }
    let tables: BTreeSet<String> = settings.iter().map(|setting| setting.table.clone()).collect();
    for setting in &settings {
        check_role(&setting.value, &tables)
            .map_err(|e| format!("setting {:?}: {e}", setting.keys))?;
    }
    let mut index = Index::default();
    let mut bytes = Vec::new();
    let mut ranges = Vec::new();
    let mut examples: Vec<Example> = Vec::new();
    for (number, mut program) in programs.into_iter().enumerate() {
        let label = program.names.first().cloned().unwrap_or_default();
        prepare(&mut program, &shared, &tables, &mut examples)
            .map_err(|error| format!("program {label}: {error}"))?;
        index.add(&program, number)?;
        ranges.push(store(program, &mut bytes)?);
    }
    let start = bytes.len();
    bytes.extend(postcard::to_allocvec(&settings)?);
    let source = index.source(&ranges, (start, bytes.len()))? + &kinds_source(kinds)?;
    fs::write(out.join("programs.bin"), bytes)?;
    fs::write(out.join("programs_index.rs"), source)?;
    fs::write(out.join("program_examples.bin"), postcard::to_allocvec(&examples)?)?;
    Ok(())
}

/// One sorted list of names for each kind, in the order of [`KINDS`].
fn kinds_source(kinds: Vec<Kind>) -> Result<String, Box<dyn Error>> {
    let mut lists: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for kind in kinds {
        let known = KINDS.iter().find(|known| **known == kind.name);
        let known = known.ok_or(format!("no kind {}", kind.name))?;
        lists.entry(known).or_default().extend(kind.programs);
    }
    if lists.len() != KINDS.len() {
        return Err("a kind without programs".into());
    }
    let lists: Vec<Vec<String>> =
        lists.into_values().map(|names| names.into_iter().collect()).collect();
    Ok(format!(
        "pub static KINDS: &[&[&str]] = &{};\n",
        format!("{lists:?}").replace("[\"", "&[\"")
    ))
}

/// Writes a program after its subcommands, of which it keeps the names and where they are.
fn store(mut program: Program, bytes: &mut Vec<u8>) -> Result<(usize, usize), Box<dyn Error>> {
    let mut subcommands = Vec::new();
    for subcommand in std::mem::take(&mut program.subcommands) {
        let names = subcommand.names.clone();
        subcommands.push((names, store(subcommand, bytes)?));
    }
    let start = bytes.len();
    bytes.extend(postcard::to_allocvec(&(program, subcommands))?);
    Ok((start, bytes.len()))
}

impl Index {
    fn add(&mut self, program: &Program, number: usize) -> Result<(), String> {
        let first = program.names.first().map_or("", |name| stem(name).unwrap_or(name));
        for alias in &program.aliases {
            self.insert(alias, (number, first.to_owned()), program.any_case)?;
        }
        for name in &program.names {
            let own = match stem(name) {
                Some(stem) => stem,
                None if name.contains('*') => first,
                None => name,
            };
            self.insert(name, (number, own.to_owned()), program.any_case)?;
        }
        Ok(())
    }

    fn insert(&mut self, name: &str, row: Row, any_case: bool) -> Result<(), String> {
        let before = match stem(name) {
            Some(stem) => {
                self.versioned.insert(stem.to_owned(), row.clone());
                self.plain.insert(stem.to_owned(), row)
            }
            None if name.contains('*') => {
                self.globs.push((name.to_owned(), row));
                None
            }
            None if any_case => self.any_case.insert(name.to_lowercase(), row),
            None => self.plain.insert(name.to_owned(), row),
        };
        if before.is_some() { Err(format!("the name {name} is in two rows")) } else { Ok(()) }
    }

    fn source(
        &self,
        ranges: &[(usize, usize)],
        settings: (usize, usize),
    ) -> Result<String, Box<dyn Error>> {
        let mut text = String::new();
        let mut texts = Texts::default();
        let globs = self.globs.iter().map(|(name, row)| (name, row));
        let maps: [(&str, Vec<(&String, &Row)>); 4] = [
            ("PLAIN", self.plain.iter().collect()),
            ("VERSIONED", self.versioned.iter().collect()),
            ("ANY_CASE", self.any_case.iter().collect()),
            ("GLOBS", globs.collect()),
        ];
        for (name, rows) in maps {
            writeln!(text, "pub static {name}: &[Row] = &[")?;
            for (known, (number, goes_by)) in rows {
                let (known, goes_by) = (texts.place(known), texts.place(goes_by));
                writeln!(text, "({known}, {number}, {goes_by}),")?;
            }
            writeln!(text, "];")?;
        }
        writeln!(text, "pub static TEXTS: &str = {:?};", texts.all)?;
        writeln!(text, "pub static RANGES: &[(usize, usize)] = &{ranges:?};")?;
        writeln!(text, "pub static SETTINGS: (usize, usize) = {settings:?};")?;
        writeln!(text, "pub const COUNT: usize = {};", ranges.len())?;
        Ok(text)
    }
}

/// `python` of `python*`, which stands for its versions; not of `mkfs.*`.
fn stem(name: &str) -> Option<&str> {
    name.strip_suffix('*').filter(|stem| !stem.contains('*') && !stem.ends_with(['.', '-', '_']))
}

/// Turns the short forms of options into the long one, checks roles, and takes the examples out.
fn prepare(
    program: &mut Program,
    shared: &BTreeMap<String, Program>,
    tables: &BTreeSet<String>,
    examples: &mut Vec<Example>,
) -> Result<(), String> {
    let mut options = std::mem::take(&mut program.options);
    expand(program, &mut options);
    for name in std::mem::take(&mut program.shares) {
        let set = shared.get(&name).ok_or(format!("no shared set {name}"))?;
        let mut more = set.options.clone();
        expand(&mut set.clone(), &mut more);
        // What the program says itself wins over what it shares.
        let own: BTreeSet<&String> = options.iter().flat_map(|option| &option.names).collect();
        more.retain(|option| !option.names.iter().any(|name| own.contains(name)));
        options.extend(more);
    }
    check_options(&options, tables)?;
    program.options = options;
    for role in &program.operands {
        check_role(role.strip_suffix('*').unwrap_or(role), tables)?;
    }
    for when in &program.when {
        for role in &when.operands {
            check_role(role.strip_suffix('*').unwrap_or(role), tables)?;
        }
        for role in when.takes.keys() {
            check_role(role, tables)?;
        }
    }
    for role in program.shapes.iter().filter_map(|shape| shape.value.as_ref()) {
        check_role(role, tables)?;
    }
    if let Some(language) = &program.reads_code
        && !LANGUAGES.contains(&language.as_str())
    {
        return Err(format!("no language {language}"));
    }
    program.summary.clear();
    examples.append(&mut program.examples);
    for subcommand in &mut program.subcommands {
        let label = subcommand.names.first().cloned().unwrap_or_default();
        prepare(subcommand, shared, tables, examples).map_err(|e| format!("{label}: {e}"))?;
    }
    Ok(())
}

fn expand(program: &mut Program, options: &mut Vec<OptionSpec>) {
    let names = |text: &String| text.split_whitespace().map(str::to_owned).collect();
    for text in std::mem::take(&mut program.flags) {
        options.push(OptionSpec { names: names(&text), ..OptionSpec::default() });
    }
    for (optional, roles) in
        [(false, std::mem::take(&mut program.takes)), (true, std::mem::take(&mut program.maybe))]
    {
        for (role, texts) in roles {
            for text in texts {
                let value = Some(role.clone());
                let option =
                    OptionSpec { names: names(&text), value, optional, ..OptionSpec::default() };
                options.push(option);
            }
        }
    }
}

fn check_options(options: &[OptionSpec], tables: &BTreeSet<String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for option in options {
        if option.names.is_empty() {
            return Err("an option without a name".to_owned());
        }
        for name in &option.names {
            if !seen.insert(name) {
                return Err(format!("option {name} twice"));
            }
        }
        for role in option.value.iter().chain(&option.then) {
            check_role(role, tables).map_err(|error| format!("{:?}: {error}", option.names))?;
        }
    }
    Ok(())
}

fn check_role(role: &str, tables: &BTreeSet<String>) -> Result<(), String> {
    let known = ROLES.contains(&role)
        || role.split_once(':').is_some_and(|(kind, rest)| {
            (CODE_ROLES.contains(&kind) && LANGUAGES.contains(&rest))
                || (SETTING_ROLES.contains(&kind) && tables.contains(rest))
        });
    if known { Ok(()) } else { Err(format!("no role {role:?}")) }
}

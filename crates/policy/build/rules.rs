//! The rules half of the build script: checks every rule and writes it as static data.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, iter};

use serde::Deserialize;
use toml::Spanned;

use crate::rules::compile::{About, Compiled, compile, outright_programs};
use crate::rules::pattern::{Lists, has_star};
use crate::rules::schema;
use crate::texts::{Texts, number};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RuleFile {
    rule: Vec<Spanned<schema::Rule>>,
    list: Lists,
}

struct Entry {
    file: String,
    line: usize,
    written: schema::Rule,
    compiled: Compiled,
}

/// Writes `rules.rs`, the tables, and `rules.bin`, the rules as written, one after the other.
pub fn generate(tables: &[(String, String)], out: &Path) -> Result<(), Box<dyn Error>> {
    let mut lists = Lists::new();
    let mut files = Vec::new();
    for (name, text) in tables {
        let file: RuleFile = toml::from_str(text).map_err(|e| format!("rules/{name}: {e}"))?;
        lists.extend(file.list);
        files.push((name, text, file.rule));
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (name, text, rules) in files {
        for rule in rules {
            let before = text.get(..rule.span().start).unwrap_or_default();
            let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
            let written = rule.into_inner();
            let place = format!("rules/{name}:{line}: {}", written.id);
            let compiled = compile(&written, &lists)
                .map_err(|p| format!("{place}: {}: {} ({})", p.key, p.message, p.hint))?;
            if entries.iter().any(|entry| entry.written.id == written.id) {
                return Err(format!("{place}: the id is taken").into());
            }
            entries.push(Entry { file: name.clone(), line, written, compiled });
        }
    }
    let (source, blob) = render(&entries, &lists)?;
    fs::write(out.join("rules.rs"), source)?;
    fs::write(out.join("rules.bin"), blob)?;
    Ok(())
}

fn render(entries: &[Entry], lists: &Lists) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let mut source = String::new();
    let mut blob = Vec::new();
    let mut texts = Texts::default();
    let mut files: Vec<String> = Vec::new();
    writeln!(source, "const COUNT: usize = {};", entries.len())?;
    writeln!(source, "static RULES: [BuiltIn; COUNT] = [")?;
    for entry in entries {
        let file = format!("built-in:{}", entry.file);
        let file = files.iter().position(|known| *known == file).unwrap_or_else(|| {
            files.push(file);
            files.len() - 1
        });
        let start = blob.len();
        blob.extend(postcard::to_allocvec(&entry.written)?);
        let middle = blob.len();
        blob.extend(postcard::to_allocvec(&entry.compiled)?);
        let (start, middle, end) = (number(start), number(middle), number(blob.len()));
        let Entry { line, written, compiled, .. } = entry;
        let id = texts.place(&written.id);
        writeln!(
            source,
            "BuiltIn {{ id: {id}, file: {file}, line: {line}, written: ({start}, {middle}), \
             compiled: ({middle}, {end}), ruling: Ruling::{:?}, profiles: {}, what: What::{} }},",
            compiled.ruling,
            compiled.profiles,
            what(&compiled.about),
        )?;
    }
    writeln!(source, "];\nstatic FILES: &[&str] = &{files:?};")?;
    index(entries, &mut texts, &mut source)?;
    outright(entries, &mut texts, &mut source)?;
    let listed = blob.len();
    blob.extend(postcard::to_allocvec(lists)?);
    writeln!(source, "static LISTS: (u32, u32) = ({}, {});", number(listed), number(blob.len()))?;
    writeln!(source, "static TEXTS: &str = {:?};", texts.all)?;
    Ok((source, blob))
}

fn what(about: &About) -> &'static str {
    match about {
        About::Command(_) => "Command",
        About::Variable(_) => "Variable",
        About::Write(_) => "Write",
        About::Read(_) => "Read",
        About::Delete(_) => "Delete",
        About::Code(_) => "Code",
        About::Situation(_) => "Situation",
        About::Shape(_) => "Shape",
    }
}

/// Names in order, each with the rules and patterns about it; and the patterns without a name to look up.
fn index(entries: &[Entry], texts: &mut Texts, source: &mut String) -> Result<(), Box<dyn Error>> {
    let mut names: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    let mut open = Vec::new();
    for (rule, entry) in entries.iter().enumerate() {
        let About::Command(all) = &entry.compiled.about else { continue };
        for (place, pattern) in all.iter().enumerate() {
            let name = pattern.program.as_ref();
            if has_star(name) || name.contains(['/', ':', '\\']) {
                open.push((rule, place, name.to_owned()));
                continue;
            }
            let lower = name.to_ascii_lowercase();
            for key in iter::once(name).chain((lower != name).then_some(lower.as_str())) {
                names.entry(key.to_owned()).or_default().push((rule, place));
            }
        }
    }
    let mut places = Vec::new();
    writeln!(source, "static NAMES: &[(Text, (u32, u32))] = &[")?;
    for (name, about) in names {
        let (name, start) = (texts.place(&name), places.len());
        places.extend(about);
        writeln!(source, "({name}, ({}, {})),", number(start), number(places.len()))?;
    }
    writeln!(source, "];\nstatic PLACES: &[(u16, u16)] = &{places:?};")?;
    writeln!(source, "static OPEN: &[(u16, u16, Text)] = &[")?;
    for (rule, place, name) in open {
        writeln!(source, "({rule}, {place}, {}),", texts.place(&name))?;
    }
    writeln!(source, "];")?;
    others(entries, texts, source)
}

/// All that is not about commands, each rule with the globs of which one must match where it is about paths.
fn others(entries: &[Entry], texts: &mut Texts, source: &mut String) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    writeln!(source, "static OTHERS: &[(u16, (u32, u32))] = &[")?;
    for (rule, entry) in entries.iter().enumerate() {
        let globs = match &entry.compiled.about {
            About::Command(_) => continue,
            About::Write(globs) | About::Read(globs) | About::Delete(globs) => &**globs,
            _ => &[],
        };
        let start = all.len();
        all.extend(globs.iter().map(|glob| texts.place(glob)));
        writeln!(source, "({rule}, ({}, {})),", number(start), number(all.len()))?;
    }
    writeln!(source, "];\nstatic GLOBS: &[Text] = &[{}];", all.join(", "))?;
    Ok(())
}

/// The programs that rules deny whatever their words are, with the rule that does.
fn outright(
    entries: &[Entry],
    texts: &mut Texts,
    source: &mut String,
) -> Result<(), Box<dyn Error>> {
    writeln!(source, "static OUTRIGHT: &[(u16, Text)] = &[")?;
    for (rule, entry) in entries.iter().enumerate() {
        for program in outright_programs(&entry.compiled) {
            writeln!(source, "({rule}, {}),", texts.place(program))?;
        }
    }
    writeln!(source, "];")?;
    Ok(())
}

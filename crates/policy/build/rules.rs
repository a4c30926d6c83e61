//! The rules half of the build script: checks every rule and writes it as static data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, iter};

use serde::Deserialize;
use toml::Spanned;

use crate::rules::compile::{About, Compiled, compile};
use crate::rules::pattern::{Lists, Pattern, has_star};
use crate::rules::schema;

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
    writeln!(source, "const COUNT: usize = {};", entries.len())?;
    writeln!(source, "static RULES: [BuiltIn; COUNT] = [")?;
    for entry in entries {
        let start = blob.len();
        blob.extend(postcard::to_allocvec(&entry.written)?);
        let (file, line) = (format!("built-in:{}", entry.file), entry.line);
        let (start, end) = (number(start), number(blob.len()));
        let (id, compiled) = (&entry.written.id, compiled(&entry.compiled));
        writeln!(
            source,
            "BuiltIn {{ id: {id:?}, file: {file:?}, line: {line}, written: ({start}, {end}), compiled: {compiled} }},"
        )?;
    }
    writeln!(source, "];")?;
    index(entries, &mut source)?;
    writeln!(source, "static LISTS: &[(&str, &[&str])] = &[")?;
    for (name, items) in lists {
        writeln!(source, "({name:?}, &{items:?}),")?;
    }
    writeln!(source, "];")?;
    Ok((source, blob))
}

fn compiled(rule: &Compiled) -> String {
    let about = match &rule.about {
        About::Command(all) => format!("About::Command({})", patterns(all)),
        About::Variable(all) => format!("About::Variable({})", texts(all)),
        About::Write(all) => format!("About::Write({})", texts(all)),
        About::Read(all) => format!("About::Read({})", texts(all)),
        About::Delete(all) => format!("About::Delete({})", texts(all)),
        About::Code(all) => format!("About::Code({})", texts(all)),
        About::Situation(all) => format!("About::Situation({})", texts(all)),
        About::Shape(all) => format!("About::Shape({})", texts(all)),
    };
    format!(
        "Compiled {{ ruling: Ruling::{:?}, profiles: {}, about: {about}, except: {}, with: {}, without: {}, \
         with_all: {}, piped_from: {}, operands_at_most: {:?}, alone: {}, made: {}, dangerous_only: {} }}",
        rule.ruling,
        rule.profiles,
        patterns(&rule.except),
        texts(&rule.with),
        texts(&rule.without),
        texts(&rule.with_all),
        texts(&rule.piped_from),
        rule.operands_at_most,
        rule.alone,
        rule.made,
        rule.dangerous_only,
    )
}

/// With separators, as the lints want it.
fn number(value: usize) -> String {
    match value {
        0..1000 => value.to_string(),
        _ => format!("{}_{:03}", number(value / 1000), value % 1000),
    }
}

fn texts(all: &[Cow<'static, str>]) -> String {
    let each = all.iter().map(|text| format!("Cow::Borrowed({text:?}),"));
    format!("Cow::Borrowed(&[{}])", each.collect::<String>())
}

fn patterns(all: &[Pattern]) -> String {
    let each = all.iter().map(|pattern| {
        let (program, rest) = (&pattern.program, &pattern.rest);
        format!("Pattern {{ program: Cow::Borrowed({program:?}), rest: Cow::Borrowed({rest:?}) }},")
    });
    format!("Cow::Borrowed(&[{}])", each.collect::<String>())
}

/// Names in order, each with the rules and patterns about it; and the patterns without a name to look up.
fn index(entries: &[Entry], source: &mut String) -> Result<(), Box<dyn Error>> {
    let mut names: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    let mut open = Vec::new();
    for (rule, entry) in entries.iter().enumerate() {
        let About::Command(all) = &entry.compiled.about else { continue };
        for (place, pattern) in all.iter().enumerate() {
            let name = pattern.program.as_ref();
            if has_star(name) || name.contains(['/', ':', '\\']) {
                open.push((rule, place));
                continue;
            }
            let lower = name.to_ascii_lowercase();
            for key in iter::once(name).chain((lower != name).then_some(lower.as_str())) {
                names.entry(key.to_owned()).or_default().push((rule, place));
            }
        }
    }
    writeln!(source, "static NAMES: &[(&str, &[(u16, u16)])] = &[")?;
    for (name, places) in names {
        writeln!(source, "({name:?}, &{places:?}),")?;
    }
    writeln!(source, "];\nstatic OPEN: &[(u16, u16)] = &{open:?};")?;
    let others = entries.iter().enumerate();
    let others = others.filter(|(_, entry)| !matches!(entry.compiled.about, About::Command(_)));
    let others: Vec<usize> = others.map(|(rule, _)| rule).collect();
    writeln!(source, "static OTHERS: &[u16] = &{others:?};")?;
    Ok(())
}

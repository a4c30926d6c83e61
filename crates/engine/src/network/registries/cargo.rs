//! cargo: `config.toml` in its home, with sources that stand in for others, and registries.

use std::path::PathBuf;

use toml::{Table, Value};

use super::Found;
use super::link::Link;
use super::operator::Reader;

/// Where it is put inside: every directory is beneath it, and what a project says is nearer.
const INSIDE: &str = "/.cargo/config.toml";
/// The registry that everybody has.
const USUAL: &str = "crates-io";

pub fn read(reader: &Reader<'_>) -> Found {
    let table = configuration(reader).unwrap_or_default();
    let mut found = Found { usual: true, ..Found::default() };
    let mut text = String::new();
    for (name, source) in tables(&table, "source") {
        let link = source.get("registry").and_then(Value::as_str).and_then(Link::read);
        let instead = source.get("replace-with").and_then(Value::as_str).filter(|it| is_plain(it));
        if name == USUAL && instead.is_some() {
            found.usual = false;
        }
        // One that lies in a directory does not exist inside, and stands in for nothing there.
        let instead = instead.filter(|it| leads_out(&table, it));
        if link.is_some() || instead.is_some() {
            text += &format!("[source.\"{name}\"]\n");
        }
        if let Some(instead) = instead {
            text += &format!("replace-with = \"{instead}\"\n");
        }
        if let Some(link) = link {
            text += &format!("registry = \"{}\"\n", link.text);
            found.links.push(link);
        }
    }
    for (name, registry) in tables(&table, "registries") {
        if let Some(link) = registry.get("index").and_then(Value::as_str).and_then(Link::read) {
            text += &format!("[registries.\"{name}\"]\nindex = \"{}\"\n", link.text);
            found.links.push(link);
        }
    }
    for (name, value) in &reader.operator.variables {
        let is_index = name.starts_with("CARGO_REGISTRIES_") && name.ends_with("_INDEX");
        if let Some(link) = Link::read(value).filter(|_| is_index) {
            found.variables.push((name.clone(), link.text.clone()));
            found.links.push(link);
        }
    }
    if !text.is_empty() {
        found.files.push((INSIDE, text));
    }
    found
}

fn configuration(reader: &Reader<'_>) -> Option<Table> {
    let named = reader.variable("CARGO_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    let home = named.or_else(|| reader.home(".cargo"))?;
    // The older name wins, as it does for cargo.
    let text = ["config", "config.toml"].iter().find_map(|name| reader.text(&home.join(name)))?;
    text.parse().ok()
}

/// Tables in a table, with names that can be written down.
fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = (&'a str, &'a Table)> {
    let all = table.get(key).and_then(Value::as_table).into_iter().flatten();
    let named = all.filter_map(|(name, value)| Some((name.as_str(), value.as_table()?)));
    named.filter(|(name, _)| is_plain(name))
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_graphic() && c != '"' && c != '\\')
}

/// Is this source, or what stands in for it, one with a host?
fn leads_out(table: &Table, name: &str) -> bool {
    const MOST: usize = 8;
    let mut name = name;
    for _ in 0..MOST {
        // A registry may stand in for a source as well.
        let registry = tables(table, "registries").any(|(known, _)| known == name);
        let Some((_, source)) = tables(table, "source").find(|(known, _)| *known == name) else {
            return registry;
        };
        match source.get("replace-with").and_then(Value::as_str) {
            Some(next) => name = next,
            None => return registry || source.contains_key("registry"),
        }
    }
    false
}

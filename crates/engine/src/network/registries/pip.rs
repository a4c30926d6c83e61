//! pip and those that read its configuration: `pip.conf`, and where uv has its own.

use std::path::PathBuf;

use super::Found;
use super::link::Link;
use super::operator::Reader;
use super::trust;

pub fn read(reader: &Reader<'_>) -> Found {
    let settings = Settings::read(reader);
    let mut found = Found::default();
    let named = settings.values("index-url");
    let first = named.iter().find_map(|value| Link::read(value));
    // One that leads to no host is still not the usual one.
    found.usual = named.is_empty();
    found.links.extend(first.clone());
    let more: Vec<Link> =
        settings.values("extra-index-url").iter().filter_map(|value| Link::read(value)).collect();
    found.links.extend(more.iter().cloned());
    let places = settings.values("find-links");
    found.links.extend(places.iter().filter_map(|value| Link::read(value)));
    uv(reader, &mut found);
    hand_over(&mut found, first.as_ref(), &more, &settings);
    found
}

/// For inside, in the files of the system, which are the last to be asked.
fn hand_over(found: &mut Found, first: Option<&Link>, more: &[Link], settings: &Settings) {
    let mut pip = String::new();
    let mut uv = String::new();
    if let Some(link) = first {
        pip += &format!("index-url = {}\n", link.text);
        uv += &format!("index-url = \"{}\"\n", link.text);
    }
    let more: Vec<&str> = more.iter().map(|link| link.text.as_str()).collect();
    if !more.is_empty() {
        pip += &format!("extra-index-url =\n    {}\n", more.join("\n    "));
        uv += &format!("extra-index-url = [\"{}\"]\n", more.join("\", \""));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    let trusted: Vec<&str> = settings
        .values("trusted-host")
        .iter()
        .map(String::as_str)
        .filter(|host| host.chars().all(plain))
        .collect();
    if !trusted.is_empty() {
        pip += &format!("trusted-host =\n    {}\n", trusted.join("\n    "));
    }
    if let Some(path) = settings.values("cert").first().filter(|path| trust::is_seen(path)) {
        pip += &format!("cert = {path}\n");
    }
    if !pip.is_empty() {
        found.files.push(("/etc/pip.conf", format!("[global]\n{pip}")));
    }
    if !uv.is_empty() {
        found.files.push(("/etc/uv/uv.toml", uv));
    }
}

/// Values by key; of each key only those of the nearest place that has it.
#[derive(Default)]
struct Settings(Vec<(String, Vec<String>)>);

const KEYS: [(&str, &str); 4] = [
    ("index-url", "PIP_INDEX_URL"),
    ("extra-index-url", "PIP_EXTRA_INDEX_URL"),
    ("trusted-host", "PIP_TRUSTED_HOST"),
    ("find-links", "PIP_FIND_LINKS"),
];

impl Settings {
    fn read(reader: &Reader<'_>) -> Self {
        let mut settings = Settings::default();
        for (key, variable) in KEYS {
            let values = reader.variable(variable).unwrap_or_default();
            settings.add(key, values.split_whitespace().map(str::to_owned).collect());
        }
        for path in files(reader) {
            let text = reader.text(&path).unwrap_or_default();
            for (key, values) in parse(&text) {
                settings.add(&key, values);
            }
        }
        settings
    }

    fn add(&mut self, key: &str, values: Vec<String>) {
        let known = self.0.iter().any(|(known, _)| known == key);
        if !known && !values.is_empty() {
            self.0.push((key.to_owned(), values));
        }
    }

    fn values(&self, key: &str) -> &[String] {
        self.0.iter().find(|(known, _)| known == key).map_or(&[], |(_, values)| values)
    }
}

/// The nearest first.
fn files(reader: &Reader<'_>) -> Vec<PathBuf> {
    let named = reader.variable("PIP_CONFIG_FILE").map(PathBuf::from);
    let own = [reader.settings("pip/pip.conf"), reader.home(".pip/pip.conf")];
    let system = ["etc/pip.conf", "etc/xdg/pip/pip.conf"].map(|path| reader.system(path));
    named.into_iter().chain(own.into_iter().flatten()).chain(system).collect()
}

/// What is for installing; the nearer section first.
fn parse(text: &str) -> Vec<(String, Vec<String>)> {
    let mut section = String::new();
    let mut all: Vec<(String, String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, _, values)) = all.last_mut() {
                values.extend(words(trimmed));
            }
        } else if let Some((key, value)) = trimmed.split_once(['=', ':']) {
            let key = key.trim().replace('_', "-").to_ascii_lowercase();
            all.push((section.clone(), key, words(value)));
        }
    }
    let of = |section: &'static str| {
        let chosen = all.iter().filter(move |(its, _, _)| its == section);
        chosen.map(|(_, key, values)| (key.clone(), values.clone()))
    };
    of("install").chain(of("global")).collect()
}

/// Variables and a file of its own, beside those of pip.
fn uv(reader: &Reader<'_>, found: &mut Found) {
    for name in ["UV_DEFAULT_INDEX", "UV_INDEX_URL"] {
        if let Some(link) = reader.variable(name).and_then(Link::read) {
            found.usual = false;
            found.links.push(link);
        }
    }
    for name in ["UV_INDEX", "UV_EXTRA_INDEX_URL"] {
        let values = reader.variable(name).unwrap_or_default().split_whitespace();
        // `name=https://…`
        let address = |value: &str| match value.split_once("=http") {
            Some((_, rest)) => Link::read(&format!("http{rest}")),
            None => Link::read(value),
        };
        found.links.extend(values.filter_map(address));
    }
    let file = reader.settings("uv/uv.toml").and_then(|path| reader.text(&path));
    let table: Option<toml::Table> = file.and_then(|text| text.parse().ok());
    let Some(table) = table else { return };
    let usual = table.get("index-url").and_then(toml::Value::as_str).and_then(Link::read);
    found.usual &= usual.is_none();
    found.links.extend(usual);
    let lists = ["index", "extra-index-url"].iter().filter_map(|key| table.get(*key)?.as_array());
    for value in lists.flatten() {
        let url = value.as_str().or_else(|| value.get("url")?.as_str());
        found.links.extend(url.and_then(Link::read));
        if value.get("default").and_then(toml::Value::as_bool) == Some(true) {
            found.usual = false;
        }
    }
}

//! Go, Ruby and PHP.

use std::path::PathBuf;

use super::Found;
use super::link::Link;
use super::operator::Reader;

/// `GOPROXY` and its companions: variables, or a file of `go env -w`.
pub fn go(reader: &Reader<'_>) -> Found {
    const HANDED_OVER: [&str; 5] =
        ["GOPRIVATE", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK"];
    let file = reader.variable("GOENV").map(PathBuf::from).or_else(|| reader.settings("go/env"));
    let file = file.and_then(|path| reader.text(&path)).unwrap_or_default();
    let value = |name: &str| {
        let written = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        reader.variable(name).or(written).map(str::to_owned)
    };
    let mut found = Found::default();
    let Some(proxies) = value("GOPROXY") else {
        return Found { usual: true, ..found };
    };
    let mut handed = String::new();
    for part in proxies.split_inclusive([',', '|']) {
        let (name, end) = part
            .strip_suffix([',', '|'])
            .map_or((part, ""), |name| (name, part.get(name.len()..).unwrap_or_default()));
        match (name, Link::read(name)) {
            ("direct" | "off", _) => handed += name,
            (_, Some(link)) => {
                handed += &link.text;
                found.links.push(link);
            }
            _ => continue,
        }
        handed += end;
    }
    found.variables.push(("GOPROXY".into(), handed));
    let others = HANDED_OVER.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?)));
    found.variables.extend(others);
    found
}

/// `:sources:` of `.gemrc`, and mirrors of bundler.
pub fn gem(reader: &Reader<'_>) -> Found {
    let mut found = Found { usual: true, ..Found::default() };
    let own = [reader.home(".gemrc"), reader.settings("gem/gemrc")];
    let files = own.into_iter().flatten().chain([reader.system("etc/gemrc")]);
    let sources = files.filter_map(|path| reader.text(&path)).map(|text| sources(&text));
    if let Some(links) = sources.into_iter().find(|links| !links.is_empty()) {
        let lines: Vec<String> = links.iter().map(|link| format!("- {}\n", link.text)).collect();
        let lines = lines.concat();
        found.files.push(("/etc/gemrc", format!("---\n:sources:\n{lines}")));
        found.links.extend(links);
        found.usual = false;
    }
    let file =
        reader.home(".bundle/config").and_then(|path| reader.text(&path)).unwrap_or_default();
    let written = file.lines().filter_map(|line| line.split_once(": "));
    let set = reader.operator.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in set.chain(written).filter(|(name, _)| name.starts_with("BUNDLE_MIRROR__"))
    {
        if let Some(link) = Link::read(value.trim().trim_matches(['"', '\''])) {
            found.variables.push((name.to_owned(), link.text.clone()));
            found.links.push(link);
        }
    }
    found
}

/// The list under `:sources:`.
fn sources(text: &str) -> Vec<Link> {
    let lines = text.lines().skip_while(|line| !matches!(line.trim(), ":sources:" | "sources:"));
    let items = lines.skip(1).map_while(|line| line.trim().strip_prefix("- "));
    items.filter_map(|item| Link::read(item.trim().trim_matches(['"', '\'']))).collect()
}

/// `repositories` of its own configuration. It has no place for the whole system, so nothing is handed over.
pub fn composer(reader: &Reader<'_>) -> Found {
    let named = reader.variable("COMPOSER_HOME").map(PathBuf::from);
    let homes = [named, reader.settings("composer"), reader.home(".composer")];
    let text = homes.into_iter().flatten().find_map(|home| reader.text(&home.join("config.json")));
    let value: serde_json::Value =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut found = Found { usual: true, ..Found::default() };
    let all: Vec<(Option<&String>, &serde_json::Value)> = match value.get("repositories") {
        Some(serde_json::Value::Array(all)) => all.iter().map(|it| (None, it)).collect(),
        Some(serde_json::Value::Object(all)) => {
            all.iter().map(|(key, it)| (Some(key), it)).collect()
        }
        _ => Vec::new(),
    };
    for (key, repository) in all {
        let off =
            |value: Option<&serde_json::Value>| value == Some(&serde_json::Value::Bool(false));
        let by_key = key.is_some_and(|key| key.starts_with("packagist")) && off(Some(repository));
        if by_key || off(repository.get("packagist.org")) || off(repository.get("packagist")) {
            found.usual = false;
        }
        let url = repository.get("url").and_then(serde_json::Value::as_str);
        found.links.extend(url.and_then(Link::read));
    }
    found
}

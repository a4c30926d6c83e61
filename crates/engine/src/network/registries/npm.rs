//! npm and those that read its configuration: `.npmrc`, and where yarn has its own.

use std::path::PathBuf;

use super::Found;
use super::link::Link;
use super::operator::Reader;
use super::trust;

/// Where it is put inside: below what a user and a project say.
const INSIDE: &str = "/etc/npmrc";

pub fn read(reader: &Reader<'_>) -> Found {
    let mut found = Found::default();
    let mut lines = Vec::new();
    let mut usual = true;
    let named = reader.any_variable(&["npm_config_registry", "NPM_CONFIG_REGISTRY"]);
    // One that leads to no host is still not the usual one.
    usual &= named.is_none();
    if let Some(link) = named.and_then(Link::read) {
        add(&mut found, &mut lines, "registry", link);
    }
    for path in files(reader) {
        let text = reader.text(&path).unwrap_or_default();
        for (key, value) in text.lines().filter_map(|line| setting(line, reader)) {
            let is_scope = key.starts_with('@') && key.ends_with(":registry");
            let known = lines.iter().any(|(known, _)| *known == key);
            if key == "cafile" && !known && trust::is_seen(&value) {
                lines.push((key, value));
                continue;
            }
            if !is_scope && key != "registry" {
                continue;
            }
            usual &= is_scope;
            // The first file that says so is the nearest.
            if let Some(link) = Link::read(&value).filter(|_| !known) {
                add(&mut found, &mut lines, &key, link);
            }
        }
    }
    yarn(reader, &mut found);
    found.usual = usual;
    if !lines.is_empty() {
        let lines: Vec<String> = lines.iter().map(|(key, it)| format!("{key}={it}\n")).collect();
        let text = lines.concat();
        found.files.push((INSIDE, text));
        found.variables.push(("NPM_CONFIG_GLOBALCONFIG".into(), INSIDE.into()));
    }
    found
}

fn add(found: &mut Found, lines: &mut Vec<(String, String)>, key: &str, link: Link) {
    lines.push((key.to_owned(), link.text.clone()));
    found.links.push(link);
}

/// The nearest first.
fn files(reader: &Reader<'_>) -> Vec<PathBuf> {
    let named = |names: &[&str]| reader.any_variable(names).map(PathBuf::from);
    let user = named(&["npm_config_userconfig", "NPM_CONFIG_USERCONFIG"]);
    let system = named(&["npm_config_globalconfig", "NPM_CONFIG_GLOBALCONFIG"]);
    let usual = ["usr/local/etc/npmrc", "usr/etc/npmrc", "etc/npmrc"].map(|it| reader.system(it));
    let user = user.or_else(|| reader.home(".npmrc"));
    let pnpm = reader.settings("pnpm/rc");
    user.into_iter().chain(pnpm).chain(system).chain(usual).collect()
}

/// `key = value`, with `${NAME}` in it.
fn setting(line: &str, reader: &Reader<'_>) -> Option<(String, String)> {
    let line = line.trim();
    if line.starts_with([';', '#', '[']) {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    let value = value.trim().trim_matches(['"', '\'']);
    Some((key.trim().to_owned(), expanded(value, reader)))
}

fn expanded(value: &str, reader: &Reader<'_>) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        text.push_str(before);
        let Some((name, after)) = after.split_once('}') else { break };
        text.push_str(reader.variable(name).unwrap_or_default());
        rest = after;
    }
    text + rest
}

/// Both of its generations have a file of their own.
fn yarn(reader: &Reader<'_>, found: &mut Found) {
    let keys = ["registry", "npmRegistryServer:", "npmRegistryServer"];
    for path in [reader.home(".yarnrc"), reader.home(".yarnrc.yml")].into_iter().flatten() {
        let text = reader.text(&path).unwrap_or_default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (key, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if keys.contains(&key) {
                found.links.extend(Link::read(value.trim_matches(['"', '\''])));
            }
        }
    }
}

//! Rules of configuration files: read with their places, so that whatever is wrong can be pointed at.
//!
//! Nothing is skipped: a key that means nothing, a reference to nothing or an example that fails is an error, because
//! a rule that silently does not work is worse than none.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::verdict::{Decision, Source};

use super::compile::{About, Problem, compile};
use super::decode::{Places, decode};
use super::error::Text;
use super::pattern::{Lists, has_star};
use super::{LoadError, Loaded, Notice, Rule, RuleFile, RuleSet, Tier, builtin, examples, tiers};

/// A rule that was read, and where its parts stand.
struct Placed {
    loaded: Loaded,
    places: Places,
    file: usize,
}

pub fn load(files: &[RuleFile], beside: &[&str]) -> Result<RuleSet, LoadError> {
    let mut placed = Vec::new();
    for (file, rules) in files.iter().enumerate() {
        let text = Text { name: &rules.name, text: &rules.text };
        for (loaded, places) in read(rules, text, beside)? {
            placed.push(Placed { loaded, places, file });
        }
    }
    let text =
        |file: usize| files.get(file).map(|file| Text { name: &file.name, text: &file.text });
    check_ids(&placed, &text)?;
    check_overrides(&placed, &text)?;
    let mut set = RuleSet::default();
    for one in &placed {
        add(&mut set, &one.loaded);
    }
    for one in &placed {
        if let Some(text) = text(one.file) {
            check_examples(&set, one, text)?;
        }
    }
    Ok(set)
}

/// Puts a rule into the set, unless it comes from a project that may not say such a thing.
fn add(set: &mut RuleSet, loaded: &Loaded) {
    let mut loaded = loaded.clone();
    if let Some(why) = tiers::ignored(&loaded.rule) {
        let message = format!("rule `{}`: {why}; `exacta trust` after reading it", loaded.rule.id);
        set.notices.push(Notice { source: loaded.rule.source.clone(), message });
        if loaded.rule.decision == Decision::Allow {
            return;
        }
        loaded.rule.written.overrides.clear();
    }
    let at = set.loaded.len();
    if let About::Command(patterns) = &loaded.compiled.about {
        for (place, pattern) in patterns.iter().enumerate() {
            let name = pattern.program.as_ref();
            if has_star(name) || name.contains(['/', ':', '\\']) {
                set.open.push((at, place));
                continue;
            }
            let lower = name.to_ascii_lowercase();
            if lower != name {
                set.names.entry(lower).or_default().push((at, place));
            }
            set.names.entry(name.to_owned()).or_default().push((at, place));
        }
    }
    set.loaded.push(loaded);
}

fn read(
    file: &RuleFile,
    text: Text<'_>,
    beside: &[&str],
) -> Result<Vec<(Loaded, Places)>, LoadError> {
    let table = DeTable::parse(&file.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        text.error(at, error.message().trim().replace('\n', ": "), "this is no TOML")
    })?;
    let mut lists = builtin::lists();
    let mut rules: Option<&Spanned<DeValue<'_>>> = None;
    for (key, value) in table.get_ref() {
        match key.get_ref().as_ref() {
            "rule" => rules = Some(value),
            "list" => read_lists(value, text, &mut lists)?,
            name if beside.contains(&name) => {}
            name => {
                let known: Vec<&str> = ["rule", "list"].iter().chain(beside).copied().collect();
                let hint = format!("known here: {}", known.join(", "));
                return Err(text.error(key.span().start, format!("unknown key `{name}`"), hint));
            }
        }
    }
    let Some(rules) = rules else { return Ok(Vec::new()) };
    let Some(array) = rules.get_ref().as_array() else {
        let hint = "rules are written as [[rule]], with two brackets";
        return Err(text.error(rules.span().start, "`rule` must be an array of tables", hint));
    };
    read_rules(array, file, text, &lists)
}

fn read_rules(
    array: &DeArray<'_>,
    file: &RuleFile,
    text: Text<'_>,
    lists: &Lists,
) -> Result<Vec<(Loaded, Places)>, LoadError> {
    let mut all = Vec::new();
    for value in array {
        let (written, places) = decode(value, text)?;
        let compiled =
            compile(&written, lists).map_err(|problem| place(&problem, &places, text))?;
        let source = Source { file: Arc::clone(&file.name), line: text.line(places.rule) };
        let rule = Rule::new(written, compiled.ruling, file.tier, source);
        all.push((Loaded { rule, compiled }, places));
    }
    Ok(all)
}

fn place(problem: &Problem, places: &Places, text: Text<'_>) -> LoadError {
    let at = places.of(problem.key, problem.item);
    text.error(at, problem.message.clone(), problem.hint.clone())
}

fn read_lists(
    value: &Spanned<DeValue<'_>>,
    text: Text<'_>,
    lists: &mut Lists,
) -> Result<(), LoadError> {
    let Some(table) = value.get_ref().as_table() else {
        let hint = "lists are written as [list], then name = [\"word\", …]";
        return Err(text.error(value.span().start, "`list` must be a table", hint));
    };
    for (name, items) in table {
        let wrong = |at: usize| text.error(at, "a list holds texts", "name = [\"word\", …]");
        let array = items.get_ref().as_array().ok_or_else(|| wrong(items.span().start))?;
        let mut words = Vec::new();
        for item in array {
            let word = item.get_ref().as_str().ok_or_else(|| wrong(item.span().start))?;
            words.push(word.to_owned());
        }
        if lists.insert(name.get_ref().to_string(), words).is_some() {
            let message = format!("there is a list `{}` already", name.get_ref());
            return Err(text.error(name.span().start, message, "give this one another name"));
        }
    }
    Ok(())
}

type TextOf<'a> = &'a dyn Fn(usize) -> Option<Text<'a>>;

fn check_ids(placed: &[Placed], text: TextOf<'_>) -> Result<(), LoadError> {
    for (at, one) in placed.iter().enumerate() {
        let id = &one.loaded.rule.id;
        let earlier = placed.iter().take(at).find(|other| other.loaded.rule.id == *id);
        let taken = match earlier {
            Some(other) => {
                let source = &other.loaded.rule.source;
                Some(format!("{}:{}", source.file, source.line))
            }
            None if builtin::has(id) => Some("a built-in rule".to_owned()),
            None => None,
        };
        if let (Some(by), Some(text)) = (taken, text(one.file)) {
            let message = format!("the id `{id}` is taken by {by}");
            let hint = "another id; to replace a rule, name it in `overrides`";
            return Err(text.error(one.places.of("id", None), message, hint));
        }
    }
    Ok(())
}

/// An override must reach a rule, and one that it may reach.
fn check_overrides(placed: &[Placed], text: TextOf<'_>) -> Result<(), LoadError> {
    for one in placed {
        let rule = &one.loaded.rule;
        for (item, id) in rule.written.overrides.iter().enumerate() {
            let tier = match placed.iter().find(|other| *other.loaded.rule.id == **id) {
                Some(other) => Some(other.loaded.rule.tier),
                None => builtin::has(id).then_some(Tier::BuiltIn),
            };
            let (message, hint) = match tier {
                None => (format!("there is no rule `{id}`"), "`exacta shell blocklist` lists ids"),
                Some(tier) if rule.tier.may_loosen() && !rule.tier.may_override(tier) => {
                    let message = format!("`{id}` is a {} rule, above this file", tier.name());
                    (message, "it can be changed only where it is written, or above")
                }
                Some(_) => continue,
            };
            if let Some(text) = text(one.file) {
                let at = one.places.of("overrides", Some(item));
                return Err(text.error(at, message, hint));
            }
        }
    }
    Ok(())
}

fn check_examples(set: &RuleSet, one: &Placed, text: Text<'_>) -> Result<(), LoadError> {
    let (loaded, places) = (&one.loaded, &one.places);
    let problems = examples::check(set, &loaded.rule, &loaded.compiled);
    problems.first().map_or(Ok(()), |problem| Err(place(problem, places, text)))
}

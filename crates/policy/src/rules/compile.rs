//! A rule as written to a rule as matched, or why it cannot be one.
//!
//! Used by the build script as well, hence without anything of the crate. What only whole sets of rules can show
//! (ids given twice, overrides of nothing) is found elsewhere.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::grant::Grant;
use super::pattern::{self, Lists, Pattern};
use super::schema::Rule;

/// Borrowed for built-in rules, owned for those of files.
pub type Texts = Cow<'static, [Cow<'static, str>]>;

/// What of a rule is needed to find out whether it matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    pub ruling: Ruling,
    /// One bit for each of [`PROFILES`].
    pub profiles: u8,
    pub about: About,
    pub except: Cow<'static, [Pattern]>,
    pub with: Texts,
    pub without: Texts,
    pub with_all: Texts,
    pub piped_from: Texts,
    pub operands_at_most: Option<usize>,
    pub alone: bool,
    /// Not for what is removed.
    pub made: bool,
    /// Only code that is plainly dangerous.
    pub dangerous_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ruling {
    Allow,
    Confirm,
    Deny,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum About {
    Command(Cow<'static, [Pattern]>),
    Variable(Texts),
    Write(Texts),
    Read(Texts),
    Delete(Texts),
    Code(Texts),
    Situation(Texts),
    Shape(Texts),
}

/// The programs that a rule denies whatever their words are, in the order of its patterns.
pub fn outright_programs(rule: &Compiled) -> impl Iterator<Item = &str> {
    let unconditional = rule.ruling == Ruling::Deny
        && rule.with.is_empty()
        && rule.with_all.is_empty()
        && rule.piped_from.is_empty()
        && rule.operands_at_most.is_none()
        && !rule.alone;
    let patterns = match &rule.about {
        About::Command(patterns) if unconditional => &**patterns,
        _ => &[],
    };
    let all = patterns.iter().filter(|one| one.rest.is_empty()).map(|one| &*one.program);
    // A path is one place of many, and a builtin is no program.
    all.filter(|program| !program.contains('/') && !program.starts_with("builtin:"))
}

/// What is wrong, and with which key and item of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Empty: the rule as a whole.
    pub key: &'static str,
    pub item: Option<usize>,
    pub message: String,
    pub hint: String,
}

pub const VERDICTS: &[&str] = &["allow", "confirm", "deny"];
pub const PROFILES: &[&str] = &["safe", "dev", "full-auto"];
pub const SHAPES: &[&str] = &["fork-bomb", "endless", "climbs"];
pub const LEVELS: &[&str] = &["unclear", "dangerous"];
pub const VALUES: &[&str] = &["text", "shell", "program", "paths", "options:NAME"];
pub const SITUATIONS: &[&str] = &[
    "unknown-program",
    "dynamic-command",
    "dynamic-code",
    "piped-code",
    "project-program",
    "unknown-option",
    "unread-option",
    "unread-path",
    "whole-project",
    "home-path",
    "late-text",
    "copied-program",
    "answered",
    "found-process",
    "production",
    "executing-option",
    "network",
    "direct-write",
    "outside",
    "syntax",
    "limit",
];
pub const LANGUAGES: &[&str] = &[
    "shell",
    "python",
    "perl",
    "ruby",
    "node",
    "php",
    "lua",
    "awk",
    "sed",
    "vim",
    "ed",
    "make",
    "sql",
    "powershell",
    "r",
    "tcl",
    "emacs",
    "gdb",
    "jq",
    "other",
    "*",
];

pub fn compile(rule: &Rule, lists: &Lists) -> Result<Compiled, Problem> {
    identity(rule)?;
    let about = about(rule, lists)?;
    only_where_it_means_something(rule, &about)?;
    hosts(rule)?;
    let items = |key, items: &[String]| match about {
        About::Write(_) | About::Read(_) | About::Delete(_) => paths_of(key, items),
        About::Variable(_) => values_of(key, items, lists),
        _ => words_of(key, items, lists),
    };
    Ok(Compiled {
        ruling: ruling(rule)?,
        profiles: profiles(rule)?,
        except: patterns("except", &rule.except, lists)?,
        with: items("with", &rule.with)?,
        without: items("without", &rule.without)?,
        with_all: items("with_all", &rule.with_all)?,
        piped_from: words_of("piped_from", &rule.piped_from, lists)?,
        operands_at_most: rule.operands_at_most,
        alone: rule.alone,
        made: rule.made,
        dangerous_only: rule.level == "dangerous",
        about,
    })
}

fn identity(rule: &Rule) -> Result<(), Problem> {
    let id_is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if rule.id.is_empty() {
        return Err(whole("the rule has no `id`", "give it a short name: id = \"ask-deploy\""));
    }
    if !rule.id.chars().all(id_is_plain) {
        return Err(of("id", "an id has lowercase letters, digits and `-` only", ""));
    }
    if rule.verdict.is_empty() {
        return Err(whole("the rule has no `verdict`", "one of allow, confirm, deny"));
    }
    if rule.reason.trim().is_empty() {
        return Err(whole(
            "the rule has no `reason`",
            "say in a few words why: it is shown to whoever is refused or asked",
        ));
    }
    Ok(())
}

fn ruling(rule: &Rule) -> Result<Ruling, Problem> {
    match rule.verdict.as_str() {
        "allow" => Ok(Ruling::Allow),
        "confirm" => Ok(Ruling::Confirm),
        "deny" => Ok(Ruling::Deny),
        other => Err(not_one_of("verdict", None, other, VERDICTS)),
    }
}

fn profiles(rule: &Rule) -> Result<u8, Problem> {
    let mut bits = 0;
    for (item, name) in rule.profiles.iter().enumerate() {
        match PROFILES.iter().position(|known| known == name) {
            Some(position) => bits |= 1 << position,
            None => return Err(not_one_of("profiles", Some(item), name, PROFILES)),
        }
    }
    Ok(if bits == 0 { u8::MAX } else { bits })
}

/// Exactly one thing.
fn about(rule: &Rule, lists: &Lists) -> Result<About, Problem> {
    let subjects: [(&'static str, &[String]); 8] = [
        ("command", &rule.command),
        ("variable", &rule.variable),
        ("write", &rule.write),
        ("read", &rule.read),
        ("delete", &rule.delete),
        ("code", &rule.code),
        ("situation", &rule.situation),
        ("shape", &rule.shape),
    ];
    let mut given = subjects.iter().filter(|(_, items)| !items.is_empty());
    let hint =
        "a rule is about one of command, variable, write, read, delete, code, situation, shape";
    let Some((key, items)) = given.next() else {
        return Err(whole("the rule is about nothing, so it would never match", hint));
    };
    if let Some((second, _)) = given.next() {
        let message = format!("the rule is about two things, `{key}` and `{second}`");
        return Err(of(second, &message, "write two rules"));
    }
    Ok(match *key {
        "command" => About::Command(patterns(key, items, lists)?),
        "variable" => About::Variable(words_of(key, items, lists)?),
        "write" => About::Write(paths_of(key, items)?),
        "read" => About::Read(paths_of(key, items)?),
        "delete" => About::Delete(paths_of(key, items)?),
        "code" => About::Code(known(key, items, LANGUAGES)?),
        "situation" => About::Situation(known(key, items, SITUATIONS)?),
        _ => About::Shape(known(key, items, SHAPES)?),
    })
}

/// A condition that is never looked at would make the rule mean something else than it says.
fn only_where_it_means_something(rule: &Rule, about: &About) -> Result<(), Problem> {
    let command = matches!(about, About::Command(_));
    let texts = matches!(
        about,
        About::Command(_)
            | About::Variable(_)
            | About::Write(_)
            | About::Read(_)
            | About::Delete(_)
    );
    let conditions: [(&'static str, bool, bool); 15] = [
        ("except", !rule.except.is_empty(), command),
        ("alone", rule.alone, command),
        ("made", rule.made, matches!(about, About::Write(_))),
        ("operands_at_most", rule.operands_at_most.is_some(), command),
        ("piped_from", !rule.piped_from.is_empty(), command),
        ("with", !rule.with.is_empty(), texts),
        ("without", !rule.without.is_empty(), texts),
        ("with_all", !rule.with_all.is_empty(), command),
        ("value", !rule.value.is_empty(), matches!(about, About::Variable(_))),
        ("level", !rule.level.is_empty(), matches!(about, About::Code(_))),
        ("hosts", !rule.hosts.is_empty(), command && rule.verdict == "allow"),
        ("private", rule.private, !rule.hosts.is_empty()),
        ("direct", rule.direct, command && rule.verdict == "allow"),
        ("irreversible", rule.irreversible, rule.verdict != "allow"),
        ("overrides", !rule.overrides.is_empty(), true),
    ];
    for (key, given, meaningful) in conditions {
        if given && !meaningful {
            let message = format!("`{key}` means nothing in this rule");
            return Err(of(key, &message, "take it out, or write the rule about something else"));
        }
    }
    if !rule.level.is_empty() && !LEVELS.contains(&rule.level.as_str()) {
        return Err(not_one_of("level", None, &rule.level, LEVELS));
    }
    let value = rule.value.split_once(':').map_or(rule.value.as_str(), |(kind, _)| kind);
    if !matches!(value, "" | "text" | "shell" | "program" | "paths" | "options")
        || (value == "options") != (rule.value.len() > "options:".len())
    {
        return Err(not_one_of("value", None, &rule.value, VALUES));
    }
    Ok(())
}

fn hosts(rule: &Rule) -> Result<(), Problem> {
    for (item, written) in rule.hosts.iter().enumerate() {
        if let Err(message) = Grant::read(written) {
            let hint = "`example.com`, `*.example.com:8443`, `GET,HEAD http://example.com/pub/`";
            return Err(Problem { key: "hosts", item: Some(item), message, hint: hint.into() });
        }
    }
    Ok(())
}

fn patterns(
    key: &'static str,
    items: &[String],
    lists: &Lists,
) -> Result<Cow<'static, [Pattern]>, Problem> {
    let mut all = Vec::new();
    for (item, text) in items.iter().enumerate() {
        let found = pattern::command(text, lists).map_err(|message| bad(key, item, message))?;
        all.extend(found);
    }
    Ok(Cow::Owned(all))
}

fn words_of(key: &'static str, items: &[String], lists: &Lists) -> Result<Texts, Problem> {
    let word = |(item, text): (usize, &String)| {
        if text.contains(char::is_whitespace) {
            Err(bad(key, item, "this is one word and has no blanks".into()))
        } else {
            pattern::word(text, lists).map(Cow::Owned).map_err(|m| bad(key, item, m))
        }
    };
    items.iter().enumerate().map(word).collect()
}

/// Values of variables may be empty and have blanks.
fn values_of(key: &'static str, items: &[String], lists: &Lists) -> Result<Texts, Problem> {
    let value = |(item, text): (usize, &String)| {
        if text.is_empty() {
            return Ok(Cow::Borrowed(""));
        }
        pattern::word(text, lists).map(Cow::Owned).map_err(|m| bad(key, item, m))
    };
    items.iter().enumerate().map(value).collect()
}

fn paths_of(key: &'static str, items: &[String]) -> Result<Texts, Problem> {
    let mut all = Vec::new();
    for (item, text) in items.iter().enumerate() {
        if text.is_empty() {
            return Err(bad(key, item, "an empty path".into()));
        }
        let paths = pattern::paths(text).map_err(|message| bad(key, item, message))?;
        all.extend(paths.into_iter().map(Cow::Owned));
    }
    Ok(Cow::Owned(all))
}

fn known(
    key: &'static str,
    items: &[String],
    names: &'static [&'static str],
) -> Result<Texts, Problem> {
    let name = |(item, text): (usize, &String)| {
        if names.contains(&text.as_str()) {
            Ok(Cow::Owned(text.clone()))
        } else {
            Err(not_one_of(key, Some(item), text, names))
        }
    };
    items.iter().enumerate().map(name).collect()
}

fn whole(message: &str, hint: &str) -> Problem {
    Problem { key: "", item: None, message: message.into(), hint: hint.into() }
}

fn of(key: &'static str, message: &str, hint: &str) -> Problem {
    Problem { key, item: None, message: message.into(), hint: hint.into() }
}

fn bad(key: &'static str, item: usize, message: String) -> Problem {
    let hint = "words as in `git push --force`; `{a,b}` either, `*` any text, `?` any letter, `@name` a list, `\\` as it is";
    Problem { key, item: Some(item), message, hint: hint.into() }
}

fn not_one_of(key: &'static str, item: Option<usize>, found: &str, names: &[&str]) -> Problem {
    let message = format!("`{key}` cannot be `{found}`");
    Problem { key, item, message, hint: format!("one of {}", names.join(", ")) }
}

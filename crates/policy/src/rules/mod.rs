//! What is allowed, asked about and denied.
//!
//! - [`schema`]: the format; [`pattern`]: how commands and paths are described; [`compile`]: a rule made ready.
//! - [`host`]: names of machines; [`grant`]: which of them a rule grants.
//! - [`matching`]: does a rule match; [`tiers`]: which of those that match are in force.
//! - [`builtin`]: the default rules (data: `rules/*.toml`); [`load`]: those of configuration files.
//! - [`outright`]: names that are denied whatever follows.
//! - [`examples`]: what a rule says of itself is checked; [`keywords`]: what tasks call irreversible; [`tasks`]: what they
//!   may run.

mod braces;
mod builtin;
mod compile;
mod decode;
mod error;
mod examples;
pub mod grant;
pub mod host;
mod keywords;
mod load;
mod matching;
mod outright;
mod pattern;
pub mod schema;
mod tasks;
mod tiers;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bstr::BStr;

use crate::code::Level;
use crate::effect::Language;
use crate::event::{Input, Shape};
use crate::judge::Profile;
use crate::programs::Reading;
use crate::verdict::{Decision, Source};

use self::grant::Grant;
use compile::{About, Compiled, Ruling};
pub use keywords::{KEYWORDS, irreversible_keyword};
use matching::Command;
pub use outright::Outright;
pub use tasks::TaskList;

/// Who wrote a rule. A rule of a lower tier cannot weaken one of a higher: only `overrides` of a tier at least as
/// high takes a rule out of force, and an untrusted project may only tighten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    BuiltIn,
    /// `.exacta.toml`, not trusted: its allow rules and overrides do not count.
    Project,
    /// `.exacta.toml` after `exacta trust`.
    TrustedProject,
    /// The user's configuration, `--config`, flags.
    User,
    /// `/etc/exacta/config.toml`.
    System,
}

/// A rule in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub id: Arc<str>,
    pub decision: Decision,
    pub tier: Tier,
    pub source: Source,
    pub reason: Arc<str>,
    pub hint: Arc<str>,
    pub irreversible: bool,
    /// How the value of a variable is to be read.
    pub value: ValueKind,
    pub hosts: Vec<Grant>,
    /// As written, for lists and prompts.
    pub written: schema::Rule,
}

/// How the value of a variable is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ValueKind {
    /// As it is: the rule's verdict stands whatever the value.
    #[default]
    Any,
    /// A command line: the rule's verdict stands unless the value is allowed as a command by itself.
    Shell,
    /// Directories separated by colons: stands if one lies outside the project's own tool directories.
    Paths,
    /// Options of this program: stands if one of them executes.
    Options(String),
}

/// What a rule can be about.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    Command {
        reading: &'a Reading,
        input: &'a Input,
        builtin: bool,
    },
    Variable {
        name: &'a BStr,
        value: Option<&'a BStr>,
    },
    /// Relative to the project if inside, else absolute.
    Write {
        path: &'a BStr,
    },
    Read {
        path: &'a BStr,
    },
    /// Removed or moved away. The project's root is `.`. Rules about writing match as well.
    Delete {
        path: &'a BStr,
    },
    Code {
        language: Language,
        level: Level,
    },
    Situation(&'a str),
    Shape(&'a Shape),
}

/// All rules in force: the default rules and those of files.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// The default rules do not count.
    bare: bool,
    loaded: Vec<Loaded>,
    /// For each name of a program, where the patterns about it are.
    names: HashMap<String, Vec<Place>>,
    /// Patterns without a name to look up.
    open: Vec<Place>,
    notices: Vec<Notice>,
    /// Made when somebody lists them.
    all: OnceLock<Vec<Rule>>,
}

/// A rule and its pattern.
type Place = (usize, usize);

#[derive(Debug, Clone)]
struct Loaded {
    rule: Rule,
    compiled: Compiled,
}

/// What a file says in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub source: Source,
    pub message: String,
}

/// A text with rules, and whose it is.
#[derive(Debug, Clone)]
pub struct RuleFile {
    pub name: Arc<str>,
    pub text: String,
    pub tier: Tier,
}

/// A file that cannot be used: nothing runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    /// The line itself.
    pub text: String,
    pub message: String,
    pub hint: String,
}

impl RuleSet {
    /// The built-in rules and those of the files, all examples of the files checked.
    pub fn load(files: &[RuleFile]) -> Result<RuleSet, LoadError> {
        load::load(files, &[])
    }

    /// No rule at all: for whoever must know that the walls beneath hold by themselves.
    pub fn none() -> RuleSet {
        RuleSet { bare: true, ..RuleSet::default() }
    }

    /// The same for files in which other things are written too: `beside` names the keys at the top of the file
    /// that somebody else reads. All others but `rule` and `list` are errors.
    pub fn load_beside(files: &[RuleFile], beside: &[&str]) -> Result<RuleSet, LoadError> {
        load::load(files, beside)
    }

    /// The rules that match, the strictest first; those overridden left out.
    pub fn matching(&self, subject: &Subject<'_>, profile: Profile) -> Vec<&Rule> {
        let profile = profile_bit(profile);
        let mut found: Vec<&Rule> = Vec::new();
        if !self.bare {
            builtin::matching(subject, profile, &mut |rule| {
                // By a name and by a pattern.
                if !found.iter().any(|known| std::ptr::eq(*known, rule)) {
                    found.push(rule);
                }
            });
        }
        if !self.loaded.is_empty() {
            self.loaded_matching(subject, profile, &mut found);
        }
        tiers::settle(&mut found);
        found
    }

    /// Could a rule ask about or deny a command of this name that runs in process?
    pub fn mentions(&self, name: &BStr) -> bool {
        let restricts = |one: &Loaded| {
            let About::Command(patterns) = &one.compiled.about else { return false };
            one.compiled.ruling != Ruling::Allow
                && patterns.iter().any(|pattern| matching::could_be(&pattern.program, name))
        };
        (!self.bare && builtin::restricts(name)) || self.loaded.iter().any(restricts)
    }

    /// Every rule, in the order of files and lines.
    pub fn all(&self) -> &[Rule] {
        self.all.get_or_init(|| {
            builtin::all().cloned().chain(self.loaded.iter().map(|one| one.rule.clone())).collect()
        })
    }

    /// What files say in vain: allow rules of a project that is not trusted.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The rule of this name.
    pub fn find(&self, id: &str) -> Option<&Rule> {
        self.all().iter().find(|rule| *rule.id == *id)
    }

    /// Examples of the default rules that do not hold: none, or exacta was built wrong. Those of files are checked
    /// when they are loaded; these cost too much to check at every start.
    pub fn failing_examples(&self) -> Vec<LoadError> {
        let failing = builtin::compiled().flat_map(|(rule, compiled)| {
            let problems = examples::check(self, rule, compiled).into_iter();
            problems.map(|problem| LoadError {
                file: Arc::clone(&rule.source.file),
                line: rule.source.line,
                column: 1,
                text: format!("id = \"{}\"", rule.id),
                message: problem.message,
                hint: problem.hint,
            })
        });
        failing.collect()
    }

    fn loaded_matching<'a>(
        &'a self,
        subject: &Subject<'_>,
        profile: u8,
        found: &mut Vec<&'a Rule>,
    ) {
        let Subject::Command { reading, input, builtin } = subject else {
            let matching = self.loaded.iter().filter(|one| {
                one.compiled.profiles & profile != 0 && matching::other(&one.compiled, subject)
            });
            return found.extend(matching.map(|one| &one.rule));
        };
        let command = Command { reading, input, builtin: *builtin };
        let lower = reading.name.to_ascii_lowercase();
        let exact = std::str::from_utf8(&reading.name).ok().and_then(|name| self.names.get(name));
        let folded = (lower != *reading.name).then(|| std::str::from_utf8(&lower).ok()).flatten();
        let folded = folded.and_then(|name| self.names.get(name));
        let mut matched: Vec<usize> = Vec::new();
        for (rule, place) in exact.into_iter().chain(folded).flatten().chain(&self.open) {
            let Some(Loaded { rule: known, compiled }) = self.loaded.get(*rule) else { continue };
            let About::Command(patterns) = &compiled.about else { continue };
            if compiled.profiles & profile != 0
                && !matched.contains(rule)
                && patterns.get(*place).is_some_and(|p| matching::command(compiled, p, &command))
            {
                matched.push(*rule);
                found.push(known);
            }
        }
    }
}

impl Rule {
    fn new(written: schema::Rule, ruling: Ruling, tier: Tier, source: Source) -> Rule {
        Rule {
            id: written.id.as_str().into(),
            decision: match ruling {
                Ruling::Allow => Decision::Allow,
                Ruling::Confirm => Decision::Confirm,
                Ruling::Deny => Decision::Deny,
            },
            tier,
            source,
            reason: written.reason.as_str().into(),
            hint: written.hint.as_str().into(),
            irreversible: written.irreversible,
            value: ValueKind::of(&written.value),
            hosts: written.grants(),
            written,
        }
    }
}

impl schema::Rule {
    /// What cannot be read was refused when the rule was loaded, and grants nothing here.
    fn grants(&self) -> Vec<Grant> {
        let read = self.hosts.iter().filter_map(|written| Grant::read(written).ok());
        read.map(|grant| Grant { private: self.private, ..grant }).collect()
    }
}

impl ValueKind {
    fn of(text: &str) -> ValueKind {
        match text.split_once(':') {
            Some(("options", program)) => ValueKind::Options(program.to_owned()),
            _ if matches!(text, "shell" | "program") => ValueKind::Shell,
            _ if text == "paths" => ValueKind::Paths,
            _ => ValueKind::Any,
        }
    }
}

fn profile_bit(profile: Profile) -> u8 {
    match profile {
        Profile::Safe => 1,
        Profile::Dev => 2,
        Profile::FullAuto => 4,
    }
}

#[cfg(test)]
mod tests;

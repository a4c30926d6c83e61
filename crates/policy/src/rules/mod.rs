//! What is allowed, asked about and denied.

pub mod schema;

use std::sync::Arc;

use bstr::BStr;

use crate::code::Level;
use crate::effect::Language;
use crate::event::{Input, Shape};
use crate::judge::Profile;
use crate::programs::Reading;
use crate::verdict::{Decision, Source};

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
    pub hosts: Vec<String>,
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
    Code {
        language: Language,
        level: Level,
    },
    Situation(&'a str),
    Shape(&'a Shape),
}

/// All rules in force.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {}

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
        let _ = files;
        Ok(RuleSet::default())
    }

    /// The rules that match, the strictest first; those overridden left out.
    pub fn matching(&self, subject: &Subject<'_>, profile: Profile) -> Vec<&Rule> {
        let _ = (subject, profile);
        Vec::new()
    }

    /// Every rule, in the order of files and lines.
    pub fn all(&self) -> &[Rule] {
        &[]
    }
}

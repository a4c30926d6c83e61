//! The answer, with everything that a person needs to understand and change it.

use std::sync::Arc;

use bstr::BString;

use crate::event::Via;
use crate::rules::grant::Grant;

/// Strictest last: the greatest of all findings wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    Allow,
    Confirm,
    Deny,
}

impl Decision {
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Confirm => "confirm",
            Decision::Deny => "deny",
        }
    }
}

/// The step of S3 §7 that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Parse,
    Blocklist,
    Allowlist,
    Paths,
    Policy,
}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Step::Parse => "parse",
            Step::Blocklist => "blocklist",
            Step::Allowlist => "allowlist",
            Step::Paths => "paths",
            Step::Policy => "policy",
        }
    }
}

/// Where a rule is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// A path, or `built-in:block.toml`.
    pub file: Arc<str>,
    pub line: u32,
}

/// One reason for one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub decision: Decision,
    /// The rule's id: `block-curl`, `unknown-program`.
    pub rule: Arc<str>,
    /// Absent where no file says so: what the engine itself holds to (a path outside, a parse error).
    pub source: Option<Source>,
    pub step: Step,
    pub reason: Arc<str>,
    pub hint: Arc<str>,
    /// Cannot be taken back: asks in every profile.
    pub irreversible: bool,
    /// What it is about: a word, a path, a variable.
    pub about: BString,
}

/// The rule of a finding that was made because nothing else was found.
pub(crate) const NOTHING: &str = "nothing";

impl Finding {
    /// It only says that there was nothing to judge, as of a file that is opened and that no rule is about.
    pub fn is_empty(&self) -> bool {
        &*self.rule == NOTHING
    }
}

/// An effective command and what was found about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedCommand {
    pub argv: Vec<BString>,
    /// Every word is known; else some are as the script wrote them.
    pub literal: bool,
    pub via: Via,
    /// The strictest.
    pub finding: Finding,
    /// All findings, the strictest first; only as many as an explanation needs.
    pub findings: Vec<Finding>,
}

impl JudgedCommand {
    /// Not a command but a file that would be opened: `> path`.
    pub fn is_opening(&self) -> bool {
        self.argv.first().is_some_and(|first| first == "<" || first == ">")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    /// The strictest of all.
    pub finding: Finding,
    pub commands: Vec<JudgedCommand>,
    /// What its programs may reach if it is allowed: hosts that rules grant, and hosts that its words name and that were
    /// asked about.
    pub hosts: Vec<Grant>,
    /// A rule has what is allowed write into the project at once.
    pub direct: bool,
}

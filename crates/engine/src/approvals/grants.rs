//! What has been decided already.

use std::collections::HashSet;
use std::sync::Arc;

use bstr::BString;
use exacta_policy::{Finding, JudgedCommand};

/// How far a decision reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Once,
    Session,
    Always,
}

impl Scope {
    pub fn name(self) -> &'static str {
        match self {
            Scope::Once => "once",
            Scope::Session => "session",
            Scope::Always => "always",
        }
    }
}

/// A yes to a request: to the commands that were shown, and no others.
#[derive(Debug, Clone)]
pub struct Grant {
    pub id: Option<String>,
    pub by: String,
    pub scope: Scope,
    pub commands: Vec<JudgedCommand>,
}

impl Grant {
    /// Was this shown to the person who said yes? A command whose words were not all known then is covered if the
    /// same rule asks about the same program: anything else that its real words bring asks anew.
    pub fn covers(&self, argv: &[BString], finding: &Finding) -> bool {
        self.commands.iter().any(|command| {
            let same_rule =
                command.findings.iter().any(|shown| Arc::as_ref(&shown.rule) == &*finding.rule);
            let same_words = if command.literal {
                command.argv == argv
            } else {
                command.argv.first() == argv.first()
            };
            same_rule && same_words
        })
    }
}

/// Decisions that hold beyond one request.
#[derive(Debug, Default)]
pub struct Standing {
    /// Normalised texts allowed for this session.
    pub session: HashSet<BString>,
}

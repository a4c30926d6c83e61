//! What has been decided already.

use std::collections::HashSet;

use bstr::BString;
use exacta_policy::JudgedCommand;

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
    pub fn covers(&self, asked: &JudgedCommand) -> bool {
        let finding = &asked.finding;
        self.commands.iter().any(|command| {
            let mut shown = command.findings.iter().filter(|shown| shown.rule == finding.rule);
            if asked.is_opening() {
                // By whichever command: it is the same file for the same reason.
                return shown.any(|shown| shown.about == finding.about);
            }
            let same_words = if command.literal {
                command.argv == asked.argv
            } else {
                command.argv.first() == asked.argv.first()
            };
            same_words && shown.next().is_some()
        })
    }
}

/// Decisions that hold beyond one request.
#[derive(Debug, Default)]
pub struct Standing {
    /// Normalised texts allowed for this session.
    pub session: HashSet<BString>,
}

//! What has been decided already.

use std::collections::HashSet;

use bstr::BString;
use exacta_policy::{Decision, Finding, JudgedCommand};

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
    /// Was all that asks about this command shown to the person who said yes?
    pub fn covers(&self, asked: &JudgedCommand) -> bool {
        let asking = |finding: &&Finding| finding.decision == Decision::Confirm;
        asked.findings.iter().filter(asking).all(|finding| {
            self.commands.iter().any(|command| {
                let mut shown = command.findings.iter().filter(|shown| shown.rule == finding.rule);
                shown.any(|shown| same(command, shown, asked, finding))
            })
        })
    }
}

/// Is it the same that the same rule asks about? A command whose words were not all known then is the same if it is
/// the same program: anything else that its real words bring has a rule of its own.
fn same(
    command: &JudgedCommand,
    shown: &Finding,
    asked: &JudgedCommand,
    finding: &Finding,
) -> bool {
    if asked.is_opening() {
        // By whichever command: it is the same file for the same reason.
        return shown.about == finding.about;
    }
    // `export PAGER=x` on its own, seen again when a program is given it.
    let variable = command.argv == [finding.about.clone()] && shown.about == finding.about;
    let same_words = if command.literal {
        command.argv == asked.argv
    } else {
        command.argv.first() == asked.argv.first()
    };
    variable || same_words
}

/// Decisions that hold beyond one request.
#[derive(Debug, Default)]
pub struct Standing {
    /// Normalised texts allowed for this session.
    pub session: HashSet<BString>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use exacta_policy::Step;

    fn finding(rule: &str, about: &str) -> Finding {
        Finding {
            decision: Decision::Confirm,
            rule: rule.into(),
            source: None,
            step: Step::Policy,
            reason: "".into(),
            hint: "".into(),
            irreversible: false,
            about: about.into(),
        }
    }

    fn command(words: &[&str], literal: bool, findings: &[Finding]) -> JudgedCommand {
        JudgedCommand {
            argv: words.iter().map(|word| BString::from(*word)).collect(),
            literal,
            via: Vec::new(),
            finding: findings.first().cloned().expect("a finding"),
            findings: findings.to_vec(),
        }
    }

    fn granted(commands: Vec<JudgedCommand>) -> Grant {
        Grant { id: None, by: String::new(), scope: Scope::Once, commands }
    }

    #[test]
    fn every_reason_must_have_been_shown() {
        let push = || finding("push", "git");
        let pager = || finding("pager", "GIT_PAGER=evil");
        let grant = granted(vec![command(&["git", "push"], true, &[push()])]);
        assert!(grant.covers(&command(&["git", "push"], true, &[push()])));
        assert!(!grant.covers(&command(&["git", "push", "-f"], true, &[push()])));
        assert!(!grant.covers(&command(&["git", "push"], true, &[push(), pager()])));
        let assigned = command(&["GIT_PAGER=evil"], true, &[pager()]);
        let grant = granted(vec![assigned, command(&["git", "push"], true, &[push()])]);
        assert!(grant.covers(&command(&["git", "push"], true, &[push(), pager()])));
        let other = finding("pager", "GIT_PAGER=other");
        assert!(!grant.covers(&command(&["git", "push"], true, &[push(), other])));
    }

    #[test]
    fn unknown_words_cover_the_same_program_and_rule() {
        let grant =
            granted(vec![command(&["git", "push", "$x"], false, &[finding("push", "git")])]);
        assert!(grant.covers(&command(
            &["git", "push", "origin"],
            true,
            &[finding("push", "git")]
        )));
        let forced = [finding("force", "git"), finding("push", "git")];
        assert!(!grant.covers(&command(&["git", "push", "-f"], true, &forced)));
    }

    #[test]
    fn a_file_is_the_same_whoever_opens_it() {
        let hook = || finding("hooks", ".git/hooks/x");
        let grant = granted(vec![command(&["cp", "a", ".git/hooks/x"], true, &[hook()])]);
        assert!(grant.covers(&command(&[">", "/p/.git/hooks/x"], true, &[hook()])));
        let other = finding("hooks", ".git/hooks/y");
        assert!(!grant.covers(&command(&[">", "/p/.git/hooks/y"], true, &[other])));
    }
}

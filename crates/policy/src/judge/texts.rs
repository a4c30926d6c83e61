//! Texts in a file that may be commands, judged as if they were typed: the file is about to be loaded by a tool.

use super::command::Subjected;
use super::implied::Fresh;
use super::inquiry::Inquiry;
use super::{quoted, sights};
use crate::event::Via;
use crate::verdict::{Decision, Verdict};
use crate::word::Word;
use bstr::ByteSlice;

/// Which texts in a file may be commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// Those beside something that starts programs.
    Started,
    /// … also in languages where backquotes start them.
    StartedOrQuoted,
    All,
    /// All, of a file that may be anything: paths in it may be those of another machine.
    Anywhere,
}

impl Inquiry<'_> {
    /// Texts that would be refused if somebody typed them.
    pub fn texts_in(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, via: &Via, texts: Texts) {
        // `$(HOME)` of make is what a shell calls `${HOME}`.
        let text = fresh.text.replace("$(HOME)", "${HOME}");
        let text = text.as_bstr();
        let candidates = match texts {
            Texts::Started => quoted::beside(text, sights::starts_something),
            Texts::StartedOrQuoted => quoted::beside(text, sights::starts_something_quoted),
            Texts::All | Texts::Anywhere => quoted::commands(text),
        };
        let found = candidates.into_iter().find(|text| {
            let verdict = self.aside(|inquiry| {
                inquiry.shell(subjected, &Word::Literal(text.clone()), via.clone());
            });
            is_refused(&verdict, texts)
        });
        if let Some(text) = found {
            self.harmful(subjected, fresh, text, via);
        }
    }
}

/// Denied, or asked about for what it does and not for being unknown.
fn is_refused(verdict: &Verdict, texts: Texts) -> bool {
    const TELLING: [&str; 24] = [
        "ask-find-secrets",
        "ask-git-config-elsewhere",
        "ask-home-settings",
        "ask-locate-secrets",
        "ask-mail",
        "ask-name-lookup",
        "ask-rm-everything",
        "ask-secret-environment",
        "ask-secret-stores",
        "ask-secrets-as-names",
        "code-dangerous",
        "copied-program",
        "home-path",
        "network",
        "piped-code",
        "read-credentials",
        "write-agent-instructions",
        "write-agent-settings",
        "write-credentials",
        "write-editor-tasks",
        "write-git-internals",
        "write-history",
        "write-shell-startup",
        "whole-project",
    ];
    let mut findings = verdict.commands.iter().flat_map(|command| &command.findings);
    findings.any(|finding| match finding.decision {
        Decision::Deny => texts != Texts::Anywhere || &*finding.rule != "outside",
        Decision::Confirm => TELLING.iter().any(|rule| *finding.rule == **rule),
        Decision::Allow => false,
    })
}

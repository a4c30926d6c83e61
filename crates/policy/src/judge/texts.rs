//! Texts in a file that may be commands, judged as if they were typed: the file is about to be loaded by a tool.

use super::command::Subjected;
use super::implied::Fresh;
use super::inquiry::Inquiry;
use super::{quoted, sights};
use crate::event::Via;
use crate::verdict::{Decision, Verdict};
use crate::word::Word;
use bstr::{BStr, BString, ByteSlice};

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
        let text = homes(fresh.text.as_bstr());
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

/// `$(HOME)` of make, `{env:HOME}` of tox, `{{env_var('HOME')}}` of just are what a shell calls `${HOME}`.
fn homes(text: &BStr) -> BString {
    const LONGEST: usize = 40;
    let Some(first) = text.find("HOME") else { return text.into() };
    let mut written = BString::default();
    let (mut done, mut next) = (0, Some(first));
    while let Some(at) = next {
        let end = at + "HOME".len();
        let before = text.get(done.max(at.saturating_sub(LONGEST))..at).unwrap_or_default();
        let after = text.get(end..(end + LONGEST).min(text.len())).unwrap_or_default();
        if let (Some(opened), Some(closed)) = (opening(before), closing(after)) {
            written.extend_from_slice(text.get(done..at - opened).unwrap_or_default());
            written.extend_from_slice(b"${HOME}");
            done = end + closed;
        }
        let from = done.max(end);
        next = text.get(from..).and_then(|rest| rest.find("HOME")).map(|found| from + found);
    }
    written.extend_from_slice(text.get(done..).unwrap_or_default());
    written
}

/// How far before the name it begins: at its outermost bracket, with nothing but a call or a colon between.
fn opening(before: &[u8]) -> Option<usize> {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.'\"( $,{".contains(byte);
    let start = before.iter().rposition(|byte| !inner(byte)).map_or(0, |at| at + 1);
    let part = before.get(start..).unwrap_or_default();
    let bracket = part.find_byteset(b"{(")?;
    let dollar = bracket.checked_sub(1).is_some_and(|at| part.get(at) == Some(&b'$'));
    let plain = dollar && part.get(bracket..) == Some(b"{");
    (!plain).then(|| part.len() - bracket + usize::from(dollar))
}

/// How far behind it ends: at the last of the brackets that follow.
fn closing(after: &[u8]) -> Option<usize> {
    let inner = after.iter().take_while(|byte| b"'\" )}".contains(byte)).count();
    let part = after.get(..inner).unwrap_or_default();
    part.rfind_byteset(b"})").map(|at| at + 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_call_the_home() {
        for (text, expected) in [
            ("rm -rf {env:HOME}/.x", "rm -rf ${HOME}/.x"),
            ("rm -rf {{env_var('HOME')}}/.x", "rm -rf ${HOME}/.x"),
            ("rm -rf {{.HOME}}/.x {{ .HOME }}/y", "rm -rf ${HOME}/.x ${HOME}/y"),
            ("rm -rf $(HOME)/.x", "rm -rf ${HOME}/.x"),
            ("rm $ENV{HOME}/x", "rm $ENV${HOME}/x"),
            ("a ${HOME}/x", "a ${HOME}/x"),
            ("HOME=x make", "HOME=x make"),
            ("say HOME (sweet)", "say HOME (sweet)"),
        ] {
            assert_eq!(homes(text.into()), expected, "{text}");
        }
    }
}

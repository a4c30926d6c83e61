//! An action with everything found about it, on its way through the pipeline.

use bstr::{BStr, BString};
use exacta_policy::event::Access;
use exacta_policy::rules::grant::Grant;
use exacta_policy::{Action, Decision, Finding, JudgedCommand, Step, Verdict};

use crate::gate::Refused;
use crate::report::{in_quotes, typed};

pub struct Proposed<'a> {
    /// What is asked about, and what an approval is bound to.
    pub text: BString,
    pub directory: &'a BStr,
    pub environment: &'a [(BString, BString)],
    pub commands: Vec<JudgedCommand>,
    /// What its programs may reach once it is allowed.
    pub hosts: Vec<Grant>,
    /// A rule has it write directly.
    pub direct: bool,
}

impl<'a> Proposed<'a> {
    pub fn new(
        text: BString,
        directory: &'a BStr,
        environment: &'a [(BString, BString)],
        verdict: Verdict,
    ) -> Self {
        let Verdict { decision, finding, mut commands, hosts, direct } = verdict;
        // The list is only as long as people can read: the strictest finding may stand alone.
        if !commands.iter().any(|command| command.finding.decision >= decision) {
            let (argv, findings) = (vec![text.clone()], vec![finding.clone()]);
            commands.push(JudgedCommand {
                argv,
                literal: true,
                via: Vec::new(),
                finding,
                findings,
            });
        }
        Proposed { text, directory, environment, commands, hosts, direct }
    }

    /// Denied by a finding of this kind?
    pub fn deny(&self, counts: impl Fn(&Finding) -> bool) -> Result<(), Refused> {
        for command in &self.commands {
            let denied = |finding: &&Finding| finding.decision == Decision::Deny && counts(finding);
            if let Some(finding) = command.findings.iter().find(denied) {
                let (finding, argv) = (Box::new(finding.clone()), command.argv.clone());
                return Err(Refused { finding, argv, approval: None });
            }
        }
        Ok(())
    }

    /// The strictest finding that is not about a path: those are settled.
    pub fn strictest(&self) -> Finding {
        let all = self.commands.iter().flat_map(|command| &command.findings);
        let counting = all.filter(|finding| finding.step != Step::Paths);
        // `max_by_key` would take the last of equals; the first is what was written first.
        let strictest =
            counting.reduce(|one, other| if other.decision > one.decision { other } else { one });
        strictest.cloned().unwrap_or_else(nothing_said)
    }

    /// The finding that allows it, whatever else would ask.
    pub fn permission(&self) -> Finding {
        let all = self.commands.iter().flat_map(|command| &command.findings);
        let mut allowing = all.filter(|finding| finding.decision == Decision::Allow);
        allowing.next().cloned().unwrap_or_else(nothing_said)
    }

    /// The commands that need a yes, each with its first reason.
    pub fn asking(&self) -> Vec<JudgedCommand> {
        let asking = |finding: &&Finding| finding.decision == Decision::Confirm;
        let with_reason = |command: &JudgedCommand| {
            let finding = command.findings.iter().find(asking)?.clone();
            Some(JudgedCommand { finding, ..command.clone() })
        };
        self.commands.iter().filter_map(with_reason).collect()
    }
}

/// The text as the printer writes it, so that spaces and comments do not matter.
pub fn normalised(text: &BStr) -> BString {
    let options = exacta_syntax::ParseOptions::default();
    match exacta_syntax::parse(text, options, exacta_syntax::Limits::default()) {
        Ok(tree) => exacta_syntax::print_list(&tree).trim_ascii().into(),
        Err(_) => text.into(),
    }
}

/// The action as it would be typed, with the variables that ask in front of it: a yes to the command alone is no yes
/// to them.
pub fn written_of(action: &Action<'_>, verdict: &Verdict) -> BString {
    match action {
        Action::Run { argv, environment, .. } => {
            let asking = environment.iter().filter(|pair| asks_about(verdict, pair));
            let assigned = asking
                .map(|(name, value)| BString::from([name, &b"="[..], &typed(value)].concat()));
            let words = argv.iter().enumerate().map(|(index, word)| match index {
                // What looks like a variable in front of a command would be one.
                0 if word.contains(&b'=') => in_quotes(word),
                _ => typed(word),
            });
            bstr::join(" ", assigned.chain(words)).into()
        }
        Action::Open { path, access } => {
            let sign: &[u8] = if *access == Access::Read { b"< " } else { b"> " };
            [sign, &typed(path)].concat().into()
        }
    }
}

fn asks_about(verdict: &Verdict, (name, value): &(BString, BString)) -> bool {
    let about = [name.as_slice(), b"=", value].concat();
    let mut findings = verdict.commands.iter().flat_map(|command| &command.findings);
    findings.any(|finding| finding.decision == Decision::Confirm && finding.about == about)
}

pub fn blocked_by_name(text: &BStr) -> Refused {
    let finding = Finding {
        decision: Decision::Deny,
        rule: "commands.json".into(),
        source: None,
        step: Step::Blocklist,
        reason: "blocked in .clada/commands.json".into(),
        hint: "a person can take it out of `blocked` there".into(),
        irreversible: false,
        about: text.into(),
    };
    Refused { finding: Box::new(finding), argv: vec![text.into()], approval: None }
}

fn nothing_said() -> Finding {
    Finding {
        decision: Decision::Allow,
        rule: "in-process".into(),
        source: None,
        step: Step::Policy,
        reason: "nothing speaks against it".into(),
        hint: "".into(),
        irreversible: false,
        about: BString::default(),
    }
}

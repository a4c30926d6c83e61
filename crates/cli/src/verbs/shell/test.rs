//! `exacta shell test`: a verdict with the steps that led to it. Nothing is run, nothing is changed.

use std::fmt::Write as _;
use std::io::BufRead;

use bstr::{BStr, ByteSlice};
use exacta::Session;
use exacta::policy::{Decision, Finding, JudgedCommand, Step, Verdict};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::invocation::Global;
use crate::output;
use crate::table::Look;
use crate::terminal::visible;

/// Commands listed for people; `--json` lists as many as the judge keeps.
const LISTED: usize = 40;

pub fn one(global: &Global, session: &Session, text: &BStr, look: Look) -> Exit {
    let verdict = session.test(text);
    if global.json {
        output::print(&format!("{}\n", as_json(&verdict)));
    } else {
        output::print(&explained(&verdict, text, look));
    }
    Exit::Verdict(verdict.decision)
}

/// One JSON string a line in, one verdict a line out, in order.
pub fn batch(session: &Session) -> Exit {
    let mut exit = Exit::Success;
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else {
            output::error("exacta: standard input is not UTF-8\n");
            return Exit::Usage;
        };
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<String>(&line) {
            Ok(text) => {
                let verdict = session.test(text.as_bytes().as_bstr());
                output::print(&format!("{}\n", as_json(&verdict)));
            }
            Err(error) => {
                // The answers stay in step with the questions; what was not understood is not allowed.
                let answer =
                    json!({ "decision": "deny", "error": format!("not a JSON string: {error}") });
                output::print(&format!("{answer}\n"));
                exit = Exit::Usage;
            }
        }
    }
    exit
}

pub fn as_json(verdict: &Verdict) -> Value {
    let Finding { rule, step, reason, hint, source, irreversible, about, .. } = &verdict.finding;
    json!({
        "decision": verdict.decision.name(),
        "rule": &**rule,
        "step": step.name(),
        "reason": &**reason,
        "hint": &**hint,
        "about": about.to_str_lossy(),
        "irreversible": irreversible,
        "source": source.as_ref().map(|source| json!({ "file": &*source.file, "line": source.line })),
        "commands": verdict.commands.iter().map(command_as_json).collect::<Vec<_>>(),
    })
}

fn command_as_json(command: &JudgedCommand) -> Value {
    let words = |words: &[bstr::BString]| -> Vec<String> {
        words.iter().map(|word| word.to_str_lossy().into_owned()).collect()
    };
    json!({
        "argv": words(&command.argv),
        "rule": &*command.finding.rule,
        "decision": command.finding.decision.name(),
        "step": command.finding.step.name(),
        "reason": &*command.finding.reason,
        "via": words(&command.via),
    })
}

/// The five steps of S3 §7 with what each of them found.
fn explained(verdict: &Verdict, text: &BStr, look: Look) -> String {
    let mut shown = String::new();
    // Writing to a String cannot fail.
    let _ =
        writeln!(shown, "{}  {}", look.decision(verdict.decision), visible(&text.to_str_lossy()));
    for (step, found) in steps(verdict) {
        let _ = writeln!(shown, "  {step:<12} {found}");
    }
    let counting = verdict.commands.len();
    if counting > 1 || verdict.commands.iter().any(|command| !command.via.is_empty()) {
        for command in verdict.commands.iter().take(LISTED) {
            let _ = writeln!(shown, "  {}", listed(command, look));
        }
        if counting > LISTED {
            let _ = writeln!(shown, "  … and {} more", counting - LISTED);
        }
    }
    if !verdict.finding.hint.is_empty() && verdict.decision != Decision::Allow {
        let _ = writeln!(shown, "hint: {}", verdict.finding.hint);
    }
    shown
}

/// Each step with what it found, up to the one that denied.
fn steps(verdict: &Verdict) -> Vec<(&'static str, String)> {
    let all = || verdict.commands.iter().flat_map(|command| &command.findings);
    let denied = |step: Step| {
        let is_denied = |finding: &&Finding| {
            finding.decision == Decision::Deny
                && (finding.step == Step::Paths) == (step == Step::Paths)
        };
        all().find(is_denied).map(said)
    };
    let mut steps = vec![("1 parse", parsed(verdict))];
    if let Some(found) = denied(Step::Blocklist) {
        steps.push(("2 blocklist", found));
        return steps;
    }
    steps.push(("2 blocklist", "nothing is blocked".into()));
    let allowed = all().find(|finding| finding.step == Step::Allowlist);
    steps.push(("3 allowlist", allowed.map_or("no rule allows it".into(), said)));
    if let Some(found) = denied(Step::Paths) {
        steps.push(("4 paths", found));
        return steps;
    }
    steps.push(("4 paths", "nothing leads outside".into()));
    let last = match verdict.decision {
        Decision::Allow => "nothing asks".into(),
        _ => said(&verdict.finding),
    };
    steps.push(("5 policy", last));
    steps
}

fn parsed(verdict: &Verdict) -> String {
    match (&*verdict.finding.rule, verdict.commands.len()) {
        ("syntax", _) => said(&verdict.finding),
        (_, 1) => "1 command".into(),
        (_, count) => format!("{count} commands"),
    }
}

fn said(finding: &Finding) -> String {
    let mut text = format!("{}: {}", finding.rule, finding.reason);
    if !finding.about.is_empty() {
        let _ = write!(text, " ({})", visible(&finding.about.to_str_lossy()));
    }
    if let Some(source) = &finding.source {
        let _ = write!(text, " [{}:{}]", source.file, source.line);
    }
    text
}

fn listed(command: &JudgedCommand, look: Look) -> String {
    let argv = bstr::join(" ", &command.argv);
    let mut text = format!(
        "{}  {}  ({})",
        look.decision(command.finding.decision),
        visible(&argv.to_str_lossy()),
        command.finding.rule
    );
    if !command.via.is_empty() {
        let via = bstr::join(" > ", &command.via);
        let _ = write!(text, " through {}", visible(&via.to_str_lossy()));
    }
    text
}

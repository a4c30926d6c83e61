//! `exacta shell status`: the profile, the rules and where they come from.

use std::fmt::Write as _;

use exacta::approvals::{PendingError, PendingStore, State};
use exacta::policy::{Decision, Profile};
use serde_json::json;

use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::Launch;
use crate::output;
use crate::table::Look;
use crate::verbs::failed;

/// What there is to tell.
struct Facts {
    profile: Profile,
    root: String,
    allow: usize,
    confirm: usize,
    deny: usize,
    pending: usize,
    /// Each with its tier.
    files: Vec<(String, &'static str)>,
    notices: Vec<String>,
}

pub fn show(global: &Global, launch: &Launch, look: Look) -> Exit {
    let facts = match gather(launch) {
        Ok(facts) => facts,
        Err(problem) => return failed(&problem),
    };
    let text = if global.json { as_json(&facts) } else { as_text(&facts, look) };
    output::print(&text);
    Exit::Success
}

fn gather(launch: &Launch) -> Result<Facts, PendingError> {
    let configuration = &launch.configuration;
    let rules = configuration.policy.rules().all();
    let count = |decision: Decision| rules.iter().filter(|rule| rule.decision == decision).count();
    let all = PendingStore::of(&launch.options.root).list()?;
    let notices = configuration.notices.iter();
    Ok(Facts {
        profile: configuration.policy.profile(),
        root: launch.options.root.display().to_string(),
        allow: count(Decision::Allow),
        confirm: count(Decision::Confirm),
        deny: count(Decision::Deny),
        pending: all.iter().filter(|pending| pending.state == State::Pending).count(),
        files: configuration
            .files
            .iter()
            .map(|(path, tier)| (path.display().to_string(), tier.name()))
            .collect(),
        notices: notices
            .map(|notice| {
                format!("{}:{}: {}", notice.source.file, notice.source.line, notice.message)
            })
            .collect(),
    })
}

fn as_json(facts: &Facts) -> String {
    let files: Vec<_> =
        facts.files.iter().map(|(path, tier)| json!({ "file": path, "tier": tier })).collect();
    let status = json!({
        "enabled": facts.profile != Profile::Safe,
        "profile": facts.profile.name(),
        "unknown_commands": unknown(facts.profile),
        "root": facts.root,
        "rules": { "allow": facts.allow, "confirm": facts.confirm, "deny": facts.deny },
        "pending_approvals": facts.pending,
        "isolation": { "level": "in-process", "walls": ["confined-filesystem"] },
        "configuration": files,
        "notices": facts.notices,
    });
    format!("{status}\n")
}

fn as_text(facts: &Facts, look: Look) -> String {
    let mut text = String::new();
    let mut line = |heading: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} {value}", look.heading(&format!("{heading:<12}")));
    };
    let Facts { profile, allow, confirm, deny, .. } = facts;
    line("execution", if *profile == Profile::Safe { "off" } else { "on" }.to_owned());
    line("profile", format!("{} (unknown commands: {})", profile.name(), unknown(*profile)));
    line("root", facts.root.clone());
    line("rules", format!("{allow} allow, {confirm} ask, {deny} deny"));
    line("approvals", format!("{} pending", facts.pending));
    line("isolation", "commands in process, confined to the project; no programs".to_owned());
    for (path, tier) in &facts.files {
        line("configured", format!("{path} ({tier})"));
    }
    for notice in &facts.notices {
        line("notice", notice.clone());
    }
    text
}

/// S3 §2's last column.
fn unknown(profile: Profile) -> &'static str {
    match profile {
        Profile::Safe => "deny",
        Profile::Dev => "confirm",
        Profile::FullAuto => "allow",
    }
}

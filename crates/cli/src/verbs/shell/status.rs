//! `exacta shell status`: the profile, the rules and where they come from.

use std::fmt::Write as _;

use exacta::approvals::{PendingStore, State};
use exacta::policy::{Decision, Profile};
use serde_json::json;

use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::Launch;
use crate::output;
use crate::table::Look;
use crate::verbs::failed;

pub fn show(global: &Global, launch: &Launch, look: Look) -> Exit {
    let configuration = &launch.configuration;
    let policy = &configuration.policy;
    let profile = policy.profile();
    let count = |decision: Decision| {
        policy.rules().all().iter().filter(|rule| rule.decision == decision).count()
    };
    let (allow, confirm, deny) =
        (count(Decision::Allow), count(Decision::Confirm), count(Decision::Deny));
    let pending = match PendingStore::of(&launch.options.root).list() {
        Ok(all) => all.iter().filter(|pending| pending.state == State::Pending).count(),
        Err(problem) => return failed(&problem),
    };
    let files: Vec<(String, &str)> = configuration
        .files
        .iter()
        .map(|(path, tier)| (path.display().to_string(), tier.name()))
        .collect();
    let notices: Vec<String> = configuration
        .notices
        .iter()
        .map(|notice| format!("{}:{}: {}", notice.source.file, notice.source.line, notice.message))
        .collect();
    if global.json {
        let status = json!({
            "enabled": profile != Profile::Safe,
            "profile": profile.name(),
            "unknown_commands": unknown(profile),
            "root": launch.options.root.to_string_lossy(),
            "rules": { "allow": allow, "confirm": confirm, "deny": deny },
            "pending_approvals": pending,
            "isolation": { "level": "in-process", "walls": ["confined-filesystem"] },
            "configuration": files.iter().map(|(path, tier)| json!({ "file": path, "tier": tier })).collect::<Vec<_>>(),
            "notices": notices,
        });
        output::print(&format!("{status}\n"));
        return Exit::Success;
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    let enabled = if profile == Profile::Safe { "off" } else { "on" };
    let _ = writeln!(text, "{} {enabled}", look.heading("execution   "));
    let _ = writeln!(
        text,
        "{} {} (unknown commands: {})",
        look.heading("profile     "),
        profile.name(),
        unknown(profile)
    );
    let _ = writeln!(text, "{} {}", look.heading("root        "), launch.options.root.display());
    let _ = writeln!(
        text,
        "{} {allow} allow, {confirm} ask, {deny} deny",
        look.heading("rules       ")
    );
    let _ = writeln!(text, "{} {pending} pending", look.heading("approvals   "));
    let _ = writeln!(
        text,
        "{} commands in process, confined to the project; no programs",
        look.heading("isolation   ")
    );
    for (path, tier) in &files {
        let _ = writeln!(text, "{} {path} ({tier})", look.heading("configured  "));
    }
    for notice in &notices {
        let _ = writeln!(text, "{} {notice}", look.heading("notice      "));
    }
    output::print(&text);
    Exit::Success
}

/// S3 §2's last column.
fn unknown(profile: Profile) -> &'static str {
    match profile {
        Profile::Safe => "deny",
        Profile::Dev => "confirm",
        Profile::FullAuto => "allow",
    }
}

//! `exacta shell status`: the profile, the rules and where they come from, what holds programs, and their limits.

use std::fmt::Write as _;

use exacta::approvals::{PendingError, PendingStore, State};
use exacta::policy::limits::Allowance;
use exacta::policy::{Decision, Profile};
use exacta_jail::{Level, Walls};
use serde_json::{Value, json};

use crate::doctor;
use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::{self, Launch};
use crate::output;
use crate::table::Look;
use crate::verbs::{failed, isolation};

/// What there is to tell.
struct Facts {
    profile: Profile,
    root: String,
    allow: usize,
    confirm: usize,
    deny: usize,
    pending: usize,
    /// Of questions that were answered, by a person or a rule made of their answer.
    answered: usize,
    /// What stands around programs; an error: why none run.
    walls: Result<Walls, String>,
    least: Level,
    allowance: Allowance,
    /// Each with its tier.
    files: Vec<(String, &'static str)>,
    notices: Vec<String>,
}

pub fn show(global: &Global, launch: &Launch, look: Look) -> Exit {
    let facts = match gather(launch) {
        Ok(facts) => facts,
        Err(problem) => return failed(&problem),
    };
    let text = if global.json { format!("{}\n", as_json(&facts)) } else { as_text(&facts, look) };
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
        answered: all.iter().filter(|pending| pending.state != State::Pending).count(),
        walls: doctor::standing(launch).map_err(|problem| problem.to_string()),
        least: configuration.min_isolation,
        allowance: doctor::allowance(launch),
        files: configuration
            .files
            .iter()
            .map(|(path, tier)| (path.display().to_string(), tier.name()))
            .collect(),
        notices: notices
            .map(|notice| {
                format!("{}:{}: {}", notice.source.file, notice.source.line, notice.message)
            })
            .chain(launch::traces_problem())
            .collect(),
    })
}

fn as_json(facts: &Facts) -> Value {
    let files: Vec<_> =
        facts.files.iter().map(|(path, tier)| json!({ "file": path, "tier": tier })).collect();
    let walls = facts.walls.as_ref();
    let isolation = walls.map_or_else(
        |problem| json!({ "level": "in-process", "walls": ["confined-filesystem"], "problem": problem }),
        isolation::standing,
    );
    let limits = &facts.allowance;
    json!({
        "schema_version": 1,
        "enabled": facts.profile != Profile::Safe,
        "profile": facts.profile.name(),
        "unknown_commands": unknown(facts.profile),
        "root": facts.root,
        "rules": { "allow": facts.allow, "confirm": facts.confirm, "deny": facts.deny },
        "pending_approvals": facts.pending,
        "answered_approvals": facts.answered,
        "isolation": isolation,
        "min_isolation": facts.least.name(),
        "programs": if walls.is_ok() { "run" } else { "refused" },
        "limits": {
            "cpu_seconds": limits.processor_seconds,
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes,
            "tasks": limits.tasks,
            "open_files": limits.open_files,
            "output_bytes": limits.output_bytes,
        },
        "configuration": files,
        "notices": facts.notices,
    })
}

/// For whoever asks elsewhere.
pub fn told(launch: &Launch) -> Result<Value, PendingError> {
    gather(launch).map(|facts| as_json(&facts))
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
    line("approvals", format!("{} pending, {} answered", facts.pending, facts.answered));
    line("isolation", isolation_in_words(facts));
    line("limits", limits_in_words(&facts.allowance));
    for (path, tier) in &facts.files {
        line("configured", format!("{path} ({tier})"));
    }
    for notice in &facts.notices {
        line("notice", notice.clone());
    }
    text
}

fn isolation_in_words(facts: &Facts) -> String {
    let least = facts.least.name();
    match &facts.walls {
        Err(problem) => format!(
            "commands in process, confined to the project; no programs, as min_isolation is {least}: {problem} \
             (`exacta doctor` says more)"
        ),
        Ok(walls) if walls.missing.is_empty() => {
            format!("{} (nothing is missing)", walls.level.name())
        }
        Ok(walls) => {
            let missing: Vec<&str> = walls.missing.iter().map(|it| it.wall.name()).collect();
            let missing = missing.join(", ");
            format!("{} (missing: {missing}; `exacta doctor` says more)", walls.level.name())
        }
    }
}

fn limits_in_words(limits: &Allowance) -> String {
    format!(
        "{} s of processor time, {} MB of memory, {} processes, {} open files, {} KB of output; more for builds",
        limits.processor_seconds,
        limits.memory_bytes >> 20,
        limits.processes,
        limits.open_files,
        limits.output_bytes >> 10,
    )
}

/// S3 §2's last column.
fn unknown(profile: Profile) -> &'static str {
    match profile {
        Profile::Safe => "deny",
        Profile::Dev => "confirm",
        Profile::FullAuto => "allow",
    }
}

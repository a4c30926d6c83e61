//! `exacta shell allowlist | blocklist | rules`: what the rules in force are, and where they are written.

use exacta::commands_file::CommandsFile;
use exacta::policy::Decision;
use exacta::policy::rules::Rule;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::Launch;
use crate::output;
use crate::table::{Look, table};
use crate::verbs::failed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Allowed,
    Blocked,
    All,
}

pub fn show(global: &Global, launch: &Launch, look: Look, which: Which) -> Exit {
    let decisions = match CommandsFile::of(&launch.options.root).read(&*launch.options.trust) {
        Ok(decisions) => decisions,
        Err(problem) => return failed(&problem),
    };
    let wanted = |rule: &&Rule| match which {
        Which::Allowed => rule.decision == Decision::Allow,
        Which::Blocked => rule.decision == Decision::Deny,
        Which::All => true,
    };
    let rules: Vec<&Rule> =
        launch.configuration.policy.rules().all().iter().filter(wanted).collect();
    let (allowed, blocked) = (decisions.allowed(), decisions.blocked());
    let exact: Vec<(&str, &String)> = match which {
        Which::Allowed => allowed.iter().map(|text| ("allow", text)).collect(),
        Which::Blocked => blocked.iter().map(|text| ("deny", text)).collect(),
        Which::All => {
            let allowed = allowed.iter().map(|text| ("allow", text));
            allowed.chain(blocked.iter().map(|text| ("deny", text))).collect()
        }
    };
    if global.json {
        let mut entries: Vec<Value> = rules.iter().map(|rule| as_json(rule)).collect();
        entries.extend(exact.iter().map(|(decision, text)| {
            json!({ "rule": exacta::commands_file::NAME, "decision": decision, "about": [text] })
        }));
        output::print(&format!("{}\n", Value::Array(entries)));
        return Exit::Success;
    }
    let mut rows: Vec<Vec<String>> = rules.iter().map(|rule| row(rule)).collect();
    rows.extend(exact.into_iter().map(|(decision, text)| {
        let source = exacta::commands_file::NAME;
        vec!["-".into(), decision.into(), text.clone(), "a person decided so".into(), source.into()]
    }));
    output::print(&table(look, &["RULE", "VERDICT", "ABOUT", "REASON", "WRITTEN IN"], &rows));
    Exit::Success
}

fn row(rule: &Rule) -> Vec<String> {
    vec![
        rule.id.to_string(),
        rule.decision.name().to_owned(),
        about(rule).join(", "),
        rule.reason.to_string(),
        format!("{}:{}", rule.source.file, rule.source.line),
    ]
}

fn as_json(rule: &Rule) -> Value {
    json!({
        "rule": &*rule.id,
        "decision": rule.decision.name(),
        "about": about(rule),
        "reason": &*rule.reason,
        "hint": &*rule.hint,
        "irreversible": rule.irreversible,
        "tier": rule.tier.name(),
        "source": { "file": &*rule.source.file, "line": rule.source.line },
    })
}

/// What a rule is about, as it is written.
fn about(rule: &Rule) -> Vec<String> {
    let written = &rule.written;
    let named = |kind: &str, items: &[String]| -> Vec<String> {
        items.iter().map(|item| format!("{kind} {item}")).collect()
    };
    [
        written.command.clone(),
        named("variable", &written.variable),
        named("write", &written.write),
        named("read", &written.read),
        named("code", &written.code),
        named("situation", &written.situation),
        named("shape", &written.shape),
    ]
    .concat()
}

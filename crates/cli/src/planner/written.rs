//! Plans as people write them, written so that reading gives the same plan again. What is usual is left out.

use std::time::Duration;

use exacta::tasks::{Expect, Plan, PlannedStep, Retry};
use serde_json::{Map, Value, json};

use crate::terminal::is_invisible;

/// As an object.
pub fn json(plan: &Plan) -> Value {
    let mut fields = Map::new();
    fields.insert("goal".to_owned(), plan.goal.clone().into());
    if !plan.agent.is_empty() {
        fields.insert("agent".to_owned(), plan.agent.clone().into());
    }
    fields.insert("steps".to_owned(), plan.steps.iter().map(step).collect());
    Value::Object(fields)
}

/// One of its steps.
pub fn step(step: &PlannedStep) -> Value {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    set("command", step.command.clone().into());
    if !step.why.is_empty() {
        set("why", step.why.clone().into());
    }
    if let Some(timeout) = step.timeout {
        set("timeout", seconds(timeout));
    }
    if step.idempotent {
        set("idempotent", true.into());
    }
    if step.retry != Retry::default() {
        let Retry { attempts, backoff } = step.retry;
        set("retry", json!({ "attempts": attempts, "backoff": seconds(backoff) }));
    }
    if step.expect != Expect::default() {
        set("expect", expect(&step.expect));
    }
    Value::Object(fields)
}

fn expect(expect: &Expect) -> Value {
    let mut fields = Map::new();
    if expect.exit_code != 0 {
        fields.insert("exit_code".to_owned(), expect.exit_code.into());
    }
    let lists = [
        ("stdout_contains", &expect.stdout_contains),
        ("stdout_matches", &expect.stdout_matches),
        ("stderr_matches", &expect.stderr_matches),
        ("files_exist", &expect.files_exist),
        ("files_absent", &expect.files_absent),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        fields.insert(name.to_owned(), list.clone().into());
    }
    if let Some(patterns) = &expect.changed_only {
        fields.insert("changed_only".to_owned(), patterns.clone().into());
    }
    Value::Object(fields)
}

fn seconds(duration: Duration) -> Value {
    match duration.subsec_nanos() {
        0 => duration.as_secs().into(),
        _ => duration.as_secs_f64().into(),
    }
}

/// For people, and for a file that they change.
pub fn toml(plan: &Plan) -> String {
    let mut text = format!("goal = {}\n", quoted(&plan.goal));
    if !plan.agent.is_empty() {
        text.push_str(&format!("agent = {}\n", quoted(&plan.agent)));
    }
    for step in plan.steps.iter().map(step) {
        text.push_str("\n[[steps]]\n");
        for (name, value) in ordered(&step) {
            text.push_str(&format!("{name} = {}\n", inline(value)));
        }
        for (name, table) in step.as_object().into_iter().flatten() {
            let Some(table) = table.as_object() else { continue };
            text.push_str(&format!("[steps.{name}]\n"));
            for (name, value) in table {
                text.push_str(&format!("{name} = {}\n", inline(value)));
            }
        }
    }
    text
}

/// What is no table, the command first.
fn ordered(step: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let names = ["command", "why", "timeout", "idempotent"];
    names.into_iter().filter_map(|name| Some((name, step.get(name)?)))
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn is_hidden(character: char) -> bool {
    character.is_control() || is_invisible(character)
}

/// A string of TOML, in which nothing but its text happens on a terminal.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| !is_hidden(character) && character != '\'';
    if text.contains(['"', '\\']) && text.chars().all(is_plain) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            other if is_hidden(other) => {
                quoted.push_str(&format!("\\U{:08X}", u32::from(other)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use exacta::tasks::Format;

    use super::*;

    fn plan() -> Plan {
        let step =
            |command: &str| PlannedStep { command: command.to_owned(), ..PlannedStep::default() };
        Plan {
            goal: "it's \"so\"\n\u{1b}[31m".to_owned(),
            agent: "anna".to_owned(),
            steps: vec![
                step("ls"),
                PlannedStep {
                    why: "because".to_owned(),
                    timeout: Some(Duration::from_millis(1_500)),
                    retry: Retry { attempts: 1, backoff: Duration::from_secs(2) },
                    idempotent: true,
                    expect: Expect {
                        exit_code: 1,
                        stdout_matches: vec![r#"^a\.b"$"#.to_owned(), "'\\d'".to_owned()],
                        changed_only: Some(Vec::new()),
                        ..Expect::default()
                    },
                    ..step(r#"grep -c "x\\y" 'a b' | tr -d '\r'"#)
                },
            ],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let plan = plan();
        assert_eq!(Plan::read(&json(&plan).to_string(), Format::Json).expect("a plan"), plan);
        let text = toml(&plan);
        assert_eq!(Plan::read(&text, Format::Toml).expect("a plan"), plan, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

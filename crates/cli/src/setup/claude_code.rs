//! The hook in the settings of Claude Code: how it is written, and how it is found.

use serde_json::Value;

use super::json::{Insertion, Into};

/// `|| exit 2`: a program that is not there, or that is killed, ends with a status that lets the call through.
pub const GUARD: &str = "|| exit 2";

pub const INSERTION: Insertion = Insertion {
    path: &["hooks", "PreToolUse"],
    into: Into::Array,
    value: r#"{
  "matcher": "Bash|Read|Write|Edit|MultiEdit|NotebookEdit",
  "hooks": [
    {
      "type": "command",
      "command": "exacta hook claude-code --rewrite || exit 2",
      "timeout": 30,
      "onFailure": "block"
    }
  ]
}"#,
};

/// An entry that calls exacta.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub matcher: String,
    pub command: String,
    /// In seconds.
    pub timeout: Option<f64>,
    /// It says that a failure blocks.
    pub blocks: bool,
    /// Why its answer does not count, or not always.
    pub flaw: Option<&'static str>,
}

pub fn is_configured(settings: &Value) -> bool {
    !entries(settings).is_empty()
}

/// All that call exacta, in order.
pub fn entries(settings: &Value) -> Vec<Entry> {
    let groups = settings.pointer("/hooks/PreToolUse").and_then(Value::as_array);
    let mut entries = Vec::new();
    for group in groups.into_iter().flatten() {
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let hooks = group.get("hooks").and_then(Value::as_array);
        for hook in hooks.into_iter().flatten() {
            let command = text(hook, "command");
            if calls_exacta(&command) {
                entries.push(Entry {
                    matcher: text(group, "matcher"),
                    command,
                    timeout: hook.get("timeout").and_then(Value::as_f64),
                    blocks: text(hook, "onFailure") == "block",
                    flaw: flaw(settings, hook),
                });
            }
        }
    }
    entries
}

fn flaw(settings: &Value, hook: &Value) -> Option<&'static str> {
    let is_set = |value: &Value, name: &str| value.get(name) == Some(&Value::Bool(true));
    if is_set(settings, "disableAllHooks") {
        Some("hooks are turned off: disableAllHooks")
    } else if is_set(hook, "async") {
        Some("it runs beside the call and not before it: async")
    } else if hook.get("if").is_some() {
        Some("it is asked about some calls only: if")
    } else {
        None
    }
}

fn calls_exacta(command: &str) -> bool {
    let separates = |character: char| character.is_whitespace() || "\"'();&|".contains(character);
    let words: Vec<&str> = command.split(separates).filter(|word| !word.is_empty()).collect();
    let name = |word: &&str| word.rsplit('/').next() == Some("exacta");
    words.iter().any(name) && words.windows(2).any(|pair| pair == ["hook", "claude-code"])
}

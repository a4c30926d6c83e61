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
                });
            }
        }
    }
    entries
}

fn calls_exacta(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let name = |word: &&str| word.trim_matches(['"', '\'']).rsplit('/').next() == Some("exacta");
    words.iter().any(name) && words.windows(2).any(|pair| pair == ["hook", "claude-code"])
}

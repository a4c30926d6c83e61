//! The tools as data: `tools.json` has their names, schemas and hints.

use std::sync::LazyLock;

use rmcp::model::Tool;

/// A file that does not parse would leave no tools; a test reads it.
static ALL: LazyLock<Vec<Tool>> =
    LazyLock::new(|| serde_json::from_str(include_str!("tools.json")).unwrap_or_default());

pub fn all() -> Vec<Tool> {
    ALL.clone()
}

pub fn find(name: &str) -> Option<Tool> {
    ALL.iter().find(|tool| tool.name == name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_all_of_itself() {
        let read: Vec<Tool> = serde_json::from_str(include_str!("tools.json")).expect("tools");
        assert_eq!(read.len(), 14);
        for tool in &read {
            let hints = tool.annotations.as_ref().expect("hints");
            let all = [
                hints.read_only_hint,
                hints.destructive_hint,
                hints.idempotent_hint,
                hints.open_world_hint,
            ];
            assert!(all.iter().all(Option::is_some), "{}", tool.name);
            assert!(tool.output_schema.is_some() && tool.description.is_some(), "{}", tool.name);
        }
    }

    #[test]
    fn nothing_decides() {
        for word in ["approve", "deny", "commit", "discard", "trust", "redo", "force"] {
            let named = |tool: &Tool| tool.name.contains(word);
            assert!(!ALL.iter().any(named), "{word}");
            let taken = |tool: &Tool| tool.input_schema["properties"].get(word).is_some();
            assert!(!ALL.iter().any(taken), "{word}");
        }
    }
}

//! The tools as data: `tools.json` has their names, schemas and hints.

use std::sync::{Arc, LazyLock};

use exacta::tasks::schema;
use rmcp::model::Tool;
use serde_json::json;

/// A file that does not parse would leave no tools; a test reads it.
static ALL: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let mut all: Vec<Tool> = serde_json::from_str(include_str!("tools.json")).unwrap_or_default();
    for tool in &mut all {
        describe_plan(tool);
    }
    all
});

/// What a plan is stands in the engine, where it is read.
fn describe_plan(tool: &mut Tool) {
    let mut input = (*tool.input_schema).clone();
    let Some(plan) = input.get_mut("properties").and_then(|it| it.get_mut("plan")) else { return };
    let mut whole = schema::schema();
    if let Some(fields) = whole.as_object_mut() {
        // It stands in the middle of another one.
        fields.remove("$schema");
    }
    let text = json!({ "type": "string", "description": "The same, as a text in JSON or TOML." });
    *plan = json!({ "description": plan["description"], "anyOf": [whole, text] });
    tool.input_schema = Arc::new(input);
}

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
        assert_eq!(read.len(), 19);
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
    fn a_plan_is_described_where_it_is_taken() {
        let tool = find("task_run").expect("there");
        let plan = &tool.input_schema["properties"]["plan"];
        let steps = &plan["anyOf"][0]["properties"]["steps"];
        assert!(steps["items"]["properties"]["command"].is_object(), "{plan}");
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

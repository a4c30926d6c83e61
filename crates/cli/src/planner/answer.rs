//! What models and programs put around a plan, and the plan within.

use exacta::tasks::Plan;
use serde_json::Value;

use super::written;

/// The plan in it; else what is wrong.
pub fn plan(text: &str) -> Result<Plan, String> {
    let text = within(text);
    if text.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    if !text.starts_with(['{', '[']) {
        return written::read_toml(text);
    }
    match serde_json::from_str::<Value>(text) {
        // Where every field has to be there, absent is null.
        Ok(mut value) if has_nulls(&value) => {
            without_nulls(&mut value);
            written::read_json(&format!("{value:#}"))
        }
        // Also what is not JSON: the reader says where.
        _ => written::read_json(text),
    }
}

/// Without what small models think aloud, and without a code fence.
fn within(text: &str) -> &str {
    let mut text = text.trim();
    if let Some((_, after)) = text.strip_prefix("<think>").and_then(|it| it.split_once("</think>"))
    {
        text = after.trim();
    }
    let Some(open) = text.find("```") else { return text };
    // A plan has no fence before it begins; a command in it may have one.
    if text.starts_with('{') || !text.trim_end().ends_with("```") {
        return text;
    }
    let inner = text.get(open + 3..).unwrap_or_default();
    let inner = inner.split_once('\n').map_or(inner, |(_, inner)| inner);
    inner.rfind("```").and_then(|close| inner.get(..close)).unwrap_or(inner).trim()
}

fn has_nulls(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_nulls),
        Value::Object(fields) => fields.values().any(has_nulls),
        _ => false,
    }
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_plan_is_taken_away() {
        let json = r#"{"goal":"g","steps":[{"command":"echo '```'"}]}"#;
        for text in [
            json.to_owned(),
            format!("\n {json}\n"),
            format!("```json\n{json}\n```"),
            format!("Here is the plan:\n\n```\n{json}\n```\n"),
            format!("<think>{{hm}}\n</think>\n\n{json}"),
        ] {
            assert_eq!(within(&text), json, "{text}");
            assert_eq!(plan(&text).expect("a plan").steps[0].command, "echo '```'");
        }
    }

    #[test]
    fn nulls_are_absent() {
        let text = r#"{"goal":"g","agent":null,"steps":[{"command":"ls","why":"w","expect":{"exit_code":0,"changed_only":null,"files_exist":null},"timeout":null,"retry":null,"idempotent":true}]}"#;
        let plan = plan(text).expect("a plan");
        assert_eq!(plan.steps[0].expect.changed_only, None);
        assert_eq!(plan.steps[0].timeout, None);
    }

    #[test]
    fn no_plan_is_said_to_be_none() {
        for text in ["", "I cannot do that.", "{", "[]", "{\"goal\":1}", "<think>hm"] {
            assert!(plan(text).is_err(), "{text}");
        }
    }
}

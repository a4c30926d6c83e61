//! Results: structured for programs, with a short text for whoever reads only that.

use exacta::approvals::Pending;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::service::Problem;
use crate::verbs::records::shortened;

/// Of each stream in the text; the structured result has more.
const STREAM: usize = 8 << 10;
const LINE: usize = 160;

/// A result. A command that ends with another status than 0 has run: the tool has done what it was asked for, and `isError` would
/// make clients show a failing test as a broken server.
pub fn done(value: Value, text: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value);
    result
}

/// The tool could not do it.
pub fn failed(problem: &Problem) -> CallToolResult {
    let Problem { code, message, hint, .. } = problem;
    let mut text = format!("{}: {message}", code.name());
    if !hint.is_empty() {
        text.push_str(&format!("\nhint: {hint}"));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(problem.in_json());
    result
}

/// What an agent needs of the report on a request.
pub fn of_report(report: &Value, cancelled: bool) -> Value {
    let state = state(report, cancelled);
    let field = |name: &str| report[name].clone();
    json!({
        "state": state,
        "exit_code": field("exit_code"),
        "stdout": field("stdout"),
        "stderr": field("stderr"),
        "duration_ms": field("duration_ms"),
        "timed_out": field("timed_out"),
        "truncated": field("truncated"),
        "spill_path": field("spill_path"),
        "decision": field("decision"),
        "rule": field("policy_rule_matched"),
        "reason": field("reason"),
        "hint": field("hint"),
        "isolation": field("isolation"),
        "undo": field("undo"),
        "approval": field("approval"),
        "working_dir": field("working_dir"),
        "correlation_id": field("correlation_id"),
    })
}

fn state(report: &Value, cancelled: bool) -> &'static str {
    let approval = report["approval"]["state"].as_str();
    if approval == Some("pending") {
        "approval_pending"
    } else if cancelled {
        "cancelled"
    } else if report["timed_out"] == true {
        "timed_out"
    } else if report["exit_code"] == 126 && report["decision"] != "allow" && approval.is_none() {
        "refused"
    } else {
        "ended"
    }
}

/// A question, with what it is about and how it is decided.
pub fn of_pending(pending: &Pending) -> Value {
    let id = &pending.id;
    let about = pending.asks.iter().map(
        |asked| json!({ "command": asked.command, "rule": asked.rule, "reason": asked.reason }),
    );
    json!({
        "id": id,
        "state": pending.state.name(),
        "command": pending.command,
        "about": about.collect::<Vec<_>>(),
        "irreversible": pending.irreversible,
        "goal": pending.goal,
        "plan": pending.plan,
        "task_id": pending.task,
        "scope": pending.scope,
        "by": pending.by,
        "door": pending.door,
        "decide": [
            format!("a person: exacta approvals approve {id}"),
            format!("a person: exacta approvals deny {id}"),
            "or on the page of exacta serve",
        ],
    })
}

/// The text of what was run.
pub fn told(result: &Value) -> String {
    let state = result["state"].as_str().unwrap_or_default();
    let mut text = match (state, result["exit_code"].as_i64()) {
        ("approval_pending", _) => {
            let id = result["approval"]["id"].as_str().unwrap_or_default();
            format!(
                "approval_pending: a person has to decide about {id}: `exacta approvals approve {id}`, or the page of exacta serve. approval_wait waits for it; then run the same command again."
            )
        }
        ("ended", Some(code)) => format!("exit code {code}"),
        (state, Some(code)) => format!("{state}, exit code {code}"),
        (state, None) => state.to_owned(),
    };
    if let Some(took) = result["duration_ms"].as_f64() {
        text.push_str(&format!(" ({took:.0} ms)"));
    }
    if state != "ended" {
        for name in ["reason", "hint"] {
            if let Some(said) = result[name].as_str() {
                text.push_str(&format!("\n{name}: {said}"));
            }
        }
    }
    if let Some(id) = result["undo"]["id"].as_u64() {
        text.push_str(&format!("\nundo: {id}"));
    }
    if let Some(path) = result["spill_path"].as_str() {
        text.push_str(&format!("\nall of the output: {path}"));
    }
    for name in ["stdout", "stderr"] {
        let stream = result[name].as_str().unwrap_or_default();
        if !stream.is_empty() {
            text.push_str(&format!("\n--- {name}\n{}", ends(stream)));
        }
    }
    text
}

/// Its head, and four times as much of its tail: errors come last.
fn ends(text: &str) -> String {
    if text.len() <= STREAM {
        return text.to_owned();
    }
    let whole = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=STREAM / 5).rev().find(whole).unwrap_or(0);
    let tail = (text.len() - STREAM / 5 * 4..text.len()).find(whole).unwrap_or(text.len());
    let (start, end) = (text.get(..head), text.get(tail..));
    let left_out = tail - head;
    format!(
        "{}\n[… {left_out} bytes left out …]\n{}",
        start.unwrap_or_default(),
        end.unwrap_or_default()
    )
}

/// A line for each of them: what these fields say.
pub fn lines(all: &Value, fields: &[&str]) -> String {
    let Some(all) = all.as_array().filter(|all| !all.is_empty()) else {
        return "none".to_owned();
    };
    let shown = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let line = |one: &Value| {
        let words: Vec<String> = fields.iter().map(|field| shown(&one[*field])).collect();
        shortened(&words.join("  ").replace('\n', " "), LINE)
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_text_is_kept() {
        let text = format!("first {} last", "\u{e4}".repeat(STREAM));
        let shown = ends(&text);
        assert!(shown.starts_with("first") && shown.ends_with("last"), "{shown:.40}");
        assert!(shown.len() < STREAM + 100 && shown.contains("bytes left out"));
        assert_eq!(ends("short"), "short");
    }

    #[test]
    fn a_status_of_126_is_a_refusal_only_if_somebody_refused() {
        let report = |decision: &str, approval: Value| {
            let report = json!({ "exit_code": 126, "decision": decision, "approval": approval });
            state(&report, false)
        };
        assert_eq!(report("allow", Value::Null), "ended");
        assert_eq!(report("deny", Value::Null), "refused");
        assert_eq!(report("confirm", json!({ "state": "pending" })), "approval_pending");
        assert_eq!(report("confirm", json!({ "state": "used" })), "ended");
    }
}

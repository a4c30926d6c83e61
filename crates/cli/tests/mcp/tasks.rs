//! Tasks as tools.

use serde_json::{Value, json};

use crate::{ASKS, Client, PATIENCE, Project, was_done};

fn plan(commands: &[&str]) -> Value {
    let steps: Vec<Value> = commands.iter().map(|command| json!({ "command": command })).collect();
    json!({ "goal": "to see what happens", "steps": steps })
}

fn told(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let result = client.call(tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

#[test]
fn a_plan_runs_and_is_judged() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let mut plan = plan(&["echo one > made", "cat made"]);
    plan["steps"][1]["expect"] = json!({ "stdout_contains": ["two"] });
    plan["steps"][1]["retry"] = json!({ "attempts": 0 });
    let arguments = json!({ "plan": plan, "rollback_on_failure": true });
    let value = told(&mut client, "task_run", arguments);
    assert_eq!(value["state"], "failed", "{value}");
    let check = &value["steps"][1]["checks"][1];
    assert_eq!((&check["expected"], &check["held"]), (&json!("\"two\""), &json!(false)), "{value}");
    assert_eq!(value["rolled_back"], true, "{value}");
    assert!(!project.root.join("made").exists());
    let denied =
        json!({ "plan": { "goal": "x", "steps": [{ "command": "dd if=/dev/zero of=x" }] } });
    let value = told(&mut client, "task_run", denied);
    assert!(value["reason"].as_str().is_some_and(|why| why.contains("is denied by")), "{value}");
    let none = client.call("task_run", json!({ "goal": "make it better" }));
    assert_eq!(none["structuredContent"]["error"]["code"], "no_planner", "{none}");
    let unknown = client.call("task_show", json!({ "task_id": "nonsense" }));
    assert_eq!(unknown["structuredContent"]["error"]["code"], "unknown_task", "{unknown}");
}

/// Nobody can be asked through the client: a person decides elsewhere, and it goes on by itself.
#[test]
fn a_task_waits_for_a_person() {
    let project = Project::new();
    std::fs::write(project.root.join("old"), "old").expect("a file");
    let mut client = Client::usual(&project);
    let value = told(&mut client, "task_run", json!({ "plan": plan(&["rm old", "echo gone"]) }));
    assert_eq!(value["state"], "approval_pending", "{value}");
    assert_eq!(value["approval"]["irreversible"], "rm old");
    assert_eq!(value["approval"]["goal"], "to see what happens");
    let approval = value["approval"]["id"].as_str().expect("an id");
    let said = project.exacta(&["approvals", "approve", approval]).output().expect("runs");
    assert!(said.status.success(), "{said:?}");
    let show = json!({ "task_id": value["task_id"], "wait_ms": 20_000 });
    let value = told(&mut client, "task_show", show);
    assert_eq!(value["state"], "completed", "{value}");
    assert!(!project.root.join("old").exists());
    let log = told(&mut client, "task_log", json!({ "task_id": value["task_id"] }));
    let entries = log["entries"].as_array().expect("entries");
    assert!(entries.iter().any(|it| it["type"] == "output" && it["content"] == "gone"), "{log}");
    let next = json!({ "task_id": value["task_id"], "after": log["next"] });
    assert_eq!(told(&mut client, "task_log", next)["entries"], json!([]));
}

#[test]
fn its_person_is_asked_in_the_client() {
    let project = Project::new();
    let (mut client, _) = Client::open(&project, "2025-11-25", &json!({ "elicitation": {} }));
    let call = json!({ "name": "task_run", "arguments": { "plan": plan(&[ASKS]) } });
    for (decision, state) in [("deny", "failed"), ("once", "completed")] {
        let id = client.send("tools/call", call.clone());
        let form = client.hear(|message| message["method"] == "elicitation/create");
        let text = form["params"]["message"].as_str().expect("a text");
        assert!(text.contains("Goal: to see what happens\nPlan:\n  1. "), "{text}");
        let content = json!({ "action": "accept", "content": { "decision": decision } });
        client.say(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": content }));
        let result = client.answer(id)["result"]["structuredContent"].clone();
        assert_eq!(result["state"], state, "{result}");
        assert_eq!(was_done(&project), decision == "once", "{result}");
    }
}

/// What a client leaves is put down, and another one takes it up.
#[test]
fn a_task_that_was_put_down_goes_on() {
    let project = Project::new();
    let config = project.folder.join("home/.config/exacta");
    std::fs::create_dir_all(&config).expect("made");
    std::fs::write(config.join("config.toml"), "[tasks]\nallow = [\"sleep\"]\n").expect("written");
    let mut client = Client::usual(&project);
    let plan = plan(&["echo x >> done", "echo y >> done; sleep 2"]);
    let value = told(&mut client, "task_run", json!({ "plan": plan, "wait_ms": 700 }));
    assert_eq!(value["state"], "running", "{value}");
    assert!(client.end() < PATIENCE);
    let done = || std::fs::read_to_string(project.root.join("done")).unwrap_or_default();
    assert_eq!(done(), "x\n");
    let mut client = Client::usual(&project);
    let listed = told(&mut client, "task_list", json!({ "state": "running" }));
    let id = listed["tasks"][0]["id"].clone();
    assert_eq!(id, value["task_id"], "{listed}");
    let value = told(&mut client, "task_run", json!({ "task_id": id }));
    assert_eq!(value["state"], "completed", "{value}");
    assert_eq!(done(), "x\ny\n");
    let again = client.call("task_run", json!({ "task_id": value["task_id"] }));
    assert_eq!(again["structuredContent"]["error"]["code"], "wrong_state", "{again}");
}

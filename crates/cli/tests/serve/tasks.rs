//! Tasks over HTTP: asked for, halted at the gate, decided through every door, followed, ended, taken up again.

use std::io::Read as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::daemon::{Answer, As, Daemon, until};
use crate::support::{self, Project};

/// What stops at the gate, and shows by a file whether it was done.
fn dangerous() -> Value {
    json!({
        "goal": "a clean start",
        "agent": "bot",
        "steps": [
            { "command": "echo before > before.txt", "why": "to see the order" },
            { "command": "rm old.txt", "expect": { "files_absent": ["old.txt"] } },
            { "command": "echo after", "expect": { "stdout_contains": ["after"] } },
        ],
    })
}

fn plan(commands: &[&str]) -> Value {
    let steps: Vec<Value> = commands.iter().map(|command| json!({ "command": command })).collect();
    json!({ "goal": "a goal", "agent": "bot", "steps": steps })
}

/// Tasks may sleep here.
fn project() -> Project {
    let project = Project::new();
    project.write("old.txt", "old\n");
    let home = project.root.parent().expect("a home").join(".config/exacta");
    std::fs::create_dir_all(&home).expect("made");
    std::fs::write(home.join("config.toml"), "[tasks]\nallow = [\"sleep\"]\n").expect("written");
    project
}

fn create(daemon: &Daemon, body: &Value) -> String {
    let answer = daemon.post(As::Person, "/v1/tasks", body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

fn shown(daemon: &Daemon, id: &str) -> Value {
    daemon.get(As::Person, &format!("/v1/tasks/{id}")).json()
}

fn reaches(daemon: &Daemon, id: &str, state: &str) -> Value {
    until(&format!("{state}: {}", shown(daemon, id)), || {
        let task = shown(daemon, id);
        (task["state"] == state).then_some(task)
    })
}

fn act(daemon: &Daemon, who: As, id: &str, body: &Value) -> Answer {
    daemon.post(who, &format!("/v1/tasks/{id}"), body)
}

/// By somebody whose name is in the head.
fn named(daemon: &Daemon, agent: &str, method: &str, path: &str, body: &str) -> Answer {
    daemon.call(As::Agent, method, path, &format!("X-Exacta-Agent: {agent}\r\n"), body)
}

fn states(task: &Value) -> Vec<String> {
    let steps = task["steps"].as_array().expect("steps");
    steps.iter().map(|step| step["state"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_task_halts_at_the_gate_and_goes_on_when_it_is_approved() {
    let daemon = Daemon::serving(project());
    let id = create(&daemon, &json!({ "plan": dangerous() }));
    let task = reaches(&daemon, &id, "pending_approval");
    let told = &task["notification"];
    assert_eq!(told["Goal"], "a clean start");
    assert_eq!(told["Plan"], json!(["echo before > before.txt", "rm old.txt", "echo after"]));
    let danger = &told["Irreversible Command"][0];
    assert_eq!((&danger["command"], &danger["step"]), (&json!("rm old.txt"), &json!(2)), "{told}");
    assert_eq!(states(&task), ["waiting", "waiting", "waiting"]);
    assert!(daemon.project().read("before.txt").is_none(), "nothing runs before the yes");
    let refused = act(&daemon, As::Agent, &id, &json!({ "action": "approve" }));
    assert_eq!((refused.status, refused.code().as_str()), (403, "person_needed"));
    let approved = act(&daemon, As::Person, &id, &json!({ "action": "approve" }));
    assert_eq!(approved.status, 200, "{approved:?}");
    let task = reaches(&daemon, &id, "completed");
    assert_eq!(states(&task), ["done", "done", "done"]);
    assert_eq!(task["done"], 3);
    let log = task["executionLog"].as_array().expect("S4's name for it");
    assert_eq!(log[1].as_object().map(serde_json::Map::len), Some(3), "{log:?}");
    let check = &task["steps"][1]["checks"][1];
    assert_eq!((&check["what"], &check["held"]), (&json!("files_absent"), &json!(true)), "{task}");
    assert!(daemon.project().read("old.txt").is_none());
    let moves = task["moves"].as_array().expect("moves");
    let way: Vec<_> = moves.iter().filter_map(|one| one["to"].as_str()).collect();
    let expected =
        ["pending", "validating", "pending_approval", "running", "evaluating", "completed"];
    assert_eq!(way, expected);
    let again = act(&daemon, As::Person, &id, &json!({ "action": "approve" }));
    assert_eq!((again.status, again.code().as_str()), (409, "wrong_state"));
    let text = daemon.get(As::Person, "/metrics").body;
    assert!(text.contains("exacta_tasks_ended_total{state=\"completed\"} 1\n"), "{text}");
}

#[test]
fn the_inbox_is_as_good() {
    let daemon = Daemon::serving(project());
    for (decision, state) in [("approve", "completed"), ("deny", "failed")] {
        daemon.project().write("old.txt", "old\n");
        let id = create(&daemon, &json!({ "plan": dangerous() }));
        let task = reaches(&daemon, &id, "pending_approval");
        let path = format!("/v1/approvals/{}", task["approval"].as_str().expect("a question"));
        let asked = daemon.get(As::Person, &path).json();
        assert_eq!((&asked["goal"], &asked["task"]), (&json!("a clean start"), &json!(id)));
        assert_eq!(daemon.post(As::Person, &path, &json!({ "decision": decision })).status, 200);
        let task = reaches(&daemon, &id, state);
        assert_eq!(daemon.project().read("old.txt").is_none(), state == "completed", "{task}");
    }
}

#[test]
fn somebody_else_decides_in_another_process() {
    let daemon = Daemon::serving(project());
    let id = create(&daemon, &json!({ "plan": dangerous() }));
    let task = reaches(&daemon, &id, "pending_approval");
    let question = task["approval"].as_str().expect("a question");
    let said = daemon.project().run(&["approvals", "approve", question]);
    assert_eq!(support::code(&said), 0, "{said:?}");
    let task = reaches(&daemon, &id, "completed");
    assert!(task["approved_by"].as_str().is_some_and(|by| by.contains("command line")), "{task}");
}

#[test]
fn steps_are_approved_one_by_one() {
    let daemon = Daemon::serving(project());
    daemon.project().write("other.txt", "other\n");
    let id =
        create(&daemon, &json!({ "plan": plan(&["rm old.txt", "echo between", "rm other.txt"]) }));
    let task = reaches(&daemon, &id, "pending_approval");
    assert_eq!(task["asks"], json!([1, 3]));
    let wrong = act(&daemon, As::Person, &id, &json!({ "action": "approve", "step": 2 }));
    assert_eq!(wrong.code(), "wrong_state", "{wrong:?}");
    assert_eq!(
        act(&daemon, As::Person, &id, &json!({ "action": "approve", "step": 1 })).status,
        200
    );
    let task = until("the second question", || {
        let task = shown(&daemon, &id);
        (task["state"] == "pending_approval" && task["done"] == 2).then_some(task)
    });
    assert_eq!(
        task["notification"]["Irreversible Command"][0]["command"], "rm other.txt",
        "{task}"
    );
    assert!(daemon.project().read("other.txt").is_some());
    assert_eq!(
        act(&daemon, As::Person, &id, &json!({ "action": "reject" })).json()["state"],
        "failed"
    );
    assert!(daemon.project().read("other.txt").is_some());
}

#[test]
fn agents_have_their_own() {
    let daemon = Daemon::serving(project());
    let body = json!({ "plan": plan(&["rm old.txt"]), "agent": "somebody" }).to_string();
    let made = named(&daemon, "one", "POST", "/v1/tasks", &body).json();
    assert_eq!(made["agent"], "one", "whatever the plan says");
    let id = made["id"].as_str().expect("an id");
    reaches(&daemon, id, "pending_approval");
    for path in
        [format!("/v1/tasks/{id}"), format!("/v1/tasks/{id}/log"), format!("/v1/tasks/{id}/events")]
    {
        assert_eq!(named(&daemon, "two", "GET", &path, "").code(), "unknown_task", "{path}");
    }
    let cancel = json!({ "action": "cancel" }).to_string();
    let path = format!("/v1/tasks/{id}");
    assert_eq!(named(&daemon, "two", "POST", &path, &cancel).code(), "unknown_task");
    assert_eq!(named(&daemon, "two", "GET", "/v1/tasks", "").json(), json!([]));
    assert_eq!(named(&daemon, "one", "GET", "/v1/tasks", "").json()[0]["id"], id);
    for action in ["approve", "reject"] {
        let body = json!({ "action": action }).to_string();
        assert_eq!(named(&daemon, "one", "POST", &path, &body).code(), "person_needed");
    }
    let forced = json!({ "action": "retry", "force": true }).to_string();
    assert_eq!(named(&daemon, "one", "POST", &path, &forced).code(), "person_needed");
    assert_eq!(named(&daemon, "one", "POST", &path, &cancel).json()["state"], "cancelled");
    let retry = json!({ "action": "retry" }).to_string();
    assert_eq!(named(&daemon, "one", "POST", &path, &retry).status, 200);
    reaches(&daemon, id, "pending_approval");
    let only = daemon.get(As::Person, "/v1/tasks?state=pending_approval").json();
    assert_eq!(only.as_array().map(Vec::len), Some(1));
    assert_eq!(daemon.get(As::Person, "/v1/tasks?state=completed").json(), json!([]));
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let daemon = Daemon::start();
    let bad = |body: Value| daemon.post(As::Agent, "/v1/tasks", &body);
    let answer = bad(
        json!({ "plan": { "goal": "x", "steps": [{ "command": "ls", "expect": { "exit": 1 } }] } }),
    );
    assert_eq!((answer.status, answer.code().as_str()), (400, "bad_plan"));
    let error = answer.json()["error"].clone();
    assert_eq!(error["field"], "steps[0].expect", "{error}");
    let answer = bad(json!({ "plan": "goal = \"x\"\n[[steps]]\ncommand = 7\n" }));
    let error = answer.json()["error"].clone();
    assert_eq!(
        (&error["line"], &error["field"]),
        (&json!(3), &json!("steps[0].command")),
        "{error}"
    );
    for body in [json!({}), json!({ "plan": plan(&["ls"]), "goal": "x" }), json!({ "nonsense": 1 })]
    {
        assert_eq!(bad(body.clone()).code(), "bad_request", "{body}");
    }
    assert_eq!(bad(json!({ "goal": "x" })).code(), "no_planner");
    assert_eq!(
        bad(json!({ "plan": plan(&["ls"]), "project": "/nowhere" })).code(),
        "unknown_project"
    );
    assert_eq!(daemon.get(As::Person, "/v1/tasks/nonsense").code(), "unknown_task");
    assert_eq!(daemon.get(As::Person, "/v1/tasks?state=nonsense").code(), "bad_request");
    let act = |body: Value| daemon.post(As::Person, "/v1/tasks/nonsense", &body).code();
    assert_eq!(act(json!({ "action": "retry" })), "unknown_task");
    assert_eq!(act(json!({ "action": "explode" })), "bad_request");
    assert_eq!(act(json!({ "action": "approve", "step": 0 })), "bad_request");
    assert_eq!(daemon.get(As::Nobody, "/v1/tasks").code(), "no_token");
    // What no rule allows is failed with the rule, and nothing runs.
    let id = create(&daemon, &json!({ "plan": plan(&["echo x > made", "dd if=/dev/zero of=y"]) }));
    let task = reaches(&daemon, &id, "failed");
    assert!(
        task["reason"].as_str().is_some_and(|why| why.contains("step 2 is denied by")),
        "{task}"
    );
    assert!(daemon.project().read("made").is_none());
}

#[test]
fn its_log_and_its_events() {
    let daemon = Daemon::serving(project());
    let slow = plan(&["echo first", "sleep 1; echo second", "echo third >&2"]);
    let id = create(&daemon, &json!({ "plan": slow }));
    let mut stream = daemon.ask(As::Person, "GET", &format!("/v1/tasks/{id}/events"), "", "");
    let mut events = String::new();
    stream.read_to_string(&mut events).expect("it ends with the task");
    for part in [
        "event: task",
        "event: log",
        "\"content\":\"first\"",
        "event: ended",
        "\"state\":\"completed\"",
    ] {
        assert!(events.contains(part), "{part} in {events}");
    }
    let log = daemon.get(As::Person, &format!("/v1/tasks/{id}/log")).json();
    let log = log.as_array().expect("entries").clone();
    let found = |kind: &str, content: &str| {
        log.iter().find(|entry| entry["type"] == kind && entry["content"] == content)
    };
    assert!(
        found("command", "echo first").is_some() && found("output", "second").is_some(),
        "{log:?}"
    );
    let third = found("error", "third").expect("it is there");
    assert!(third["timestamp"].as_u64().is_some_and(|it| it > 1_700_000_000_000), "{third}");
    let rest =
        daemon.get(As::Person, &format!("/v1/tasks/{id}/log?after={}", third["number"])).json();
    let rest = rest.as_array().expect("entries");
    assert!(
        rest.len() < log.len()
            && rest.iter().all(|entry| entry["number"].as_u64() > third["number"].as_u64())
    );
}

#[test]
fn whoever_cancels_stops_it() {
    let daemon = Daemon::serving(project());
    let id =
        create(&daemon, &json!({ "plan": plan(&["echo x > kept", "echo y > kept2; sleep 300"]) }));
    until("its second step", || (shown(&daemon, &id)["step"] == 2).then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    act(&daemon, As::Person, &id, &json!({ "action": "cancel" }));
    let task = reaches(&daemon, &id, "cancelled");
    assert!(daemon.project().read("kept2").is_none(), "half of a step is taken back: {task}");
    assert!(daemon.project().read("kept").is_some());
    let twice = act(&daemon, As::Person, &id, &json!({ "action": "cancel" }));
    assert_eq!(twice.code(), "wrong_state");
    let retried = act(&daemon, As::Person, &id, &json!({ "action": "retry" }));
    assert_eq!(retried.status, 200, "{retried:?}");
    until("its second step", || (shown(&daemon, &id)["step"] == 2).then_some(()));
    act(&daemon, As::Person, &id, &json!({ "action": "cancel" }));
    reaches(&daemon, &id, "cancelled");
}

/// An agent's tasks run one after the other, in their order; others do not wait for them.
#[test]
fn one_at_a_time() {
    let daemon = Daemon::serving(project());
    let make = |agent: &str, command: &str| {
        let body =
            json!({ "plan": { "goal": "x", "agent": agent, "steps": [{ "command": command }] } });
        create(&daemon, &body)
    };
    let first = make("one", "sleep 1; echo 1 >> order");
    let second = make("one", "echo 2 >> order");
    let other = make("other", "echo o > other");
    reaches(&daemon, &other, "completed");
    assert_eq!(shown(&daemon, &second)["state"], "pending");
    reaches(&daemon, &first, "completed");
    reaches(&daemon, &second, "completed");
    assert_eq!(daemon.project().read("order").as_deref(), Some("1\n2\n"));
}

#[test]
fn a_daemon_that_ends_puts_its_tasks_down() {
    let daemon = Daemon::serving(project());
    let running =
        create(&daemon, &json!({ "plan": plan(&["echo x > once", "echo y >> twice; sleep 3"]) }));
    until("its second step", || (shown(&daemon, &running)["step"] == 2).then_some(()));
    let waiting = create(&daemon, &json!({ "plan": plan(&["rm old.txt"]) }));
    std::thread::sleep(Duration::from_millis(300));
    let (project, took) = daemon.stop();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(project.read("once").is_some() && project.read("twice").is_none());
    let daemon = Daemon::serving(project);
    let task = reaches(&daemon, &running, "completed");
    assert_eq!(task["steps"][0]["attempts"].as_array().map(Vec::len), Some(1), "{task}");
    assert_eq!(task["steps"][1]["attempts"].as_array().map(Vec::len), Some(2), "{task}");
    assert_eq!(daemon.project().read("twice").as_deref(), Some("y\n"));
    // What waited for its turn came after it, and halts at the gate.
    let task = reaches(&daemon, &waiting, "pending_approval");
    let (project, _) = daemon.stop();
    // Decided while nobody was there.
    let question = task["approval"].as_str().expect("a question");
    assert_eq!(support::code(&project.run(&["approvals", "approve", question])), 0);
    let daemon = Daemon::serving(project);
    reaches(&daemon, &waiting, "completed");
    assert!(daemon.project().read("old.txt").is_none());
}

/// As the kernel ends what needs too much memory.
#[test]
fn a_daemon_that_is_killed_leaves_them_to_the_next() {
    let mut daemon = Daemon::serving(project());
    let id =
        create(&daemon, &json!({ "plan": plan(&["echo x >> log", "echo y >> log; sleep 2"]) }));
    until("its second step", || (shown(&daemon, &id)["step"] == 2).then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    let project = daemon.kill();
    let daemon = Daemon::serving(project);
    let task = until("it is settled", || {
        let task = shown(&daemon, &id);
        ["completed", "needs_review"].iter().any(|it| task["state"] == *it).then_some(task)
    });
    let log = daemon.project().read("log").unwrap_or_default();
    if task["state"] == "completed" {
        assert_eq!(log, "x\ny\n", "{task}");
    } else {
        assert!(task["reason"].as_str().is_some_and(|why| why.contains("step 2")), "{task}");
    }
}

/// Whoever ran it in a terminal was killed, while a daemon serves the project.
#[test]
fn what_somebody_who_died_has_left_is_taken_up() {
    let project = project();
    project.write("rm.json", &plan(&["rm old.txt"]).to_string());
    let asked = project.run(&["task", "run", "rm.json", "--json"]);
    let asked: Value = serde_json::from_slice(&asked.stdout).expect("a task");
    let first = asked["id"].as_str().expect("an id");
    assert_eq!(support::code(&project.run(&["task", "approve", first, "--no-run"])), 0);
    let daemon = Daemon::serving(project);
    // Something to go on with at the start: it looks after all of them nevertheless.
    reaches(&daemon, first, "completed");
    let project = daemon.project();
    let steps = plan(&["echo x >> log", "echo y >> log; sleep 2", "echo z >> log"]);
    project.write("plan.json", &steps.to_string());
    let mut command = project.command(&["task", "run", "plan.json"]);
    let mut child = command.spawn().expect("it starts");
    let id = until("its second step", || {
        let task = daemon.get(As::Person, "/v1/tasks").json()[0].clone();
        (task["step"] == 2).then(|| task["id"].as_str().expect("an id").to_owned())
    });
    std::thread::sleep(Duration::from_millis(300));
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    let task = reaches(&daemon, &id, "completed");
    assert_eq!(project.read("log").as_deref(), Some("x\ny\nz\n"), "{task}");
    assert_eq!(task["steps"][0]["attempts"].as_array().map(Vec::len), Some(1), "{task}");
}

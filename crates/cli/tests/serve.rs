//! `exacta serve` as people, agents and strangers meet it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories, run the binary and talk to it"
)]

#[path = "serve/awkward.rs"]
mod awkward;
#[path = "serve/daemon.rs"]
mod daemon;
#[path = "serve/full_disk.rs"]
mod full_disk;
#[allow(dead_code, reason = "each test uses some of it")]
mod support;
#[path = "serve/tasks.rs"]
mod tasks;
#[path = "serve/telegram.rs"]
mod telegram;
#[path = "serve/watching.rs"]
mod watching;

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use daemon::{As, Daemon, until};
use serde_json::{Value, json};

const HOOK: &str = "echo true > .git/hooks/pre-commit";

fn ended(events: &str) -> Value {
    let data = events.split("event: ended\ndata: ").nth(1).and_then(|rest| rest.lines().next());
    serde_json::from_str(data.unwrap_or_else(|| panic!("it has not ended: {events}")))
        .expect("JSON")
}

#[test]
fn a_command_is_run_and_reported() {
    let daemon = Daemon::start();
    let answer =
        daemon.post(As::Agent, "/v1/run", &json!({ "command": "echo hi; echo no >&2; exit 3" }));
    let report = answer.json();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!((&report["stdout"], &report["stderr"]), (&json!("hi\n"), &json!("no\n")));
    assert_eq!(report["exit_code"], 3);
    assert_eq!(report["schema_version"], 1);
}

#[test]
fn strangers_are_kept_out() {
    let daemon = Daemon::start();
    assert_eq!(daemon.get(As::Nobody, "/v1/projects").code(), "no_token");
    let run = json!({ "command": "touch x" }).to_string();
    let wrong = daemon.call(As::Person, "POST", "/v1/run", "Host: evil.example\r\n", &run);
    assert_eq!((wrong.status, wrong.code().as_str()), (421, "wrong_host"));
    for header in
        ["Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"]
    {
        let wrong = daemon.call(As::Person, "POST", "/v1/run", header, &run);
        assert_eq!((wrong.status, wrong.code().as_str()), (403, "wrong_origin"), "{header}");
    }
    assert!(daemon.project().read("x").is_none());
    let page = daemon.get(As::Nobody, "/");
    assert_eq!(page.status, 200);
    assert!(page.headers.contains("default-src 'none'"), "{}", page.headers);
    assert!(!page.headers.to_lowercase().contains("access-control-allow"), "{}", page.headers);
}

#[test]
fn guessing_a_token_is_slow() {
    let daemon = Daemon::start();
    let codes: Vec<String> =
        (0..20).map(|_| daemon.get(As::Nobody, "/v1/projects").code()).collect();
    assert!(codes.iter().any(|code| code == "too_fast"), "{codes:?}");
    // Whoever has one is not held up by that.
    assert_eq!(daemon.get(As::Person, "/v1/projects").status, 200);
}

#[test]
fn tokens_are_nobody_elses() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = Daemon::start();
    assert_ne!(daemon.token(As::Person), daemon.token(As::Agent));
    let folder = daemon.project().root.parent().expect("a home").join(".local/state/exacta/serve");
    for name in ["token", "agent-token"] {
        let mode = std::fs::metadata(folder.join(name)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn an_agent_decides_nothing() {
    let daemon = Daemon::start();
    let run = json!({ "command": HOOK, "wait_ms": 0 });
    let report = daemon.post(As::Agent, "/v1/run", &run).json();
    assert_eq!(
        (&report["exit_code"], &report["approval"]["state"]),
        (&json!(126), &json!("pending"))
    );
    let id = report["approval"]["id"].as_str().expect("an id").to_owned();
    let decision = json!({ "decision": "approve" });
    let path = format!("/v1/approvals/{id}");
    let refused = daemon.post(As::Agent, &path, &decision);
    assert_eq!((refused.status, refused.code().as_str()), (403, "person_needed"));
    assert_eq!(daemon.get(As::Agent, &path).json()["state"], "pending");
    assert_eq!(daemon.post(As::Person, &path, &decision).json()["state"], "approved");
    let second = daemon.post(As::Person, &path, &json!({ "decision": "deny" }));
    assert_eq!((second.status, second.code().as_str()), (409, "already_decided"));
    let report = daemon.post(As::Agent, "/v1/run", &run).json();
    assert_eq!((&report["exit_code"], &report["approval"]["scope"]), (&json!(0), &json!("once")));
    assert_eq!(daemon.project().read(".git/hooks/pre-commit").as_deref(), Some("true\n"));
    assert_eq!(daemon.get(As::Person, "/v1/approvals/nonsense").code(), "unknown_approval");
}

#[test]
fn a_run_goes_on_when_somebody_has_decided() {
    let daemon = Daemon::start();
    let body = json!({ "command": HOOK, "stream": true, "goal": "a hook" }).to_string();
    let mut stream = daemon.ask(As::Agent, "POST", "/v1/run", "X-Exacta-Agent: bot\r\n", &body);
    let waiting = until("a question", || {
        daemon.get(As::Person, "/v1/approvals").json().as_array()?.first().cloned()
    });
    assert_eq!((&waiting["agent"], &waiting["goal"]), (&json!("bot"), &json!("a hook")));
    let path = format!("/v1/approvals/{}", waiting["id"].as_str().expect("an id"));
    let decided =
        daemon.post(As::Person, &path, &json!({ "decision": "approve", "scope": "session" }));
    assert_eq!(decided.json()["door"], "web");
    let mut events = String::new();
    stream.read_to_string(&mut events).expect("events");
    assert!(events.contains("event: approval"), "{events}");
    assert_eq!(ended(&events)["exit_code"], 0);
}

#[test]
fn output_comes_while_it_runs() {
    let daemon = Daemon::start();
    let body = json!({ "command": "echo first; sleep 20; echo last", "stream": true }).to_string();
    let mut stream = daemon.ask(As::Agent, "POST", "/v1/run", "", &body);
    let (mut heard, mut piece, begun) = (String::new(), [0; 4096], Instant::now());
    while !heard.contains("first") {
        let count = stream.read(&mut piece).expect("something comes");
        heard += &String::from_utf8_lossy(&piece[..count]);
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
    // Whoever leaves stops it.
    drop(stream);
    let body = json!({ "command": "sleep 30" }).to_string();
    drop(daemon.ask(As::Agent, "POST", "/v1/run", "", &body));
    let took = daemon.end();
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn a_session_keeps_its_state_and_does_one_thing_at_a_time() {
    let daemon = Daemon::start();
    let id = daemon.post(As::Agent, "/v1/sessions", &json!({})).json()["id"].clone();
    let run = |command: &str| {
        daemon.post(As::Agent, "/v1/run", &json!({ "command": command, "session": id }))
    };
    run("x=5; mkdir sub; cd sub; f() { echo $x $PWD; }");
    let told = run("f").json()["stdout"].clone();
    assert_eq!(told, json!(format!("5 {}/sub\n", daemon.project().root.display())));
    let body = json!({ "command": "sleep 20", "session": id }).to_string();
    let _busy = daemon.ask(As::Agent, "POST", "/v1/run", "", &body);
    until("it runs", || {
        daemon.get(As::Person, "/v1/sessions").json()[0]["running"]["command"].as_str().map(drop)
    });
    assert_eq!((run("true").status, run("true").code().as_str()), (409, "session_busy"));
    let path = format!("/v1/sessions/{}", id.as_str().expect("an id"));
    let begun = Instant::now();
    assert_eq!(daemon.call(As::Agent, "DELETE", &path, "", "").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(run("true").code(), "unknown_session");
}

#[test]
fn a_process_is_read_written_to_and_killed() {
    let daemon = Daemon::start();
    let start = |command: &str| {
        let started =
            daemon.post(As::Agent, "/v1/processes", &json!({ "command": command })).json();
        format!("/v1/processes/{}", started["id"].as_str().expect("an id"))
    };
    let path = start("while read line; do echo got $line; done; echo end");
    daemon.post(As::Agent, &format!("{path}/input"), &json!({ "text": "one\n" }));
    let read = daemon.get(As::Agent, &format!("{path}?wait_ms=10000")).json();
    assert_eq!((&read["output"], &read["state"]), (&json!("got one\n"), &json!("running")));
    daemon.post(As::Agent, &format!("{path}/input"), &json!({ "text": "two\n", "end": true }));
    let read = until("its end", || {
        let read = daemon.get(As::Agent, &format!("{path}?after={}", read["next"])).json();
        (read["state"] == "ended").then_some(read)
    });
    assert_eq!((&read["output"], &read["exit_code"]), (&json!("got two\nend\n"), &json!(0)));
    let path = start("python3 -c 'import time; time.sleep(1000)' & sleep 1000");
    let killed = daemon.call(As::Agent, "DELETE", &path, "", "").json();
    assert_eq!(killed["state"], "ended", "{killed}");
    assert_eq!(daemon.get(As::Agent, "/v1/processes/nonsense").code(), "unknown_process");
}

#[test]
fn what_is_malformed_is_told_so() {
    let daemon = Daemon::start();
    let bad = |body: &str| daemon.call(As::Agent, "POST", "/v1/run", "", body).code();
    for body in ["", "{", "[]", "{\"command\":7}", "{\"nonsense\":1}", "{\"command\":\"\"}"] {
        assert_eq!(bad(body), "bad_request", "{body}");
    }
    assert_eq!(bad(&json!({ "command": "x".repeat(3 << 20) }).to_string()), "too_long");
    assert_eq!(
        bad(&json!({ "command": "ls", "project": "/nowhere" }).to_string()),
        "unknown_project"
    );
    assert_eq!(bad(&json!({ "command": "ls", "cwd": "/etc" }).to_string()), "not_a_directory");
    assert_eq!(bad(&json!({ "command": "ls", "session": "x" }).to_string()), "unknown_session");
    assert_eq!(daemon.get(As::Person, "/v1/nonsense").status, 404);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", daemon.port)).expect("it listens");
    stream.write_all(b"\x16\x03\x01 nonsense\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    let _closed_either_way = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(daemon.get(As::Person, "/v1/projects").status, 200);
}

#[test]
fn people_see_what_was_done_and_take_it_back() {
    let daemon = Daemon::start();
    daemon.post(As::Agent, "/v1/run", &json!({ "command": "echo one > f" }));
    daemon.post(As::Agent, "/v1/run", &json!({ "command": "echo two > f; exit 4" }));
    let history = daemon.get(As::Person, "/v1/history?failed=true").json();
    assert_eq!(history.as_array().map(Vec::len), Some(1), "{history}");
    let number = &history[0]["number"];
    let whole = daemon.get(As::Person, &format!("/v1/history/{number}")).json();
    assert_eq!(
        (&whole["exit_code"], &whole["command"]),
        (&json!(4), &json!("echo two > f; exit 4"))
    );
    assert_eq!(daemon.get(As::Person, "/v1/history?grep=nothing-like-it").json(), json!([]));
    assert_eq!(daemon.get(As::Person, "/v1/history?since=nonsense").code(), "bad_request");
    assert_eq!(daemon.get(As::Person, "/v1/log").json()[0]["id"], 2);
    let diff = daemon.get(As::Person, "/v1/diff/2").json();
    assert_eq!(diff["changes"][0]["path"], "f", "{diff}");
    let undo = |body: Value| daemon.post(As::Person, "/v1/undo", &body);
    assert_eq!(undo(json!({ "id": 2, "dry_run": true })).status, 200);
    assert_eq!(daemon.project().read("f").as_deref(), Some("two\n"));
    assert_eq!(undo(json!({ "id": 2 })).status, 200);
    assert_eq!(daemon.project().read("f").as_deref(), Some("one\n"));
    assert_eq!(daemon.post(As::Person, "/v1/redo", &json!({ "id": 2 })).status, 200);
    assert_eq!(daemon.project().read("f").as_deref(), Some("two\n"));
    assert_eq!(undo(json!({ "id": 99 })).code(), "unknown_record");
    for path in ["/v1/history", "/v1/log", "/v1/status", "/v1/doctor"] {
        assert_eq!(daemon.get(As::Agent, path).code(), "person_needed", "{path}");
    }
    assert_eq!(daemon.get(As::Person, "/v1/status").json()["profile"], "dev");
}

#[test]
fn what_is_held_waits_for_a_person() {
    let daemon = Daemon::start();
    let hold = |command: &str| {
        let run = json!({ "command": command, "hold": true });
        daemon.post(As::Agent, "/v1/run", &run).json()["undo"]["id"].clone()
    };
    let first = hold("echo x > f");
    assert!(daemon.project().read("f").is_none());
    let refused = daemon.post(As::Agent, &format!("/v1/held/{first}/commit"), &json!({}));
    assert_eq!(refused.code(), "person_needed");
    assert_eq!(
        daemon.post(As::Person, &format!("/v1/held/{first}/commit"), &json!({})).status,
        200
    );
    assert_eq!(daemon.project().read("f").as_deref(), Some("x\n"));
    let second = hold("echo y > f");
    assert_eq!(
        daemon.post(As::Person, &format!("/v1/held/{second}/discard"), &json!({})).status,
        200
    );
    assert_eq!(daemon.project().read("f").as_deref(), Some("x\n"));
}

/// What an agent brings along is judged, as if it had exported it itself.
#[test]
fn variables_of_an_agent_are_judged() {
    let daemon = Daemon::start();
    let run = json!({ "command": "git log", "env": { "GIT_PAGER": "touch /tmp/x" }, "wait_ms": 0 });
    let report = daemon.post(As::Agent, "/v1/run", &run).json();
    assert_eq!(report["exit_code"], 126, "{report}");
    let run = json!({ "command": "echo $GREETING", "env": { "GREETING": "hello" } });
    assert_eq!(daemon.post(As::Agent, "/v1/run", &run).json()["stdout"], "hello\n");
}

#[test]
fn nothing_outlives_the_daemon() {
    let daemon = Daemon::start();
    let start = json!({ "command": "python3 -c 'import time; time.sleep(1000)'" });
    let id = daemon.post(As::Agent, "/v1/processes", &start).json()["id"].clone();
    let path = format!("/v1/processes/{}", id.as_str().expect("an id"));
    until("it runs", || (daemon.get(As::Agent, &path).json()["state"] == "running").then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    let mine = daemon.process();
    daemon.end();
    let left: Vec<String> = std::fs::read_dir("/proc")
        .expect("processes")
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok())
        .filter(|status| status.contains(&format!("PPid:\t{mine}\n")))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn only_the_loopback_is_listened_on() {
    let project = support::Project::new();
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0", "nonsense"] {
        let output = project.run(&["serve", "--listen", address]);
        assert_eq!(support::code(&output), 125, "{address}");
    }
}

#[test]
fn metrics_are_for_people() {
    let daemon = Daemon::start();
    daemon.post(As::Agent, "/v1/run", &json!({ "command": "true" }));
    assert_eq!(daemon.get(As::Agent, "/metrics").code(), "person_needed");
    let text = daemon.get(As::Person, "/metrics").body;
    assert!(text.contains("exacta_runs_total 1\n"), "{text}");
    // What runs in the background counts as well, once it has ended.
    daemon.post(As::Agent, "/v1/processes", &json!({ "command": "exit 3" }));
    let text = until("it has ended", || {
        let text = daemon.get(As::Person, "/metrics").body;
        text.contains("exacta_runs_total 2\n").then_some(text)
    });
    for line in [
        "exacta_runs_failed_total 1",
        "exacta_run_seconds_bucket{le=\"+Inf\"} 2",
        "exacta_run_seconds_count 2",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line} in {text}");
    }
}

//! Looking on at what runs, whose things are whose, and clients that are slow.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::HOOK;
use crate::daemon::{As, Daemon};

fn session(daemon: &Daemon, headers: &str) -> String {
    let answer = daemon.call(As::Agent, "POST", "/v1/sessions", headers, "{}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

/// All that comes until this is among it.
fn heard(stream: &mut TcpStream, last: &str) -> String {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains(last) {
        let read = stream.read(&mut piece).expect("it goes on");
        assert_ne!(read, 0, "{last:?} never came: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn a_person_looks_on_at_what_an_agent_runs() {
    let daemon = Daemon::start();
    let id = session(&daemon, "");
    let path = format!("/v1/sessions/{id}/output");
    let mut watching = daemon.ask(As::Person, "GET", &path, "", "");
    heard(&mut watching, "\r\n\r\n");
    let command = "echo first; echo TOKEN=ghp_1B4kq9ZbWfE7XtVn2mPcR8sLdHa3Yu0G5iJo >&2; exit 4";
    let run = json!({ "command": command, "session": id });
    assert_eq!(daemon.post(As::Agent, "/v1/run", &run).json()["exit_code"], 4);
    let seen = heard(&mut watching, "event: ended");
    for part in ["event: started", "echo first", r#"{"stream":"stdout","text":"first\n"}"#] {
        assert!(seen.contains(part), "{part} in {seen}");
    }
    assert!(seen.contains("[REDACTED]") && !seen.contains("ghp_1B4"), "{seen}");
    // Whoever comes later sees the end of it.
    let mut late = daemon.ask(As::Person, "GET", &path, "", "");
    assert!(heard(&mut late, "event: output").contains("first"));
}

#[test]
fn what_belongs_to_another_agent_is_not_there() {
    let daemon = Daemon::start();
    let (own, other) = ("X-Exacta-Agent: anna\r\n", "X-Exacta-Agent: berta\r\n");
    let id = session(&daemon, own);
    let process = daemon.call(
        As::Agent,
        "POST",
        "/v1/processes",
        own,
        &json!({ "command": "cat" }).to_string(),
    );
    let process = process.json()["id"].as_str().expect("an id").to_owned();
    let run = json!({ "command": "echo hi", "session": id }).to_string();
    let asked: [(&str, String, &str); 6] = [
        ("POST", "/v1/run".into(), &run),
        ("GET", format!("/v1/sessions/{id}/output"), ""),
        ("DELETE", format!("/v1/sessions/{id}"), ""),
        ("GET", format!("/v1/processes/{process}"), ""),
        ("POST", format!("/v1/processes/{process}/input"), r#"{"text": "x"}"#),
        ("DELETE", format!("/v1/processes/{process}"), ""),
    ];
    for (method, path, body) in &asked {
        let code = daemon.call(As::Agent, method, path, other, body).code();
        let unknown = if path.contains("process") { "unknown_process" } else { "unknown_session" };
        assert_eq!(code, unknown, "{method} {path}");
    }
    assert_eq!(daemon.call(As::Agent, "POST", "/v1/run", own, &run).json()["stdout"], "hi\n");
    // A person may stop anybody's.
    let path = format!("/v1/processes/{process}");
    assert_eq!(daemon.call(As::Person, "DELETE", &path, "", "").status, 200);
}

#[test]
fn it_describes_itself() {
    let daemon = Daemon::start();
    let answer = daemon.get(As::Nobody, "/openapi.json");
    let described = answer.json();
    assert_eq!((answer.status, &described["openapi"]), (200, &json!("3.1.0")));
    let run = &described["paths"]["/v1/run"]["post"];
    assert_eq!(
        run["requestBody"]["content"]["application/json"]["schema"]["required"],
        json!(["command"])
    );
    // Every field of an answer is described, and no other.
    let report = daemon.post(As::Agent, "/v1/run", &json!({ "command": "true" })).json();
    let of = |value: &Value| -> Vec<String> {
        value.as_object().into_iter().flat_map(|object| object.keys().cloned()).collect()
    };
    let schema = &described["components"]["schemas"]["Report"]["properties"];
    let (mut said, mut described) = (of(&report), of(schema));
    said.sort();
    described.sort();
    assert_eq!(said, described);
}

#[test]
fn the_result_of_a_trial_is_a_persons_until_it_is_approved() {
    let project = crate::support::Project::new();
    let folder = project.root.parent().expect("a home").join(".config/exacta");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "[approval]\nwhen = \"after\"\n").expect("a file");
    let daemon = Daemon::serving(project);
    let command = "echo a-secret-result; echo true > .git/hooks/pre-commit";
    let id = session(&daemon, "");
    let mut watching = daemon.ask(As::Agent, "GET", &format!("/v1/sessions/{id}/output"), "", "");
    heard(&mut watching, "\r\n\r\n");
    let run = json!({ "command": command, "session": id, "stream": true }).to_string();
    let mut running = daemon.ask(As::Agent, "POST", "/v1/run", "", &run);
    let asked = heard(&mut running, "event: approval");
    let approvals = daemon.get(As::Agent, "/v1/approvals").body;
    for seen in [asked, approvals, heard(&mut watching, "event: approval")] {
        assert!(!seen.contains("\"a-secret-result") && !seen.contains("+true"), "{seen}");
    }
    let pending = daemon.get(As::Person, "/v1/approvals").json();
    assert_eq!(pending[0]["tried"]["stdout"], "a-secret-result\n", "{pending}");
    assert!(daemon.project().read(".git/hooks/pre-commit").is_none());
    let path = format!("/v1/approvals/{}", pending[0]["id"].as_str().expect("an id"));
    let decided = daemon.post(As::Person, &path, &json!({ "decision": "approve" }));
    assert_eq!(decided.status, 200, "{decided:?}");
    let ended = heard(&mut running, "event: ended");
    assert!(ended.contains("a-secret-result"), "{ended}");
    assert_eq!(daemon.project().read(".git/hooks/pre-commit").as_deref(), Some("true\n"));
}

/// A head that never ends, a body that never comes, an answer that nobody reads: each is cut, and others do not wait for it.
#[test]
fn slow_clients_are_cut() {
    let daemon = Daemon::start();
    let begun = Instant::now();
    let mut head = TcpStream::connect(("127.0.0.1", daemon.port())).expect("it listens");
    head.write_all(b"GET /v1/projects HTTP/1.1\r\nHost: x\r\nX-Slow: ").expect("it reads");
    let mut body = TcpStream::connect(("127.0.0.1", daemon.port())).expect("it listens");
    let said = format!(
        "POST /v1/run HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Length: 100\r\n\r\n{{",
        daemon.port(),
        daemon.token(As::Agent)
    );
    body.write_all(said.as_bytes()).expect("it reads");
    assert_eq!(daemon.get(As::Person, "/v1/projects").status, 200, "others are answered");
    assert!(begun.elapsed() < Duration::from_secs(5), "others have waited");
    let patience = Some(Duration::from_secs(25));
    let mut answer = String::new();
    body.set_read_timeout(patience).expect("a timeout");
    body.read_to_string(&mut answer).expect("it is ended");
    assert!(answer.contains("too_slow"), "{answer}");
    let mut rest = Vec::new();
    head.set_read_timeout(patience).expect("a timeout");
    head.read_to_end(&mut rest).expect("it is ended");
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
}

#[test]
fn what_a_question_would_change_can_be_seen() {
    let daemon = Daemon::start();
    daemon.project().write("notes", "one\n");
    let command = format!("echo two >> notes; {HOOK}");
    let run = json!({ "command": command, "wait_ms": 0 });
    assert_eq!(daemon.post(As::Agent, "/v1/run", &run).json()["exit_code"], 126);
    let all = daemon.get(As::Person, "/v1/approvals").json();
    let path = format!("/v1/approvals/{}/preview", all[0]["id"].as_str().expect("an id"));
    // It is for whoever decides.
    assert_eq!(daemon.post(As::Agent, &path, &json!({})).status, 403);
    let tried = daemon.post(As::Person, &path, &json!({})).json();
    let changes = tried["changes"].as_str().unwrap_or_default();
    assert!(changes.contains("+two") && changes.contains("pre-commit"), "{tried}");
    assert_eq!(daemon.project().read("notes").as_deref(), Some("one\n"));
    let after = daemon.get(As::Person, "/v1/approvals").json();
    assert_eq!(after[0]["state"], "pending", "{after}");
    assert_eq!(after.as_array().map(Vec::len), Some(1), "{after}");
}

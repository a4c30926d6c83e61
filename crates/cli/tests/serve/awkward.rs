//! What goes wrong between a daemon and its clients: they vanish, decide twice, come late, or there are two daemons.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::HOOK;
use crate::daemon::{As, Daemon, until};
use crate::support::Project;

fn alive(marker: &str) -> bool {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let mut lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(marker))
}

fn question(daemon: &Daemon) -> String {
    until("nobody has asked", || {
        let all = daemon.get(As::Person, "/v1/approvals").json();
        all.as_array()?.iter().find(|one| one["state"] == "pending")?["id"]
            .as_str()
            .map(str::to_owned)
    })
}

#[test]
fn who_vanishes_leaves_nothing_running() {
    let daemon = Daemon::start();
    let project = daemon.project();
    project.write("slow-73737.pl", "fork; $SIG{TERM} = q(IGNORE); sleep 60");
    let id = daemon.post(As::Agent, "/v1/sessions", &json!({})).json();
    for stream in [false, true] {
        for session in [Value::Null, id["id"].clone()] {
            let run =
                json!({ "command": "perl slow-73737.pl", "session": session, "stream": stream });
            let client = daemon.ask(As::Agent, "POST", "/v1/run", "", &run.to_string());
            until("it has not begun", || alive("slow-73737").then_some(()));
            drop(client);
            until("it still runs", || (!alive("slow-73737")).then_some(()));
        }
    }
    let run = json!({ "command": "echo on", "session": id["id"] });
    let report = until("the session is not free again", || {
        let answer = daemon.post(As::Agent, "/v1/run", &run);
        (answer.status == 200).then(|| answer.json())
    });
    assert_eq!(report["stdout"], "on\n");
}

#[test]
fn of_many_decisions_one_counts() {
    let daemon = Daemon::start();
    let run = json!({ "command": HOOK, "wait_ms": 0 });
    assert_eq!(daemon.post(As::Agent, "/v1/run", &run).json()["exit_code"], 126);
    let path = format!("/v1/approvals/{}", question(&daemon));
    let answers: Vec<_> = std::thread::scope(|scope| {
        let decide = |number: usize| {
            let decision = if number.is_multiple_of(2) { "approve" } else { "deny" };
            daemon.post(As::Person, &path, &json!({ "decision": decision }))
        };
        let all: Vec<_> = (0..8).map(|number| scope.spawn(move || decide(number))).collect();
        all.into_iter().map(|one| one.join().expect("an answer")).collect()
    });
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!((answer.status, answer.code().as_str()), (409, "already_decided"));
    }
    let decided = daemon.get(As::Person, &path).json();
    assert_eq!(decided["state"], won[0].json()["state"]);
}

#[test]
fn what_is_too_old_is_denied() {
    let daemon = Daemon::start();
    let run = json!({ "command": HOOK, "wait_ms": 0 });
    daemon.post(As::Agent, "/v1/run", &run);
    let id = question(&daemon);
    let file = daemon.project().root.join(format!(".clada/approvals/{id}.json"));
    let mut asked: Value =
        serde_json::from_slice(&fs::read(&file).expect("the question")).expect("JSON");
    asked["expires"] = json!(asked["created"].as_u64().expect("a time") - 1);
    fs::write(&file, asked.to_string()).expect("an older one");
    let late =
        daemon.post(As::Person, &format!("/v1/approvals/{id}"), &json!({ "decision": "approve" }));
    assert_eq!((late.status, late.code().as_str()), (409, "already_decided"));
    assert_eq!(daemon.post(As::Agent, "/v1/run", &run).json()["exit_code"], 126);
    assert!(daemon.project().read(".git/hooks/pre-commit").is_none());
}

#[test]
fn two_daemons_on_one_project_agree() {
    let one = Daemon::start();
    let root = one.project().root.clone();
    // The same person's: one key, one pair of tokens.
    let second = Project::new();
    let home = |of: &std::path::Path| of.parent().expect("a home").join(".local");
    std::os::unix::fs::symlink(home(&root), home(&second.root)).expect("a link");
    let other = Daemon::with(second, &["--project", root.to_str().expect("a plain path")], &[]);
    let named = json!({ "project": root.to_str(), "command": HOOK, "stream": true });
    let mut waits = other.ask(As::Agent, "POST", "/v1/run", "", &named.to_string());
    let path = format!("/v1/approvals/{}", question(&one));
    assert_eq!(one.post(As::Person, &path, &json!({ "decision": "approve" })).status, 200);
    let mut events = String::new();
    waits.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    std::io::Read::read_to_string(&mut waits, &mut events).expect("it ends");
    assert!(events.contains("\"exit_code\":0"), "{events}");
    std::thread::scope(|scope| {
        for (daemon, name) in [(&one, "one"), (&other, "other")] {
            let root = root.to_str();
            scope.spawn(move || {
                for number in 0..10 {
                    let command = format!("echo {number} > {name}-{number}");
                    let run = json!({ "project": root, "command": command });
                    assert_eq!(daemon.post(As::Agent, "/v1/run", &run).json()["exit_code"], 0);
                }
            });
        }
    });
    for name in ["one", "other"] {
        assert_eq!(one.project().read(&format!("{name}-9")).as_deref(), Some("9\n"));
    }
    let undone = one.post(As::Person, "/v1/undo", &json!({}));
    assert_eq!(undone.status, 200, "{undone:?}");
    let verified = one.project().run(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

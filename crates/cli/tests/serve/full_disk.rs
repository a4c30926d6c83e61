//! A daemon whose disk is full: what cannot be recorded is not done, nothing is lost, and all goes on when there is room again.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::daemon::{As, Daemon};
use crate::support::Project;

fn run(daemon: &Daemon, command: &str) -> Value {
    daemon.post(As::Agent, "/v1/run", &json!({ "command": command })).json()
}

/// The project as the daemon sees it.
fn inside(daemon: &Daemon) -> PathBuf {
    let root = daemon.project().root.strip_prefix("/").expect("an absolute path").to_owned();
    PathBuf::from(format!("/proc/{}/root", daemon.process())).join(root)
}

/// Until there is no room for a single byte.
fn fill(path: &std::path::Path) {
    let mut size = 1 << 20;
    let mut file = fs::File::create(path).expect("a file");
    while size > 0 {
        use std::io::Write as _;
        if file.write_all(&vec![b'x'; size]).is_err() {
            size /= 2;
        }
    }
}

#[test]
fn what_cannot_be_recorded_is_not_done() {
    let daemon = Daemon::on_small_disk(Project::new(), "8m");
    let root = inside(&daemon);
    assert_eq!(run(&daemon, "echo before > kept")["exit_code"], 0);
    fill(&root.join("filler"));
    for command in ["echo after > kept", "echo x >> kept", "rm kept", "seq 100000 > new"] {
        let report = run(&daemon, command);
        let said = report["stderr"].as_str().unwrap_or_default();
        assert_eq!(report["exit_code"], 125, "{command}: {report}");
        assert!(said.contains("No space left on device") || said.contains("full"), "{report}");
        assert_eq!(fs::read_to_string(root.join("kept")).ok().as_deref(), Some("before\n"));
        assert!(!root.join("new").exists(), "{command}");
    }
    assert_eq!(daemon.get(As::Person, "/v1/status").status, 200);
    fs::remove_file(root.join("filler")).expect("it is there");
    let report = run(&daemon, "echo after > kept && cat kept");
    assert_eq!(
        (&report["exit_code"], &report["stdout"]),
        (&json!(0), &json!("after\n")),
        "{report}"
    );
    let history = daemon.get(As::Person, "/v1/history").json().to_string();
    assert!(history.contains("echo before > kept"), "{history}");
}

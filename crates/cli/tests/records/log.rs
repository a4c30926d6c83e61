//! `log`.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::project::{BINARY, Project};

#[test]
fn nothing_was_recorded() {
    let project = Project::bare();
    let said = project.exacta(&["log"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert_eq!(said.err, "nothing was recorded in this project\n");
    assert_eq!(project.exacta(&["log", "--json"]).out, "[]\n");
    assert!(!project.at(".clada").exists());
}

#[test]
fn newest_first_in_a_pipe() {
    let project = Project::new();
    project.edit("a", "1");
    project.edit("a", "2");
    project.edit("b", "1");
    assert_eq!(project.exacta(&["undo"]).code, 0);
    let said = project.exacta(&["log"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = said.out.lines().map(|line| line.split('\t').collect()).collect();
    let without_time: Vec<Vec<&str>> =
        rows.iter().map(|row| [&row[..1], &row[2..]].concat()).collect();
    assert_eq!(
        without_time,
        [
            ["3", "undone", "+1", "0", "edit b"],
            ["2", "applied", "~1", "0", "edit a"],
            ["1", "applied", "+1", "0", "edit a"],
        ]
    );
    assert_eq!(rows[0][1].len(), "2026-11-15 23:04:53".len());
    assert!(!said.out.contains('\x1b'));
}

#[test]
fn only_so_many() {
    let project = Project::new();
    for content in ["1", "2", "3"] {
        project.edit("a", content);
    }
    let said = project.exacta(&["log", "--limit", "2"]);
    assert_eq!(said.out.lines().map(|line| &line[..1]).collect::<Vec<_>>(), ["3", "2"]);
    let json = project.exacta(&["log", "--limit=1", "--json"]).json();
    assert_eq!(json.as_array().expect("a list").len(), 1);
}

#[test]
fn as_json() {
    let project = Project::new();
    project.write("f", "x");
    project.request("rm f; echo $'\\e'", |recording| recording.delete(b"f").expect("deleted"));
    let json = project.exacta(&["log", "--json"]).json();
    let mut record = json[0].clone();
    let time = record["time"].take();
    assert!(time.as_str().expect("a time").ends_with('Z'), "{time}");
    assert_eq!(
        record,
        json!({
            "id": 1, "time": null, "state": "applied", "exit_code": 0, "strategy": "restore", "irreversible": [],
            "paths": { "created": 0, "modified": 0, "deleted": 1, "moved": 0 },
            "command": "rm f; echo $'\\e'", "working_dir": ".", "session": "test", "next": null,
        })
    );
}

#[test]
fn every_state() {
    let project = Project::new();
    project.edit("a", "1");
    project.edit("b", "1");
    project.exacta(&["undo", "2"]);
    let held = project.hold("echo x > c");
    let dropped = project.hold("echo x > d");
    assert_eq!(project.exacta(&["discard", &dropped.to_string()]).code, 0);
    project.edit("e", "1");
    fs::write(project.at(".clada/undo/log/000000005.rec"), "nonsense").expect("written");
    let said = project.exacta(&["log"]);
    let states: Vec<&str> = said.out.lines().filter_map(|line| line.split('\t').nth(2)).collect();
    assert_eq!(states, ["damaged", "discarded", "held", "undone", "applied"]);
    assert_eq!(
        said.err,
        format!(
            "hint: {held} is held: exacta diff {held}, then exacta commit {held} or exacta discard {held}\n"
        )
    );
    let json = project.exacta(&["log", "--json"]).json();
    assert_eq!(json[2]["next"], json!(["exacta diff 3", "exacta commit 3", "exacta discard 3"]));
    assert_eq!(json[2]["paths"]["created"], 1);
    assert_eq!((&json[0]["state"], &json[0]["paths"]), (&json!("damaged"), &json!(null)));
}

#[test]
fn a_command_cannot_move_the_cursor() {
    let project = Project::new();
    project.request("echo a\x1b[2J\r\nrm -rf /", |recording| project.make(recording, "f", "x"));
    let said = project.exacta(&["log"]);
    assert!(said.out.contains(r"echo a\u{1b}[2J\r\nrm -rf /"), "{}", said.out);
    assert_eq!(said.out.lines().count(), 1);
}

#[test]
fn a_long_command_is_cut() {
    let project = Project::new();
    project.request(&"x".repeat(5000), |recording| project.make(recording, "f", "x"));
    let said = project.exacta(&["log"]);
    assert!(said.out.trim_end().ends_with("xxx…"), "{}", said.out);
    assert!(said.out.len() < 400);
}

#[test]
fn on_a_terminal_there_are_colours_and_headings() {
    let project = Project::new();
    project.edit("a", "1");
    let said = project.on_terminal("log", &[]);
    assert!(said.out.contains("\x1b[1mID"), "{:?}", said.out);
    assert!(said.out.contains("\x1b[32mapplied\x1b[0m"), "{:?}", said.out);
    let plain = project.on_terminal("log", &[("NO_COLOR", "1")]);
    assert!(plain.out.starts_with("ID  TIME"), "{:?}", plain.out);
    assert!(!plain.out.contains('\x1b'), "{:?}", plain.out);
}

#[test]
fn times_are_the_operators() {
    let project = Project::new();
    let recording = project.journal().begin(exacta_store::About {
        command: "x".into(),
        time: exacta_store::Time { seconds: 1_700_000_000, nanos: 0 },
        ..exacta_store::About::default()
    });
    project.make(&recording, "f", "x");
    recording.finish(exacta_store::Outcome::default()).expect("a record");
    for (zone, time) in [("UTC", "2023-11-14 22:13:20"), ("Europe/Berlin", "2023-11-14 23:13:20")] {
        let output = project.command(BINARY).arg("log").env("TZ", zone).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(time), "{zone}: {text}");
    }
}

#[test]
fn a_pipe_that_is_closed_is_no_failure() {
    let project = Project::new();
    project.write("f", "");
    project.edit("f", &"line\n".repeat(200_000));
    for verb in ["log", "diff"] {
        let mut child =
            project.command(BINARY).arg(verb).stdout(Stdio::piped()).spawn().expect("it runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{verb}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{verb}");
    }
}

#[test]
fn for_completions() {
    let project = Project::new();
    project.edit("a", "1");
    project.request("echo\tone\ntwo", |recording| project.make(recording, "b", "x"));
    let said = project.exacta(&["log", "--ids"]);
    assert_eq!(said.out, "2\tapplied\techo\\tone\\ntwo\n1\tapplied\tedit a\n");
    assert!(!project.exacta(&["--help"]).out.contains("--ids"));
}

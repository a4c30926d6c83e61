//! S4's tables and texts to the letter, and its lists while commands run. Its lists before anything runs are tested where they
//! are judged: `crates/policy/tests/tasks.rs`.

#![expect(clippy::expect_used, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use exacta::gate::{Face, Judgement};
use exacta::policy::rules::TaskList;
use exacta::policy::{Policy, Profile, TASK_IRREVERSIBLE, TASK_NOT_LISTED};
use exacta::tasks::plan::{USUAL_BACKOFF, USUAL_OUTPUT, USUAL_RETRIES, USUAL_TIMEOUT};
use exacta::tasks::{LogEntry, LogKind, PlannedStep, Retry, State};
use exacta::{Request, Session, SessionOptions, Storage};
use serde_json::json;

/// Command timeout: 60 seconds. Output buffer: 10KB per command. Retry attempts: 3 (with exponential backoff).
#[test]
fn resource_limits() {
    assert_eq!(USUAL_TIMEOUT, Duration::from_secs(60));
    assert_eq!(PlannedStep::default().time_limit(), Duration::from_secs(60));
    assert_eq!(USUAL_OUTPUT, 10 * 1024);
    assert_eq!(USUAL_RETRIES, 3);
    assert_eq!(Retry::default(), Retry { attempts: 3, backoff: USUAL_BACKOFF });
}

/// `{ timestamp: Date.now(), type: "command", content: "npm run build" }`, or "output", "error", "info".
#[test]
fn execution_log_entry() {
    for (kind, name) in [
        (LogKind::Command, "command"),
        (LogKind::Output, "output"),
        (LogKind::Error, "error"),
        (LogKind::Info, "info"),
    ] {
        let entry =
            LogEntry { timestamp: 1_700_000_000_000, kind, content: "npm run build".to_owned() };
        let text = serde_json::to_string(&entry).expect("JSON");
        let expected =
            format!(r#"{{"timestamp":1700000000000,"type":"{name}","content":"npm run build"}}"#);
        assert_eq!(text, expected);
        let read: LogEntry = serde_json::from_str(&expected).expect("an entry");
        assert_eq!(read, entry);
    }
}

/// Task status → `pending_approval`.
#[test]
fn status_at_the_approval_gate() {
    assert_eq!(json!(State::PendingApproval), json!("pending_approval"));
    assert_eq!(State::PendingApproval.name(), "pending_approval");
}

/// A session in memory whose commands are those of a task, with nobody to ask.
fn session(face: Face) -> Session {
    let policy = Policy::builtin(Profile::FullAuto).expect("the built-in rules");
    let policy = Arc::new(policy.for_tasks(TaskList::default()));
    let standard = Judgement::standard().expect("the built-in rules");
    let mut options = SessionOptions::new("/project");
    options.storage = Storage::Memory;
    options.judgement = Some(Judgement { policy, face, ..standard });
    Session::new(options).expect("a session")
}

/// The rule that decided, in both faces: the one looks at the whole text first, the other only at what happens.
fn decided(text: &str) -> [String; 2] {
    [Face::Run, Face::Shell].map(|face| {
        let outcome = session(face).run(&Request::new(text));
        outcome.judged.rule().to_owned()
    })
}

#[test]
fn what_is_not_on_the_list_does_not_run() {
    for text in [
        "mkdir x",
        "touch x",
        "basename x",
        "sort x",
        "sleep 0",
        "env mkdir x",
        "find . -maxdepth 0 -exec mkdir x \\;",
        "X=mkdir; $X y",
        "ls() { mkdir x; }; ls",
        "shopt -s expand_aliases\nalias ls='mkdir x'\nls",
        "command mkdir x",
        "echo $(mkdir x)",
        "echo x | xargs mkdir",
        "eval 'mkdir x'",
        "bash -c 'mkdir x'",
        "trap 'mkdir x' EXIT",
        "f() { mkdir x; }; mapfile -C f -c 1 a <<< x",
    ] {
        assert_eq!(decided(text), [TASK_NOT_LISTED; 2], "{text}");
    }
}

#[test]
fn what_cannot_be_taken_back_waits() {
    for text in [
        "rm x",
        "env rm x",
        "find . -maxdepth 0 -exec rm x \\;",
        "X=rm; $X y",
        "ls() { rm x; }; ls",
        "shopt -s expand_aliases\nalias ls='rm x'\nls",
        "command rm x",
        "echo $(rm x)",
        "chmod +x x",
        "find . -delete",
    ] {
        assert_eq!(decided(text), [TASK_IRREVERSIBLE; 2], "{text}");
    }
}

#[test]
fn what_is_on_the_list_runs() {
    for text in [
        "echo 'rm -rf /' > x; cat x; ls; wc -l x; head x; tail x; grep sudo x; pwd; date; env",
        "cd .; for i in 1 2; do [ $i = 1 ] && echo $i; done; true",
        "build() { echo \"$1\"; }; build reset",
        "find . -name x -exec cat {} \\;",
    ] {
        for face in [Face::Run, Face::Shell] {
            let outcome = session(face).run(&Request::new(text));
            let said = String::from_utf8_lossy(&outcome.stderr);
            assert!(outcome.judged.reason() != "" && said.is_empty(), "{text}: {said}");
            assert_ne!(outcome.judged.rule(), TASK_NOT_LISTED, "{text}");
            assert_ne!(outcome.judged.rule(), TASK_IRREVERSIBLE, "{text}");
        }
    }
}

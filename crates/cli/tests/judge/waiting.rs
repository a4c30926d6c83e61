//! `run --wait`: the call that asked goes on when somebody has decided, at whichever door.

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Project, code, text};
use crate::{HOOK, pending};

const HOOK_FILE: &str = ".git/hooks/pre-commit";

fn waiting(project: &Project, options: &[&str]) -> Child {
    let words = [&["run"], options, &["--", HOOK]].concat();
    let mut command = project.command(&words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// The id of the question, as soon as there is one.
fn question(project: &Project) -> String {
    let begun = Instant::now();
    loop {
        if let Some(id) = pending(project).first().and_then(|question| question["id"].as_str()) {
            return id.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody has asked");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

#[test]
fn what_is_approved_goes_on() {
    let project = Project::new();
    let child = waiting(&project, &["--wait", "60s", "--goal", "a hook for commits"]);
    let id = question(&project);
    let shown = text(&project.run(&["approvals", "show", &id]).stdout);
    assert!(shown.contains("for a hook for commits"), "{shown}");
    assert!(project.read(HOOK_FILE).is_none());
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 0);
    let output = ended(child);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains(&format!("approvals approve {id}")));
    assert_eq!(project.read(HOOK_FILE).as_deref(), Some("true\n"));
    // It is used up, and who has decided is on file.
    let used = &pending(&project)[0];
    assert_eq!((&used["state"], &used["door"]), (&"used".into(), &"command line".into()));
    assert!(used["by"].as_str().is_some_and(|by| by.contains("uid ")), "{used}");
    assert!(used["decided"].as_u64().is_some_and(|time| time > 0));
}

#[test]
fn what_is_denied_ends() {
    let project = Project::new();
    let child = waiting(&project, &["--wait", "60s"]);
    let id = question(&project);
    assert_eq!(code(&project.run(&["approvals", "deny", &id])), 0);
    let output = ended(child);
    assert_eq!(code(&output), 126);
    assert!(text(&output.stderr).contains("denied by "), "{}", text(&output.stderr));
    assert!(project.read(HOOK_FILE).is_none());
}

#[test]
fn who_waits_in_vain_can_come_again() {
    let project = Project::new();
    let output = ended(waiting(&project, &["--wait", "200ms"]));
    assert_eq!(code(&output), 126);
    let id = question(&project);
    assert!(text(&output.stderr).contains(&id), "{}", text(&output.stderr));
    assert_eq!(pending(&project)[0]["state"], "pending");
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 0);
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 0);
}

#[test]
fn waiting_is_none_of_the_time_of_a_request() {
    let project = Project::new();
    let child = waiting(&project, &["--wait", "60s", "--timeout", "1s"]);
    let id = question(&project);
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 0);
    let output = ended(child);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

#[test]
fn the_first_decision_wins_and_the_second_is_told() {
    let project = Project::new();
    let child = waiting(&project, &["--wait", "60s"]);
    let id = question(&project);
    assert_eq!(code(&project.run(&["approvals", "deny", &id])), 0);
    let second = project.run(&["approvals", "approve", &id]);
    assert_eq!(code(&second), 125);
    let said = text(&second.stderr);
    assert!(said.contains("denied already: by ") && said.contains("(command line)"), "{said}");
    assert_eq!(code(&ended(child)), 126);
}

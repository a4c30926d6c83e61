//! Tasks that are ended: from another process, by a signal, by the death of whoever runs them.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::support::{Project, code, text};
use super::{begun, finished, id, newest, plan, project, report, until};

fn running(project: &Project) -> String {
    until("a running step", || {
        let task = newest(project).filter(|task| task["state"] == "running")?;
        // The step has begun when its command is in the log.
        let log = text(&project.run(&["task", "log", &id(&task)]).stdout);
        log.contains("| begun").then(|| id(&task))
    })
}

#[test]
fn cancelled_by_another_process() {
    let project = project();
    plan(
        &project,
        &["echo kept > kept.txt", "echo half > half.txt; echo begun; sleep 60", "echo never"],
    );
    let child = begun(&project, &["run", "plan.toml"]);
    let id = running(&project);
    let output = project.run(&["task", "run", &id]);
    assert_eq!(code(&output), 1, "one works on it");
    assert!(text(&output.stderr).contains("another process works on task"));
    let (status, cancelled) = report(&project, &["cancel", &id]);
    assert_eq!((status, &cancelled["state"]), (0, &"cancelled".into()), "{cancelled}");
    let (status, said) = finished(child);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("State: cancelled (cancelled by "), "{said}");
    assert_eq!(project.read("kept.txt").as_deref(), Some("kept\n"));
    assert_eq!(project.read("half.txt"), None, "half of a step is taken back");
    assert_eq!(code(&project.run(&["task", "cancel", &id])), 1);
}

#[test]
fn interrupted() {
    let project = project();
    plan(&project, &["echo half > half.txt; echo begun; sleep 60"]);
    let child = begun(&project, &["run", "plan.toml"]);
    running(&project);
    let process = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    kill(process, Signal::SIGINT).expect("it is there");
    let (status, said) = finished(child);
    assert_eq!(status, 130, "{said}");
    assert!(said.contains("State: cancelled (cancelled by SIGINT)"), "{said}");
    assert_eq!(project.read("half.txt"), None);
}

#[test]
fn whoever_ran_it_has_died() {
    let project = project();
    project.write(
        "plan.toml",
        "goal = \"g\"\n[[steps]]\ncommand = \"echo begun; test -e there || sleep 60\"\nidempotent = true\n",
    );
    let mut child = begun(&project, &["run", "plan.toml"]);
    let id = running(&project);
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    project.write("there", "");
    let said = text(&project.run(&["task", "list"]).stderr);
    assert!(said.contains(&format!("exacta: task {id} was left running: ")), "{said}");
    assert!(said.contains(&format!("`exacta task run {id}` goes on with it")), "{said}");
    // Told once.
    assert!(!text(&project.run(&["task", "list"]).stderr).contains("was left"));
    let (_, left) = report(&project, &["show", &id]);
    let next = [format!("exacta task run {id}"), format!("exacta task cancel {id}")];
    assert_eq!(left["next"], serde_json::json!(next), "{left}");
    let (status, done) = report(&project, &["run", &id]);
    assert_eq!((status, &done["state"]), (0, &"completed".into()), "{done}");
}

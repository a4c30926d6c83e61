//! The approval gate: who is asked, through which door it is answered, and what follows.

use std::time::Duration;

use serde_json::Value;

use super::support::{Project, code, text};
use super::{begun, finished, id, newest, plan, project, report, until};

/// A task that waits at the gate.
fn waiting(project: &Project) -> Value {
    project.write("old.txt", "old\n");
    plan(project, &["echo new > new.txt", "rm old.txt"]);
    let (status, report) = report(project, &["run", "plan.toml"]);
    assert_eq!((status, &report["state"]), (3, &"pending_approval".into()), "{report}");
    report
}

#[test]
fn without_a_terminal_it_waits_and_says_how_to_decide() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["echo new > new.txt", "rm old.txt"]);
    // Whoever feeds it cannot answer.
    let output = project.feed(&["task", "run", "plan.toml"], "y\ny\nyes\n");
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(code(&output), 3, "{shown}{said}");
    assert_eq!(
        shown,
        "Goal: be done\nPlan:\n  1. echo new > new.txt\n  2. rm old.txt\n\
         Irreversible Command: rm old.txt (step 2: irreversible keyword `rm`)\n"
    );
    assert_eq!(project.read("new.txt"), None, "nothing of it has run");
    for expected in
        ["hint: exacta task approve ", "exacta task reject ", "exacta approvals approve "]
    {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn approved_it_goes_on() {
    let project = project();
    let id = id(&waiting(&project));
    let shown = text(&project.run(&["task", "show", &id]).stdout);
    assert!(shown.contains("\nIrreversible Command: rm old.txt"), "{shown}");
    let output = project.run(&["task", "approve", &id]);
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(code(&output), 0, "{shown}{said}");
    assert!(shown.contains("State: completed"), "{shown}");
    assert_eq!((project.read("old.txt"), project.read("new.txt").is_some()), (None, true));
    let (_, history) = (0, text(&project.run(&["shell", "history"]).stdout));
    assert!(history.contains(&format!("exacta task approve {id}")), "{history}");
    assert_eq!(code(&project.run(&["task", "approve", &id])), 1);
}

#[test]
fn approved_twice() {
    let project = project();
    let id = id(&waiting(&project));
    assert_eq!(code(&project.run(&["task", "approve", &id, "--no-run"])), 0);
    let (status, error) = report(&project, &["approve", &id]);
    assert_eq!(status, 1, "{error}");
    assert!(
        error["error"].as_str().is_some_and(|it| it.contains("is approved already")),
        "{error}"
    );
    assert!(error["hint"].as_str().is_some_and(|it| it.contains("exacta task run")), "{error}");
    let (status, done) = report(&project, &["run", &id]);
    assert_eq!((status, &done["state"]), (0, &"completed".into()), "{done}");
}

#[test]
fn rejected_it_has_failed() {
    let project = project();
    let id = id(&waiting(&project));
    let (status, rejected) = report(&project, &["reject", &id]);
    assert_eq!(
        (status, &rejected["state"], &rejected["denied"]),
        (0, &"failed".into(), &true.into())
    );
    assert!(rejected["reason"].as_str().is_some_and(|why| why.starts_with("rejected by ")));
    assert!(project.read("old.txt").is_some() && project.read("new.txt").is_none());
    let output = project.run(&["task", "run", &id]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("exacta task retry"), "{}", text(&output.stderr));
}

#[test]
fn through_the_door_of_all_approvals() {
    let project = project();
    let report = waiting(&project);
    let (id, question) = (id(&report), report["approval"].as_str().expect("a question"));
    let output = project.run(&["approvals", "approve", question]);
    assert_eq!(code(&output), 0);
    assert!(text(&output.stdout).contains(&format!("exacta task run {id} goes on with it")));
    let (status, done) = super::report(&project, &["run", &id]);
    assert_eq!((status, &done["state"]), (0, &"completed".into()), "{done}");
    // And denied there, it is denied here.
    let report = waiting(&project);
    let (id, question) = (super::id(&report), report["approval"].as_str().expect("a question"));
    assert_eq!(code(&project.run(&["approvals", "deny", question])), 0);
    let (status, done) = super::report(&project, &["run", &id]);
    assert_eq!((status, &done["denied"]), (4, &true.into()), "{done}");
}

#[test]
fn answered_beforehand() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["rm old.txt"]);
    let (status, refused) = report(&project, &["run", "plan.toml", "--no-input"]);
    assert_eq!((status, &refused["state"]), (4, &"failed".into()), "{refused}");
    assert!(refused["reason"].as_str().is_some_and(|why| why.contains("--no-input")), "{refused}");
    assert!(project.read("old.txt").is_some());
    let (status, done) = report(&project, &["run", "plan.toml", "--yes"]);
    assert_eq!((status, &done["state"]), (0, &"completed".into()), "{done}");
    assert!(done["approved_by"].as_str().is_some_and(|who| who.contains("--yes")), "{done}");
}

#[test]
fn one_step_after_the_other() {
    let project = project();
    project.write("a", "").write("b", "");
    plan(&project, &["echo x > c", "rm a", "rm b"]);
    let (status, report) = report(&project, &["run", "plan.toml", "--step-by-step"]);
    let id = id(&report);
    // It has come as far as the first that needs a yes.
    assert_eq!((status, project.read("c").is_some()), (3, true), "{report}");
    let (status, report) = super::report(&project, &["approve", &id]);
    assert_eq!(
        (status, project.read("a"), project.read("b").is_some()),
        (3, None, true),
        "{report}"
    );
    let (status, report) = super::report(&project, &["approve", &id, "--step", "3"]);
    assert_eq!((status, project.read("b")), (0, None), "{report}");
}

#[test]
fn only_one_step_of_a_plan() {
    let project = project();
    project.write("a", "").write("b", "");
    plan(&project, &["rm a", "rm b"]);
    let (status, report) = report(&project, &["run", "plan.toml"]);
    let id = id(&report);
    assert_eq!((status, &report["asks"]), (3, &serde_json::json!([1, 2])));
    assert_eq!(code(&project.run(&["task", "approve", &id, "--step", "3"])), 1);
    let (status, report) = super::report(&project, &["approve", &id, "--step", "1"]);
    assert_eq!(
        (status, project.read("a"), project.read("b").is_some()),
        (3, None, true),
        "{report}"
    );
    let (status, report) = super::report(&project, &["reject", &id]);
    assert_eq!((status, &report["steps"][0]["state"]), (0, &"done".into()), "{report}");
}

#[test]
fn two_hear_the_same_answer() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["rm old.txt", "echo once >> count.txt"]);
    let child = begun(&project, &["run", "plan.toml", "--wait", "60s"]);
    let id = until("a question", || {
        newest(&project)
            .filter(|task| task["state"] == "pending_approval")
            .map(|task| super::id(&task))
    });
    // This one goes on in the foreground, if it is faster.
    let (status, done) = report(&project, &["approve", &id]);
    assert_eq!((status, &done["state"]), (0, &"completed".into()), "{done}");
    assert_eq!(finished(child).0, 0);
    assert_eq!(project.read("count.txt").as_deref(), Some("once\n"));
}

#[test]
fn it_waits_for_whoever_answers() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["rm old.txt"]);
    let child = begun(&project, &["run", "plan.toml", "--wait", "60s"]);
    let id = until("a question", || {
        newest(&project)
            .filter(|task| task["state"] == "pending_approval")
            .map(|task| super::id(&task))
    });
    let (status, left) = report(&project, &["approve", &id, "--no-run"]);
    assert_eq!(status, 0, "{left}");
    let (status, said) = finished(child);
    assert_eq!((status, project.read("old.txt")), (0, None), "{said}");
    assert!(said.contains("waits for an approval"), "{said}");
    // And it does not wait for ever.
    project.write("old.txt", "old\n");
    let begun = std::time::Instant::now();
    let (status, _) = report(&project, &["run", "plan.toml", "--wait", "300ms"]);
    assert!(status == 3 && begun.elapsed() > Duration::from_millis(300));
}

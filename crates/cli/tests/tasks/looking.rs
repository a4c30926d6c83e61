//! What can be seen of tasks: lists, one of them, its log while it runs.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use super::support::{code, text};
use super::{begun, finished, id, newest, plan, project, report, until};

#[test]
fn a_list_of_them() {
    let project = project();
    assert_eq!(
        text(&project.run(&["task", "list"]).stderr),
        "there are no such tasks in this project\n"
    );
    assert!(!project.root.join(".clada").exists(), "looking leaves nothing behind");
    plan(&project, &["echo a"]);
    project.run(&["task", "run", "plan.toml", "--agent", "anna"]);
    plan(&project, &["cat missing"]);
    project.run(&["task", "run", "plan.toml", "--agent", "berta"]);
    let (_, list) = report(&project, &["list"]);
    assert_eq!(list["schema_version"], 1);
    let agents: Vec<&str> = list["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .filter_map(|task| task["agent"].as_str())
        .collect();
    assert_eq!(agents, ["berta", "anna"]);
    assert_eq!(list["tasks"][1]["done"], 1);
    let shown = text(&project.run(&["task", "list", "--state", "failed"]).stdout);
    assert!(
        shown.contains("\tfailed\t0/1\tberta\tbe done\n") && shown.lines().count() == 1,
        "{shown}"
    );
    let shown = text(&project.run(&["task", "list", "--agent", "anna"]).stdout);
    assert!(shown.contains("\tcompleted\t1/1\tanna\t"), "{shown}");
    let ids = text(&project.run(&["task", "list", "--ids"]).stdout);
    assert!(ids.lines().next().is_some_and(|line| line.ends_with("\tfailed\tbe done")), "{ids}");
}

#[test]
fn one_of_them_by_the_beginning_of_its_id() {
    let project = project();
    plan(&project, &["echo a > a.txt", "printf '\\033[2Jx\\n'; cat missing"]);
    let (_, failed) = report(&project, &["run", "plan.toml"]);
    let id = id(&failed);
    let shown = text(&project.run(&["task", "show", &id[..18]]).stdout);
    for expected in [
        &format!("Task: {id}\n"),
        "Goal: be done\n",
        "State: failed (step 2 ",
        "\nAttempts:\n  1.1  ",
        "  exit code 1, failed: exit_code: expected 0, found 1",
        "\nThe way it came:\n",
        "  pending: asked for\n",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    assert!(!shown.contains('\x1b'), "{shown:?}");
    for verb in ["show", "log", "approve", "cancel", "retry", "reject"] {
        let output = project.run(&["task", verb, "ffff", "--json"]);
        assert_eq!(code(&output), 1, "{verb}");
        let error: Value = serde_json::from_str(&text(&output.stdout)).expect("an object");
        assert_eq!(error["schema_version"], 1);
        assert!(error["error"].as_str().is_some_and(|it| it.contains("there is no task ffff")));
        assert!(text(&output.stderr).contains("hint: `exacta task list` shows the ids"));
    }
}

#[test]
fn the_log_while_it_runs() {
    let project = project();
    plan(&project, &["echo first; sleep 1; echo second >&2; sleep 1; echo third"]);
    let child = begun(&project, &["run", "plan.toml"]);
    let id = until("a task", || newest(&project).map(|task| id(&task)));
    let mut following = begun(&project, &["log", "-f", &id, "--json"]);
    let lines = BufReader::new(following.stdout.take().expect("a pipe")).lines();
    let entries: Vec<Value> =
        lines.map(|line| serde_json::from_str(&line.expect("text")).expect("an entry")).collect();
    assert!(following.wait().expect("it ends").success());
    assert_eq!(finished(child).0, 0);
    let said = |kind: &str| -> Vec<&str> {
        let of = entries.iter().filter(|entry| entry["type"] == kind);
        of.filter_map(|entry| entry["content"].as_str()).collect()
    };
    assert_eq!(said("output"), ["first", "third"]);
    assert_eq!(said("error"), ["second"]);
    assert_eq!(said("command").len(), 1);
    assert!(said("info").last().is_some_and(|last| last.starts_with("completed")));
    let shown = text(&project.run(&["task", "log", &id]).stdout);
    assert!(shown.contains(" | first\n") && shown.contains(" ! second\n"), "{shown}");
    assert!(shown.contains(" $ echo first;"), "{shown}");
}

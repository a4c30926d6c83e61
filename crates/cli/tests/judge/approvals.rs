//! Approvals on file: used once, bound to what was shown, worth nothing if anything about them is odd.

use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Project, code, text};
use crate::{HOOK, json as parsed, pending};

const FOLDER: &str = ".clada/approvals";

/// Asks about [`HOOK`] and gives the id of the question.
fn asked(project: &Project) -> String {
    let refused = parsed(&project.run(&["run", "--json", "--", HOOK]).stdout);
    refused["approval"]["id"].as_str().expect("an id").to_owned()
}

fn approved(project: &Project) -> String {
    let id = asked(project);
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 0);
    id
}

/// Changes a question on file behind exacta's back.
fn change(project: &Project, id: &str, change: impl FnOnce(&mut Value)) {
    let name = format!("{FOLDER}/{id}.json");
    let mut value: Value =
        serde_json::from_str(&project.read(&name).expect("a file")).expect("JSON");
    change(&mut value);
    project.write(&name, &value.to_string());
}

fn seconds_from_now(seconds: i64) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(now.expect("a time after 1970").as_secs()).expect("a time") + seconds
}

#[test]
fn of_many_at_once_only_one_uses_an_approval() {
    for _ in 0..5 {
        let project = Project::new();
        approved(&project);
        let mut all: Vec<_> = (0..8)
            .map(|_| {
                let mut command = project.command(&["run", "--", HOOK]);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
            })
            .collect();
        let statuses = all.iter_mut().map(|child| child.wait().expect("it ends").code());
        assert_eq!(statuses.filter(|status| *status == Some(0)).count(), 1);
    }
}

#[test]
fn a_time_that_nobody_could_have_set_is_too_late() {
    for offset in [-1, 3_600, 10_000_000] {
        let project = Project::new();
        let id = approved(&project);
        change(&project, &id, |value| value["expires"] = json!(seconds_from_now(offset)));
        assert_eq!(code(&project.run(&["run", "--", HOOK])), 126, "{offset}");
    }
}

#[test]
fn an_approval_that_came_with_the_repository_is_none() {
    let project = Project::new();
    let id = approved(&project);
    for arguments in [&["init", "-q"][..], &["add", "-f", &format!("{FOLDER}/{id}.json")]] {
        let mut git = std::process::Command::new("git");
        let status = git.args(arguments).current_dir(&project.root).env("HOME", "/").status();
        assert!(status.expect("git runs").success());
    }
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 126);
    assert!(project.read(".git/hooks/pre-commit").is_none());
}

#[test]
fn a_file_that_is_not_what_it_should_be_stops_everything_that_asks() {
    let odd: [fn(&Project, &str); 4] = [
        |project, name| {
            project.write(name, "{");
        },
        |project, name| {
            project.write(name, &"[".repeat(100_000));
        },
        |project, name| {
            let path = project.root.join(name);
            symlink("/dev/zero", path).expect("a link");
        },
        |project, name| {
            std::fs::create_dir(project.root.join(name)).expect("a directory");
        },
    ];
    for make in odd {
        let project = Project::new();
        approved(&project);
        make(&project, &format!("{FOLDER}/odd.json"));
        let output = project.run(&["run", "--", HOOK]);
        assert_eq!(code(&output), 126);
        assert!(text(&output.stderr).contains("odd.json"), "{}", text(&output.stderr));
        assert!(project.read(".git/hooks/pre-commit").is_none());
        assert_eq!(code(&project.run(&["run", "--", "echo fine"])), 0);
    }
}

#[test]
fn an_approval_names_itself() {
    let project = Project::new();
    let id = approved(&project);
    change(&project, &id, |value| value["id"] = json!("../../outside"));
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 126);
    assert!(project.read("outside.json").is_none());
}

#[test]
fn a_settled_question_stores_nothing_for_good() {
    let project = Project::new();
    let id = asked(&project);
    assert_eq!(code(&project.run(&["approvals", "deny", &id])), 0);
    assert_eq!(code(&project.run(&["approvals", "approve", &id, "--always"])), 125);
    assert_eq!(code(&project.run(&["approvals", "deny", &id, "--never"])), 125);
    assert!(project.read(".clada/commands.json").is_none());
}

#[test]
fn questions_are_kept_in_a_real_directory_only() {
    let project = Project::new();
    project.write(".clada/.gitignore", "*\n");
    project.write("elsewhere/x", "");
    symlink("../elsewhere", project.root.join(FOLDER)).expect("a link");
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 126);
    assert_eq!(std::fs::read_dir(project.root.join("elsewhere")).expect("a folder").count(), 1);
}

#[test]
fn variables_of_the_invocation_belong_to_an_approval() {
    let project = Project::new();
    approved(&project);
    let with = ["--env", "GIT_PAGER=cat", "run", "--", HOOK];
    assert_eq!(code(&project.run(&with)), 126);
    assert_eq!(pending(&project).iter().filter(|one| one["state"] == "pending").count(), 1);
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 0);
}

//! `completions`: the script is sourced by a real shell and asked.

use std::process::Command;

use super::project::{BINARY, Project};

/// What bash would offer for the last of these words.
fn offered(project: &Project, words: &[&str]) -> Vec<String> {
    let script = r#"
        source <("$1" completions bash) || exit 1
        shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=${COMP_TYPE:-9}
        _exacta 2>/dev/null
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut command = project.command("bash");
    command.args(["-c", script, "bash", BINARY, BINARY]).args(words);
    let output = command.output().expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}

#[test]
fn verbs() {
    let project = Project::new();
    assert_eq!(offered(&project, &["und"]), ["undo"]);
    assert_eq!(offered(&project, &["d"]), ["doctor", "diff", "discard"]);
    assert_eq!(offered(&project, &["--json", "re"]), ["redo", "redact"]);
    assert_eq!(offered(&project, &["--root", "/tmp", "comm"]), ["commit"]);
}

#[test]
fn options() {
    let project = Project::new();
    assert_eq!(offered(&project, &["undo", "--d"]), ["--dry-run"]);
    assert_eq!(offered(&project, &["undo", "--fo"]), ["--force"]);
    assert_eq!(offered(&project, &["log", "--l"]), ["--limit"]);
    assert!(offered(&project, &["log", "--id"]).is_empty());
    assert_eq!(offered(&project, &["--prof"]), ["--profile"]);
    assert_eq!(offered(&project, &["run", "--js"]), ["--json"]);
}

#[test]
fn values_and_words() {
    let project = Project::new();
    assert_eq!(offered(&project, &["--profile", ""]), ["safe", "dev", "full-auto"]);
    assert_eq!(offered(&project, &["completions", ""]), ["bash", "zsh", "fish"]);
    assert_eq!(offered(&project, &["shell", "t"]), ["test"]);
    assert_eq!(offered(&project, &["approvals", "a"]), ["approve"]);
    assert!(offered(&project, &["approvals", "approve", "a"]).is_empty());
}

#[test]
fn ids_with_their_commands() {
    let project = Project::new();
    project.edit("a", "1");
    project.edit("b", "1");
    project.exacta(&["undo"]);
    project.hold("echo x > c");
    assert_eq!(offered(&project, &["undo", ""]), ["1"]);
    assert_eq!(offered(&project, &["redo", ""]), ["2"]);
    assert_eq!(offered(&project, &["commit", ""]), ["3"]);
    assert_eq!(offered(&project, &["discard", "3"]), ["3"]);
    assert_eq!(offered(&project, &["diff", ""]), ["3  (echo x > c)", "2  (edit b)", "1  (edit a)"]);
    assert_eq!(offered(&project, &["diff", "2"]), ["2"]);
    assert!(offered(&project, &["undo", "1", ""]).is_empty());
    let (elsewhere, root) = (Project::bare(), project.root.display().to_string());
    assert_eq!(offered(&elsewhere, &["--root", &root, "undo", ""]), ["1"]);
}

#[test]
fn ids_of_tasks() {
    let project = Project::new();
    std::fs::write(project.at("plan.toml"), "goal = \"g\"\n[[steps]]\ncommand = \"echo hi\"\n")
        .expect("a plan");
    assert_eq!(project.exacta(&["task", "run", "plan.toml"]).code, 0);
    let list = project.exacta(&["task", "list", "--json"]).json();
    let id = list["tasks"][0]["id"].as_str().expect("an id");
    assert_eq!(offered(&project, &["task", "sh"]), ["show"]);
    assert_eq!(offered(&project, &["task", "show", ""]), [id]);
    assert_eq!(offered(&project, &["task", "log", &id[..4]]), [id]);
    assert!(offered(&project, &["task", "approve", ""]).is_empty(), "it is completed");
    assert!(offered(&project, &["task", "show", id, ""]).is_empty());
    assert_eq!(offered(&project, &["task", "list", "--state", "need"]), ["needs_review"]);
}

#[test]
fn no_records_no_ids() {
    let project = Project::bare();
    assert!(offered(&project, &["undo", ""]).is_empty());
    assert!(!project.at(".clada").exists());
}

#[test]
fn every_script_names_every_verb() {
    let project = Project::bare();
    for shell in ["bash", "zsh", "fish"] {
        let script = project.exacta(&["completions", shell]).out;
        for verb in ["run", "undo", "redo", "log", "diff", "commit", "discard", "completions"] {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
        assert!(script.contains("--ids") && script.contains("task list"), "{shell}");
    }
}

/// Shells that are there read their script without a complaint.
#[test]
fn every_shell_can_read_its_script() {
    let project = Project::bare();
    for shell in ["bash", "zsh", "fish"] {
        if Command::new(shell).arg("--version").output().is_err() {
            continue;
        }
        let file = project.at(format!("completions.{shell}"));
        std::fs::write(&file, project.exacta(&["completions", shell]).out).expect("written");
        let output = project.command(shell).arg("-n").arg(&file).output().expect("it runs");
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && problem.is_empty(), "{shell}: {problem}");
    }
}

//! `commit` and `discard` of what is held.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::project::Project;

fn held(script: &str) -> (Project, String) {
    let project = Project::new();
    project.write("f", "old\n").write("g", "old\n");
    let id = project.hold(script).to_string();
    (project, id)
}

#[test]
fn committed() {
    let (project, id) = held("echo new > f; rm g; mkdir d; echo x > d/h");
    let before = project.tree();
    let said = project.exacta(&["commit", &id]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        said.out,
        "committed 1 (+2 ~1 -1)\n  applied 3 paths: d, f, g\n  exacta undo 1 takes it back\n"
    );
    assert_eq!(project.read("f").as_deref(), Some("new\n"));
    assert_eq!(project.read("d/h").as_deref(), Some("x\n"));
    assert!(!project.at("g").exists());
    assert_eq!(project.exacta(&["undo", &id]).code, 0);
    assert_eq!(project.tree(), before);
}

#[test]
fn committed_as_json() {
    let (project, id) = held("echo new > f");
    let json = project.exacta(&["commit", &id, "--json"]).json();
    assert_eq!(
        json,
        json!({
            "done": true, "action": "commit", "id": 1,
            "applied": [{ "path": "f" }], "left_out": [], "stripped": [],
        })
    );
}

#[test]
fn committed_twice() {
    let (project, id) = held("echo new > f");
    assert_eq!(project.exacta(&["commit", &id]).code, 0);
    let again = project.exacta(&["commit", &id]);
    assert_eq!(again.code, 1);
    assert!(again.err.starts_with("exacta: record 1 is applied, not held\n\nhint: "));
    assert_eq!(project.exacta(&["discard", &id]).code, 1);
    assert_eq!(project.read("f").as_deref(), Some("new\n"));
}

#[test]
fn discarded() {
    let (project, id) = held("echo new > f; echo x > h");
    let before = project.tree();
    let said = project.exacta(&["discard", &id]);
    assert_eq!((said.code, said.out.as_str()), (0, "discarded 1: the project is as it was\n"));
    assert_eq!(project.tree(), before);
    let run = project.at(".clada/undo/run");
    assert_eq!(fs::read_dir(run).expect("layers").count(), 0);
    assert_eq!(project.exacta(&["commit", &id]).code, 1);
    assert_eq!(project.exacta(&["undo"]).err, "exacta: nothing to undo\n");
}

#[test]
fn discarded_as_json() {
    let (project, id) = held("echo new > f");
    let json = project.exacta(&["discard", "--json", &id]).json();
    assert_eq!(json, json!({ "done": true, "action": "discard", "id": 1 }));
}

#[test]
fn a_conflict_applies_nothing_and_goes_on_waiting() {
    let (project, id) = held("echo new > f; echo x > h");
    sleep(Duration::from_millis(15));
    project.write("f", "mine\n");
    let before = project.tree();
    let said = project.exacta(&["commit", &id]);
    assert_eq!((said.code, said.out.as_str()), (125, ""));
    assert_eq!(
        said.err,
        "exacta: cannot commit 1: changed meanwhile, and nothing was touched\n  f (changed)\n\nhint: the layer is \
         still held: put these paths back and commit again, or discard it and run the command again\n"
    );
    assert_eq!(project.tree(), before);
    let json = project.exacta(&["commit", &id, "--json"]);
    assert_eq!(json.code, 125);
    assert_eq!(json.json()["conflicts"], json!([{ "path": "f", "kind": "changed" }]));
    assert!(project.exacta(&["log"]).out.contains("\theld\t"));
    let diff = project.exacta(&["diff", &id]);
    assert_eq!(diff.err, "in the way of a commit: f (changed)\n");
    let json = project.exacta(&["diff", &id, "--json"]).json();
    assert_eq!(json["conflicts"][0]["path"], "f");
    assert_eq!(project.exacta(&["discard", &id]).code, 0);
}

#[test]
fn what_is_held_is_not_undone() {
    let (project, id) = held("echo new > f");
    let said = project.exacta(&["undo", &id]);
    assert_eq!(said.code, 1);
    assert!(said.err.starts_with("exacta: record 1 is held, not applied"), "{}", said.err);
    assert_eq!(project.exacta(&["undo"]).err, "exacta: nothing to undo\n");
}

#[test]
fn its_diff_is_what_commit_would_do() {
    let (project, id) = held("echo new > f; rm g; mkdir d; echo x > d/h; chmod 755 d/h");
    let before = project.tree();
    let said = project.exacta(&["diff"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(
        said.out,
        "diff --git a/d/h b/d/h\nnew file mode 100755\n--- /dev/null\n+++ b/d/h\n@@ -0,0 +1 @@\n+x\n\
         diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n\
         diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
    );
    assert_eq!(project.tree(), before);
    assert_eq!(project.exacta(&["commit", &id]).code, 0);
    // Afterwards it is what was done.
    assert_eq!(project.exacta(&["diff", &id]).out, said.out);
}

#[test]
fn a_directory_that_is_another_one() {
    let project = Project::new();
    fs::create_dir(project.at("d")).expect("made");
    project.write("d/a", "1\n").write("d/b", "1\n");
    project.hold("rm -r d; mkdir d; echo 2 > d/b");
    let out = project.exacta(&["diff"]).out;
    assert!(out.contains("deleted file mode 100644\n--- a/d/a\n"), "{out}");
    assert!(out.contains("--- a/d/b\n+++ b/d/b\n@@ -1 +1 @@\n-1\n+2\n"), "{out}");
}

#[test]
fn set_user_bits_do_not_come() {
    let (project, id) = held("echo new > f; chmod 4755 f");
    let said = project.exacta(&["commit", &id]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("without set-user and set-group bits: 1 path: f\n"), "{}", said.out);
}

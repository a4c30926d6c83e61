//! `undo` and `redo`.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::project::Project;

fn pause() {
    sleep(Duration::from_millis(15));
}

#[test]
fn there_and_back() {
    let project = Project::new();
    project.write("f", "old\n");
    let before = project.tree();
    project.edit("f", "new\n");
    let after = project.tree();
    let undone = project.exacta(&["undo"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(
        undone.out,
        "undone 1: edit f\n  restored 1 path: f\n  exacta redo 1 turns it back\n"
    );
    assert_eq!(project.tree(), before);
    let redone = project.exacta(&["redo"]);
    assert_eq!((redone.code, redone.err.as_str()), (0, ""));
    assert!(
        redone.out.starts_with("redone 1: edit f\n  changed again 1 path: f\n"),
        "{}",
        redone.out
    );
    assert!(redone.out.ends_with("exacta undo 1 turns it back\n"), "{}", redone.out);
    assert_eq!(project.tree(), after);
}

#[test]
fn nothing_to_undo_and_nothing_is_made() {
    let project = Project::bare();
    for verb in ["undo", "redo"] {
        let said = project.exacta(&[verb]);
        assert_eq!(said.code, 1);
        assert_eq!((said.out.as_str(), said.err), ("", format!("exacta: nothing to {verb}\n")));
    }
    assert!(!project.at(".clada").exists());
}

#[test]
fn nothing_to_undo_in_an_empty_state() {
    let project = Project::new();
    assert_eq!(project.exacta(&["undo"]).err, "exacta: nothing to undo\n");
    assert_eq!(fs::read_dir(project.at(".clada")).expect("the state").count(), 0);
}

#[test]
fn nothing_to_undo_as_json() {
    let said = Project::bare().exacta(&["undo", "--json"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.json(), json!({ "done": false, "error": "nothing to undo", "hint": null }));
    assert_eq!(said.err, "");
}

#[test]
fn an_id_that_is_not_there() {
    let project = Project::new();
    project.edit("f", "x");
    for verb in ["undo", "redo", "diff", "commit", "discard"] {
        let said = project.exacta(&[verb, "99"]);
        assert_eq!(said.code, 1, "{verb}");
        let expected = "exacta: record 99: there is none\n\nhint: exacta log shows the records and their states\n";
        assert_eq!(said.err, expected, "{verb}");
    }
}

#[test]
fn an_id_where_nothing_was_recorded() {
    let project = Project::bare();
    for verb in ["undo", "redo", "diff", "commit", "discard"] {
        let said = project.exacta(&[verb, "3"]);
        assert_eq!(said.code, 1, "{verb}");
        assert!(said.err.contains("record 3: there is none"), "{verb}: {}", said.err);
    }
}

#[test]
fn wrong_use_is_status_2() {
    let project = Project::new();
    let wrong: &[&[&str]] = &[
        &["undo", "x"],
        &["undo", "1", "2"],
        &["undo", "--last", "0"],
        &["undo", "--last", "many"],
        &["undo", "1", "--last", "1"],
        &["redo", "--frobnicate"],
        &["log", "1"],
        &["log", "--limit", "-1"],
        &["commit"],
        &["discard"],
        &["diff", "one"],
        &["completions", "tcsh"],
    ];
    for words in wrong {
        let said = project.exacta(words);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{words:?}");
        assert!(said.err.contains("hint: `exacta --help`"), "{words:?}: {}", said.err);
    }
}

#[test]
fn undone_twice() {
    let project = Project::new();
    project.edit("f", "x");
    assert_eq!(project.exacta(&["undo", "1"]).code, 0);
    let again = project.exacta(&["undo", "1"]);
    assert_eq!(again.code, 1);
    assert!(again.err.starts_with("exacta: record 1 is undone, not applied\n"), "{}", again.err);
    assert_eq!(project.exacta(&["undo"]).err, "exacta: nothing to undo\n");
    assert_eq!(project.exacta(&["redo", "1"]).code, 0);
    assert!(project.exacta(&["redo", "1"]).err.contains("record 1 is applied, not undone"));
}

#[test]
fn ids_as_they_may_be_written() {
    for id in ["1", "#1", "000000001"] {
        let project = Project::new();
        project.edit("f", "x");
        assert_eq!(project.exacta(&["undo", id]).code, 0, "{id}");
        assert_eq!(project.tree(), [], "{id}");
    }
}

#[test]
fn the_last_ones_together() {
    let project = Project::new();
    project.write("f", "0");
    let before = project.tree();
    for content in ["1", "2", "3"] {
        project.edit("f", content);
    }
    let said = project.exacta(&["undo", "--last", "3"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("undone 3: edit f\nundone 2: edit f\nundone 1: edit f\n"));
    assert!(said.out.contains("exacta redo --last 3 turns it back"), "{}", said.out);
    assert_eq!(project.tree(), before);
    let redone = project.exacta(&["redo", "--last=2", "--json"]).json();
    assert_eq!(redone["records"], json!([1, 2]));
    assert_eq!(project.read("f").as_deref(), Some("2"));
}

#[test]
fn more_than_there_are() {
    let project = Project::new();
    project.edit("f", "1");
    project.edit("f", "2");
    assert_eq!(project.exacta(&["undo", "--last", "50"]).code, 0);
    assert_eq!(project.tree(), []);
}

#[test]
fn a_conflict_is_refused_and_listed() {
    let project = Project::new();
    project.write("a", "old\n").write("b", "old\n").write("c", "old\n");
    project.request("three", |recording| {
        for name in ["a", "b"] {
            recording.before_write(name.as_bytes()).expect("recorded");
            fs::write(project.at(name), "new\n").expect("written");
        }
        recording.delete(b"c").expect("deleted");
    });
    pause();
    project.write("a", "mine\n").write("c", "mine\n");
    fs::remove_file(project.at("b")).expect("removed");
    let before = project.tree();
    let said = project.exacta(&["undo"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(
        said.err,
        "exacta: cannot undo: changed meanwhile, and nothing was touched\n  a (changed)\n  b (deleted)\n  \
         c (appeared)\n\nhint: look at these paths; --force goes on and keeps their present versions for redo\n"
    );
    assert_eq!(project.tree(), before);
    let json = project.exacta(&["undo", "--json"]);
    assert_eq!(json.code, 1);
    assert_eq!(json.json()["done"], false);
    assert_eq!(
        json.json()["conflicts"],
        json!([
            { "path": "a", "kind": "changed" },
            { "path": "b", "kind": "deleted" },
            { "path": "c", "kind": "appeared" },
        ])
    );
    assert_eq!(project.tree(), before);
}

#[test]
fn a_conflict_that_is_forced_keeps_both() {
    let project = Project::new();
    project.write("f", "old\n");
    project.edit("f", "new\n");
    pause();
    project.write("f", "mine\n");
    let said = project.exacta(&["undo", "--force"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("kept for the way back"), "{}", said.out);
    assert!(said.out.contains("    f (changed)\n"), "{}", said.out);
    assert_eq!(project.read("f").as_deref(), Some("old\n"));
    assert_eq!(project.exacta(&["redo"]).code, 0);
    assert_eq!(project.read("f").as_deref(), Some("mine\n"));
}

#[test]
fn a_conflict_of_redo() {
    let project = Project::new();
    project.write("f", "old\n");
    project.edit("f", "new\n");
    assert_eq!(project.exacta(&["undo"]).code, 0);
    pause();
    project.write("f", "mine\n");
    let said = project.exacta(&["redo"]);
    assert_eq!(said.code, 1);
    assert!(said.err.starts_with("exacta: cannot redo: changed meanwhile"), "{}", said.err);
    assert_eq!(project.exacta(&["redo", "--force"]).code, 0);
    assert_eq!(project.read("f").as_deref(), Some("new\n"));
}

#[test]
fn one_in_the_middle() {
    let project = Project::new();
    project.edit("a", "1");
    project.edit("b", "1");
    project.edit("a", "2");
    let refused = project.exacta(&["undo", "1"]);
    assert_eq!(refused.code, 1);
    assert_eq!(
        refused.err,
        "exacta: record 1: the same paths were changed again by 3\n\nhint: undo the later ones first, or all of \
         them with --last\n"
    );
    assert_eq!(project.exacta(&["undo", "1", "--json"]).json()["later"], json!([3]));
    assert_eq!(project.exacta(&["undo", "2"]).code, 0);
    assert_eq!(project.tree(), [("a".to_owned(), "644 2".to_owned())]);
}

#[test]
fn what_others_put_into_a_directory_stays() {
    let project = Project::new();
    project.request("mkdir d", |recording| {
        let _announced = recording.create(b"d").expect("recorded");
        fs::create_dir(project.at("d")).expect("made");
        project.make(recording, "d/f", "x");
    });
    project.write("d/mine", "mine");
    let said = project.exacta(&["undo"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("  kept d: others have put something into it\n"), "{}", said.out);
    assert_eq!(project.tree().len(), 2);
}

#[test]
fn a_dry_run_changes_nothing() {
    let project = Project::new();
    project.write("changed", "old").write("gone", "old").write("moved", "old");
    project.request("all kinds", |recording| {
        recording.before_write(b"changed").expect("recorded");
        fs::write(project.at("changed"), "new").expect("written");
        recording.delete(b"gone").expect("deleted");
        let _announced = recording.moved(b"moved", b"there").expect("recorded");
        fs::rename(project.at("moved"), project.at("there")).expect("moved");
        project.make(recording, "made", "x");
    });
    let before = project.tree();
    let said = project.exacta(&["undo", "--dry-run"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(
        said.out,
        "would undo 1: all kinds\n  change changed\n  create gone\n  delete made\n  move there to moved\n  \
         1 to create, 1 to change, 1 to delete, 1 to move\n"
    );
    assert_eq!(project.tree(), before);
    let json = project.exacta(&["undo", "--dry-run", "--json"]).json();
    assert_eq!((&json["done"], &json["dry_run"]), (&json!(false), &json!(true)));
    assert_eq!(
        json["changes"],
        json!([
            { "path": "changed", "action": "change" },
            { "path": "gone", "action": "create" },
            { "path": "made", "action": "delete" },
            { "path": "moved", "from": "there", "action": "move" },
        ])
    );
    assert_eq!(project.tree(), before);
    assert_eq!(project.exacta(&["undo"]).code, 0);
    let said = project.exacta(&["redo", "--dry-run"]);
    assert!(said.out.contains("  move moved to there\n"), "{}", said.out);
    assert!(said.out.starts_with("would redo 1"), "{}", said.out);
}

#[test]
fn a_dry_run_ends_as_the_real_one_would() {
    let project = Project::new();
    project.write("f", "old\n");
    project.edit("f", "new\n");
    pause();
    project.write("f", "mine\n");
    let said = project.exacta(&["undo", "--dry-run"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("in the way, so it would be refused:\n    f (changed)\n"));
    assert_eq!(project.exacta(&["undo", "--dry-run", "--json"]).json()["refused"], true);
    let forced = project.exacta(&["undo", "--dry-run", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.err);
    assert_eq!(project.read("f").as_deref(), Some("mine\n"));
}

#[test]
fn what_was_done_as_json() {
    let project = Project::new();
    project.edit("f", "x");
    let json = project.exacta(&["--json", "undo"]).json();
    assert_eq!(json["done"], true);
    assert_eq!(json["action"], "undo");
    assert_eq!(json["records"], json!([1]));
    assert_eq!(json["restored"], json!([{ "path": "f" }]));
    assert_eq!(json["conflicts"], json!([]));
}

#[test]
fn a_damaged_record() {
    let project = Project::new();
    project.edit("a", "x");
    project.edit("b", "x");
    fs::write(project.at(".clada/undo/log/000000002.rec"), "nonsense").expect("written");
    for words in [&["undo"][..], &["undo", "2"]] {
        let said = project.exacta(words);
        assert_eq!(said.code, 125, "{words:?}");
        assert!(said.err.starts_with("exacta: record 2 is damaged\n\nhint: "), "{}", said.err);
    }
    assert_eq!(project.exacta(&["undo", "1"]).code, 0);
    assert_eq!(project.tree().len(), 1);
}

#[test]
fn a_record_that_is_cut_off() {
    let project = Project::new();
    project.edit("a", "x");
    let record = project.at(".clada/undo/log/000000001.rec");
    let bytes = fs::read(&record).expect("a record");
    fs::write(&record, [&bytes[..], b"half an entry"].concat()).expect("written");
    let said = project.exacta(&["undo"]);
    assert_eq!(said.code, 125);
    assert!(said.err.contains("record 1 is damaged"), "{}", said.err);
    assert!(project.exacta(&["log"]).out.contains("damaged"));
}

#[test]
fn a_journal_that_others_may_read_is_not_used() {
    let project = Project::new();
    project.edit("a", "x");
    project.mode(".clada/undo", 0o755);
    for verb in ["undo", "log", "diff"] {
        let said = project.exacta(&[verb]);
        assert_eq!(said.code, 125, "{verb}");
        assert!(said.err.contains("not private to you\n\nhint: "), "{verb}: {}", said.err);
    }
}

#[test]
fn a_state_that_is_a_link_is_not_followed() {
    let project = Project::new();
    project.edit("a", "x");
    let elsewhere = Project::bare();
    std::os::unix::fs::symlink(project.at(".clada"), elsewhere.at(".clada")).expect("a link");
    let said = elsewhere.exacta(&["undo"]);
    assert_eq!(said.code, 125, "{}", said.out);
    assert!(said.err.contains("cannot open the state"), "{}", said.err);
}

#[test]
fn another_root_by_its_name() {
    let (project, elsewhere) = (Project::new(), Project::bare());
    project.edit("a", "x");
    let root = project.root.display().to_string();
    assert_eq!(elsewhere.exacta(&["--root", &root, "undo"]).code, 0);
    assert_eq!(project.tree(), []);
    assert_eq!(elsewhere.exacta(&["redo", "--root", &root]).code, 0);
    assert_eq!(project.tree().len(), 1);
}

#[test]
fn names_that_are_no_text() {
    let project = Project::new();
    let name: &[u8] = b"a\xff\n\x1b[2J";
    project.request("odd", |recording| project.make(recording, name, "x"));
    let said = project.exacta(&["undo"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains(r#"restored 1 path: "a\377\n\033[2J""#), "{}", said.out);
    let json = project.exacta(&["redo", "--json"]).json();
    assert_eq!(json["restored"][0]["path_hex"], "61ff0a1b5b324a");
}

#[test]
fn what_no_undo_reaches_is_said() {
    let project = Project::new();
    project.request("send", |recording| {
        project.make(recording, "f", "x");
        recording.mark_irreversible("sent to example.org");
    });
    let said = project.exacta(&["undo"]);
    assert!(said.out.contains("  not taken back: sent to example.org\n"), "{}", said.out);
    assert!(!project.exacta(&["redo"]).out.contains("not taken back"));
    let json = project.exacta(&["undo", "--json"]).json();
    assert_eq!(json["not_taken_back"], json!(["sent to example.org"]));
    assert_eq!(
        project.exacta(&["log", "--json"]).json()[0]["irreversible"],
        json["not_taken_back"]
    );
}

#[test]
fn many_paths_are_counted() {
    let project = Project::new();
    project.request("many", |recording| {
        for index in 0..25 {
            project.make(recording, format!("f{index:02}"), "x");
        }
    });
    let said = project.exacta(&["undo"]);
    assert!(said.out.contains("restored 25 paths: f00, f01,"), "{}", said.out);
    assert!(said.out.contains("f09 and 15 more\n"), "{}", said.out);
}

/// It takes half a second before a bar is shown, so here it is only seen that nothing else is.
#[test]
fn no_bar_where_nobody_looks() {
    let project = Project::new();
    project.request("many", |recording| {
        for index in 0..500 {
            project.make(recording, format!("f{index}"), "x");
        }
    });
    let said = project.exacta(&["undo"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

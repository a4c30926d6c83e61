//! `diff`: texts, which record, and what came later.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::project::Project;

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.fold(String::new(), |text, line| text + &line.to_string() + "\n")
}

#[test]
fn three_lines_around() {
    let project = Project::new();
    project.write("f", numbers(1..=20));
    project.edit("f", &numbers(1..=20).replace("10\n", "ten\n"));
    let said = project.exacta(&["diff"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(
        said.out,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    );
}

#[test]
fn nothing_to_show() {
    let project = Project::bare();
    let said = project.exacta(&["diff"]);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.err,
        "exacta: there is nothing to show: no record is applied or held\n\nhint: exacta log shows all of them\n"
    );
    assert_eq!(project.exacta(&["diff", "--json"]).json()["done"], false);
    assert!(!project.at(".clada").exists());
}

#[test]
fn the_newest_that_is_not_undone() {
    let project = Project::new();
    project.edit("a", "1\n");
    project.edit("b", "1\n");
    assert!(project.exacta(&["diff"]).out.contains("b/b"));
    project.exacta(&["undo"]);
    assert!(project.exacta(&["diff"]).out.contains("b/a"));
    // One that is undone is shown when it is named.
    let undone = project.exacta(&["diff", "2"]);
    assert_eq!(undone.code, 0);
    assert!(undone.out.contains("new file mode 100644\n--- /dev/null\n+++ b/b\n"));
    project.exacta(&["undo"]);
    assert_eq!(project.exacta(&["diff"]).code, 1);
}

#[test]
fn what_a_record_did_and_not_what_came_later() {
    let project = Project::new();
    project.write("f", "1\n");
    project.edit("f", "2\n");
    project.edit("f", "3\n");
    let first = "@@ -1 +1 @@\n-1\n+2\n";
    let second = "@@ -1 +1 @@\n-2\n+3\n";
    let check = |when: &str| {
        assert!(project.exacta(&["diff", "1"]).out.ends_with(first), "{when}");
        assert!(project.exacta(&["diff", "2"]).out.ends_with(second), "{when}");
    };
    check("applied");
    project.exacta(&["undo"]);
    check("one undone");
    project.exacta(&["undo"]);
    check("both undone");
}

#[test]
fn what_somebody_changed_since_is_said() {
    let project = Project::new();
    project.write("f", "1\n");
    project.edit("f", "2\n");
    sleep(Duration::from_millis(15));
    project.write("f", "mine\n");
    let said = project.exacta(&["diff"]);
    assert!(said.out.starts_with("note: f was changed since; this is how it is now\n"));
    assert!(said.out.ends_with("-1\n+mine\n"), "{}", said.out);
    let json = project.exacta(&["diff", "--json"]).json();
    assert_eq!(json["changes"][0]["changed_since"], true);
}

#[test]
fn no_newline_at_the_end() {
    let project = Project::new();
    project.write("f", "a\nb");
    project.edit("f", "a\nc\n");
    let out = project.exacta(&["diff"]).out;
    assert!(out.ends_with(" a\n-b\n\\ No newline at end of file\n+c\n"), "{out}");
    project.exacta(&["undo"]);
    project.edit("g", "x");
    let out = project.exacta(&["diff"]).out;
    assert!(out.ends_with("+x\n\\ No newline at end of file\n"), "{out}");
}

#[test]
fn an_empty_file() {
    let project = Project::new();
    project.edit("empty", "");
    let out = project.exacta(&["diff"]).out;
    assert_eq!(out, "diff --git a/empty b/empty\nnew file mode 100644\n");
}

#[test]
fn as_json() {
    let project = Project::new();
    project.write("f", "a\nb\n");
    project.edit("f", "a\nc\nd");
    let json = project.exacta(&["diff", "1", "--json"]).json();
    assert_eq!((&json["id"], &json["state"]), (&json!(1), &json!("applied")));
    assert_eq!(
        json["changes"],
        json!([{
            "kind": "modified", "path": "f", "similarity": null,
            "before": { "type": "file", "mode": "0644", "size": 4, "target": null },
            "after": { "type": "file", "mode": "0644", "size": 5, "target": null },
            "changed_since": false, "binary": false, "too_large": false, "added": 2, "removed": 1,
            "diff": "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n\\ No newline at end of file\n",
        }])
    );
}

#[test]
fn colours_on_a_terminal() {
    let project = Project::new();
    project.write("f", "1\n");
    project.edit("f", "2\n");
    let out = project.on_terminal("diff", &[]).out;
    for line in [
        "\x1b[1mdiff --git a/f b/f\x1b[0m",
        "\x1b[1m--- a/f\x1b[0m",
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        "\x1b[31m-1\x1b[0m",
        "\x1b[32m+2\x1b[0m",
    ] {
        assert!(out.contains(line), "{line:?} in {out:?}");
    }
    let plain = project.on_terminal("diff", &[("NO_COLOR", "1")]).out;
    assert!(!plain.contains('\x1b'), "{plain:?}");
}

#[test]
fn content_cannot_move_the_cursor_of_a_terminal() {
    let project = Project::new();
    project.edit("f", "a\x1b[2Jb\tc\n");
    let shown = project.on_terminal("diff", &[("NO_COLOR", "1")]).out;
    assert!(shown.contains("+a\\u{1b}[2Jb\tc"), "{shown:?}");
    // In a pipe it is the file.
    assert!(project.exacta(&["diff"]).bytes.ends_with(b"+a\x1b[2Jb\tc\n"));
}

#[test]
fn invalid_text_stays_as_it_is() {
    let project = Project::new();
    project.request("latin", |recording| project.make(recording, "f", b"caf\xe9\n"));
    let said = project.exacta(&["diff"]);
    assert!(said.bytes.ends_with(b"+caf\xe9\n"));
}

/// Two large files that have nothing in common: an answer, and soon.
#[test]
fn large_files_take_no_for_ever() {
    let project = Project::new();
    let text = |seed: u64| -> String {
        let line = |line: u64| (line + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..400_000).fold(String::new(), |text, index| text + &line(index).to_string() + "\n")
    };
    project.write("f", text(1));
    project.edit("f", &text(10_000_000));
    let begun = Instant::now();
    let said = project.exacta(&["diff", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(said.json()["changes"][0]["added"], 400_000);
}

#[test]
fn huge_files_are_not_compared() {
    let project = Project::new();
    project.write("f", "x");
    project.request("grow", |recording| {
        recording.before_write(b"f").expect("recorded");
        let file = fs::File::create(project.at("f")).expect("opened");
        file.set_len(20 << 20).expect("grown");
    });
    let said = project.exacta(&["diff"]);
    assert_eq!(
        said.out,
        "diff --git a/f b/f\nFiles a/f and b/f are too large to compare by lines (1 and 20971520 bytes, at most \
         16777216)\n"
    );
    let json = project.exacta(&["diff", "--json"]).json();
    assert_eq!(json["changes"][0]["too_large"], true);
    assert_eq!(json["changes"][0]["diff"], json!(null));
}

#[test]
fn a_damaged_record_cannot_be_shown() {
    let project = Project::new();
    project.edit("a", "x");
    fs::write(project.at(".clada/undo/log/000000001.rec"), "nonsense").expect("written");
    let said = project.exacta(&["diff", "1"]);
    assert_eq!(said.code, 125);
    assert!(said.err.contains("record 1 is damaged"), "{}", said.err);
    assert_eq!(project.exacta(&["diff"]).code, 1);
}

#[test]
fn reading_makes_nothing() {
    let project = Project::new();
    project.edit("a", "x");
    let list = || {
        let output = project.command("find").arg(".clada").output().expect("find runs");
        let mut lines: Vec<String> =
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let before = list();
    for words in [&["log"][..], &["diff"], &["log", "--ids"], &["log", "--json"]] {
        assert_eq!(project.exacta(words).code, 0);
        assert_eq!(list(), before, "{words:?}");
    }
}

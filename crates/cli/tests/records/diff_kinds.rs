//! `diff`: kinds of change beside lines of text, and that git takes them.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use super::project::Project;

fn shown(project: &Project) -> String {
    let said = project.exacta(&["diff"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    said.out
}

fn lines(count: u32) -> String {
    (0..count).fold(String::new(), |text, line| text + "line " + &line.to_string() + "\n")
}

#[test]
fn binary_is_only_noted() {
    let project = Project::new();
    project.request("binary", |recording| {
        project.make(recording, "f", b"a\0b");
    });
    assert_eq!(
        shown(&project),
        "diff --git a/f b/f\nnew file mode 100644\nBinary files /dev/null and b/f differ (0 and 3 bytes)\n"
    );
    let json = project.exacta(&["diff", "--json"]).json();
    assert_eq!(json["changes"][0]["binary"], true);
    assert_eq!(json["changes"][0]["after"]["size"], 3);
}

#[test]
fn a_mode() {
    let project = Project::new();
    project.write("f", "x");
    project.request("chmod +x f", |recording| {
        recording.before_meta(b"f").expect("recorded");
        project.mode("f", 0o755);
    });
    let expected = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
    assert_eq!(shown(&project), expected);
    project.exacta(&["undo"]);
    assert_eq!(project.exacta(&["diff", "1"]).out, expected);
    let json = project.exacta(&["diff", "1", "--json"]).json();
    assert_eq!(json["changes"][0]["before"]["mode"], "0644");
    assert_eq!(json["changes"][0]["after"]["mode"], "0755");
}

#[test]
fn a_mode_and_a_content() {
    let project = Project::new();
    project.write("f", "1\n");
    project.request("both", |recording| {
        recording.before_write(b"f").expect("recorded");
        project.write("f", "2\n").mode("f", 0o600);
    });
    assert_eq!(
        shown(&project),
        "diff --git a/f b/f\nold mode 100644\nnew mode 100600\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"
    );
}

#[test]
fn a_time_is_no_content() {
    let project = Project::new();
    project.write("f", "1\n");
    project.request("touch f", |recording| {
        recording.before_meta(b"f").expect("recorded");
        let status = Command::new("touch").args(["-d", "2001-01-01"]).arg(project.at("f")).status();
        assert!(status.expect("touch runs").success());
    });
    assert_eq!(shown(&project), "metadata of f: time of last change\n");
}

#[test]
fn symbolic_links() {
    let project = Project::new();
    symlink("old", project.at("l")).expect("a link");
    project.request("ln -sf new l", |recording| {
        recording.delete(b"l").expect("deleted");
        let _announced = recording.create(b"l").expect("recorded");
        symlink("new", project.at("l")).expect("a link");
    });
    assert_eq!(
        shown(&project),
        "diff --git a/l b/l\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\
         \\ No newline at end of file\n"
    );
    let json = project.exacta(&["diff", "--json"]).json();
    assert_eq!(
        json["changes"][0]["after"],
        json!({ "type": "symlink", "mode": "0777", "size": 3, "target": "new" })
    );
}

#[test]
fn a_new_link() {
    let project = Project::new();
    project.request("ln -s x l", |recording| {
        let _announced = recording.create(b"l").expect("recorded");
        symlink("x", project.at("l")).expect("a link");
    });
    assert_eq!(
        shown(&project),
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n\\ No newline at end \
         of file\n"
    );
}

#[test]
fn another_kind() {
    let project = Project::new();
    project.write("f", "text\n");
    project.request("ln -sf x f", |recording| {
        recording.delete(b"f").expect("deleted");
        let _announced = recording.create(b"f").expect("recorded");
        symlink("x", project.at("f")).expect("a link");
    });
    assert_eq!(
        shown(&project),
        "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n\
         diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end \
         of file\n"
    );
}

#[test]
fn a_recorded_rename() {
    let project = Project::new();
    project.write("old", "1\n2\n3\n");
    project.request("mv old new", |recording| {
        let _announced = recording.moved(b"old", b"new").expect("recorded");
        fs::rename(project.at("old"), project.at("new")).expect("moved");
    });
    let expected =
        "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n";
    assert_eq!(shown(&project), expected);
    project.exacta(&["undo"]);
    assert_eq!(project.exacta(&["diff", "1"]).out, expected);
    let json = project.exacta(&["diff", "1", "--json"]).json();
    let change = &json["changes"][0];
    assert_eq!(
        (&change["kind"], &change["from"], &change["path"]),
        (&json!("moved"), &json!("old"), &json!("new"))
    );
}

#[test]
fn a_rename_with_an_edit() {
    let project = Project::new();
    project.write("old", "1\n2\n3\n4\n");
    project.request("mv old new; edit new", |recording| {
        let _announced = recording.moved(b"old", b"new").expect("recorded");
        fs::rename(project.at("old"), project.at("new")).expect("moved");
        recording.before_write(b"new").expect("recorded");
        project.write("new", "1\n2\n3\nfour\n");
    });
    let out = shown(&project);
    assert!(out.starts_with("diff --git a/old b/new\nsimilarity index 5"), "{out}");
    assert!(
        out.ends_with("--- a/old\n+++ b/new\n@@ -1,4 +1,4 @@\n 1\n 2\n 3\n-4\n+four\n"),
        "{out}"
    );
}

#[test]
fn a_rename_by_a_program() {
    let project = Project::new();
    fs::create_dir(project.at("d")).expect("made");
    project.write("d/a", "content of a\n").write("d/b", "content of b\n").write("e", "same\n");
    project.apply("mv d n; cp e f; rm e");
    let out = shown(&project);
    for (from, to) in [("d/a", "n/a"), ("d/b", "n/b"), ("e", "f")] {
        let expected = format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
        );
        assert!(out.contains(&expected), "{expected} in {out}");
    }
    assert!(!out.contains("+++"), "{out}");
}

#[test]
fn a_rename_of_what_is_mostly_the_same() {
    let project = Project::new();
    let text = lines(50);
    project.write("old", &text).write("other", "nothing like it\n");
    project.apply("sed 's/line 7$/line seven/' old > new; rm old other; echo fresh > young");
    let out = shown(&project);
    assert!(out.contains("similarity index 97%\nrename from old\nrename to new\n"), "{out}");
    assert!(out.contains("-line 7\n+line seven\n"), "{out}");
    assert!(out.contains("diff --git a/other b/other\ndeleted"), "{out}");
    assert!(out.contains("diff --git a/young b/young\nnew file"), "{out}");
}

#[test]
fn directories() {
    let project = Project::new();
    project.request("mkdir", |recording| {
        for name in ["empty", "full"] {
            let _announced = recording.create(name.as_bytes()).expect("recorded");
            fs::create_dir(project.at(name)).expect("made");
            project.mode(name, 0o755);
        }
        project.make(recording, "full/f", "x\n");
    });
    assert_eq!(
        shown(&project),
        "directory created: empty (mode 0755)\ndiff --git a/full/f b/full/f\nnew file mode 100644\n\
         --- /dev/null\n+++ b/full/f\n@@ -0,0 +1 @@\n+x\n"
    );
    let json = project.exacta(&["diff", "--json"]).json();
    assert_eq!(json["changes"].as_array().expect("a list").len(), 3);
    project.request("mv full there; chmod", |recording| {
        let _announced = recording.moved(b"full", b"there").expect("recorded");
        fs::rename(project.at("full"), project.at("there")).expect("moved");
        recording.before_meta(b"empty").expect("recorded");
        project.mode("empty", 0o700);
    });
    assert_eq!(
        shown(&project),
        "metadata of empty: mode 0755 to 0700\ndirectory moved: full to there\n"
    );
}

#[test]
fn a_whole_tree_that_was_deleted() {
    let project = Project::new();
    fs::create_dir_all(project.at("d/e")).expect("made");
    project.write("d/a", "1\n").write("d/e/b", "2\n");
    project.request("rm -r d", |recording| recording.delete(b"d").expect("deleted"));
    let out = shown(&project);
    assert!(out.contains("--- a/d/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"), "{out}");
    assert!(out.contains("--- a/d/e/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n"), "{out}");
    assert!(!out.contains("directory"), "{out}");
}

#[test]
fn a_fifo() {
    let project = Project::new();
    project.apply("mkfifo -m 600 p");
    assert_eq!(shown(&project), "fifo created: p (mode 0600)\n");
}

#[test]
fn odd_names() {
    let project = Project::new();
    project.request("odd", |recording| {
        for name in [&b"a b"[..], b"new\nline", b"quo\"te", b"\xff\xfe", "ä".as_bytes()] {
            project.make(recording, name, "x\n");
        }
    });
    let out = shown(&project);
    for expected in [
        "diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\t\n",
        "+++ \"b/new\\nline\"\n",
        "+++ \"b/quo\\\"te\"\n",
        "+++ \"b/\\377\\376\"\n",
        "+++ b/ä\n",
    ] {
        assert!(out.contains(expected), "{expected:?} in {out}");
    }
    let json = project.exacta(&["diff", "--json"]).json();
    let changes = json["changes"].as_array().expect("a list");
    assert!(changes.iter().any(|change| change["path_hex"] == "fffe"));
}

/// Whatever is text: git makes the same tree of it, and takes it back.
#[test]
fn git_takes_it() {
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let (project, copy) = (Project::new(), Project::bare());
    let text = lines(100);
    for project in [&project, &copy] {
        fs::create_dir(project.at("d")).expect("made");
        project.write("edited", &text).write("gone", "1\n2").write("d/moved", &text);
        project.write("with blank", "1\n").write("mode", "1\n").write("kind", "1\n");
        project.write(b"odd\n\xff", "1\n");
        symlink("old", project.at("link")).expect("a link");
    }
    let before = project.tree();
    project.apply(
        "sed -i '5d; s/line 50/fifty/; $a more' edited; rm gone; mkdir n; mv d/moved n/moved; rmdir d
         echo 2 >> 'with blank'; chmod 755 mode; ln -sf x kind; ln -sfn new link; printf no > fresh
         : > empty; echo 2 > $'odd\\n\\xff'",
    );
    let patch = project.exacta(&["diff"]).bytes;
    let applied = copy.apply_patch(&patch, &[]);
    assert_eq!(applied.code, 0, "{}\n{}", applied.err, String::from_utf8_lossy(&patch));
    assert_eq!(copy.tree(), project.tree());
    let back = copy.apply_patch(&patch, &["-R"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(copy.tree(), before);
}

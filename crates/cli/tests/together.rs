//! Several requests with programs at once on one project, and a person who saves files meanwhile: no update is lost. What
//! clashes is listed, waits in its layer, and the request ends with 125.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

#[path = "../../store/tests/tree/mod.rs"]
mod tree;

use tree::{But, Tree};

exacta_world::tests! {
    requests_that_touch_different_paths,
    requests_that_write_the_same_file,
    many_requests_that_append_to_one_file,
    a_person_who_saves_by_renaming,
    a_person_who_saves_in_place,
    a_person_who_saves_something_else,
    a_person_who_deletes_what_the_request_changes,
    a_person_who_makes_what_the_request_makes,
    a_person_who_saves_in_a_directory_that_the_request_deletes,
    a_person_who_changes_what_a_builtin_has_changed,
}

struct Project {
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-together-{}-{serial}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join(".clada/tmp")).expect("a temporary directory");
        let project = Project { root: root.canonicalize().expect("a real path") };
        fs::create_dir(project.root.join("src")).expect("a directory");
        for name in ["notes.md", "other.md", "src/main.rs"] {
            project.write(name, "old\n");
        }
        project
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).expect("a file");
    }

    /// As editors do.
    fn save(&self, name: &str, text: &str) {
        let new = self.root.join(format!("{name}.new"));
        fs::write(&new, text).expect("a file");
        fs::rename(new, self.root.join(name)).expect("it is saved");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).expect("a file")
    }

    fn tree(&self) -> Tree {
        tree::read(&self.root, &[".clada"])
    }

    fn start(&self, script: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_exacta"))
            .args(["--profile", "full-auto", "run", "--yes", "--", script])
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs")
    }

    fn exacta(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_exacta"))
            .args(arguments)
            .current_dir(&self.root)
            .output()
            .expect("the binary runs");
        said(&output)
    }

    /// The private `/tmp` of the project, which all of its requests share.
    fn shared(&self, name: &str) -> PathBuf {
        self.root.join(".clada/tmp").join(name)
    }

    /// A request whose program says when it runs and waits until it may go on, and what a person does in between.
    fn meanwhile(&self, script: &str, person: impl FnOnce()) -> (i32, String) {
        let waiting = self.start(&script.replace("WAIT", WAIT));
        wait_for(&self.shared("ready"));
        person();
        fs::write(self.shared("go"), "").expect("a file");
        said(&waiting.wait_with_output().expect("it ends"))
    }

    /// The request was not applied, named the path, and what it wrote waits.
    fn assert_held(&self, (status, text): &(i32, String), path: &str) {
        assert_eq!(*status, 125, "{text}");
        assert!(text.contains(path) && text.contains("held"), "{text}");
        let (_, log) = self.exacta(&["log"]);
        let held = log.lines().find(|line| line.contains("\theld\t")).map(str::to_owned);
        let id = held.as_deref().and_then(|line| line.split('\t').next());
        let id = id.unwrap_or_else(|| panic!("nothing is held: {log}"));
        let before = self.tree();
        let (status, text) = self.exacta(&["commit", id]);
        assert!(status == 125 && text.contains(path), "{status}: {text}");
        let differences = before.differences(&self.tree(), But::Nothing);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        let (status, diff) = self.exacta(&["diff", id]);
        assert!(status == 0 && diff.contains("new"), "{diff}");
        assert_eq!(self.exacta(&["discard", id]).0, 0);
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_behind = fs::remove_dir_all(&self.root);
    }
}

/// For a program inside: says that it runs, and waits.
const WAIT: &str = "open(R, q(>), q(/tmp/ready)); close R; \
                    for (1..2000) { last if -e q(/tmp/go); select(undef, undef, undef, 0.01) }";

fn said(output: &Output) -> (i32, String) {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn requests_that_touch_different_paths() {
    let project = Project::new();
    let before = project.tree();
    let script = |name: &str| {
        format!(
            "echo {name} > {name}.txt; perl -e 'mkdir q({name}); for (1..50) \
             {{ open(F, q(>), qq({name}/$_)); print F $_; close F }} rename(q({name}.txt), q({name}.moved)) or die'; \
             echo more >> {name}/1"
        )
    };
    let running: Vec<Child> =
        ["a", "b", "c", "d"].iter().map(|name| project.start(&script(name))).collect();
    for one in running {
        let (status, text) = said(&one.wait_with_output().expect("it ends"));
        assert_eq!(status, 0, "{text}");
    }
    for name in ["a", "b", "c", "d"] {
        assert_eq!(project.read(&format!("{name}/1")), "1more\n");
        assert_eq!(project.read(&format!("{name}.moved")), format!("{name}\n"));
    }
    // In whatever order: the second first, then the rest.
    for id in ["2", "4", "1", "3"] {
        let (status, text) = project.exacta(&["undo", id]);
        assert_eq!(status, 0, "{text}");
    }
    // Others have changed names in the root while each of them ran.
    let differences = before.differences(&project.tree(), But::Nothing);
    let differences: Vec<_> =
        differences.into_iter().filter(|one| !one.starts_with(": time")).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn requests_that_write_the_same_file() {
    let project = Project::new();
    let script = |own: &str, other: &str| {
        format!(
            "perl -e 'open(R, q(>), q(/tmp/{own})); close R; \
             for (1..2000) {{ last if -e q(/tmp/{other}); select(undef, undef, undef, 0.01) }} \
             open(F, q(>), q(notes.md)); print F qq(new {own}\\n); close F'"
        )
    };
    let running = [project.start(&script("one", "two")), project.start(&script("two", "one"))];
    let ended = running.map(|one| said(&one.wait_with_output().expect("it ends")));
    let statuses: Vec<i32> = ended.iter().map(|(status, _)| *status).collect();
    let (first, second) = match statuses[..] {
        [0, 125] => ("one", &ended[1]),
        [125, 0] => ("two", &ended[0]),
        _ => panic!("{ended:?}"),
    };
    assert_eq!(project.read("notes.md"), format!("new {first}\n"));
    project.assert_held(second, "notes.md");
    assert_eq!(project.exacta(&["undo"]).0, 0);
    assert_eq!(project.read("notes.md"), "old\n");
}

/// Each of them has its line in the file, or was told that it has not.
fn many_requests_that_append_to_one_file() {
    let project = Project::new();
    let script = |number: usize| {
        format!("perl -e 'open(F, q(>>), q(notes.md)); print F qq(new {number}\\n); close F'")
    };
    let running: Vec<Child> = (0..6).map(|number| project.start(&script(number))).collect();
    let mut expected = 0;
    for (number, one) in running.into_iter().enumerate() {
        let (status, text) = said(&one.wait_with_output().expect("it ends"));
        let is_there = project.read("notes.md").contains(&format!("new {number}\n"));
        match status {
            0 => {
                expected += 1;
                assert!(is_there, "{number} was lost: {}", project.read("notes.md"));
            }
            125 => assert!(text.contains("notes.md"), "{text}"),
            status => panic!("{status}: {text}"),
        }
    }
    assert!(expected >= 1);
    assert_eq!(project.read("notes.md").lines().count(), expected + 1);
}

const CHANGES: &str = "perl -e 'WAIT; open(F, q(>), q(notes.md)); print F qq(new\\n); close F; open(F, q(>), q(src/made)); print F q(new)'";

fn a_person_who_saves_by_renaming() {
    let project = Project::new();
    let ended = project.meanwhile(CHANGES, || project.save("notes.md", "theirs\n"));
    assert_eq!(project.read("notes.md"), "theirs\n");
    assert!(!project.root.join("src/made").exists(), "all or nothing");
    project.assert_held(&ended, "notes.md");
}

fn a_person_who_saves_in_place() {
    let project = Project::new();
    let ended = project.meanwhile(CHANGES, || project.write("notes.md", "theirs\n"));
    assert_eq!(project.read("notes.md"), "theirs\n");
    project.assert_held(&ended, "notes.md");
}

fn a_person_who_saves_something_else() {
    let project = Project::new();
    let (status, text) = project.meanwhile(CHANGES, || {
        project.save("other.md", "theirs\n");
        project.write("src/main.rs", "theirs\n");
        project.write("src/theirs", "theirs\n");
    });
    assert_eq!(status, 0, "{text}");
    assert_eq!(project.read("notes.md"), "new\n");
    let (status, text) = project.exacta(&["undo"]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(project.read("notes.md"), "old\n");
    for name in ["other.md", "src/main.rs", "src/theirs"] {
        assert_eq!(project.read(name), "theirs\n", "{name}");
    }
    assert!(!project.root.join("src/made").exists());
}

fn a_person_who_deletes_what_the_request_changes() {
    let project = Project::new();
    let changes = "perl -e 'open(F, q(>>), q(notes.md)); print F qq(new\\n); close F; WAIT'";
    let ended = project.meanwhile(changes, || {
        fs::remove_file(project.root.join("notes.md")).expect("it is there");
    });
    assert!(!project.root.join("notes.md").exists());
    project.assert_held(&ended, "notes.md");
}

fn a_person_who_makes_what_the_request_makes() {
    let project = Project::new();
    let ended = project.meanwhile(CHANGES, || project.save("src/made", "theirs\n"));
    assert_eq!(project.read("src/made"), "theirs\n");
    project.assert_held(&ended, "src/made");
}

fn a_person_who_saves_in_a_directory_that_the_request_deletes() {
    let project = Project::new();
    let deletes = "perl -MFile::Path=remove_tree -e 'WAIT; remove_tree(q(src)); open(F, q(>), q(new)); print F q(new)'";
    let ended = project.meanwhile(deletes, || project.write("src/main.rs", "theirs\n"));
    assert_eq!(project.read("src/main.rs"), "theirs\n");
    project.assert_held(&ended, "src/main.rs");
}

/// What builtins have done is done; what a person makes of it is found by undo.
fn a_person_who_changes_what_a_builtin_has_changed() {
    let project = Project::new();
    let script = "echo mine > notes.md; echo mine > other.md; perl -e 'WAIT'";
    let (status, text) = project.meanwhile(script, || project.save("notes.md", "theirs\n"));
    assert_eq!(status, 0, "{text}");
    let (status, text) = project.exacta(&["undo"]);
    assert!(status == 1 && text.contains("notes.md (changed)"), "{text}");
    assert_eq!(project.read("notes.md"), "theirs\n");
    assert_eq!(project.exacta(&["undo", "--force"]).0, 0);
    assert_eq!(
        (project.read("notes.md"), project.read("other.md")),
        ("old\n".into(), "old\n".into())
    );
    assert_eq!(project.exacta(&["redo"]).0, 0);
    assert_eq!(
        (project.read("notes.md"), project.read("other.md")),
        ("theirs\n".into(), "mine\n".into())
    );
}

//! Programs that write into the project at once: it is asked about, unless a rule has said yes, it is said, and the record says it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

exacta_world::tests! {
    direct_writes_are_asked_about,
    a_rule_has_a_server_write_directly,
    a_rule_of_the_project_alone_does_not,
    programs_before_a_server_keep_their_layer,
    redirects_of_a_server_are_recorded,
}

const SAID: &str = "cannot be undone";

struct Project {
    place: PathBuf,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-direct-{}-{serial}", std::process::id());
        let place = std::env::temp_dir().join(name);
        fs::create_dir_all(place.join("project/.clada")).expect("a temporary directory");
        let place = place.canonicalize().expect("a real path");
        Project { root: place.join("project"), place }
    }

    /// The user's own configuration, in which perl is a server.
    fn with_rule(self) -> Self {
        fs::create_dir_all(self.place.join("configuration/exacta")).expect("a directory");
        fs::write(self.place.join("configuration/exacta/config.toml"), RULE).expect("a file");
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("XDG_CONFIG_HOME", self.place.join("configuration"))
            .env("XDG_STATE_HOME", self.place.join("state"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command(arguments).output().expect("the binary runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    }

    fn last(&self) -> Value {
        let (_, log) = self.run(&["log", "--json"]);
        let log: Value = serde_json::from_str(&log).expect("JSON");
        log[0].clone()
    }

    fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_behind = fs::remove_dir_all(&self.place);
    }
}

const RULE: &str = r#"
[[rule]]
id = "our-server"
verdict = "allow"
command = ["perl"]
direct = true
reason = "it has to see what people change"
"#;

const MAKES: &str = "perl -e 'open(F, q(>), q(made)); close F'";

fn direct_writes_are_asked_about() {
    for profile in ["dev", "full-auto"] {
        let project = Project::new();
        let (status, text) = project.run(&["--profile", profile, "run", "--direct", "--", MAKES]);
        assert_eq!(status, Some(126), "{profile}: {text}");
        assert!(text.contains(SAID) && !project.has("made"), "{profile}: {text}");
        let arguments = ["--profile", profile, "run", "--direct", "--yes", "--", MAKES];
        let (status, text) = project.run(&arguments);
        assert_eq!(status, Some(0), "{profile}: {text}");
        assert!(text.contains(SAID) && project.has("made"), "{profile}: {text}");
        let last = project.last();
        assert_eq!(last["strategy"], "none: its programs wrote directly", "{last}");
        // Builtins are recorded as ever, and nobody has to be asked.
        let (status, text) = project.run(&["run", "--direct", "--", "echo x > builtin"]);
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(project.run(&["undo"]).0, Some(0));
        assert!(!project.has("builtin"));
    }
}

fn a_rule_has_a_server_write_directly() {
    let project = Project::new().with_rule();
    let server = "echo before > notes; perl -e '$| = 1; open(F, q(>), q(ready)); close F; \
                  for (1..2000) { last if -e q(stop); select(undef, undef, undef, 0.01) } \
                  open(N, q(<), q(notes)); print <N>'";
    let child: Child = project
        .command(&["run", "--yes", "--", server])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let start = Instant::now();
    while !project.has("ready") {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not write directly");
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::write(project.root.join("new"), "theirs\n").expect("a file");
    fs::rename(project.root.join("new"), project.root.join("notes")).expect("it is saved");
    fs::write(project.root.join("stop"), "").expect("a file");
    let output = child.wait_with_output().expect("it ends");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stdout, "theirs\n", "it sees what people change");
    assert!(stderr.contains(SAID), "{stderr}");
    let last = project.last();
    assert_eq!(last["strategy"], "restore, except: its programs wrote directly", "{last}");
}

fn a_rule_of_the_project_alone_does_not() {
    let project = Project::new();
    fs::write(project.root.join(".exacta.toml"), RULE).expect("a file");
    let (_, text) = project.run(&["run", "--yes", "--", MAKES]);
    assert!(!text.contains(SAID), "{text}");
    if project.has("made") {
        assert_eq!(project.run(&["undo"]).0, Some(0));
        assert!(!project.has("made"), "it was written to a layer");
    }
}

fn programs_before_a_server_keep_their_layer() {
    let project = Project::new().with_rule();
    let script = format!("tar cf first --files-from /dev/null; {MAKES}");
    let (status, text) = project.run(&["run", "--yes", "--", &script]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("a request of its own"), "{text}");
    assert!(project.has("first") && project.has("made"));
    assert_eq!(project.run(&["undo"]).0, Some(0));
    assert!(!project.has("first") && !project.has("made"));
}

fn redirects_of_a_server_are_recorded() {
    let project = Project::new().with_rule();
    let (status, text) =
        project.run(&["run", "--", "perl -e 'print 1; open(F, q(>), q(made))' > log"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains(SAID) && project.has("log") && project.has("made"), "{text}");
    let (status, text) = project.run(&["undo"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("not taken back"), "{text}");
    assert!(!project.has("log") && project.has("made"));
}

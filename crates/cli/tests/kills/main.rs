//! The binary is killed at every system call with which a request, an undo or a redo changes something. Then a fresh
//! process recovers: the tree is as before or as after, never between, and nothing that was recorded is lost.
//!
//! The crate `exacta-store` has the same for each of its own operations, in process and with many more shapes; here it is
//! the whole of exacta, with real programs, and a real end.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories, run the binary and end it"
)]

mod tracer;

#[path = "../../../store/tests/tree/mod.rs"]
mod tree;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use tracer::Run;
use tree::{But, Tree};

exacta_world::tests! {
    requests_of_builtins,
    requests_with_a_program,
    requests_with_a_program_without_layers,
    undo_and_redo_of_builtins,
    undo_and_redo_of_a_program,
    undo_that_is_forced,
}

const EXACTA: &str = env!("CARGO_BIN_EXE_exacta");

/// What there is before.
const SETUP: &str = "
    mkdir -p d/e locked empty
    echo one > a; echo two > b; echo deep > d/e/f; echo x > locked/x
    seq 60000 > big; seq 300000 > huge; ln b hard; ln -s a link
    touch -d '2001-02-03 04:05:06.789' a d d/e; chmod 555 locked
";

const BUILTINS: &str = "
    echo more >> a; echo x > new; mkdir -p p/q; mv b p/q/b; rm -r d; chmod 600 a; echo small > big
    echo tail >> hard; echo tail >> huge; cp a p/copy; ln -s p way; rmdir empty; mv p/copy big
";

/// The same kinds of changes by a program, between those of builtins.
const PROGRAM: &str = "
    echo more >> a
    perl -e '
        sub put { open(my $file, $_[1], $_[0]) or die $!; print $file $_[2]; close($file) }
        put(\"new\", \">\", \"x\"); put(\"big\", \">\", \"small\"); put(\"hard\", \">>\", \"tail\");
        mkdir(\"p\"); mkdir(\"p/q\"); rename(\"b\", \"p/q/b\") or die; put(\"p/copy\", \">\", \"y\");
        unlink(\"d/e/f\"); rmdir(\"d/e\"); rmdir(\"d\"); put(\"d\", \">\", \"a file now\"); chmod(0700, \"link\", \"p\");
        symlink(\"p\", \"way\"); rmdir(\"empty\")'
    echo last > p/last
";

struct Project {
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-kills-{}-{serial}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join(".clada")).expect("a temporary directory");
        let project = Project { root: root.canonicalize().expect("a real path") };
        project.bash(SETUP);
        project
    }

    fn bash(&self, script: &str) {
        let status = Command::new("bash").args(["-euc", script]).current_dir(&self.root).status();
        assert!(status.expect("bash runs").success(), "{script}");
    }

    fn tree(&self) -> Tree {
        tree::read(&self.root, &[".clada"])
    }

    /// Killed before its `nth` call that changes something, or not at all.
    fn killed(&self, arguments: &[&str], nth: usize) -> Run {
        let command: Vec<&str> = std::iter::once(EXACTA).chain(arguments.iter().copied()).collect();
        tracer::run(&command, &self.root, nth)
    }

    fn exacta(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(EXACTA).args(arguments).current_dir(&self.root).output();
        let output = output.expect("the binary runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    fn must(&self, arguments: &[&str], when: &str) {
        let (done, text) = self.exacta(arguments);
        assert!(done, "{when}: exacta {arguments:?}: {text}");
    }

    /// The records as a fresh process finds them, newest first: id and state. What the dead one had started ends a moment
    /// after it, and may have its locks until then.
    fn recovered(&self, when: &str) -> Vec<(u64, String)> {
        let start = Instant::now();
        loop {
            let (_, text) = self.exacta(&["log", "--json"]);
            let log: Value =
                serde_json::from_str(&text).unwrap_or_else(|_| panic!("{when}: {text}"));
            let record = |one: &Value| {
                let state = one["state"].as_str().expect("a state").to_owned();
                (one["id"].as_u64().expect("an id"), state)
            };
            let records: Vec<_> = log.as_array().expect("a list").iter().map(record).collect();
            let settled = |(_, state): &(u64, String)| {
                matches!(state.as_str(), "applied" | "undone" | "held" | "discarded")
            };
            if records.iter().all(settled) && !self.has_layers_of_nobody() {
                return records;
            }
            let waits = start.elapsed() < Duration::from_secs(10);
            assert!(waits, "{when}: not recovered: {records:?}\n{}", self.journal());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What is in it, and who has it open.
    fn journal(&self) -> String {
        let script = "ls -lR .clada/undo; grep -s ^Name /proc/[0-9]*/status; \
                      ls -l /proc/[0-9]*/fd 2> /dev/null | grep -e ^/proc -e undo";
        let output = Command::new("bash").args(["-c", script]).current_dir(&self.root).output();
        String::from_utf8_lossy(&output.expect("bash runs").stdout).into_owned()
    }

    fn has_layers_of_nobody(&self) -> bool {
        let layers = fs::read_dir(self.root.join(".clada/undo/run"));
        let mut layers = layers.into_iter().flatten().flatten();
        layers.any(|layer| !layer.path().join("held").exists())
    }

    fn assert(&self, expected: &Tree, when: &str) {
        let differences = expected.differences(&self.tree(), But::Nothing);
        assert!(differences.is_empty(), "{when}:\n{}", differences.join("\n"));
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_behind = Command::new("chmod").args(["-R", "u+w"]).arg(&self.root).status();
        let _left_behind = fs::remove_dir_all(&self.root);
    }
}

fn request(script: &str) -> [&str; 6] {
    ["--profile", "full-auto", "run", "--yes", "--", script]
}

fn requests_of_builtins() {
    let killed = at_every_call(BUILTINS);
    assert!(killed > 40, "{killed}");
}

fn requests_with_a_program() {
    let killed = at_every_call(PROGRAM);
    assert!(killed > 40, "{killed}");
}

/// Where there are no namespaces the program writes into the project, and what it has changed is found by comparing.
fn requests_with_a_program_without_layers() {
    let without = ["unshare", "--user", "--map-root-user", "sh", "-c"];
    let script = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"";
    let exacta = ["sh", EXACTA, "--min-isolation", "landlock"];
    let command = [&without[..], &[script], &exacta, &request(PROGRAM)].concat();
    let killed = killed_at_every_call(|project, nth| tracer::run(&command, &project.root, nth));
    assert!(killed > 100, "{killed}");
}

fn at_every_call(script: &str) -> usize {
    killed_at_every_call(|project, nth| project.killed(&request(script), nth))
}

/// How often it was killed.
fn killed_at_every_call(run: impl Fn(&Project, usize) -> Run) -> usize {
    // What is kept for all projects is there from now on: so all of them make the same calls.
    let first = run(&Project::new(), usize::MAX);
    assert!(matches!(first, Run::Ended { status: 0, .. }), "{first:?}");
    for nth in 0.. {
        let project = Project::new();
        let before = project.tree();
        let run = run(&project, nth);
        let when = format!("call {nth}: {run:?}");
        if let Run::Ended { status, calls } = run {
            assert_eq!((status, calls), (0, nth), "{when}");
            return nth;
        }
        for (id, state) in project.recovered(&when) {
            let id = id.to_string();
            match state.as_str() {
                "applied" => {}
                "held" => project.must(&["commit", &id], &when),
                state => panic!("{when}: {state}"),
            }
            project.must(&["undo", &id], &when);
        }
        project.assert(&before, &when);
        let busy = fs::read_dir(project.root.join(".clada/undo/busy"));
        assert_eq!(busy.map_or(0, Iterator::count), 0, "{when}: something was left");
    }
    0
}

fn undo_and_redo_of_builtins() {
    let killed = turned_at_every_call(BUILTINS);
    assert!(killed > 40, "{killed}");
}

fn undo_and_redo_of_a_program() {
    let killed = turned_at_every_call(PROGRAM);
    assert!(killed > 40, "{killed}");
}

fn turned_at_every_call(script: &str) -> usize {
    let project = Project::new();
    let before = project.tree();
    project.must(&request(script), "the request");
    let after = project.tree();
    let undone = turn(&project, "undo", &[&after, &before], &["undo"]);
    undone + turn(&project, "redo", &[&before, &after], &["redo"])
}

/// From one tree to the other, killed at every call; where it arrives all the same, it goes back.
fn turn(project: &Project, verb: &str, [from, to]: &[&Tree; 2], arguments: &[&str]) -> usize {
    let opposite = if verb == "undo" { "redo" } else { "undo" };
    for nth in 0.. {
        let run = project.killed(arguments, nth);
        let when = format!("{verb}, call {nth}: {run:?}");
        let records = project.recovered(&when);
        let [(_, state)] = &records[..] else { panic!("{when}: {records:?}") };
        let arrived = (state == "undone") == (verb == "undo");
        project.assert(if arrived { to } else { from }, &when);
        if let Run::Ended { status, .. } = run {
            assert!(status == 0 && arrived, "{when}");
            return nth;
        }
        if arrived {
            project.must(&[opposite], &when);
            project.assert(from, &format!("{when}, then {opposite}"));
        }
    }
    0
}

/// What a person has changed meanwhile is neither lost nor half gone.
fn undo_that_is_forced() {
    let project = Project::new();
    project.must(&request(BUILTINS), "the request");
    project.bash(
        "echo theirs > a; echo theirs > p/q/.b; mv p/q/.b p/q/b; rm new; rm way; mkdir way; echo theirs > way/file
         echo theirs > d",
    );
    let theirs = project.tree();
    let forced = ["undo", "--force"];
    let (done, text) = project.exacta(&forced);
    assert!(done, "{text}");
    let undone = project.tree();
    project.must(&["redo"], "there and back");
    project.assert(&theirs, "redone");
    let killed = turn(&project, "undo", &[&theirs, &undone], &forced);
    assert!(killed > 40, "{killed}");
}

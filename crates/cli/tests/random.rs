//! Requests made of random changes by builtins and programs, on random trees: each is undone and redone, one by one and together,
//! and the tree is exactly what it was. Some are killed at a random moment first. The same seeds every time.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories, run the binary and end it"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

#[path = "../../store/tests/tree/mod.rs"]
mod tree;

use tree::{But, Tree};

exacta_world::tests! {
    requests_of_all_kinds,
    requests_that_are_killed,
}

const NAMES: [&str; 12] =
    ["a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/f", "e", "e/g", "h i", "L"];

/// What is there, in bash; `N` is one of the names, `M` another.
const BEGINNINGS: [&str; 6] =
    ["echo old > N", "seq 5000 > N", "mkdir N", "mkdir N && echo x > N/x", "ln -s M N", "ln M N"];

const BUILTINS: [&str; 24] = [
    "echo new > N",
    "echo more >> N",
    ": > N",
    "mv N M",
    "mv -T N M",
    "rm -rf N",
    "rm -f N",
    "cp -r N M",
    "cp -a N M",
    "ln N M",
    "ln -s N M",
    "ln -sfn N M",
    "chmod 600 N",
    "chmod 555 N",
    "touch -d @123456 N",
    "touch N",
    "mkdir -p N",
    "rmdir N",
    "sed -i s/o/0/ N",
    "printf x 1<> N",
    "seq 60000 > N",
    "seq 300000 > N",
    "echo t >> N; seq 5 >> N",
    "tee -a N < /dev/null",
];

/// In perl, where quotes of the shell have no meaning.
const PROGRAMS: [&str; 15] = [
    "if (open(F, q(>), q(N))) { print F q(new); close F }",
    "if (open(F, q(>>), q(N))) { print F q(more); close F }",
    "if (open(F, q(+<), q(N))) { seek F, 2, 0; print F q(XX); close F }",
    "truncate(q(N), 3)",
    "mkdir(q(N))",
    "rmdir(q(N))",
    "rename(q(N), q(M))",
    "rename(q(M), q(N))",
    "unlink(q(N))",
    "symlink(q(N), q(M))",
    "link(q(N), q(M))",
    "chmod(0700, q(N))",
    "utime(1, 98765, q(N))",
    "remove_tree(q(N))",
    "if (open(F, q(>), q(.tmp))) { print F q(saved); close F; rename(q(.tmp), q(N)) }",
];

/// Numbers that look like chance and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }

    fn filled(&mut self, all: &[&str], quote: &str) -> String {
        let one = |dice: &mut Self| format!("{quote}{}{quote}", dice.of(&NAMES));
        let (first, second) = (one(self), one(self));
        // Names stand alone; the letters of words do not.
        let text = self.of(all).replace("(N)", &format!("({first})"));
        let text = text.replace("(M)", &format!("({second})"));
        let words = text.split(' ').map(|word| match word {
            "N" => first.clone(),
            "M" => second.clone(),
            "N;" => format!("{first};"),
            "N/x" => format!("{first}/x"),
            word => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn script(&mut self) -> String {
        let mut lines = Vec::new();
        for _ in 0..=self.roll(5) {
            let count = 1 + self.roll(6);
            if self.roll(2) == 0 {
                let changes: Vec<String> = (0..count).map(|_| self.filled(&PROGRAMS, "")).collect();
                let code = changes.join("; ");
                lines.push(format!("perl -MFile::Path=remove_tree -e '{code}'"));
            } else {
                lines.extend((0..count).map(|_| self.filled(&BUILTINS, "'")));
            }
        }
        lines.join("\n")
    }
}

struct Project {
    root: PathBuf,
}

impl Project {
    fn new(name: &str, seed: u64, dice: &mut Dice) -> Self {
        let name = format!("exacta-random-{}-{name}-{seed}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join(".clada")).expect("a temporary directory");
        let project = Project { root: root.canonicalize().expect("a real path") };
        let lines: Vec<String> = (0..14).map(|_| dice.filled(&BEGINNINGS, "'")).collect();
        let script = format!("exec 2> /dev/null; {}; :", lines.join("; "));
        let made = Command::new("bash").args(["-c", &script]).current_dir(&project.root).status();
        assert!(made.expect("bash runs").success(), "{script}");
        project
    }

    fn tree(&self) -> Tree {
        tree::read(&self.root, &[".clada"])
    }

    fn assert(&self, expected: &Tree, when: &str) {
        let differences = expected.differences(&self.tree(), But::Nothing);
        assert!(differences.is_empty(), "{when}:\n{}", differences.join("\n"));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        command
    }

    fn exacta(&self, arguments: &[&str], when: &str) -> Output {
        let output = self.command(arguments).output().expect("the binary runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{when}: exacta {arguments:?}: {errors}");
        output
    }

    /// Its record, if it has changed anything.
    fn request(&self, script: &str, when: &str) -> bool {
        let arguments = ["--profile", "full-auto", "run", "--yes", "--json", "--", script];
        let output = self.command(&arguments).output().expect("the binary runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let errors = report["stderr"].as_str().unwrap_or_default();
        assert!(!errors.contains("not applied"), "{when}: {errors}");
        report["undo"]["strategy"] == "restore"
    }

    /// Ends it with a signal that nothing can catch, unless it has ended by itself.
    fn killed(&self, arguments: &[&str], after: Duration) {
        let mut command = self.command(arguments);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("the binary runs");
        std::thread::sleep(after);
        let _it_may_have_ended = child.kill();
        child.wait().expect("it has ended");
    }

    /// Ids and states, newest first, when what the dead one has left has been brought to an end.
    fn recovered(&self, when: &str) -> Vec<(String, String)> {
        let start = Instant::now();
        loop {
            let output = self.exacta(&["log", "--json"], when);
            let log: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let text = |value: &Value| value.to_string().trim_matches('"').to_owned();
            let records = log.as_array().expect("a list").iter();
            let records: Vec<_> =
                records.map(|one| (text(&one["id"]), text(&one["state"]))).collect();
            let layers = fs::read_dir(self.root.join(".clada/undo/run"));
            let mut layers = layers.into_iter().flatten().flatten();
            let waiting = layers.any(|layer| !layer.path().join("held").exists());
            let settled = ["applied", "undone", "held", "discarded"];
            if !waiting && records.iter().all(|(_, state)| settled.contains(&state.as_str())) {
                return records;
            }
            let patient = start.elapsed() < Duration::from_secs(10);
            assert!(patient, "{when}: not recovered: {records:?}");
        }
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_behind = Command::new("chmod").args(["-R", "u+rwx"]).arg(&self.root).status();
        let _left_behind = fs::remove_dir_all(&self.root);
    }
}

fn requests_of_all_kinds() {
    for seed in 1..=40_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let project = Project::new("all", seed, &mut dice);
        let mut trees = vec![project.tree()];
        let mut when = format!("seed {seed}");
        for _ in 0..=dice.roll(3) {
            let script = dice.script();
            when.push_str(&format!("\n--\n{script}"));
            if project.request(&script, &when) {
                trees.push(project.tree());
            }
            let last = trees.last().expect("there is one");
            project.assert(last, &format!("{when}\nchanged without a record"));
        }
        for tree in trees.iter().rev().skip(1) {
            project.exacta(&["undo"], &when);
            project.assert(tree, &format!("{when}\nundone"));
        }
        for tree in trees.iter().skip(1) {
            project.exacta(&["redo"], &when);
            project.assert(tree, &format!("{when}\nredone"));
        }
        let Some(count) = trees.len().checked_sub(1).filter(|count| *count > 0) else { continue };
        project.exacta(&["undo", "--last", &count.to_string()], &when);
        project.assert(&trees[0], &format!("{when}\nall undone"));
    }
}

fn requests_that_are_killed() {
    for seed in 1..=30_u64 {
        let mut dice = Dice(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let project = Project::new("killed", seed, &mut dice);
        let before = project.tree();
        let script = dice.script();
        let when = format!("seed {seed}\n{script}");
        let after = Duration::from_millis(5 + dice.roll(150) as u64);
        project.killed(&["--profile", "full-auto", "run", "--yes", "--", &script], after);
        let records = project.recovered(&when);
        for (id, state) in &records {
            match state.as_str() {
                "held" => drop(project.exacta(&["commit", id], &when)),
                "applied" => {}
                state => panic!("{when}: {state}"),
            }
            project.exacta(&["undo", id], &when);
        }
        project.assert(&before, &when);
        let Some((id, _)) = records.last() else { continue };
        project.exacta(&["redo", id], &when);
        let after = project.tree();
        let mut applied = true;
        for _ in 0..5 {
            let verb = if applied { "undo" } else { "redo" };
            project.killed(&[verb, id], Duration::from_millis(dice.roll(25) as u64));
            let records = project.recovered(&when);
            applied = records.iter().any(|(one, state)| one == id && state == "applied");
            project.assert(if applied { &after } else { &before }, &format!("{when}\n{verb}"));
        }
    }
}

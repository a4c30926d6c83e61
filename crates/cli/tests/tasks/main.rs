//! `exacta task …` through the binary: plans run, halt at the gate, fail, are taken back, cancelled, begun anew and looked at.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories, run the binary and play the person at a terminal"
)]

mod ending;
mod gate;
mod looking;
mod plans;
mod readme;
mod running;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod support;
mod terminal;

use std::io::Read as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Project, code, text};

const BINARY: &str = env!("CARGO_BIN_EXE_exacta");

/// Long enough for a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A project whose operator lets tasks run a few more commands.
fn project() -> Project {
    let project = Project::new();
    let home = project.root.parent().expect("a home").join(".config/exacta");
    std::fs::create_dir_all(&home).expect("a folder");
    let allow =
        "[tasks]\nallow = [\"sleep\", \"test\", \"mkdir\", \"false\", \"printf\", \"touch\"]\n";
    std::fs::write(home.join("config.toml"), allow).expect("a file");
    project
}

/// A plan of these commands, none of which is tried again.
fn plan(project: &Project, commands: &[&str]) {
    let mut text = String::from("goal = \"be done\"\n");
    for command in commands {
        // A string of JSON is one of TOML.
        let command = Value::from(*command);
        let step = format!("\n[[steps]]\ncommand = {command}\nretry = {{ attempts = 0 }}\n");
        text.push_str(&step);
    }
    project.write("plan.toml", &text);
}

fn in_json(output: &Output) -> Value {
    let shown = text(&output.stdout);
    serde_json::from_str(&shown)
        .unwrap_or_else(|error| panic!("{error}: {shown}{}", text(&output.stderr)))
}

/// Runs it and gives its report.
fn report(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["task"];
    all.extend(arguments);
    all.push("--json");
    let output = project.run(&all);
    (code(&output), in_json(&output))
}

fn id(report: &Value) -> String {
    report["id"].as_str().expect("an id").to_owned()
}

/// The newest one.
fn newest(project: &Project) -> Option<Value> {
    let (_, list) = report(project, &["list", "--limit", "1"]);
    list["tasks"].get(0).cloned()
}

/// A task that runs in a process of its own, which is that of the binary.
fn begun(project: &Project, arguments: &[&str]) -> Child {
    let mut command = Command::new(BINARY);
    project.surround(&mut command);
    command.arg("task").args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

/// Waits until something can be seen.
fn until<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = seen() {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "never seen: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn finished(mut child: Child) -> (i32, String) {
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("text");
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (child.wait().expect("it ends").code().unwrap_or(-1), said)
}

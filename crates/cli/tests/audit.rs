//! The record of what was done, as a user meets it: INV-SHELL-5, S3 §8, what happens when nothing can be recorded, and
//! what is left after `kill -9` at any moment.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories, run the binary and kill it"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

struct Project {
    folder: PathBuf,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("exacta-record-{}-{serial}", std::process::id()));
        fs::create_dir_all(folder.join("project/.git")).expect("a temporary directory");
        fs::create_dir_all(folder.join("home")).expect("a temporary directory");
        let folder = folder.canonicalize().expect("a real path");
        Project { root: folder.join("project"), folder }
    }

    fn exacta(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        command.env("HOME", self.folder.join("home")).env_remove("XDG_STATE_HOME");
        command.env_remove("XDG_CONFIG_HOME").env("EXACTA_AGENT", "tester");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.exacta(arguments).output().expect("the binary runs")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
    }

    /// The newest first.
    fn history(&self, filters: &[&str]) -> Vec<Value> {
        let arguments = [&["shell", "history", "--json"], filters].concat();
        self.json(&arguments).as_array().expect("a list").clone()
    }

    fn verified(&self) -> Value {
        self.json(&["audit", "verify", "--json"])
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.folder);
    }
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// S3 §8: `ShellExecutionResult`.
const SCHEMA: [&str; 11] = [
    "correlation_id",
    "command",
    "args",
    "working_dir",
    "exit_code",
    "stdout",
    "stderr",
    "duration_ms",
    "resource_usage",
    "policy_rule_matched",
    "timestamp",
];

#[test]
fn s3_8_every_field_is_in_the_report_and_in_the_history() {
    let project = Project::new();
    let report = project.json(&["run", "--json", "--", "printf", "a\\nb\\n"]);
    let history = project.history(&[]);
    let [recorded] = history.as_slice() else { panic!("{history:?}") };
    for field in SCHEMA {
        assert!(report.get(field).is_some(), "{field} is not in the report");
        assert!(recorded.get(field).is_some(), "{field} is not in the history");
    }
    for field in [
        "correlation_id",
        "command",
        "args",
        "working_dir",
        "exit_code",
        "stdout",
        "policy_rule_matched",
    ] {
        assert_eq!(report[field], recorded[field], "{field}");
    }
    for field in ["cpu_ms", "memory_peak_bytes"] {
        assert!(recorded["resource_usage"].get(field).is_some(), "{field}");
    }
    let id = report["correlation_id"].as_str().expect("an id");
    let whole = project.json(&["shell", "history", id, "--json"]);
    assert_eq!(
        (whole["stdout"].as_str(), whole["agent"].as_str()),
        (Some("a\nb\n"), Some("tester"))
    );
}

/// INV-SHELL-5: "Every executed command is logged with input, output, exit code, duration, and the policy rule that
/// allowed it."
#[test]
fn inv_shell_5_every_command_is_recorded() {
    let project = Project::new();
    // Command, exit code, decision, standard output, changes something.
    let cases = [
        ("echo hi", 0, "allow", "hi\n", false),
        ("echo one > a; cat a", 0, "allow", "one\n", true),
        ("false", 1, "allow", "", false),
        ("ls | wc -l", 0, "allow", "1\n", false),
        ("rm a", 0, "allow", "", true),
        ("curl http://example.com", 126, "deny", "", false),
        ("exit 7", 7, "allow", "", false),
        ("no_such_command_at_all", 127, "allow", "", false),
        ("syntax ( error", 2, "allow", "", false),
    ];
    for (command, exit, ..) in &cases {
        let output = project.run(&["-c", command]);
        assert_eq!(status(&output), *exit, "{command}: {output:?}");
    }
    let history = project.history(&[]);
    assert_eq!(history.len(), cases.len());
    for (recorded, (command, exit, decision, stdout, changes)) in history.iter().rev().zip(&cases) {
        assert_eq!(recorded["command"], *command);
        assert_eq!(recorded["exit_code"], *exit, "{command}");
        assert_eq!(recorded["decision"], *decision, "{command}");
        assert_eq!(recorded["stdout"], *stdout, "{command}");
        assert!(recorded["duration_ms"].as_f64().is_some_and(|time| time > 0.0), "{command}");
        assert!(recorded["policy_rule_matched"].as_str().is_some_and(|rule| !rule.is_empty()));
        assert_eq!(recorded["undo"].is_object(), *changes, "{command}");
    }
    let denied = project.history(&["--decision", "deny"]);
    assert_eq!(denied.len(), 1);
    assert_eq!(denied[0]["refusals"][0]["argv"][0], "curl");
    assert!(denied[0]["rule_source"].as_str().is_some_and(|source| source.contains(':')));
    assert_eq!(project.history(&["--failed"]).len(), 5);
    assert_eq!(project.history(&["--grep", "HI"]).len(), 1);
    assert_eq!(project.history(&["--limit", "2"]).len(), 2);
    assert_eq!(project.history(&["--since", "1h"]).len(), cases.len());
    assert_eq!(project.history(&["--since", "2999-01-01"]).len(), 0);
    assert_eq!(project.verified()["good"], true);
}

#[test]
fn what_a_program_was_given_is_recorded_before_it_runs() {
    let project = Project::new();
    let output =
        project.run(&["-c", "x=here; python3 -c 'import os; print(os.listdir(\".\"))' $x | cat"]);
    assert_eq!(status(&output), 0, "{output:?}");
    let id = project.history(&[])[0]["number"].to_string();
    let whole = project.json(&["shell", "history", &id, "--json"]);
    assert_eq!(whole["starts"][0]["argv"][0], "python3");
    assert_eq!(whole["starts"][0]["argv"][3], "here");
    assert_eq!(whole["execs"][0]["argv"][0], "python3");
    assert_eq!(whole["steps"].as_array().map(Vec::len), Some(2));
    assert_ne!(whole["isolation"]["level"], "in-process");
    assert!(whole["resource_usage"]["memory_peak_bytes"].as_u64().is_some_and(|peak| peak > 0));
    assert!(whole["stdout"].as_str().is_some_and(|text| text.contains(".git")));
}

#[test]
fn long_output_is_kept_as_a_whole_and_shown_by_its_ends() {
    let project = Project::new();
    let output = project.run(&["-c", "seq 20000"]);
    assert_eq!(status(&output), 0);
    let listed = &project.history(&[])[0];
    let shown = listed["stdout"].as_str().expect("text");
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("20000\n") && shown.len() < 4_000);
    let whole = project.json(&["shell", "history", "1", "--json"]);
    assert_eq!(whole["stdout"].as_str().map(str::as_bytes), Some(output.stdout.as_slice()));
    assert_eq!(whole["stdout_bytes"], output.stdout.len());
}

/// No record, no run.
#[test]
fn what_cannot_be_recorded_is_not_done() {
    let project = Project::new();
    fs::create_dir(project.root.join(".clada")).expect("made");
    let elsewhere = project.folder.join("elsewhere");
    fs::write(&elsewhere, "").expect("made");
    std::os::unix::fs::symlink(&elsewhere, project.root.join(".clada/exacta.db")).expect("a link");
    for text in ["echo x > a", "mkdir a", "touch a"] {
        let output = project.run(&["-c", text]);
        assert_eq!(status(&output), 125, "{text}: {output:?}");
        assert!(said(&output).contains("cannot be recorded"), "{text}: {}", said(&output));
        assert!(said(&output).contains("hint: "), "{text}: {}", said(&output));
        assert!(!project.root.join("a").exists(), "{text}");
    }
    let output = project.run(&["-c", "python3 -c 'print(7)'"]);
    assert_eq!((status(&output), output.stdout.as_slice()), (125, &b""[..]), "{output:?}");
    assert_eq!(fs::read(&elsewhere).expect("there"), b"");
    // What changes nothing may have happened, but not without saying that nobody will know.
    let output = project.run(&["-c", "echo hi"]);
    assert_eq!(status(&output), 125, "{output:?}");
}

/// Nothing but a record is needed to read: where none can be kept in the project, it is with the user's own state.
#[test]
fn a_project_that_is_only_there_to_be_read_is_recorded_elsewhere() {
    let project = Project::new();
    fs::write(project.root.join("notes.txt"), "kept\n").expect("a file");
    let script = "mount --bind . . && mount -o remount,ro,bind . && cd . && cd \"$PWD\" && exec \"$0\" \"$@\"";
    let read_only = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "bash", "-c", script]);
        command.arg(env!("CARGO_BIN_EXE_exacta")).args(arguments);
        command.current_dir(&project.root).stdin(Stdio::null());
        command.env("HOME", project.folder.join("home")).env_remove("XDG_STATE_HOME");
        command.output().expect("a namespace of its own")
    };
    let output = read_only(&["-c", "cat notes.txt"]);
    assert_eq!((status(&output), output.stdout.as_slice()), (0, &b"kept\n"[..]), "{output:?}");
    let output = read_only(&["shell", "history", "--json"]);
    let history: Value = serde_json::from_slice(&output.stdout).expect("a history");
    assert_eq!(history[0]["command"], "cat notes.txt");
    let output = read_only(&["-c", "echo x > new"]);
    assert_ne!(status(&output), 0, "{output:?}");
    assert!(!project.root.join(".clada").exists());
}

#[test]
fn secrets_are_not_in_the_record() {
    let project = Project::new();
    let secret = ["ghp_", "R8sVxKq2LmT7yNc4WbZ1dHf6JgP0aE3uQo9i"].concat();
    let output =
        project.run(&["-c", &format!("echo token {secret} > out; cat out; printenv X {secret}")]);
    let whole = String::from_utf8_lossy(&output.stdout);
    assert!(whole.contains(&secret), "the caller gets what the command says: {whole}");
    let [newest] = &project.history(&["--limit", "1"])[..] else { panic!("no history") };
    assert_eq!(newest["command"], "echo token [REDACTED] > out; cat out; printenv X [REDACTED]");
    assert_eq!(newest["stdout"], "token [REDACTED]\n");
    let kept = newest["redacted"].to_string();
    assert!(kept.contains("github"), "{kept}");
    for entry in walk(&project.root.join(".clada")) {
        let content = fs::read(&entry).expect("a file of the state");
        let found = content.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!found, "{}", entry.display());
    }
}

/// Every file below, but for what undo needs to the byte.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a directory").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() && !["pre", "redo", "run"].iter().any(|name| path.ends_with(name)) {
            found.extend(walk(&path));
        } else if kind.is_file() {
            found.push(path);
        }
    }
    found
}

#[test]
fn tampering_is_found_and_named() {
    let project = Project::new();
    for number in 0..5 {
        project.run(&["-c", &format!("echo {number} > file")]);
    }
    let head = String::from_utf8(project.run(&["audit", "head"]).stdout).expect("text");
    assert!(head.starts_with("exacta-audit-1 "), "{head}");
    assert_eq!(status(&project.run(&["audit", "verify"])), 0);
    assert_eq!(status(&project.run(&["audit", "verify", "--head", head.trim()])), 0);
    // All of it gone, and begun anew: only what is kept elsewhere knows.
    for name in ["exacta.db", "exacta.db-wal", "exacta.db-shm"] {
        fs::remove_file(project.root.join(".clada").join(name)).expect("removed");
    }
    let gone = project.verified();
    assert_eq!(
        (gone["good"].as_bool(), gone["problems"][0]["kind"].as_str()),
        (Some(false), Some("cut off"))
    );
    project.run(&["-c", "echo anew"]);
    let output = project.run(&["audit", "verify"]);
    assert_eq!(status(&output), 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("another database"), "{output:?}");
}

#[test]
fn exports_are_what_other_systems_read() {
    let project = Project::new();
    project.run(&["-c", "echo \"a,b|c=d\"; # =x"]);
    project.run(&["-c", "curl http://example.com"]);
    let export = |format: &str| {
        let output = project.run(&["audit", "export", "--format", format]);
        assert_eq!(status(&output), 0, "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let lines: Vec<Value> =
        export("jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[1]["decision"]), (2, &Value::from("deny")));
    let csv = export("csv");
    assert!(
        csv.starts_with("number,correlation_id,") && csv.contains("\"echo \"\"a,b|c=d\"\"; # =x\""),
        "{csv}"
    );
    let cef = export("cef");
    assert!(cef.lines().all(|line| line.starts_with("CEF:0|exacta|exacta|")), "{cef}");
    assert!(cef.contains("cs1=echo \"a,b|c\\=d\"; # \\=x"), "{cef}");
    for line in export("ocsf").lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(
            (event["class_uid"].as_u64(), event["type_uid"].as_u64()),
            (Some(1007), Some(100_701))
        );
    }
}

#[test]
fn what_comes_is_followed() {
    let project = Project::new();
    project.run(&["-c", "echo before"]);
    let mut tail = project.exacta(&["audit", "tail", "-f"]);
    let mut tail = tail.stdout(Stdio::piped()).spawn().expect("it runs");
    thread::sleep(Duration::from_millis(400));
    project.run(&["-c", "echo after"]);
    thread::sleep(Duration::from_millis(600));
    tail.kill().expect("it runs still");
    let output = tail.wait_with_output().expect("ended");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("echo before") && text.contains("echo after"), "{text}");
}

/// What people do themselves is in the same history as what they do it to.
#[test]
fn what_people_do_is_recorded() {
    let project = Project::new();
    project.run(&["-c", "echo one > a"]);
    project.run(&["-c", "echo two > b"]);
    let steps: [(&[&str], i32); 8] = [
        (&["undo"], 0),
        (&["redo", "2"], 0),
        (&["undo", "--last", "2", "--force"], 0),
        (&["undo", "99"], 1),
        (&["run", "--hold", "--", "echo held > c"], 0),
        (&["commit", "3"], 0),
        (&["trust", "--yes"], 0),
        (&["trust", "--forget"], 0),
    ];
    fs::write(project.root.join(".exacta.toml"), "profile = \"dev\"\n").expect("written");
    for (words, expected) in steps {
        let output = project.run(words);
        assert_eq!(status(&output), expected, "{words:?}: {output:?}");
    }
    // What changes nothing, or has nothing to change, is not.
    project.run(&["undo", "--dry-run"]);
    project.run(&["log"]);
    let people = project.history(&["--session", "person"]);
    let commands: Vec<&str> =
        people.iter().rev().filter_map(|deed| deed["command"].as_str()).collect();
    let expected = [
        "exacta undo",
        "exacta redo 2",
        "exacta undo --last 2 --force",
        "exacta undo 99",
        "exacta commit 3",
        "exacta trust",
        "exacta trust --forget",
    ];
    assert_eq!(commands, expected);
    let of = |command: &str| {
        people.iter().find(|deed| deed["command"] == command).expect("recorded").clone()
    };
    let undone = of("exacta undo");
    assert_eq!((&undone["undo"]["id"], &undone["exit_code"]), (&Value::from(2), &Value::from(0)));
    assert_eq!(undone["policy_rule_matched"], "person");
    assert_eq!(undone["agent"], "tester");
    let reason = undone["reason"].as_str().expect("a reason");
    assert!(reason.contains("uid ") && reason.contains("without a terminal"), "{reason}");
    assert!(undone["stdout"].as_str().is_some_and(|told| told.contains("undone 2")), "{undone}");
    let both = of("exacta undo --last 2 --force");
    assert_eq!(both["steps"].as_array().map(Vec::len), Some(2), "{both}");
    assert_eq!(of("exacta undo 99")["exit_code"], 1);
    let trusted = of("exacta trust");
    assert!(trusted["stdout"].as_str().is_some_and(|told| told.contains("profile = ")));
    let export = project.run(&["audit", "export", "--format", "csv", "--session", "person"]);
    assert_eq!(String::from_utf8_lossy(&export.stdout).lines().count(), 1 + expected.len());
    assert_eq!(project.verified()["good"], true);
}

#[test]
fn what_people_do_and_cannot_be_recorded_is_not_done() {
    let project = Project::new();
    project.run(&["-c", "echo one > a"]);
    let database = project.root.join(".clada/exacta.db");
    fs::rename(&database, project.folder.join("kept")).expect("moved");
    std::os::unix::fs::symlink(project.folder.join("kept"), &database).expect("a link");
    for words in [&["undo"][..], &["trust", "--forget"]] {
        let output = project.run(words);
        assert_eq!(status(&output), 125, "{output:?}");
        assert!(said(&output).contains("cannot be recorded, so it is not done"), "{output:?}");
        assert!(said(&output).contains("hint: "), "{output:?}");
    }
    assert!(project.root.join("a").exists());
}

#[test]
fn answers_to_questions_are_recorded() {
    let project = Project::new();
    let asked = project.json(&["run", "--json", "--", "git push"]);
    let id = asked["approval"]["id"].as_str().expect("a question").to_owned();
    assert_eq!(status(&project.run(&["approvals", "approve", &id])), 0);
    let [answered] = &project.history(&["--session", "person"])[..] else { panic!("no answer") };
    assert_eq!(answered["command"], format!("exacta approvals approve {id}"));
    assert_eq!(answered["exit_code"], 0);
    assert_eq!(project.verified()["good"], true);
}

/// The rule is what the judge says, in the report and in the history.
#[test]
fn every_request_has_its_rule() {
    let project = Project::new();
    fs::write(project.root.join("f"), "x\n").expect("written");
    let cases = [
        ("echo x > g", "allow"),
        ("ls", "allow"),
        ("cat f | wc -l", "allow"),
        ("x=1", "allow"),
        ("> h", "allow"),
        ("curl http://example.com", "deny"),
        ("git push", "confirm"),
    ];
    for (command, decision) in cases {
        let report = project.json(&["run", "--json", "--", command]);
        let recorded = &project.history(&["--limit", "1"])[0];
        let rule = report["policy_rule_matched"].as_str().unwrap_or_default();
        assert!(!rule.is_empty() && rule != "nothing", "{command}: {report}");
        for field in ["policy_rule_matched", "decision"] {
            assert_eq!(report[field], recorded[field], "{command}");
        }
        assert_eq!(report["decision"], decision, "{command}");
        project.run(&["-c", command]);
        let recorded = &project.history(&["--limit", "1"])[0];
        let rule = recorded["policy_rule_matched"].as_str().unwrap_or_default();
        assert!(!rule.is_empty() && rule != "nothing", "{command}: {recorded}");
    }
}

#[test]
fn records_are_pruned_by_whoever_asks() {
    let project = Project::new();
    for number in 0..5 {
        project.run(&["-c", &format!("echo {number} > file")]);
    }
    let nothing = project.run(&["audit", "prune"]);
    assert!(String::from_utf8_lossy(&nothing.stdout).contains("nothing is older"), "{nothing:?}");
    let config = project.folder.join("config.toml");
    fs::write(&config, "[audit]\nmax_age_days = 0\n").expect("written");
    let config = config.to_str().expect("a path");
    let would = project.json(&["--config", config, "--json", "audit", "prune", "--dry-run"]);
    assert_eq!((&would["requests"], &would["dry_run"]), (&Value::from(5), &Value::from(true)));
    assert_eq!(project.history(&[]).len(), 5);
    let output = project.run(&["--config", config, "audit", "prune"]);
    assert_eq!(status(&output), 0, "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("removed 1"), "{output:?}");
    let [left] = &project.history(&[])[..] else { panic!("more is left") };
    assert_eq!(left["command"], "exacta audit prune");
    let verified = project.verified();
    assert_eq!(verified["good"], true, "{verified}");
    assert!(verified["cut"].as_u64().is_some_and(|cut| cut >= 10), "{verified}");
}

/// A database that took the place of another is told from it for ever, also when it has grown.
#[test]
fn a_database_that_was_replaced_is_not_forgotten() {
    let project = Project::new();
    project.run(&["-c", "echo x > file"]);
    for name in ["exacta.db", "exacta.db-wal", "exacta.db-shm"] {
        fs::remove_file(project.root.join(".clada").join(name)).expect("removed");
    }
    for number in 0..3 {
        project.run(&["-c", &format!("echo {number} > file")]);
    }
    let output = project.run(&["audit", "verify"]);
    assert_eq!(status(&output), 1, "{output:?}");
    let remedy = said(&output);
    let path = remedy.split("remove ").last().and_then(|rest| rest.split(" to begin").next());
    fs::remove_file(path.expect("a path")).expect("the file that was named");
    assert_eq!(project.verified()["good"], true);
}

#[test]
fn traces_that_cannot_be_sent_are_named() {
    let project = Project::new();
    let mut command = project.exacta(&["shell", "status", "--json"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://otlp.example:4317");
    let output = command.output().expect("it runs");
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let notice = status["notices"][0].as_str().unwrap_or_default();
    assert!(notice.contains("grpc://otlp.example:4317"), "{status}");
}

/// Numbers without a crate for them: only the spread matters.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Two hundred runs, three at a time, each killed at some moment: the database opens, the chain holds, and of nothing that
/// was changed the intent is missing.
#[test]
fn killed_at_any_moment() {
    const RUNS: u64 = 200;
    const WORKERS: u64 = 3;
    let project = Project::new();
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let project = &project;
            scope.spawn(move || {
                let mut dice = Dice(worker + 42);
                for run in (worker..RUNS).step_by(WORKERS as usize) {
                    killed_once(project, run, &mut dice);
                }
            });
        }
    });
    let verified = project.verified();
    assert_eq!(verified["good"], true, "{verified}");
    let history = project.history(&["--limit", "100000"]);
    let recorded = |run: u64| {
        let name = format!("made-{run}-");
        history.iter().any(|it| it["command"].as_str().is_some_and(|text| text.contains(&name)))
    };
    let mut made = 0;
    for entry in fs::read_dir(&project.root).expect("listed") {
        let name = entry.expect("an entry").file_name().into_string().expect("text");
        let Some(run) = name.strip_prefix("made-").and_then(|rest| rest.split('-').next()) else {
            continue;
        };
        made += 1;
        assert!(recorded(run.parse().expect("a number")), "{name} is there, and nobody knows why");
    }
    let died = history.iter().filter(|it| it["state"] == "no outcome").count();
    println!(
        "{made} files were made, {} requests recorded, {died} of them without an outcome",
        history.len()
    );
    assert!(made > 10 && history.len() > 10, "{made} {}", history.len());
    // And it goes on.
    assert_eq!(status(&project.run(&["-c", "echo on > on"])), 0);
    assert_eq!(project.verified()["good"], true);
}

fn killed_once(project: &Project, run: u64, dice: &mut Dice) {
    let text = match run % 4 {
        0 => format!("echo x > made-{run}-a; echo y > made-{run}-b; cat made-{run}-a"),
        1 => format!("for i in 1 2 3 4 5 6; do touch made-{run}-$i; done"),
        2 => format!("touch made-{run}-a; /bin/mkdir -m 700 made-{run}-d; ls"),
        _ => format!("echo made-{run}-nothing; ls"),
    };
    let mut command = project.exacta(&["-c", &text]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let moment = Duration::from_micros(dice.below(80_000));
    let started = Instant::now();
    while started.elapsed() < moment && child.try_wait().expect("asked").is_none() {
        thread::sleep(Duration::from_micros(200));
    }
    let _it_may_have_ended = child.kill();
    child.wait().expect("ended");
}

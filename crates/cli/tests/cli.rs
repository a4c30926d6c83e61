//! The binary as a user meets it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

struct Project(PathBuf);

static SERIAL: AtomicU32 = AtomicU32::new(0);

impl Project {
    fn new() -> Self {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir()
            .join(format!("exacta-cli-{}-{serial}/project", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Project(path.canonicalize().expect("a real path"))
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.0.join(name), bytes).expect("a file");
        self
    }

    fn exacta(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.exacta(arguments).output().expect("the binary runs")
    }

    fn feed(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.exacta(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        child.stdin.take().expect("a pipe").write_all(input).expect("input is read");
        child.wait_with_output().expect("the binary ends")
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap_or(&self.0));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_text_with_name_and_arguments() {
    let output = Project::new().run(&["-c", "echo \"$0 $1 $#\"; exit 3", "name", "one", "two"]);
    assert_eq!(text(&output.stdout), "name one 2\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn options_as_bash_takes_them() {
    let project = Project::new();
    assert_eq!(text(&project.run(&["-lc", "echo hi"]).stdout), "hi\n");
    assert_eq!(project.run(&["-ec", "false; echo not reached"]).status.code(), Some(1));
    assert_eq!(project.run(&["-o", "pipefail", "-c", "false | true"]).status.code(), Some(1));
    assert_eq!(project.run(&["-euo", "pipefail", "-c", "echo $unset"]).status.code(), Some(1));
    assert_eq!(
        text(&project.run(&["-O", "extglob", "-c", "case ab in @(ab|c)) echo yes;; esac"]).stdout),
        "yes\n"
    );
    assert_eq!(text(&project.run(&["-xc", "echo hi"]).stderr), "+ echo hi\n");
    assert_eq!(project.run(&["-o", "nonsense", "-c", "true"]).status.code(), Some(2));
    assert_eq!(project.run(&["--nonsense"]).status.code(), Some(2));
}

#[test]
fn a_file_may_lie_anywhere() {
    let project = Project::new();
    let elsewhere = Project::new();
    elsewhere.write("script.sh", "echo \"$1\"; pwd; cat \"$0\" 2>&1\n");
    let script = elsewhere.0.join("script.sh").display().to_string();
    let output = project.run(&[&script, "argument"]);
    let root = project.0.display();
    assert_eq!(
        text(&output.stdout),
        format!("argument\n{root}\ncat: {script}: No such file or directory\n")
    );
    assert_eq!(project.run(&["missing.sh"]).status.code(), Some(127));
}

#[test]
fn standard_input_is_a_script_that_its_commands_can_read_on() {
    let project = Project::new();
    let output = project.feed(
        &["-s", "one"],
        b"read line\nthe line\necho \"$line $1\"\nif true\nthen echo multi\nfi\nexit 4\necho no\n",
    );
    assert_eq!(text(&output.stdout), "the line one\nmulti\n");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn the_root_is_the_nearest_marked_parent() {
    let project = Project::new();
    fs::create_dir_all(project.0.join(".git")).expect("a directory");
    fs::create_dir_all(project.0.join("a/b")).expect("a directory");
    project.write("top.txt", "top\n");
    let output = project
        .exacta(&["-c", "pwd; cat ../../top.txt; cd ../../.."])
        .current_dir(project.0.join("a/b"))
        .output()
        .expect("runs");
    assert_eq!(text(&output.stdout), format!("{}/a/b\ntop\n", project.0.display()));
    assert_eq!(text(&output.stderr), "cd: ../../..: No such file or directory\n");
    let output = project
        .exacta(&["run", "--", "pwd"])
        .current_dir(project.0.join("a/b"))
        .output()
        .expect("runs");
    assert_eq!(
        text(&output.stdout),
        format!("{}\n", project.0.display()),
        "run starts at the root"
    );
}

#[test]
fn the_environment_is_clean_unless_asked_for() {
    let project = Project::new();
    let secret = |arguments: &[&str]| {
        text(&project.exacta(arguments).env("SECRET", "s3cret").output().expect("runs").stdout)
    };
    assert_eq!(secret(&["-c", "echo \"[$SECRET]\""]), "[]\n");
    assert_eq!(secret(&["--inherit-env", "-c", "echo \"[$SECRET]\""]), "[s3cret]\n");
    assert_eq!(secret(&["--env", "SECRET=given", "-c", "echo \"[$SECRET]\""]), "[given]\n");
    assert_eq!(
        text(&project.run(&["-c", "echo ~; echo $HOME"]).stdout),
        format!("{0}\n{0}\n", project.0.display())
    );
}

#[test]
fn run_reports_as_json() {
    let project = Project::new();
    let output = project.run(&["run", "--json", "--", "echo out; echo err >&2; x=1; false"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["exit_code"], 1);
    assert_eq!(report["stdout"], "out\n");
    assert_eq!(report["stderr"], "err\n");
    assert_eq!(report["command"], "echo out; echo err >&2; x=1; false");
    assert_eq!(report["args"], serde_json::json!([]));
    assert_eq!(report["working_dir"], project.0.display().to_string());
    assert_eq!(report["decision"], "allow");
    assert_eq!(report["timed_out"], false);
    assert_eq!(report["truncated"], false);
    let argv: Vec<&Value> =
        report["steps"].as_array().expect("steps").iter().map(|step| &step["argv"]).collect();
    assert_eq!(
        argv,
        [
            &serde_json::json!(["echo", "out"]),
            &serde_json::json!(["echo", "err"]),
            &serde_json::json!(["false"])
        ]
    );
    for field in [
        "schema_version",
        "correlation_id",
        "duration_ms",
        "resource_usage",
        "policy_rule_matched",
        "timestamp",
        "reason",
        "hint",
        "spill_path",
        "isolation",
        "undo",
        "approval",
    ] {
        assert!(report.get(field).is_some(), "{field}");
    }
}

#[test]
fn run_reports_how_it_is_undone() {
    let project = Project::new();
    let undo = |text: &str| {
        let output = project.run(&["run", "--json", "--", text]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        report["undo"].clone()
    };
    assert_eq!(undo("echo x > f"), serde_json::json!({"id": 1, "strategy": "restore"}));
    assert_eq!(undo("cat f"), Value::Null);
    assert_eq!(undo("echo y > f")["id"], 2);
}

#[test]
fn how_much_is_remembered_is_the_operators_to_say() {
    let project = Project::new();
    // A project that is not trusted has no say.
    project.write(".exacta.toml", "[undo]\nmax_records = 0\n");
    project.write("config.toml", "[undo]\nmax_records = 3\nmax_age_days = 1\n");
    let kept = || fs::read_dir(project.0.join(".clada/undo/log")).expect("the records").count();
    // Every fiftieth cleans up. A process that ends does not wait until all of it is done: on a busy machine a later one does.
    for number in 1..=400 {
        let output = project.run(&["--config", "config.toml", "-c", "echo x >> f"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        if number % 50 == 0 && kept() < 40 {
            break;
        }
    }
    let kept = kept();
    assert!((1..40).contains(&kept), "{kept}");
    project.write("config.toml", "[undo]\nmax_record = 3\n");
    let output = project.run(&["--config", "config.toml", "-c", "true"]);
    assert!(text(&output.stderr).contains("max_record"), "{}", text(&output.stderr));
}

#[test]
fn run_takes_words_or_a_text() {
    let project = Project::new();
    assert_eq!(text(&project.run(&["run", "--", "echo", "a  b", "$HOME"]).stdout), "a  b $HOME\n");
    assert_eq!(text(&project.run(&["run", "--", "echo a | tr a b"]).stdout), "b\n");
    // What commands say, as files of others: the judge of the whole text has no word against it.
    let compared = "diff <(printf 'b\\na\\n' | sort) <(printf 'a\\nb\\n') && echo same";
    assert_eq!(text(&project.run(&["run", "--", compared]).stdout), "same\n");
    let differs = "comm -13 <(echo a) <(printf 'a\\nb\\n'); /usr/bin/cat <(echo c)";
    assert_eq!(text(&project.run(&["run", "--", differs]).stdout), "b\nc\n");
    let report: Value =
        serde_json::from_slice(&project.run(&["run", "--json", "--", "ls", "-l"]).stdout)
            .expect("JSON");
    assert_eq!(report["args"], serde_json::json!(["ls", "-l"]));
    assert_eq!(project.run(&["run"]).status.code(), Some(2));
}

#[test]
fn run_limits_time_and_output() {
    let project = Project::new();
    let output =
        project.run(&["run", "--json", "--timeout", "100ms", "--", "echo before; sleep 60"]);
    assert_eq!(output.status.code(), Some(124));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&report["timed_out"], &report["stdout"]),
        (&Value::Bool(true), &Value::from("before\n"))
    );
    let output = project.run(&["run", "--json", "--max-output", "100", "--", "seq 1000"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["truncated"], true);
    let shown = report["stdout"].as_str().expect("text");
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("1000\n"), "{shown}");
    let spilled = report["spill_path"].as_str().expect("a path");
    assert_eq!(
        text(&project.run(&["-c", &format!("wc -l < {spilled}")]).stdout),
        "1000\n",
        "the next request can read it"
    );
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let project = Project::new();
    let mut child = project
        .exacta(&["-c", "yes; echo $? >&2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    assert!(child.wait().is_ok());
}

#[test]
fn a_full_device_is_reported_as_bash_does() {
    let project = Project::new();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = project.exacta(&["-c", "echo hi"]).stdout(full()).output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("echo: write error: No space left on device"));
    let output = project.exacta(&["-c", "seq 10"]).stdout(full()).output().expect("runs");
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(1), "seq: write error: No space left on device\n".into())
    );
}

#[test]
fn any_bytes_are_a_script() {
    let project = Project::new();
    project.write("binary.sh", (0_u8..=255).cycle().take(5000).collect::<Vec<u8>>());
    project.write("nul.sh", b"echo a\0b\n");
    project.write("latin.sh", b"echo \xe4\xff\n");
    project.write("long.sh", [b"echo ".as_slice(), &b"x".repeat(1 << 20), b" | wc -c\n"].concat());
    project.write("deep.sh", "{ ".repeat(10_000));
    assert!(project.run(&["binary.sh"]).status.code().is_some_and(|code| code != 101));
    assert_eq!(text(&project.run(&["nul.sh"]).stdout), "ab\n");
    assert_eq!(project.run(&["latin.sh"]).stdout, b"\xe4\xff\n");
    assert_eq!(text(&project.run(&["long.sh"]).stdout), "1048577\n");
    let deep = project.run(&["deep.sh"]);
    assert_eq!(deep.status.code(), Some(2));
    assert!(text(&deep.stderr).contains("nested more than"));
}

#[test]
fn an_interrupt_ends_the_request_with_its_signal() {
    let project = Project::new();
    let mut child = project.exacta(&["-c", "sleep 60"]).spawn().expect("runs");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let killed =
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
}

#[test]
fn help_and_version() {
    let project = Project::new();
    assert!(text(&project.run(&["--help"]).stdout).contains("exacta [OPTIONS] -c SCRIPT"));
    assert!(text(&project.run(&["--version"]).stdout).starts_with("exacta 0."));
    assert!(text(&project.run(&["-c", "grep --help"]).stdout).contains("--recursive"));
}

#[test]
fn a_terminal_is_told_that_a_report_takes_long() {
    let project = Project::new();
    let on_terminal = |line: &str| {
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_exacta"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(&project.0).stdin(Stdio::null());
        text(&command.output().expect("script(1) runs").stdout)
    };
    let shown = on_terminal("run --json -- 'sleep 1.5; echo end' > report");
    assert_eq!(shown, "\r\x1b[Kexacta: running for 1 s\r\x1b[K");
    let report = fs::read(project.0.join("report")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["stdout"], "end\n");
    // What writes to the terminal itself, what is quick, and what nobody looks at.
    assert_eq!(on_terminal("run -- 'sleep 1.2; echo end'"), "end\r\n");
    assert_eq!(on_terminal("run --json -- true > report"), "");
    let output = project.run(&["run", "--json", "--", "sleep 1.2"]);
    assert_eq!(text(&output.stderr), "");
}

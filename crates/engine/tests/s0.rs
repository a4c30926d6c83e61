//! Every scenario of S0, named after its line in the specification.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make the directories they run in"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use exacta::executor::{Command, ExecError, Executor, Redirect};
use exacta::{Request, Session, SessionOptions, Storage};

/// A project directory that goes away with the test.
struct Project(PathBuf);

static SERIAL: AtomicU32 = AtomicU32::new(0);

impl Project {
    fn new() -> Self {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("exacta-s0-{}-{serial}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Project(path.canonicalize().expect("a real path"))
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.0)).expect("a directory");
        fs::write(path, text).expect("a file");
        self
    }

    fn executor(&self) -> Executor {
        Executor::new(&self.0).expect("an executor")
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    Command::new(words.next().unwrap_or_default()).args(words)
}

fn message(result: Result<exacta::executor::Output, ExecError>) -> String {
    result.expect_err("a failure").message.to_string()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a readable file")
}

#[test]
fn line_27_execute_valid_command() {
    let project = Project::new();
    project.write("a.txt", "");
    let output = project.executor().run(&command("ls")).expect("output");
    assert_eq!(output.stdout, "a.txt\n");
}

#[test]
fn line_33_execute_unknown_command() {
    let project = Project::new();
    assert_eq!(message(project.executor().run(&command("xyz"))), "bash: xyz: command not found\n");
}

#[test]
fn line_45_access_path_outside_sandbox() {
    let project = Project::new();
    let text = message(project.executor().run(&command("ls /etc")));
    assert_eq!(text, "ls: /etc: No such file or directory\n");
    assert!(!text.to_lowercase().contains("permission") && !text.to_lowercase().contains("denied"));
    assert_eq!(
        message(project.executor().run(&command("ls nothing"))),
        "ls: nothing: No such file or directory\n",
        "a missing path inside reads the same"
    );
}

#[test]
fn line_52_traversal_attack_blocked() {
    let project = Project::new();
    let text = "cd: ~/../../etc: No such file or directory\n";
    assert_eq!(message(project.executor().run(&command("cd ~/../../etc"))), text);
    assert_eq!(message(project.executor().run_text("cd ~/../../etc")), text);
}

fn pipeline(stages: usize) -> Command {
    (1..stages).fold(Command::new("echo").arg("through"), |all, _| all.pipe(Command::new("cat")))
}

#[test]
fn line_64_command_within_depth_limit() {
    let project = Project::new();
    assert_eq!(project.executor().run(&pipeline(4)).expect("output").stdout, "through\n");
    assert_eq!(project.executor().run(&pipeline(10)).expect("output").stdout, "through\n");
}

#[test]
fn line_70_command_exceeds_depth_limit() {
    let project = Project::new();
    assert_eq!(message(project.executor().run(&pipeline(16))), "pipe depth exceeded (max 10)\n");
    assert_eq!(message(project.executor().run(&pipeline(11))), "pipe depth exceeded (max 10)\n");
}

#[test]
fn line_70_the_depth_limit_can_be_set() {
    let project = Project::new();
    let limits = exacta::Limits { pipeline_depth: 20, ..exacta::Limits::default() };
    let mut executor = Executor::with_limits(&project.0, limits).expect("an executor");
    assert_eq!(executor.run(&pipeline(16)).expect("output").stdout, "through\n");
}

#[test]
fn line_82_two_stage_pipe() {
    let project = Project::new();
    project.write("file.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let piped = command("cat file.txt").pipe(command("head -5"));
    assert_eq!(project.executor().run(&piped).expect("output").stdout, "1\n2\n3\n4\n5\n");
}

#[test]
fn line_89_commands_supporting_stdin() {
    let project = Project::new();
    project.write("file.txt", "one\ntwo\nthree\n");
    for (stage, expected) in [
        ("head -n 1", "one\n"),
        ("tail -n 1", "three\n"),
        ("grep t", "two\nthree\n"),
        ("wc -l", "3\n"),
    ] {
        let piped = command("cat file.txt").pipe(command(stage));
        assert_eq!(project.executor().run(&piped).expect("output").stdout, expected, "{stage}");
    }
}

#[test]
fn line_101_write_redirect() {
    let project = Project::new();
    let write = command("echo hello").redirect(Redirect::Write("file.txt".into()));
    project.executor().run(&write).expect("output");
    assert_eq!(read(&project.0.join("file.txt")), "hello\n");
}

#[test]
fn line_107_append_redirect() {
    let project = Project::new();
    project.write("file.txt", "hello\n");
    let append = command("echo more").redirect(Redirect::Append("file.txt".into()));
    project.executor().run(&append).expect("output");
    assert_eq!(read(&project.0.join("file.txt")), "hello\nmore\n");
}

#[test]
fn line_113_redirect_outside_sandbox_blocked() {
    let project = Project::new();
    let write = command("echo pwned").redirect(Redirect::Write("/etc/passwd".into()));
    let text = message(project.executor().run(&write));
    assert!(text.contains("No such file or directory"), "{text}");
    assert!(!read(Path::new("/etc/passwd")).contains("pwned"));
}

#[test]
fn line_125_remove_file() {
    let project = Project::new();
    project.write("file.txt", "kept\n");
    project.executor().run(&command("rm file.txt")).expect("output");
    assert!(!project.0.join("file.txt").exists());
    let trashed: Vec<_> =
        fs::read_dir(project.0.join(".trash")).expect("a trash").flatten().collect();
    assert_eq!(trashed.len(), 1);
    assert!(trashed[0].file_name().to_string_lossy().ends_with("_file.txt"));
    assert_eq!(read(&trashed[0].path()), "kept\n");
}

#[test]
fn line_138_cd_with_tilde() {
    let project = Project::new();
    project.write("subdir/a", "");
    let root = project.0.display().to_string();
    let mut executor = project.executor();
    executor.run(&command("cd ~/subdir")).expect("output");
    assert_eq!(executor.run(&command("pwd")).expect("output").stdout, format!("{root}/subdir\n"));
    executor.run(&command("cd ~")).expect("output");
    assert_eq!(executor.run(&command("pwd")).expect("output").stdout, format!("{root}\n"));
}

#[test]
fn line_144_invalid_tilde_syntax() {
    let project = Project::new();
    let text = message(project.executor().run(&command("cd ~user")));
    assert_eq!(text, "cd: ~user: No such file or directory\n");
}

/// The table of line 13: every command with every flag it names.
#[test]
fn line_15_implemented_commands_and_flags() {
    let project = Project::new();
    project.write("a.txt", "alpha\nBeta\ngamma\n").write("sub/b.txt", "beta\n");
    let mut executor = project.executor();
    for (script, expected) in [
        ("cat a.txt", "alpha\nBeta\ngamma\n"),
        ("head -n 1 a.txt", "alpha\n"),
        ("tail -n 1 a.txt", "gamma\n"),
        ("grep -rin beta .", "./a.txt:2:Beta\n./sub/b.txt:1:beta\n"),
        ("grep -v a a.txt; true", ""),
        ("grep -A1 alpha a.txt", "alpha\nBeta\n"),
        ("grep -B1 gamma a.txt", "Beta\ngamma\n"),
        ("grep -C1 Beta a.txt", "alpha\nBeta\ngamma\n"),
        ("find . -name '*.txt' -type f -maxdepth 1", "./a.txt\n"),
        ("wc -lwc < a.txt", " 3  3 17\n"),
        ("mkdir -p x/y && touch x/y/z && mv x/y/z x/w && cp x/w x/v && ls x", "v\nw\ny\n"),
        ("ls -laR x | grep -c total", "2\n"),
        ("which ls", "/usr/bin/ls\n"),
        ("date -u -d @0 +%F", "1970-01-01\n"),
        ("true && echo yes; false || echo no", "yes\nno\n"),
    ] {
        let output = executor.run_text(script).expect(script);
        let mut lines: Vec<_> = output.stdout.split_inclusive(|byte| *byte == b'\n').collect();
        if script.starts_with("grep -r") {
            lines.sort_unstable();
        }
        assert_eq!(lines.concat(), expected.as_bytes(), "{script}");
    }
}

#[test]
fn line_156_glob_expansion() {
    let project = Project::new();
    project.write("a.ex", "").write("b.ex", "").write("docs/x.md", "").write("docs/deep/y.md", "");
    let mut executor = project.executor();
    assert_eq!(executor.run_text("echo *.ex").expect("output").stdout, "a.ex b.ex\n");
    let deep = executor.run_text("shopt -s globstar; echo **/*.md").expect("output");
    assert_eq!(deep.stdout, "docs/deep/y.md docs/x.md\n");
}

#[test]
fn line_157_virtual_file_systems() {
    let project = Project::new();
    project.write("real.txt", "real\n");
    for (storage, expected) in
        [(Storage::Memory, "new.txt\n"), (Storage::Overlay, "new.txt\nreal.txt\n")]
    {
        let mut options = SessionOptions::new(&project.0);
        options.storage = storage;
        let mut session = Session::new(options).expect("a session");
        let outcome = session.run(&Request::new("echo hi > new.txt; ls; cat new.txt"));
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), format!("{expected}hi\n"));
        assert!(!project.0.join("new.txt").exists(), "the real directory is never changed");
    }
}

#[test]
fn sessions_keep_directory_variables_and_functions() {
    let project = Project::new();
    project.write("sub/a", "");
    let mut executor = project.executor();
    executor.run_text("cd sub; x=1; f() { echo \"f $x $1\"; }").expect("output");
    assert_eq!(executor.run_text("f two; ls").expect("output").stdout, "f 1 two\na\n");
}

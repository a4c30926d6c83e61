//! Without a real world nothing runs, whatever the environment claims; and what runs in one leaves no trace.
//!
//! Asked from the bare machine, with commands that would do no harm on it.

#![expect(clippy::expect_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the machine from outside")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const NO_WORLD: Option<i32> = Some(125);

fn world(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_exacta-world"));
    command.args(words);
    command
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// A directory that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("exacta-world-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left_for_the_system = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn output_and_status_come_out_and_files_do_not() {
    let trace = format!("/tmp/exacta-world-trace-{}", std::process::id());
    let script = format!("echo out; echo err >&2; echo x > {trace}; cat {trace}; exit 7");
    let (status, stdout, stderr) = run(&mut world(&["bash", "-c", &script]));
    assert_eq!((status, stdout.as_str()), (Some(7), "out\nx\n"), "{stderr}");
    assert!(stderr.contains("err"), "{stderr}");
    assert!(!Path::new(&trace).exists(), "{trace} came out");
}

#[test]
fn a_claim_in_the_environment_is_not_believed() {
    let folder = Folder::new("claim");
    let made = folder.0.join("made").display().to_string();
    let token = "0123456789abcdef01234567";
    let foreign = "mnt:[1] pid:[1] net:[1] ipc:[1] uts:[1] user:[1] cgroup:[1]";
    let staging = folder.0.display().to_string();
    for step in ["step-inside", "step-init", "step-ground", "1", ""] {
        for (token, outside) in [("", ""), (token, ""), (token, foreign)] {
            let mut command = world(&["touch", &made]);
            command.env("EXACTA_WORLD", step).env("EXACTA_WORLD_OUTSIDE", outside);
            command.env("EXACTA_WORLD_TOKEN", token).env("EXACTA_WORLD_STAGING", &staging);
            command.env("EXACTA_WORLD_PROGRAM", "/bin/true");
            let (status, _, stderr) = run(&mut command);
            assert_eq!(status, NO_WORLD, "{step:?} {token:?} {outside:?}: {stderr}");
            assert!(stderr.contains("only in a disposable world"), "{stderr}");
            assert!(!Path::new(&made).exists(), "{step:?} {token:?} {outside:?}");
        }
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    assert!(!mounts.contains(token), "something was mounted on the machine");
}

/// All of its namespaces are new, but it is none of ours: as in a container.
#[test]
fn any_other_namespaces_are_no_world() {
    let script = "EXACTA_WORLD=step-inside EXACTA_WORLD_TOKEN=0123456789abcdef01234567 \
        EXACTA_WORLD_OUTSIDE='mnt:[1] pid:[1] net:[1] ipc:[1] uts:[1] user:[1] cgroup:[1]' exec \"$0\" touch \"$1\"";
    let folder = Folder::new("container");
    let made = folder.0.join("made");
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "--pid",
        "--net",
        "--ipc",
        "--uts",
        "--cgroup",
    ]);
    command.args([
        "--fork",
        "--mount-proc",
        "bash",
        "-c",
        script,
        env!("CARGO_BIN_EXE_exacta-world"),
    ]);
    let (status, _, stderr) = run(command.arg(&made));
    assert_eq!(status, NO_WORLD, "{stderr}");
    assert!(stderr.contains("is not this world's own overlay"), "{stderr}");
    assert!(!made.exists());
}

#[test]
fn what_is_missing_is_named() {
    let folder = Folder::new("path");
    let made = folder.0.join("made").display().to_string();
    let (status, _, stderr) = run(world(&["touch", &made]).env("PATH", &folder.0));
    assert_eq!(status, NO_WORLD, "{stderr}");
    assert!(stderr.contains("unshare is not in PATH"), "{stderr}");
    assert!(stderr.contains("what to do"), "{stderr}");
    assert!(!Path::new(&made).exists());
}

#[test]
fn tools_that_fail_are_no_world_either() {
    let folder = Folder::new("broken");
    let tool = folder.0.join("unshare");
    fs::write(&tool, "#!/bin/sh\nexit 1\n").expect("a script");
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").unwrap_or_default());
    let made = folder.0.join("made").display().to_string();
    let (status, _, stderr) = run(world(&["touch", &made]).env("PATH", path));
    assert_eq!(status, NO_WORLD, "{stderr}");
    assert!(!Path::new(&made).exists());
}

#[test]
fn its_control_groups_are_taken_away() {
    let (status, token, stderr) = run(&mut world(&["printenv", "EXACTA_WORLD_TOKEN"]));
    assert_eq!((status, token.trim().len()), (Some(0), 24), "{stderr}");
    assert_eq!(groups_of(token.trim()), Vec::<String>::new());
}

/// Who is killed cannot tidy up: the worlds after it do.
#[test]
fn what_a_killed_world_leaves_is_taken_away_by_the_next() {
    let script = "echo $EXACTA_WORLD_TOKEN; exec sleep 60";
    let mut started = world(&["bash", "-c", script]);
    let mut started = started.stdout(Stdio::piped()).spawn().expect("the binary runs");
    let mut token = String::new();
    let stdout = started.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut token).expect("its first line");
    let groups = groups_of(token.trim());
    let maker = groups.first().and_then(|group| group.rsplit('-').nth(1)?.parse().ok());
    let maker = maker.and_then(rustix::process::Pid::from_raw).expect("a group with its maker");
    rustix::process::kill_process(maker, rustix::process::Signal::KILL).expect("it is ours");
    started.wait().expect("it has ended");

    let deadline = Instant::now() + Duration::from_secs(30);
    while !groups_of(token.trim()).is_empty() {
        assert!(Instant::now() < deadline, "{:?} stay", groups_of(token.trim()));
        let (status, _, stderr) = run(&mut world(&["true"]));
        assert_eq!(status, Some(0), "{stderr}");
    }
}

/// The groups that this world has now.
fn groups_of(token: &str) -> Vec<String> {
    let mut found = Vec::new();
    look(Path::new("/sys/fs/cgroup"), 6, &mut found);
    found.retain(|group| group.ends_with(&format!("-{token}")));
    found
}

fn look(folder: &Path, depth: u32, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && depth > 0 {
            found.push(entry.path().display().to_string());
            look(&entry.path(), depth - 1, found);
        }
    }
}

/// The compiler drops such functions without a word.
#[test]
fn no_test_is_lost_in_a_binary_without_harness() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut binaries = 0;
    for entry in fs::read_dir(crates).expect("the crates").flatten() {
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        for part in
            manifest.split("[[test]]").skip(1).filter(|part| part.contains("harness = false"))
        {
            let value = |key: &str| {
                let line = part.lines().find_map(|line| line.strip_prefix(key));
                line.map(|line| line.trim_matches([' ', '=', '"']).to_owned())
            };
            let name = value("name").expect("a name");
            let path = value("path").unwrap_or_else(|| format!("tests/{name}.rs"));
            check_sources(&entry.path().join(path));
            binaries += 1;
        }
    }
    assert!(binaries > 5, "{binaries}");
}

fn check_sources(main: &Path) {
    let folder = main.parent().expect("a folder");
    let is_folder = main.file_name().is_some_and(|name| name == "main.rs");
    let beside = fs::read_dir(folder).expect("sources").flatten().map(|entry| entry.path());
    for file in beside.filter(|file| {
        file == main || is_folder && file.extension().is_some_and(|kind| kind == "rs")
    }) {
        let text = fs::read_to_string(&file).expect("a source");
        // On a line of its own: a text for a compiler may have it too.
        assert!(
            !text.lines().any(|line| line.trim() == "#[test]"),
            "{} has no harness: name its tests in tests!",
            file.display()
        );
    }
}

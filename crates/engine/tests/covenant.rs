//! The strict face beyond S1's own examples: who may not be asked, what stays untouched, and what ends a command.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make the directories they run in"
)]

use std::fs;
use std::future::Future;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use exacta::background::block_on;
use exacta::covenant::{
    ExecuteOptions, ExecutionContext, RunCommand, RunErrorKind, RunResult, execute_run, to_json,
};

exacta_world::tests! {
    nobody_to_ask_means_no,
    a_broken_commands_file_stops_everything,
    words_reach_the_command_as_they_were_written,
    paths_that_lead_out_are_refused_in_both_tiers,
    what_only_looks_like_a_path_is_asked_about,
    patterns_and_scripts_are_no_paths,
    what_the_policy_denies_no_answer_allows,
    tier_one_asks_where_the_policy_does,
    a_file_of_the_project_cannot_stand_in_for_tier_one,
    tier_one_does_not_depend_on_the_search_path,
    a_failure_keeps_both_streams_in_order,
    always_is_remembered_and_never_is_final,
    a_repository_cannot_allow_its_own_commands,
    an_explicit_root_is_the_wall,
    a_context_named_through_a_link_works,
    dropping_the_future_stops_the_command,
    many_at_once_do_not_mix,
}

/// A directory that goes away with the test.
struct Project(PathBuf);

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-covenant-{}-{serial}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join(".clada")).expect("a directory");
        Project(path.canonicalize().expect("a real path"))
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.0)).expect("a directory");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
        self
    }

    fn context(&self) -> ExecutionContext {
        ExecutionContext::new(&self.0)
    }

    /// With an answer that is always the same.
    fn run(&self, command: &str, answer: &'static str) -> RunResult {
        let options =
            ExecuteOptions::default().prompter(move |_: String| async move { answer.to_owned() });
        block_on(execute_run(&RunCommand::new(command), &self.context(), options))
    }

    /// With nobody to ask.
    fn run_alone(&self, command: &str) -> RunResult {
        let options = ExecuteOptions::default();
        block_on(execute_run(&RunCommand::new(command), &self.context(), options))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(result: &RunResult) -> &str {
    match result {
        Ok(value) => &value.output,
        Err(error) => &error.error,
    }
}

fn nobody_to_ask_means_no() {
    let project = Project::new();
    let result = project.write("a", "").run_alone("rm a");
    assert_eq!(text(&result), "Command not approved: rm a");
    assert!(project.0.join("a").exists());
    assert_eq!(project.run_alone("echo hi").expect("tier 1").output, "hi\n");
}

fn a_broken_commands_file_stops_everything() {
    for command in ["echo hi", "touch made", "rm -r x"] {
        let project = Project::new();
        let broken = "{\n\"allowed\": [}\n";
        project.write(".clada/commands.json", broken);
        let error = project.run(command, "always").expect_err("broken");
        assert_eq!(error.kind, RunErrorKind::Internal);
        let place = project.0.join(".clada/commands.json:2:13: ");
        assert!(error.error.starts_with(&*place.to_string_lossy()), "{}", error.error);
        let content = fs::read_to_string(project.0.join(".clada/commands.json")).expect("a file");
        assert_eq!(content, broken);
        assert!(!project.0.join("made").exists());
    }
}

fn words_reach_the_command_as_they_were_written() {
    let project = Project::new();
    let cases = [
        (r"echo '$HOME' \* 'a  b'", "$HOME * a  b\n"),
        ("echo 'it'\\''s'", "it's\n"),
        ("echo -n x", "x"),
        ("echo ''", "\n"),
        ("echo !", "!\n"),
    ];
    for (command, output) in cases {
        assert_eq!(text(&project.run_alone(command)), output, "{command}");
    }
}

fn paths_that_lead_out_are_refused_in_both_tiers() {
    let project = Project::new();
    project.write("src/main.rs", "");
    symlink("/etc", project.0.join("out")).expect("a link");
    symlink(".clada", project.0.join("state")).expect("a link");
    let cases = [
        ("cat out/passwd", "out/passwd"),
        ("cat .clada/commands.json", ".clada/commands.json"),
        ("ls state", "state"),
        ("ls src/../..", "src/../.."),
        ("cp src/main.rs /etc/x", "/etc/x"),
        ("mv /etc/passwd here", "/etc/passwd"),
        ("mkdir -p ../x", "../x"),
        ("find . /etc -name x", "/etc"),
        ("find . -newer /etc/passwd", "/etc/passwd"),
        ("grep -f /etc/passwd x", "/etc/passwd"),
        ("grep -r x /", "/"),
        ("touch -r/etc/passwd x", "/etc/passwd"),
        ("git diff /etc/passwd src/main.rs", "/etc/passwd"),
        ("git log -- ../../x", "../../x"),
        ("date --reference=/etc/passwd", "/etc/passwd"),
        ("rm -rf /", "/"),
        ("rm -rf ..", ".."),
        ("rm -rf src /home", "/home"),
        ("less out/passwd", "out/passwd"),
        ("python /etc/x.py", "/etc/x.py"),
        ("/usr/bin/whoami", "/usr/bin/whoami"),
        ("../tool x", "../tool"),
        ("env X=1 rm -rf /", "/"),
        ("timeout 5 cat /etc/passwd", "/etc/passwd"),
        ("make -C ..", ".."),
        ("tar czf /etc/x.tgz .", "/etc/x.tgz"),
        ("sed -i s/a/b/ /etc/hosts", "/etc/hosts"),
        ("python script.py /etc/passwd", "/etc/passwd"),
        ("sh -c 'cat /etc/passwd'", "/etc/passwd"),
        ("frobnicate --config=/etc/x", "/etc/x"),
        ("frobnicate file=/etc/x", "/etc/x"),
        ("frobnicate .clada/commands.json", ".clada/commands.json"),
    ];
    for (command, path) in cases {
        let error = project.run(command, "yes").expect_err(command);
        assert_eq!(error.error, format!("Invalid path: {path}"), "{command}");
        assert_eq!(error.kind, RunErrorKind::Path, "{command}");
    }
}

fn what_only_looks_like_a_path_is_asked_about() {
    let project = Project::new();
    for command in [
        "frobnicate https://example.org/a/../../../b",
        "frobnicate src/a @scope/b",
        "frobnicate --x",
    ] {
        let result = project.run(command, "no");
        assert_eq!(text(&result), format!("Command not approved: {command}"), "{command}");
    }
}

fn patterns_and_scripts_are_no_paths() {
    let project = Project::new();
    for command in [
        "awk '/TODO/ { print }' src",
        "sed -n '/start/p' src",
        "rg /api/v1 src",
        "npm run build",
        "python -m pytest tests/",
        "jq .a/.b x.json",
        "rm -rf build dist",
        "make all",
    ] {
        let result = project.run(command, "no");
        assert_eq!(text(&result), format!("Command not approved: {command}"), "{command}");
    }
}

fn what_the_policy_denies_no_answer_allows() {
    let project = Project::new();
    for command in ["sudo ls", "curl https://example.org", "env curl https://example.org"] {
        let error = project.run(command, "always").expect_err(command);
        assert_eq!(error.kind, RunErrorKind::Blocked, "{command}: {}", error.error);
        let first = format!("Command blocked: {command}\n");
        assert!(error.error.starts_with(&first) && error.error.len() > first.len(), "{error}");
        assert!(!project.0.join(".clada/commands.json").exists());
    }
}

fn tier_one_asks_where_the_policy_does() {
    let project = Project::new();
    project.write("hook", "#!/bin/sh\n").write(".git/config", "");
    let command = "cp hook .git/hooks/pre-commit";
    assert_eq!(text(&project.run_alone(command)), format!("Command not approved: {command}"));
    assert_eq!(text(&project.run_alone("cp hook other")), "");
}

fn a_file_of_the_project_cannot_stand_in_for_tier_one() {
    let project = Project::new();
    project.write("bin/ls", "#!/bin/sh\necho planted\n").write("a", "");
    let path = format!("{}:/usr/bin", project.0.join("bin").display());
    let options = ExecuteOptions {
        environment: vec![("PATH".into(), path.into())],
        ..ExecuteOptions::default()
    };
    let result = block_on(execute_run(&RunCommand::new("ls"), &project.context(), options));
    assert_eq!(text(&result), "a\nbin\n");
}

fn tier_one_does_not_depend_on_the_search_path() {
    let project = Project::new();
    project.write("a", "");
    let options = ExecuteOptions {
        environment: vec![("PATH".into(), "/nowhere".into())],
        ..ExecuteOptions::default()
    };
    let result = block_on(execute_run(&RunCommand::new("ls"), &project.context(), options));
    assert_eq!(text(&result), "a\n");
}

fn a_failure_keeps_both_streams_in_order() {
    let project = Project::new();
    project.write("both", "#!/bin/sh\necho one\necho two >&2\necho three\nexit 3\n");
    let error = project.run("./both", "yes").expect_err("a failure");
    assert_eq!(error.kind, RunErrorKind::Failed(3));
    let expected =
        r#"{"ok":false,"error":"Command failed with exit code 3","output":"one\ntwo\nthree\n"}"#;
    assert_eq!(to_json(&Err(error)), expected);
    let error = project.run_alone("cat missing").expect_err("a failure");
    assert_eq!(error.output.as_deref(), Some("cat: missing: No such file or directory\n"));
}

fn always_is_remembered_and_never_is_final() {
    let project = Project::new();
    project.write("run", "#!/bin/sh\necho ran\n");
    assert_eq!(text(&project.run("./run", "always")), "[Added to .clada/commands.json]\nran\n");
    assert_eq!(text(&project.run_alone("./run")), "ran\n");
    assert_eq!(text(&project.run_alone(" ./run\n")), "ran\n");
    assert_eq!(text(&project.run_alone("./run x")), "Command not approved: ./run x");
    let never = project.run("./run x", "never");
    assert_eq!(text(&never), "Command blocked: ./run x\n[Added to .clada/commands.json]");
    assert_eq!(text(&project.run("./run x", "always")), "Command blocked: ./run x");
}

fn a_repository_cannot_allow_its_own_commands() {
    let project = Project::new();
    project.write("run", "#!/bin/sh\necho ran\n");
    project.write(".clada/commands.json", r#"{"allowed": ["./run"]}"#);
    assert_eq!(text(&project.run_alone("./run")), "ran\n");
    project.write(".git/index", "cannot be read: may well track it");
    assert_eq!(text(&project.run_alone("./run")), "Command not approved: ./run");
}

fn an_explicit_root_is_the_wall() {
    let project = Project::new();
    project.write("outer.txt", "x").write("inner/a.txt", "a");
    let inner = project.0.join("inner");
    let context = ExecutionContext::new(&inner).with_root(&inner);
    let run = |command: &str| {
        let options = ExecuteOptions::default();
        block_on(execute_run(&RunCommand::new(command), &context, options))
    };
    // First: where something was recorded, a root is found from then on.
    let found = ExecutionContext::new(&inner);
    let options = ExecuteOptions::default();
    let result = block_on(execute_run(&RunCommand::new("cat ../outer.txt"), &found, options));
    assert_eq!(text(&result), "x");
    assert_eq!(text(&run("cat a.txt")), "a");
    assert_eq!(text(&run("cat ../outer.txt")), "Invalid path: ../outer.txt");
}

fn a_context_named_through_a_link_works() {
    let project = Project::new();
    project.write("sub/a.txt", "a");
    let link = project.0.with_extension("link");
    symlink(&project.0, &link).expect("a link");
    let context = ExecutionContext::new(&link);
    let command = RunCommand::new("cat a.txt").in_directory(link.join("sub"));
    let result = block_on(execute_run(&command, &context, ExecuteOptions::default()));
    fs::remove_file(&link).expect("removed");
    assert_eq!(text(&result), "a");
}

fn dropping_the_future_stops_the_command() {
    let project = Project::new();
    project.write("forever", "#!/bin/sh\nwhile :; do echo x >> log; sleep 0.01; done\n");
    let options = ExecuteOptions::default().prompter(|_: String| async { "yes".to_owned() });
    let (command, context) = (RunCommand::new("./forever"), project.context());
    {
        let mut future = pin!(execute_run(&command, &context, options));
        let waker = Waker::noop();
        let begun = Instant::now();
        while !project.0.join("log").exists() {
            let poll = future.as_mut().poll(&mut Context::from_waker(waker));
            assert!(matches!(poll, Poll::Pending));
            assert!(begun.elapsed() < Duration::from_secs(20), "it never began");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let length = || fs::metadata(project.0.join("log")).map_or(0, |found| found.len());
    let begun = Instant::now();
    loop {
        let before = length();
        std::thread::sleep(Duration::from_millis(200));
        if length() == before {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it never ended");
    }
}

fn many_at_once_do_not_mix() {
    let project = Arc::new(Project::new());
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let project = Arc::clone(&project);
            std::thread::spawn(move || {
                text(&project.run_alone(&format!("echo {number}"))).to_owned()
            })
        })
        .collect();
    for (number, thread) in threads.into_iter().enumerate() {
        assert_eq!(thread.join().expect("a thread"), format!("{number}\n"));
    }
}

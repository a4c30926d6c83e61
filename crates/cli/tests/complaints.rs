//! What users of other agents' shells complain of most, each as a test that it does not happen here: commands that hang, output that
//! is lost, questions without end, sandboxes that break builds or are silently dead, undo that misses what programs did.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories and run the binary"
)]

#[allow(dead_code, reason = "each test uses some of it")]
mod support;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Project, code, text};

/// Far more than any of it takes, and far less than what it must not wait for.
const SOON: Duration = Duration::from_secs(15);

fn run(project: &Project, options: &[&str], command: &str) -> Value {
    let words = [&["run", "--json"], options, &["--", command]].concat();
    let output = project.run(&words);
    let said = text(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no report: {said}"))
}

/// Processes of this machine whose command line has this in it.
fn alive(marker: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(marker) && !line.contains("exacta")).collect()
}

fn gone(marker: &str) -> bool {
    let begun = Instant::now();
    while !alive(marker).is_empty() {
        if begun.elapsed() > Duration::from_secs(3) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// 1. Standard input is left open, and the command hangs for hours.
#[test]
fn nothing_waits_for_an_input_that_never_comes() {
    let project = Project::new();
    let begun = Instant::now();
    for command in [
        "cat",
        "read line; echo \"[$line]\"",
        "perl -e 'my $line = <STDIN>; print defined $line ? 1 : 0'",
        "sh -c 'read x; echo \"[$x]\"'",
        "perl -e 'open(my $terminal, q(<), q(/dev/tty)) or die qq(no terminal\\n); <$terminal>'",
        "git init -q . && git commit --allow-empty",
    ] {
        let report = run(&project, &[], command);
        assert_eq!(report["timed_out"], false, "{command}");
        assert!(begun.elapsed() < SOON, "{command} has waited");
    }
}

/// 2. The timeout does not kill, or puts the command into the background.
#[test]
fn a_timeout_ends_the_whole_tree() {
    let project = Project::new();
    let begun = Instant::now();
    // It ignores what asks it to end, leaves its group and its session, and has a child that does the same.
    let stubborn =
        "use POSIX; $SIG{$_} = q(IGNORE) for qw(TERM INT HUP); fork; setsid; fork; sleep 60";
    project.write("stubborn-71717.pl", stubborn);
    let report = run(&project, &["--timeout", "700ms"], "perl stubborn-71717.pl");
    assert_eq!((&report["timed_out"], &report["exit_code"]), (&true.into(), &124.into()));
    assert!(begun.elapsed() < SOON);
    assert!(gone("71717"), "{:?}", alive("71717"));
}

/// 3. What runs in the background holds the pipes, and the call never comes back.
#[test]
fn a_job_in_the_background_holds_nobody_up() {
    let project = Project::new();
    let daemon = "if (fork == 0) { sleep 60; exit } print qq(done\\n)";
    project.write("daemon-72727.pl", daemon);
    for command in
        ["sleep 72727 & echo done", "perl daemon-72727.pl", "(sleep 72727; echo late) & echo done"]
    {
        let begun = Instant::now();
        let report = run(&project, &[], command);
        assert_eq!(report["stdout"], "done\n", "{command}");
        assert!(begun.elapsed() < SOON, "{command}");
        assert!(gone("72727"), "{command}: {:?}", alive("72727"));
    }
}

/// 4. Only the head of long output is kept, and the error was at its end.
#[test]
fn of_long_output_both_ends_are_kept_and_the_whole_can_be_read() {
    let project = Project::new();
    let report = run(&project, &[], "echo first; seq 1 200000; echo 'error: the last line'");
    let shown = report["stdout"].as_str().expect("text");
    assert_eq!(report["truncated"], true);
    assert!(shown.starts_with("first\n") && shown.ends_with("error: the last line\n"));
    assert!(shown.contains("bytes left out"), "what is missing is said");
    let spill = report["spill_path"].as_str().expect("the whole");
    let counted = run(&project, &[], &format!("grep -c . {spill}; sed -n 100000p {spill}"));
    assert_eq!(counted["stdout"], "200002\n99999\n");
}

/// 5. A command that ends fast loses its last output.
#[test]
fn nothing_of_a_fast_end_is_lost() {
    let project = Project::new();
    for _ in 0..30 {
        let report = run(
            &project,
            &[],
            "perl -e '$| = 1; print STDOUT q(out); print STDERR q(err); exit 3'",
        );
        let said = (&report["stdout"], &report["stderr"], &report["exit_code"]);
        assert_eq!(said, (&"out".into(), &"err".into(), &3.into()));
    }
}

/// 6. Colours, links and window titles in what an agent reads.
#[test]
fn agents_read_text_and_nothing_for_terminals() {
    let project = Project::new();
    let noisy = r"printf '\033[1;31mred\033[0m \033]8;;http://x\033\\link\033]8;;\033\\ \033]0;title\007\033Pdcs\033\\end\n'";
    assert_eq!(run(&project, &[], noisy)["stdout"], "red link end\n");
    assert_eq!(
        run(&project, &[], "ls --color=always -d .git")["stdout"],
        run(&project, &[], "ls -d .git")["stdout"]
    );
}

/// 7. So many questions that people stop reading them.
#[test]
fn everyday_work_asks_nothing_and_nothing_is_asked_twice() {
    let project = Project::new();
    let everyday = [
        "ls -la src && cat README.md | head -20",
        "git status --short && git diff --stat && git log --oneline -5",
        "git add -A && git commit -m 'fix: drop the table view'",
        "cargo test --workspace 2>&1 | tail -20",
        "npm test -- --watch=false",
        "python3 -m pytest -q tests/test_api.py",
        "go test ./... && gofmt -l .",
        "make -j4 all && ctest --test-dir build",
        "rg -n 'rm -rf' docs | sort -u",
        "sed -i 's/old/new/g' src/main.rs && cargo fmt",
        "rm -rf build dist node_modules/.cache",
        "mkdir -p src/api && touch src/api/mod.rs",
        "find . -name '*.orig' -delete",
        "for f in src/*.rs; do wc -l \"$f\"; done",
        "python3 -c 'print(sum(range(10)))'",
        "npx tsc --noEmit && npx eslint src",
    ];
    for command in everyday {
        assert_eq!(code(&project.run(&["shell", "test", command])), 0, "{command}");
    }
    // One part of a long line asks: the question is about that part, and its answer can last.
    let command = "echo a; git push origin main; echo b";
    assert_eq!(code(&project.run(&["run", "--", command])), 126);
    let asked: Value =
        serde_json::from_slice(&project.run(&["approvals", "list", "--json"]).stdout)
            .expect("JSON");
    let asks = asked[0]["asks"].as_array().expect("what asks");
    assert_eq!(asks.len(), 1, "{asks:?}");
    assert_eq!(asks[0]["command"], "git push origin main");
    let id = asked[0]["id"].as_str().expect("an id");
    assert_eq!(code(&project.run(&["approvals", "approve", id, "--always"])), 0);
    for _ in 0..2 {
        assert_ne!(code(&project.run(&["run", "--", command])), 126, "it is asked again");
    }
}

/// 8. The sandbox breaks builds, so people turn it off; and nobody says what stood in the way.
#[test]
fn builds_work_and_what_stands_in_the_way_has_a_name() {
    let project = Project::new();
    project
        .write("main.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n")
        .write("Makefile", "app: main.c\n\tcc -o app main.c\ntest: app\n\t./app\n");
    let report = run(&project, &[], "make test");
    assert_eq!(report["exit_code"], 0, "{report}");
    assert!(report["stdout"].as_str().is_some_and(|said| said.ends_with("built\n")), "{report}");
    let refused = run(&project, &[], "curl https://example.com/install.sh");
    assert_eq!(refused["exit_code"], 126);
    for field in ["policy_rule_matched", "reason", "hint"] {
        assert!(refused[field].as_str().is_some_and(|said| said.len() > 3), "{field}: {refused}");
    }
}

/// 9. The sandbox is silently dead, in a container for instance.
#[test]
fn what_holds_is_measured_and_nothing_runs_weaker_in_silence() {
    let project = Project::new();
    let output = project.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let said = report.to_string();
    assert!(said.contains("ENOENT"), "what was tried is not there: {said}");
    assert_eq!(run(&project, &[], "perl -e 1")["isolation"]["level"], "full", "{said}");
    // A machine without user namespaces: programs do not run, and it is said why.
    let script = format!(
        "echo 0 > /proc/sys/user/max_user_namespaces && exec {} run --json -- 'perl -e 1'",
        env!("CARGO_BIN_EXE_exacta")
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]);
    command.args(["sh", "-c", &script]);
    project.surround(&mut command);
    let output = command.output().expect("unshare(1) runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_ne!(report["exit_code"], 0, "it ran: {report} {}", text(&output.stderr));
    let said = format!("{} {report}", text(&output.stderr));
    assert!(said.contains("namespace") || said.contains("isolation"), "{said}");
}

/// 10. Undo knows only what the agent's editor did.
#[test]
fn what_programs_have_changed_is_undone() {
    let project = Project::new();
    project.write("kept", "before\n").write("removed", "still needed\n");
    let command = "perl -e 'unlink q(removed); open(my $file, q(>), q(kept)); print $file q(after); mkdir q(new)'";
    assert_eq!(run(&project, &[], command)["exit_code"], 0);
    assert_eq!(project.read("kept").as_deref(), Some("after"));
    let preview = text(&project.run(&["undo", "--dry-run"]).stdout);
    assert!(preview.contains("removed") && preview.contains("kept"), "{preview}");
    assert_eq!(project.read("kept").as_deref(), Some("after"), "a preview changes nothing");
    assert_eq!(code(&project.run(&["undo"])), 0);
    assert_eq!(project.read("kept").as_deref(), Some("before\n"));
    assert_eq!(project.read("removed").as_deref(), Some("still needed\n"));
    assert!(!project.root.join("new").exists());
    assert_eq!(code(&project.run(&["redo"])), 0, "the undo can be undone");
    // What a person has changed since is not written over.
    project.write("kept", "by a person\n");
    assert_ne!(code(&project.run(&["undo"])), 0);
    assert_eq!(project.read("kept").as_deref(), Some("by a person\n"));
}

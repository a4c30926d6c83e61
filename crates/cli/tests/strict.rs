//! `exacta run --strict` as a user meets it: what is printed, how it ends, and who is asked.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

exacta_world::tests! {
    what_is_printed_and_how_it_ends,
    it_starts_where_the_caller_is,
    a_person_answers_on_the_terminal,
}

struct Project(PathBuf);

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("exacta-strict-{}-{serial}", std::process::id()));
        fs::create_dir_all(path.join(".clada")).expect("a temporary directory");
        fs::write(path.join("a"), "x\n").expect("a file");
        Project(path.canonicalize().expect("a real path"))
    }

    /// Without a controlling terminal; what stands on standard input must not be taken for an answer.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut child = Command::new("setsid")
            .args(["-w", env!("CARGO_BIN_EXE_exacta"), "run", "--strict"])
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // It may have ended without reading any of it.
        let _ = child.stdin.take().expect("a pipe").write_all(b"yes\nyes\nalways\n");
        child.wait_with_output().expect("the binary ends")
    }

    /// On a terminal of its own, with a person who answers when asked.
    fn run_on_terminal(&self, command: &str, answer: &str) -> String {
        let line = format!("{} run --strict -- '{command}'", env!("CARGO_BIN_EXE_exacta"));
        let mut child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script(1) runs");
        let mut output = child.stdout.take().expect("a pipe");
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(b"never): ") {
            assert_eq!(output.read(&mut byte).expect("output"), 1, "{seen:?}");
            seen.push(byte[0]);
        }
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(format!("{answer}\n").as_bytes()).expect("input is read");
        output.read_to_end(&mut seen).expect("output");
        child.wait().expect("it ends");
        String::from_utf8_lossy(&seen).replace("\r\n", "\n")
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn what_is_printed_and_how_it_ends() {
    let cases: [(&[&str], &str, &str, i32); 19] = [
        (&["--", "cat a"], "x\n", "", 0),
        (&["--", "cat", "a"], "x\n", "", 0),
        (&["--", "echo", "a b", "$HOME"], "a b $HOME\n", "", 0),
        (
            &["--", "cat missing"],
            "cat: missing: No such file or directory\n",
            "Command failed with exit code 1\n",
            1,
        ),
        (&["--", "ls | wc"], "", "Shell operators not allowed\n", 126),
        (&["--", "echo \"x"], "", "Invalid shell syntax\n", 126),
        (&["--", "cat /etc/passwd"], "", "Invalid path: /etc/passwd\n", 126),
        (&["--", "ls --nope"], "", "Unknown flag: --nope\n", 126),
        (&["--", "rm a"], "", "Command not approved: rm a\n", 126),
        (&["--no-input", "--", "rm a"], "", "Command not approved: rm a\n", 126),
        (&["--no-input", "--yes", "--", "rm a"], "", "Command not approved: rm a\n", 126),
        (&["--yes", "--", "seq 2"], "1\n2\n", "", 0),
        (&["--yes", "--", "rm -rf /"], "", "Invalid path: /\n", 126),
        (
            &["--yes", "--", "no-such-program x"],
            "",
            "Command failed: no-such-program: command not found\n",
            127,
        ),
        (&["--yes", "--timeout", "200ms", "--", "yes"], "", "Command timed out\n", 124),
        (&["--max-output", "1", "--", "cat a"], "", "Output too large\n", 125),
        (
            &["--cwd", "/nonexistent", "--", "ls"],
            "",
            "Invalid working directory: /nonexistent\n",
            126,
        ),
        (&["--json", "--", "cat a"], "{\"ok\":true,\"value\":{\"output\":\"x\\n\"}}\n", "", 0),
        (
            &["--json", "--", "ls;"],
            "{\"ok\":false,\"error\":\"Shell operators not allowed\"}\n",
            "",
            126,
        ),
    ];
    for (arguments, stdout, stderr, status) in cases {
        let project = Project::new();
        let output = project.run(arguments);
        assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), stderr, "{arguments:?}");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert!(project.0.join("a").exists());
    }
}

fn it_starts_where_the_caller_is() {
    let project = Project::new();
    fs::create_dir(project.0.join("sub")).expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .args(["run", "--strict", "--", "cat ../a"])
        .current_dir(project.0.join("sub"))
        .output()
        .expect("the binary runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n");
}

fn a_person_answers_on_the_terminal() {
    let project = Project::new();
    let question = "Allow 'seq 2'? (yes/no/always/never): ";
    let no = project.run_on_terminal("seq 2", "no");
    assert!(no.starts_with(question) && no.ends_with("Command not approved: seq 2\n"), "{no}");
    let yes = project.run_on_terminal("seq 2", "yes");
    assert!(yes.ends_with("1\n2\n"), "{yes}");
    let always = project.run_on_terminal("seq 2", "always");
    assert!(always.ends_with("[Added to .clada/commands.json]\n1\n2\n"), "{always}");
    let output = project.run(&["--", "seq 2"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n2\n");
    let never = project.run_on_terminal("seq 3", "never");
    let refusal = "Command blocked: seq 3\n[Added to .clada/commands.json]\n";
    assert!(never.ends_with(refusal), "{never}");
}

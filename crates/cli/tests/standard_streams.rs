//! Standard streams that the caller closed: the binary says and returns what bash and the GNU tools do.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary and bash"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a caller may close.
const CLOSED: &[&str] = &[">&-", "<&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"];

/// Scripts whose whole outcome must be that of bash, whatever is closed.
const SCRIPTS: &[&str] = &[
    "echo hi",
    "printf '%s\\n' x",
    "echo one; echo two >&2; echo three",
    "pwd -P > /dev/null && type cd",
    "alias a=b; alias",
    "shopt -p extglob; echo $? >&2",
    "echo hi >&1",
    "echo hi > file; echo \"$(<file)\" >&2",
    "x=$(echo hi); echo \"got $x\" >&2",
    "exec 3>&1; echo \"status $?\" >&2",
    "read x; echo \"$? $x\" >&2",
    "[ -t 0 ]; echo $? >&2",
    "cat",
    "cat - lines",
    "cat lines",
    "cat < lines",
    "echo hi | cat",
    "echo hi | wc -c >&2",
    "ls lines",
    "ls lines; echo $? >&2",
    "grep o lines",
    "grep x",
    "seq 3",
    "uniq lines",
    "tr a b",
    "cut -c1 lines",
    "env true",
    "(echo sub); echo $? >&2",
    "{ echo group; } 2>/dev/null; echo $? >&2",
    "f() { echo function; } 2>/dev/null; f || echo failed >&2",
    "true",
    "sleep 0",
];

fn run(shell: &str, project: &Path, script: &str, closed: &str) -> Output {
    // The outer shell closes what it is told to and becomes the shell under test.
    let wrapper = format!("exec \"$@\" {closed}");
    Command::new("bash")
        .args(["-c", &wrapper, "bash", shell, "-c", script])
        .current_dir(project)
        .env("LC_ALL", "C")
        .output()
        .expect("bash runs")
}

fn project(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("exacta-streams-{}/{name}", std::process::id()));
    fs::create_dir_all(&path).expect("a temporary directory");
    fs::write(path.join("lines"), "one\ntwo\n").expect("a file");
    path
}

#[test]
fn closed_streams_are_as_bash_finds_them() {
    let (theirs, ours) = (project("bash"), project("exacta"));
    for closed in CLOSED {
        for script in SCRIPTS {
            let expected = run("bash", &theirs, script, closed);
            let actual = run(env!("CARGO_BIN_EXE_exacta"), &ours, script, closed);
            let text = |output: &Output| {
                let [stdout, stderr] = [&output.stdout, &output.stderr]
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                (output.status.code(), stdout, stderr)
            };
            assert_eq!(text(&actual), text(&expected), "{script} {closed}");
        }
    }
    let _ = fs::remove_dir_all(theirs.parent().unwrap_or(&theirs));
}

#[test]
fn whoever_writes_to_nobody_is_not_ended_by_it() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let ended = Command::new(env!("CARGO_BIN_EXE_exacta")).arg("--help").stdout(writer).status();
    assert_eq!(ended.expect("the binary runs").code(), Some(0));
}

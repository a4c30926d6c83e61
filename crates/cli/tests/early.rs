//! The spawner that is made first of all, as a copy: what it has of the process that it was copied from.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories, run the binary and look at its processes"
)]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SECRET: &str = "nobody-inside-may-know-this";

/// A project with a copy of a program of the system in it: scripts and what exacta has itself need no jail.
fn project(program: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("exacta-early-{}-{program}", std::process::id()));
    fs::create_dir_all(path.join(".git")).expect("a temporary directory");
    let path = path.canonicalize().expect("a real path");
    fs::copy(format!("/bin/{program}"), path.join("p")).expect("a program");
    path
}

fn children(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    text.unwrap_or_default().split_whitespace().filter_map(|it| it.parse().ok()).collect()
}

/// Everybody below a process.
fn descendants(process: u32) -> Vec<u32> {
    let mut all = children(process);
    let mut next = 0;
    while let Some(process) = all.get(next).copied() {
        all.extend(children(process));
        next += 1;
    }
    all
}

#[test]
fn nothing_of_the_caller_is_left_in_it() {
    let root = project("sleep");
    let mut exacta = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .args(["-c", &format!("./p 600; : {SECRET}")])
        .current_dir(&root)
        .env("EXACTA_TEST_SECRET", SECRET)
        .stdin(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let (begun, mut all) = (Instant::now(), Vec::new());
    // The spawner, the warden, init, the program.
    while all.len() < 4 && begun.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(5));
        all = descendants(exacta.id());
    }
    let shown = |name: &str| {
        let read = |process: &u32| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
        all.iter().map(read).map(|it| String::from_utf8_lossy(&it).into_owned()).collect::<Vec<_>>()
    };
    let (words, variables) = (shown("cmdline"), shown("environ"));
    exacta.kill().expect("it runs");
    exacta.wait().expect("an end");
    fs::remove_dir_all(&root).expect("it can be removed");
    assert!(all.len() >= 4, "{words:?}");
    assert!(words.first().is_some_and(|it| it.starts_with("exacta-spawner\0")), "{words:?}");
    assert!(words.iter().chain(&variables).all(|it| !it.contains(SECRET)), "{words:?}");
}

#[test]
fn without_room_to_hide_anything_it_is_started_afresh() {
    let root = project("echo");
    let output = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .arg0("x")
        .args(["-c", "./p"])
        .current_dir(&root)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    fs::remove_dir_all(&root).expect("it can be removed");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "\n", "{output:?}");
}

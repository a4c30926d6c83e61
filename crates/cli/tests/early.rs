//! The spawner that is made first of all, as a copy: what it has of the process that it was copied from.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories, run the binary and look at its processes"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SECRET: &str = "nobody-inside-may-know-this";

/// A project with a program in it.
fn project(name: &str, program: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("exacta-early-{}-{name}", std::process::id()));
    fs::create_dir_all(path.join(".git")).expect("a temporary directory");
    let path = path.canonicalize().expect("a real path");
    fs::write(path.join("p"), program).expect("a file");
    fs::set_permissions(path.join("p"), fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

fn children(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    text.unwrap_or_default().split_whitespace().filter_map(|it| it.parse().ok()).collect()
}

#[test]
fn nothing_of_the_caller_is_left_in_it() {
    let root = project("left", "#!/bin/sh\ntouch runs\nwhile [ ! -e stop ]; do sleep 0.01; done\n");
    let mut exacta = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .args(["-c", &format!("./p; : {SECRET}")])
        .current_dir(&root)
        .env("EXACTA_TEST_SECRET", SECRET)
        .stdin(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let begun = Instant::now();
    while !root.join("runs").exists() && begun.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(5));
    }
    let mut all = children(exacta.id());
    let mut next = 0;
    while let Some(process) = all.get(next) {
        let below = children(*process);
        all.extend(below);
        next += 1;
    }
    let shown = |name: &str| {
        let read = |process: &u32| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
        all.iter().map(read).map(|it| String::from_utf8_lossy(&it).into_owned()).collect::<Vec<_>>()
    };
    let (words, variables) = (shown("cmdline"), shown("environ"));
    fs::write(root.join("stop"), "").expect("a file");
    let ended = exacta.wait().expect("an end");
    fs::remove_dir_all(&root).expect("it can be removed");
    assert!(ended.success());
    // The spawner, the warden, init, the program.
    assert!(all.len() >= 4, "{words:?}");
    assert!(words.first().is_some_and(|it| it.starts_with("exacta-spawner\0")), "{words:?}");
    assert!(words.iter().chain(&variables).all(|it| !it.contains(SECRET)), "{words:?}");
}

#[test]
fn without_room_to_hide_anything_it_is_started_afresh() {
    let root = project("room", "#!/bin/sh\necho ran\n");
    let output = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .arg0("x")
        .args(["-c", "./p"])
        .current_dir(&root)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    fs::remove_dir_all(&root).expect("it can be removed");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n", "{output:?}");
}

//! Projects whose path is hardly a name: programs run there, what they write is there, and it can be undone.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test makes projects and runs the binary there"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// What is no text, and what overlays, tables of mounts and shells read as something else.
const NAMES: [&[u8]; 8] =
    [b"no\xfftext", b"\xc3", b"a b", b"a\nb", b"a:b", b"a,b=c", b"a\\b", b"$(a)'\"*"];

fn run(project: &Path, home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .args(arguments)
        .current_dir(project)
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .output()
        .expect("the binary runs");
    let told = [&ran.stdout[..], &ran.stderr].concat();
    (ran.status.code(), String::from_utf8_lossy(&told).into_owned())
}

#[test]
fn programs_run_wherever_a_project_lies() {
    let top = std::env::temp_dir().join(format!("exacta-odd-{}", std::process::id()));
    let home = top.join("home");
    for name in NAMES {
        let project = top.join(OsStr::from_bytes(name));
        fs::create_dir_all(project.join(".git")).expect("a project");
        fs::create_dir_all(&home).expect("a home");
        fs::copy("/bin/cp", project.join("copy")).expect("a program");
        fs::write(project.join("one"), "1\n").expect("a file");
        let script = "./copy one two && ./copy \"$PWD/two\" three && env cat three";
        let shown = project.display();
        assert_eq!(run(&project, &home, &["-c", script]), (Some(0), "1\n".into()), "{shown}");
        assert_eq!(fs::read(project.join("three")).ok(), Some(b"1\n".into()), "{shown}");
        let (status, told) = run(&project, &home, &["undo"]);
        assert_eq!(status, Some(0), "{shown}: {told}");
        assert!(!project.join("two").exists() && project.join("one").exists(), "{shown}: {told}");
    }
    fs::remove_dir_all(&top).expect("it can be removed");
}

//! On a system whose mounts are shared, as most are: what is laid over anything in a jail lies nowhere else.

#![expect(
    clippy::disallowed_methods,
    reason = "a test makes a project and runs the binary where mounts are shared"
)]

use std::fs;
use std::process::Command;

/// What is mounted before, while a program runs in the second of two requests, and after everything.
const SCRIPT: &str = r#"
seen() { cut -d' ' -f2- /proc/self/mountinfo; }
grep -q ' / .* shared:' /proc/self/mountinfo || exit 90
seen > "$SEEN/before"
"$EXACTA" -c './p 0; echo written > made; ./p 2' & wait_for=$!
sleep 1
seen > "$SEEN/during"
wait $wait_for || exit 91
seen > "$SEEN/after"
ls /usr/bin /usr/sbin > "$SEEN/programs"
"#;

#[test]
fn nothing_of_a_jail_is_mounted_outside() {
    let folder = std::env::temp_dir().join(format!("exacta-shared-{}", std::process::id()));
    let (root, seen) = (folder.join("project"), folder.join("seen"));
    for made in [root.join(".git"), seen.clone(), folder.join("home")] {
        fs::create_dir_all(made).expect("a temporary directory");
    }
    fs::copy("/bin/sleep", root.join("p")).expect("a program");
    // Whoever is not root is root of a namespace of its own there.
    let is_root = rustix::process::geteuid().is_root();
    let as_root: &[&str] = if is_root { &[] } else { &["--user", "--map-root-user"] };
    let ran = Command::new("unshare")
        .args(as_root)
        .args(["--mount", "--propagation", "shared", "--", "bash", "-c", SCRIPT])
        .current_dir(&root)
        .env("EXACTA", env!("CARGO_BIN_EXE_exacta"))
        .env("SEEN", &seen)
        .env("HOME", folder.join("home"))
        .env_remove("XDG_STATE_HOME")
        .output()
        .expect("a mount namespace");
    let text = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}: {text}", ran.status);
    let read = |name: &str| fs::read_to_string(seen.join(name)).expect("what was seen");
    assert!(!read("before").is_empty());
    assert_eq!(read("during"), read("before"), "while it runs");
    assert_eq!(read("after"), read("before"), "afterwards");
    let programs = Command::new("ls").args(["/usr/bin", "/usr/sbin"]).output().expect("a list");
    assert_eq!(read("programs"), String::from_utf8_lossy(&programs.stdout), "hidden outside");
    assert_eq!(fs::read_to_string(root.join("made")).expect("the file"), "written\n");
    fs::remove_dir_all(&folder).expect("it can be removed");
}

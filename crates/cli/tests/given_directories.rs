//! A directory that the shell, or its caller, has opened and a program is given: it leads nowhere that the program could not go.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test makes a project and runs the binary there"
)]

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// With something beside it that is not the project's.
struct Scene {
    folder: PathBuf,
}

impl Scene {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("exacta-given-{}-{name}", std::process::id()));
        for made in ["project/.git", "project/sub", "home", "beside"] {
            fs::create_dir_all(folder.join(made)).expect("a temporary directory");
        }
        fs::write(folder.join("project/sub/inside"), "").expect("a file");
        fs::copy("/bin/ls", folder.join("project/p")).expect("a program");
        Scene { folder }
    }

    fn run(&self, arguments: &[&str], input: Stdio) -> String {
        let ran = Command::new(env!("CARGO_BIN_EXE_exacta"))
            // It is the jail that is asked, not the policy.
            .args(["--profile", "full-auto"])
            .args(arguments)
            .current_dir(self.folder.join("project"))
            .env("HOME", self.folder.join("home"))
            .env_remove("XDG_STATE_HOME")
            .stdin(input)
            .output()
            .expect("the binary runs");
        let (told, errors) = (&ran.stdout, &ran.stderr);
        String::from_utf8_lossy(told).into_owned() + &String::from_utf8_lossy(errors)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _it_is_temporary = fs::remove_dir_all(&self.folder);
    }
}

/// Each gives `sub` as a descriptor to what it runs, before the first program of the request.
const WAYS: [&str; 6] = [
    "exec 5< sub; @",
    "{ @; } 5< sub",
    "( @ ) 5< sub",
    "f() { @; }; f 5< sub",
    "while :; do @; break; done 5< sub",
    "exec 6< sub 5<&6; @",
];

#[test]
fn up_from_it_is_what_is_seen_inside() {
    for (at, way) in WAYS.iter().enumerate() {
        let scene = Scene::new(&format!("up-{at}"));
        let script = |command: &str| way.replace('@', command);
        let listed = |script: &str| scene.run(&["-c", script], Stdio::null());
        let below = listed(&script("echo new > sub/made; ./p /proc/self/fd/5/"));
        assert!(below.contains("inside") && below.contains("made"), "{way}: {below}");
        let outside = listed(&script("./p /proc/self/fd/5/../.."));
        assert!(outside.contains("project") && !outside.contains("beside"), "{way}: {outside}");
        let state = listed(&script("./p -a /proc/self/fd/5/.."));
        assert!(state.contains("sub") && !state.contains(".clada"), "{way}: {state}");
        let top = listed(&script("./p /proc/self/fd/5/../../../../../../../../../.."));
        assert!(
            top.contains("usr") && !top.contains("boot") && !top.contains("srv"),
            "{way}: {top}"
        );
    }
}

#[test]
fn programs_that_write_directly_are_given_none_either() {
    let scene = Scene::new("direct");
    for way in WAYS {
        let script =
            way.replace('@', "./p -a /proc/self/fd/5/ /proc/self/fd/5/.. /proc/self/fd/5/../..");
        let told = scene.run(&["run", "--direct", "--yes", "--", &script], Stdio::null());
        assert!(told.contains("inside"), "{way}: {told}");
        assert!(!told.contains("beside") && !told.contains("exacta.db"), "{way}: {told}");
    }
}

/// What the caller has as standard input may lie anywhere.
#[test]
fn a_directory_as_standard_input_leads_nowhere() {
    let scene = Scene::new("input");
    for (place, shown) in [("beside", false), ("", false), ("project/sub", true)] {
        let directory = File::open(scene.folder.join(place)).expect("a directory");
        let told =
            scene.run(&["-c", "./p -a /proc/self/fd/0/ /proc/self/fd/0/.."], directory.into());
        assert!(!told.contains("beside"), "{place}: {told}");
        assert_eq!(told.contains("inside"), shown, "{place}: {told}");
    }
}

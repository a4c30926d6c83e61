//! What the operator sets and nobody inside can: limits of programs by who wrote them, and directories of tools.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

exacta_world::tests! {
    who_wrote_a_limit_decides_what_it_can_do,
    limits_of_a_file_are_those_that_hold,
    wrong_limits_are_refused,
    builds_get_more_unless_somebody_has_said_how_much,
    tools_are_found_first_and_cannot_be_changed,
}

struct Project {
    place: PathBuf,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-operator-{}-{serial}", std::process::id());
        let place = std::env::temp_dir().join(name);
        fs::create_dir_all(place.join("project/.clada")).expect("a temporary directory");
        let place = place.canonicalize().expect("a real path");
        Project { root: place.join("project"), place }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.place.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn add_tool(&self, name: &str, text: &str) {
        self.write(name, text);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.place.join(name), mode).expect("a mode");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_with_system("", arguments)
    }

    /// With this as the administrator's file, seen by nobody else.
    fn run_with_system(&self, system: &str, arguments: &[&str]) -> Output {
        let script = r#"set -e
            if [ -n "$SYSTEM" ]; then
                mount -t tmpfs none /mnt
                mkdir -p /mnt/upper/exacta /mnt/work
                printf '%s\n' "$SYSTEM" >/mnt/upper/exacta/config.toml
                mount -t overlay -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work,userxattr none /etc
            fi
            exec "$@""#;
        Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
            .arg(env!("CARGO_BIN_EXE_exacta"))
            .args(arguments)
            .current_dir(&self.root)
            .env("SYSTEM", system)
            .env("XDG_CONFIG_HOME", self.place.join("configuration"))
            .env("XDG_STATE_HOME", self.place.join("state"))
            .output()
            .expect("unshare(1) runs")
    }

    fn report(&self, system: &str, script: &str) -> Value {
        let output = self.run_with_system(system, &["run", "--json", "--yes", "--", script]);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}{errors}"))
    }

    fn processes(&self, system: &str) -> Value {
        self.report(system, "perl -e 1")["limits"]["processes"].clone()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _it_is_temporary = fs::remove_dir_all(&self.place);
    }
}

const USER: &str = "configuration/exacta/config.toml";
const OWN: &str = "project/.exacta.toml";

fn who_wrote_a_limit_decides_what_it_can_do() {
    let project = Project::new();
    assert_eq!(project.processes(""), 5, "the profile's");
    project.write(USER, "[limits]\nprocesses = 9\n");
    assert_eq!(project.processes(""), 9, "the user's");
    project.write(OWN, "[limits]\nprocesses = 50\n");
    assert_eq!(project.processes(""), 9, "a project that is not trusted cannot raise it");
    project.write(OWN, "[limits]\nprocesses = 4\n");
    assert_eq!(project.processes(""), 4, "but lower it");
    project.write(OWN, "[limits]\nprocesses = 50\n");
    assert!(project.run(&["trust", "--yes"]).status.success());
    assert_eq!(project.processes(""), 50, "a trusted one can");
    assert_eq!(project.processes("[limits]\nprocesses = 7"), 7, "but not past the administrator");
    assert_eq!(project.processes("[limits]\nprocesses = 70"), 50, "who sets no minimum");
}

fn limits_of_a_file_are_those_that_hold() {
    let cases = [
        ("memory_mb = 48", "perl -e 'push @x, q(x) x 1000000 while 1'", "memory_bytes", 137),
        ("cpu_seconds = 1", "perl -e '1 while 1'", "cpu_seconds", 137),
        (
            "processes = 3",
            "perl -e 'for (1..6) { my $p = fork; if (!defined $p) { select undef,undef,undef,0.3; exit 3 } if (!$p) { sleep 5; exit } }'",
            "processes",
            3,
        ),
    ];
    for (setting, script, reached, status) in cases {
        let project = Project::new();
        project.write(USER, &format!("[limits]\n{setting}\n"));
        let report = project.report("", script);
        assert_eq!(report["exit_code"], status, "{setting}: {report}");
        assert_eq!(report["limits"]["reached"], serde_json::json!([reached]), "{setting}");
        let errors = report["stderr"].as_str().expect("a text");
        let (name, _) = setting.split_once(' ').expect("a name");
        assert!(errors.contains(&format!("`{name}` under [limits]")), "{errors}");
    }
    let project = Project::new();
    project.write(USER, "[limits]\nopen_files = 20\noutput_bytes = 500\n");
    let files = "perl -e 'my @f; while (open my $f, q(<), q(/dev/null)) { push @f, $f } print scalar(@f) < 20'";
    let report = project.report("", files);
    assert_eq!(report["stdout"], "1", "{report}");
    let report = project.report("", "perl -e 'print qq($_\\n) for 1..9999'");
    assert_eq!(report["truncated"], true, "{report}");
    assert!(report["stdout"].as_str().is_some_and(|text| text.len() < 700), "{report}");
}

fn wrong_limits_are_refused() {
    for text in
        ["[limits]\nprocesses = -1\n", "[limits]\nprocesses = \"many\"\n", "[limits]\nnone = 1\n"]
    {
        let project = Project::new();
        project.write(OWN, text);
        let output = project.run(&["-c", "echo ran"]);
        assert_eq!(output.status.code(), Some(125), "{text}");
        assert!(output.stdout.is_empty(), "{text}");
    }
}

fn builds_get_more_unless_somebody_has_said_how_much() {
    let project = Project::new();
    project.write("project/Makefile", "all:\n\t@echo made\n");
    let processes =
        |project: &Project| project.report("", "make -s")["limits"]["processes"].clone();
    assert!(processes(&project).as_u64().is_some_and(|count| count > 5));
    project.write(USER, "[limits]\nprocesses = 6\n");
    assert_eq!(processes(&project), 6);
}

fn tools_are_found_first_and_cannot_be_changed() {
    let project = Project::new();
    project.add_tool("one/greet", "#!/bin/sh\necho one \"$@\"\n");
    project.add_tool("one/tac", "#!/bin/sh\necho mine\n");
    project.add_tool("two/greet", "#!/bin/sh\necho two\n");
    project.add_tool("two/only", "#!/bin/sh\necho only\n");
    let folder = |name: &str| project.place.join(name).display().to_string();
    let (one, two) = (folder("one"), folder("two"));
    let run = |tools: &[&str], script: &str| {
        let tools = tools.iter().flat_map(|tools| ["--tools", *tools]);
        let arguments: Vec<&str> = tools.chain(["run", "--yes", "--", script]).collect();
        let output = project.run(&arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (text, output.status.code().unwrap_or(-1))
    };
    assert_eq!(run(&[], "greet").1, 127);
    assert_eq!(run(&[&one], "greet a"), ("one a\n".into(), 0));
    assert_eq!(run(&[&one, &two], "greet; only"), ("one\nonly\n".into(), 0));
    assert_eq!(run(&[&two, &one], "greet"), ("two\n".into(), 0));
    // For what programs start themselves, too.
    assert_eq!(run(&[&one], "perl -e 'system q(greet), 1'"), ("one 1\n".into(), 0));
    assert_eq!(run(&[&one], "perl -e 'system q(tac)'"), ("mine\n".into(), 0));
    let change = format!("perl -e 'print open(F, q(>{one}/greet)) ? 1 : $!{{EROFS}} ? 2 : 3'");
    assert_eq!(run(&[&one], &change), ("2".into(), 0));
    let add = format!("perl -e 'print mkdir(q({one}/new)) ? 1 : 2'");
    assert_eq!(run(&[&one], &add), ("2".into(), 0));
    // Without the option they do not exist.
    let look = format!("perl -e 'print -e q({one}/greet) ? 1 : 2'");
    assert_eq!(run(&[], &look), ("2".into(), 0));
    assert_eq!(project.run(&["--tools", "/nowhere/at/all", "-c", "true"]).status.code(), Some(125));
}

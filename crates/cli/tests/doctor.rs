//! `exacta doctor`, `exacta shell status` and `min_isolation` as a user meets them, where everything is there and where
//! something was really taken away.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

exacta_world::tests! {
    every_promise_holds_here,
    without_namespaces_it_says_so,
    without_a_proc_it_says_so,
    without_control_groups_limits_still_hold,
    programs_do_not_run_below_the_minimum,
    programs_run_where_less_is_allowed,
    files_of_the_project_can_only_raise_the_minimum,
    the_status_tells_the_same,
    on_a_terminal_there_are_colours_unless_unwanted,
    wrong_levels_are_refused,
    the_hook_of_an_agent_is_tried,
}

const NO_NAMESPACES: &str = "echo 0 >/proc/sys/user/max_user_namespaces";

struct Project(PathBuf);

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("exacta-doctor-{}-{serial}", std::process::id()));
        fs::create_dir_all(path.join(".clada")).expect("a temporary directory");
        Project(path.canonicalize().expect("a real path"))
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file");
    }

    /// Where this was done before, by the root of namespaces below the world's.
    fn run(&self, before: &str, arguments: &[&str]) -> Output {
        let script = format!("set -e; {before}; exec \"$@\"");
        Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
            .arg(env!("CARGO_BIN_EXE_exacta"))
            .args(arguments)
            .current_dir(&self.0)
            .env("SECRET_OF_THE_CALLER", "x")
            .env("XDG_CONFIG_HOME", self.0.join("configuration"))
            .env_remove("EXACTA_MIN_ISOLATION")
            .output()
            .expect("unshare(1) runs")
    }

    fn report(&self, before: &str, arguments: &[&str]) -> (Value, Option<i32>) {
        let output = self.run(before, arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let report = serde_json::from_str(&text);
        (report.unwrap_or_else(|_| panic!("no JSON: {text}{errors}")), output.status.code())
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _it_is_temporary = fs::remove_dir_all(&self.0);
    }
}

/// The promises by their states.
fn states(report: &Value) -> Vec<(&str, &str)> {
    let promises = report["promises"].as_array().expect("promises");
    let text = |promise: &'_ Value, key: &str| promise[key].as_str().expect("a text").to_owned();
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    promises.iter().map(|it| (leak(text(it, "name")), leak(text(it, "state")))).collect()
}

fn state_of(report: &Value, name: &str) -> String {
    let states = states(report);
    let found = states.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no promise {name}")).1.to_owned()
}

fn walls_missing(report: &Value) -> Vec<&str> {
    let missing = report["missing"].as_array().expect("what is missing");
    missing.iter().filter_map(|it| it["wall"].as_str()).collect()
}

fn every_promise_holds_here() {
    let project = Project::new();
    let begun = Instant::now();
    let (report, status) = project.report(":", &["doctor", "--json"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(report["schema_version"], 1);
    let level = report["level"].as_str().expect("a level");
    assert_eq!(status, Some(if level == "full" { 0 } else { 10 }), "{report}");
    assert!(["full", "namespaces"].contains(&level));
    assert_eq!(report["undo"], "layers");
    let all = states(&report);
    assert!(all.len() >= 20, "{all:?}");
    assert!(all.iter().all(|(_, state)| *state == "holds"), "{all:?}\n{report}");
    for promise in report["promises"].as_array().expect("promises") {
        assert!(!promise["attempts"].as_array().expect("attempts").is_empty(), "{promise}");
        assert!(!promise["enforced_by"].as_array().expect("walls").is_empty(), "{promise}");
    }
    // Nothing of it is left.
    let mut left: Vec<_> = fs::read_dir(&project.0).expect("the project").flatten().collect();
    left.retain(|entry| entry.file_name() != ".clada");
    assert!(left.is_empty(), "{left:?}");
}

fn without_namespaces_it_says_so() {
    let project = Project::new();
    let (report, status) = project.report(NO_NAMESPACES, &["doctor", "--json"]);
    assert_eq!(status, Some(11), "{report}");
    assert_eq!(report["level"], "landlock");
    assert_eq!(report["programs"], "refused");
    assert_eq!(report["undo"], "copy");
    assert!(walls_missing(&report).contains(&"namespaces"));
    let first = &report["missing"][0];
    assert_eq!(first["fix"], "sysctl -w user.max_user_namespaces=65536");
    assert_eq!(first["errno"], 28);
    for (name, expected) in [
        ("filesystem", "weaker"),
        ("names", "missing"),
        ("blocked programs", "weaker"),
        ("processes", "missing"),
        ("network", "holds"),
        ("kernel calls", "holds"),
        ("end", "holds"),
        ("writes", "holds"),
        ("environment", "holds"),
        ("descriptors", "holds"),
    ] {
        assert_eq!(state_of(&report, name), expected, "{name}: {report}");
    }
}

fn without_a_proc_it_says_so() {
    let masked = "mount -t tmpfs none /proc/sys/fs";
    let (report, status) = Project::new().report(masked, &["doctor", "--json"]);
    assert_eq!(status, Some(10), "{report}");
    assert!(walls_missing(&report).contains(&"proc"));
    assert_eq!(state_of(&report, "processes"), "holds");
    assert_eq!(state_of(&report, "filesystem"), "holds");
}

fn without_control_groups_limits_still_hold() {
    let none = "mount -t tmpfs none /sys/fs/cgroup";
    let (report, status) = Project::new().report(none, &["doctor", "--json"]);
    assert_eq!(status, Some(10), "{report}");
    assert!(walls_missing(&report).contains(&"cgroups"));
    for name in ["memory", "processor time", "process count", "open files"] {
        assert_eq!(state_of(&report, name), "holds", "{name}: {report}");
    }
}

fn programs_do_not_run_below_the_minimum() {
    let project = Project::new();
    let output = project.run(NO_NAMESPACES, &["-c", "perl -e 'print 1'; echo $?; echo still here"]);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(stdout, "125\nstill here\n", "{stderr}");
    assert!(stderr.contains("could not make namespaces"), "{stderr}");
    assert!(stderr.contains("exacta doctor"), "{stderr}");
    // What has not run was not held by anything, however weak.
    let arguments = ["run", "--json", "--", "perl -e 'print 1'"];
    let (report, status) = project.report(NO_NAMESPACES, &arguments);
    assert_eq!((status, &report["isolation"]["level"]), (Some(125), &"in-process".into()));
    assert_eq!(report["limits"], Value::Null);
    // Nothing missing is allowed at all.
    let none = "mount -t tmpfs none /sys/fs/cgroup";
    let output = project.run(none, &["--min-isolation", "full", "-c", "perl -e 'print 1'"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(output.stdout.is_empty());
}

fn programs_run_where_less_is_allowed() {
    let project = Project::new();
    let script = "perl -e 'open F, q(>made); print F 1; print -e q(/usr/bin/env) ? 1 : 0'";
    // There are no layers either: what programs write is found by comparing, and nobody is asked.
    let arguments = ["--min-isolation", "landlock", "run", "--json", "--", script];
    let (report, status) = project.report(NO_NAMESPACES, &arguments);
    assert_eq!(status, Some(0), "{report}");
    assert_eq!(report["undo"]["strategy"], "restore");
    assert!(project.0.join("made").exists());
    assert_eq!(project.run(":", &["undo"]).status.code(), Some(0));
    assert!(!project.0.join("made").exists());
    // Where no copy may be made, it cannot be undone, and that is asked about.
    fs::create_dir_all(project.0.join("configuration/exacta")).expect("a directory");
    let small = "[undo]\nmax_copy_entries = 1\n";
    project.write("configuration/exacta/config.toml", small);
    let arguments = ["--min-isolation", "landlock", "run", "--json", "--", script];
    let (report, status) = project.report(NO_NAMESPACES, &arguments);
    assert_eq!(status, Some(126), "{report}");
    assert_eq!(report["policy_rule_matched"], "direct-write");
    assert!(!project.0.join("made").exists());
    let arguments = ["--min-isolation", "landlock", "run", "--yes", "--json", "--", script];
    let (report, status) = project.report(NO_NAMESPACES, &arguments);
    assert_eq!(status, Some(0), "{report}");
    assert_eq!(report["undo"]["strategy"], "none: its programs wrote directly");
    assert_eq!(report["stdout"], "1");
    assert_eq!(report["isolation"]["level"], "landlock");
    assert_eq!(report["isolation"]["fs"], "eacces");
    assert_eq!(report["isolation"]["net"], "none");
    let missing = report["isolation"]["missing"].as_array().expect("what is missing");
    assert!(missing.iter().any(|it| it["wall"] == "namespaces"), "{report}");
    assert!(project.0.join("made").exists());
}

fn files_of_the_project_can_only_raise_the_minimum() {
    let project = Project::new();
    let status = |before: &str, more: &[&str]| {
        let arguments = [more, &["run", "--yes", "--", "perl -e 1"]].concat();
        project.run(before, &arguments).status.code()
    };
    project.write(".exacta.toml", "min_isolation = \"limits\"\n");
    assert_eq!(status(NO_NAMESPACES, &[]), Some(125), "it lowers it by itself");
    fs::create_dir_all(project.0.join("configuration/exacta")).expect("a directory");
    project.write("configuration/exacta/config.toml", "min_isolation = \"landlock\"\n");
    assert_eq!(status(NO_NAMESPACES, &[]), Some(0), "the user may lower it");
    project.write(".exacta.toml", "min_isolation = \"namespaces\"\n");
    assert_eq!(status(NO_NAMESPACES, &[]), Some(125), "the project may raise it");
    assert_eq!(status(NO_NAMESPACES, &["--min-isolation", "limits"]), Some(125));
    assert_eq!(status(":", &[]), Some(0));
}

fn the_status_tells_the_same() {
    let project = Project::new();
    let (doctor, _) = project.report(":", &["doctor", "--json"]);
    let (status, code) = project.report(":", &["shell", "status", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(status["isolation"]["level"], doctor["level"]);
    assert_eq!(status["isolation"]["missing"], doctor["isolation"]["missing"]);
    assert_eq!(status["profile"], "dev");
    assert_eq!(status["limits"]["processes"], 5);
    assert_eq!(status["limits"]["memory_bytes"], 512 << 20);
    assert_eq!(status["limits"]["cpu_seconds"], 60);
    assert_eq!(status["limits"]["open_files"], 100);
    assert_eq!(status["limits"]["output_bytes"], 1 << 20);
    assert!(status["rules"]["deny"].as_u64().is_some_and(|count| count > 10));
    assert_eq!(status["pending_approvals"], 0);
    let (wide, _) = project.report(":", &["--profile", "full-auto", "shell", "status", "--json"]);
    assert_eq!(wide["limits"]["processes"], 20);
    project.write(".exacta.toml", "[limits]\nprocesses = 3\nmemory_mb = 4096\n");
    let (narrow, _) = project.report(":", &["shell", "status", "--json"]);
    assert_eq!(narrow["limits"]["processes"], 3);
    let (refused, code) = project.report(NO_NAMESPACES, &["shell", "status", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(refused["programs"], "refused");
    assert_eq!(refused["isolation"]["level"], "in-process");
    let text = project.run(":", &["shell", "status"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("isolation") && text.contains("limits"), "{text}");
    // It looks, and leaves nothing behind.
    let bare = Project::new();
    fs::remove_dir(bare.0.join(".clada")).expect("an empty directory");
    bare.report(":", &["--root", ".", "shell", "status", "--json"]);
    assert!(!bare.0.join(".clada").exists());
}

fn on_a_terminal_there_are_colours_unless_unwanted() {
    let project = Project::new();
    let on_terminal = |variable: &str| {
        let line = format!("{variable} {} doctor", env!("CARGO_BIN_EXE_exacta"));
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(&project.0)
            .output()
            .expect("script(1) runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let painted = on_terminal("NO_COLOR=");
    assert!(painted.contains("\x1b[32mholds"), "{painted}");
    let plain = on_terminal("NO_COLOR=1");
    assert!(!plain.contains('\x1b') && plain.contains("holds"), "{plain}");
    let piped = project.run(":", &["doctor"]).stdout;
    let piped = String::from_utf8_lossy(&piped).into_owned();
    assert!(!piped.contains('\x1b'), "{piped}");
    assert!(piped.starts_with("filesystem\tholds\t"), "{piped}");
    assert!(piped.contains("open-outside ENOENT"), "{piped}");
}

fn wrong_levels_are_refused() {
    let project = Project::new();
    let output = project.run(":", &["--min-isolation", "none", "-c", "true"]);
    assert_eq!(output.status.code(), Some(2));
    project.write(".exacta.toml", "min_isolation = \"none\"\n");
    let output = project.run(":", &["-c", "true"]);
    assert_eq!(output.status.code(), Some(125));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("unknown isolation \"none\""), "{stderr}");
}

/// As it is configured in a file of the project, with a home in which there is nothing.
fn hook_of(project: &Project, settings: &str) -> (Value, Option<i32>) {
    fs::create_dir_all(project.0.join(".claude")).expect("a directory");
    project.write(".claude/settings.json", settings);
    let home = project.0.join("configuration");
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_exacta"));
    let bin = bin.parent().expect("a folder").display().to_string();
    let before = format!("export HOME={} PATH={bin}:$PATH", home.display());
    project.report(&before, &["doctor", "--json"])
}

fn hook_entry(command: &str, more: &str) -> String {
    let hook = format!(r#"{{"type":"command","command":"{command}"{more}}}"#);
    format!(r#"{{"matcher":"Bash","hooks":[{hook}]}}"#)
}

fn settings(entries: &[String]) -> String {
    format!(r#"{{"hooks":{{"PreToolUse":[{}]}}}}"#, entries.join(","))
}

fn the_hook_of_an_agent_is_tried() {
    let project = Project::new();
    let (report, _) = hook_of(&project, "{}");
    assert_eq!(report["hooks"], serde_json::json!([]));
    assert!(!states(&report).iter().any(|(name, _)| *name == "hook"), "{report}");
    // A program that only has the name, and says yes to everything.
    let elsewhere = Project::new();
    elsewhere.write("exacta", "#!/bin/sh\nexit 0\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(elsewhere.0.join("exacta"), mode).expect("a mode");
    let liar = format!("{}/exacta hook claude-code || exit 2", elsewhere.0.display());
    let cases = [
        ("exacta hook claude-code --rewrite || exit 2", "", "holds", ""),
        ("exacta hook claude-code", r#","onFailure":"block""#, "holds", ""),
        ("exacta hook claude-code", "", "weaker", "|| exit 2"),
        ("exacta hook claude-code || exit 2", r#","timeout":3"#, "weaker", "timeout"),
        // Which is safe, and of no use.
        ("/nowhere/exacta hook claude-code || exit 2", "", "weaker", "blocks every call"),
        ("exacta --root /usr hook claude-code || exit 2", "", "weaker", "blocks every call"),
        ("exacta hook claude-code || exit 2", r#","async":true"#, "broken", "beside the call"),
        ("exacta hook claude-code || exit 2", r#","if":"Bash(rm *)""#, "broken", "some calls"),
        ("exacta hook claude-code || true", "", "broken", "not tried"),
        ("touch made; exacta hook claude-code", "", "broken", "not tried"),
        ("./exacta hook claude-code", "", "broken", "a file of the project"),
        ("/nowhere/exacta hook claude-code", "", "broken", "let it through: status 127"),
        (&liar, "", "broken", "the hook let it through: no decision"),
    ];
    let entries: Vec<String> =
        cases.iter().map(|(line, more, ..)| hook_entry(line, more)).collect();
    let (report, status) = hook_of(&project, &settings(&entries));
    for (number, (command, _, state, problem)) in cases.iter().enumerate() {
        let hook = &report["hooks"][number];
        assert_eq!(hook["command"], *command);
        assert_eq!(hook["state"], *state, "{hook}");
        let said = hook["problem"].as_str().unwrap_or_default();
        assert!(said.contains(problem), "{hook}");
    }
    assert_eq!((state_of(&report, "hook").as_str(), status), ("broken", Some(1)), "{report}");
    assert!(!project.0.join("made").exists());
    the_persons_own_hook_is_tried(&project);
    let (report, _) = hook_of(&project, "{ // exacta hook\n}");
    assert_eq!(state_of(&report, "hook"), "broken", "{report}");
}

/// Their line may be any, and is tried as it is.
fn the_persons_own_hook_is_tried(project: &Project) {
    let home = Project::new();
    fs::create_dir_all(home.0.join(".claude")).expect("a directory");
    let entry = hook_entry("true; exacta hook claude-code || exit 2", "");
    home.write(".claude/settings.json", &settings(&[entry]));
    project.write(".claude/settings.json", "{}");
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_exacta"));
    let bin = bin.parent().expect("a folder").display().to_string();
    let before = format!("export HOME={} PATH={bin}:$PATH", home.0.display());
    let output = project.run(&before, &["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let file = home.0.join(".claude/settings.json");
    let line = format!("hook\tholds\t{}\thook-deny denied, hook-failure blocked", file.display());
    assert!(text.contains(&line), "{text}");
}

//! `exacta setup AGENT`: what is printed, what is written, and what is left alone.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

#[expect(dead_code, reason = "shared with tests that feed the binary")]
mod support;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use support::{Project, code, text};

/// Agents with the scopes they have, and the file of each below the project or the home.
const FILES: &[(&str, &str, &str)] = &[
    ("claude-code", "project", ".claude/settings.json"),
    ("claude-code", "user", ".claude/settings.json"),
    ("codex", "user", ".codex/config.toml"),
    ("codex", "project", ".codex/config.toml"),
    ("gemini", "user", ".gemini/settings.json"),
    ("gemini", "project", ".gemini/settings.json"),
    ("goose", "user", ".config/goose/config.yaml"),
    ("opencode", "project", "opencode.json"),
    ("opencode", "user", ".config/opencode/opencode.json"),
];

fn place(project: &Project, scope: &str, file: &str) -> PathBuf {
    let home = project.root.parent().expect("above");
    if scope == "project" { project.root.join(file) } else { home.join(file) }
}

fn put(path: &std::path::Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

#[test]
fn it_prints_and_changes_nothing() {
    for (agent, scope, file) in FILES {
        let project = Project::new();
        let output = project.run(&["setup", agent, "--scope", scope]);
        let place = place(&project, scope, file);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        let shown = text(&output.stdout);
        assert!(shown.contains(&place.display().to_string()), "{shown}");
        assert!(shown.contains("exacta") && shown.contains("--write"), "{shown}");
        assert!(!place.exists(), "{agent}");
    }
}

#[test]
fn a_fresh_file_and_the_second_time() {
    for (agent, scope, file) in FILES {
        let project = Project::new();
        let arguments = ["setup", agent, "--scope", scope, "--write", "--yes"];
        let output = project.run(&arguments);
        assert_eq!(code(&output), 0, "{agent}: {}", text(&output.stderr));
        let path = place(&project, scope, file);
        let written = fs::read_to_string(&path).expect("the file");
        let shown = text(&output.stdout);
        assert!(shown.contains("--- /dev/null") && shown.contains("+++ "), "{shown}");
        for line in written.lines() {
            assert!(shown.contains(&format!("+{line}\n")), "{line}: {shown}");
        }
        if file.ends_with("json") {
            serde_json::from_str::<Value>(&written).expect("JSON");
        }
        assert!(written.contains("exacta"), "{written}");
        let again = project.run(&arguments);
        assert_eq!(code(&again), 0);
        assert!(text(&again.stdout).contains("has it already"), "{}", text(&again.stdout));
        assert_eq!(fs::read_to_string(&path).expect("the file"), written, "{agent}");
        let beside = fs::read_dir(path.parent().expect("a folder")).expect("a folder");
        let left: Vec<_> = beside.flatten().map(|entry| entry.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains(".bak")), "{left:?}");
        assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
    }
}

#[test]
fn what_is_there_stays() {
    let json = "{\n    \"zeta\": [1,  2],\n    \"alpha\": { \"x\": \"ü\" },\n    \"mcpServers\": {\n        \"other\": { \"command\": \"o\" }\n    },\n    \"hooks\": { \"PreToolUse\": [ { \"matcher\": \"X\", \"hooks\": [] } ], \"Stop\": [] },\n    \"mcp\": {}\n}\n";
    let toml = "# mine\nmodel = \"m\" # why\n\n[mcp_servers.other]\ncommand = \"o\"";
    for (agent, scope, file) in FILES.iter().filter(|(agent, ..)| *agent != "goose") {
        let old = if file.ends_with("toml") { toml } else { json };
        let project = Project::new();
        let path = place(&project, scope, file);
        put(&path, old);
        let output = project.run(&["setup", agent, "--scope", scope, "--write", "--yes"]);
        assert_eq!(code(&output), 0, "{agent}: {}", text(&output.stderr));
        let new = fs::read_to_string(&path).expect("the file");
        assert_ne!(new, old, "{agent}");
        // Every byte of it is still there, in order.
        let mut rest = new.bytes();
        assert!(old.bytes().all(|byte| rest.any(|other| other == byte)), "{agent}: {new}");
        let backup = PathBuf::from(format!("{}.bak", path.display()));
        assert_eq!(fs::read_to_string(&backup).expect("the copy"), old);
        if file.ends_with("json") {
            let (old, new): (Value, Value) = (
                serde_json::from_str(old).expect("JSON"),
                serde_json::from_str(&new).expect("JSON"),
            );
            for key in ["zeta", "alpha"] {
                assert_eq!(old[key], new[key], "{agent}");
            }
            assert_eq!(new["hooks"]["PreToolUse"][0], old["hooks"]["PreToolUse"][0]);
            assert_eq!(new["mcpServers"]["other"], old["mcpServers"]["other"]);
        }
        let again = project.run(&["setup", agent, "--scope", scope, "--write", "--yes"]);
        assert!(text(&again.stdout).contains("has it already"), "{}", text(&again.stdout));
        // A second change does not take the place of the first copy.
        put(&path, old);
        project.run(&["setup", agent, "--scope", scope, "--write", "--yes"]);
        assert!(PathBuf::from(format!("{}.bak.1", path.display())).exists(), "{agent}");
    }
}

#[test]
fn what_cannot_be_read_is_not_touched() {
    let cases = [
        ("claude-code", ".claude/settings.json", "{\n  // mine\n  \"a\": 1\n}\n"),
        ("claude-code", ".claude/settings.json", "{\"a\": 1,}"),
        ("claude-code", ".claude/settings.json", "[]"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": []}"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": {\"PreToolUse\": {}}}"),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": 1}"),
        ("gemini", ".gemini/settings.json", "\u{feff}{}"),
        ("codex", ".codex/config.toml", "model = \n"),
        ("codex", ".codex/config.toml", "mcp_servers = { other = { command = \"o\" } }\n"),
        ("goose", ".config/goose/config.yaml", "extensions:\n  developer:\n    enabled: true\n"),
    ];
    for (agent, file, old) in cases {
        let project = Project::new();
        let path = place(&project, "user", file);
        put(&path, old);
        let output = project.run(&["setup", agent, "--scope", "user", "--write", "--yes"]);
        assert_eq!(code(&output), 1, "{agent} {old}");
        assert!(text(&output.stderr).contains("was not touched"), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("exacta"), "what to add is said");
        assert_eq!(fs::read_to_string(&path).expect("the file"), old);
        let output = project.run(&["setup", agent, "--scope", "user"]);
        assert_eq!(code(&output), 0);
        assert!(text(&output.stdout).contains("by hand"), "{}", text(&output.stdout));
    }
}

#[test]
fn it_asks_where_somebody_can_answer() {
    let project = Project::new();
    let output = project.run(&["setup", "claude-code", "--write"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("--yes"), "{}", text(&output.stderr));
    assert_eq!(project.read(".claude/settings.json"), None);
    let shown = project.answer("setup claude-code --write", "[y/N] ", "n");
    assert!(shown.contains("not written"), "{shown}");
    assert_eq!(project.read(".claude/settings.json"), None);
    let shown = project.answer("setup claude-code --write", "[y/N] ", "y");
    assert!(shown.contains("+++ ") && shown.contains("wrote "), "{shown}");
    assert!(project.read(".claude/settings.json").is_some());
}

#[test]
fn the_server_beside_the_hook() {
    let project = Project::new();
    let output = project.run(&["setup", "claude-code", "--mcp", "--write", "--yes"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let servers: Value =
        serde_json::from_str(&project.read(".mcp.json").expect("a file")).expect("JSON");
    assert_eq!(servers["mcpServers"]["exacta"]["args"][0], "mcp");
    let settings = project.read(".claude/settings.json").expect("a file");
    assert!(settings.contains("exacta hook claude-code --rewrite || exit 2"), "{settings}");
}

#[test]
fn links_of_a_project_are_not_followed() {
    let project = Project::new();
    let elsewhere = project.root.parent().expect("above").join("elsewhere");
    put(&elsewhere.join("settings.json"), "{}");
    std::os::unix::fs::symlink(&elsewhere, project.root.join(".claude")).expect("a link");
    let output = project.run(&["setup", "claude-code", "--write", "--yes"]);
    assert_eq!(code(&output), 1);
    assert_eq!(fs::read_to_string(elsewhere.join("settings.json")).expect("it"), "{}");
    // The operator's own are, and stay links.
    let home = project.root.parent().expect("above");
    std::os::unix::fs::symlink(&elsewhere, home.join(".gemini")).expect("a link");
    assert_eq!(code(&project.run(&["setup", "gemini", "--write", "--yes"])), 0);
    assert!(fs::read_to_string(elsewhere.join("settings.json")).expect("it").contains("exacta"));
}

#[test]
fn wrong_use_is_said() {
    let project = Project::new();
    for wrong in [
        &["setup"][..],
        &["setup", "vim"],
        &["setup", "codex", "gemini"],
        &["setup", "codex", "--scope", "world"],
        &["setup", "codex", "--mcp"],
    ] {
        assert_eq!(code(&project.run(wrong)), 2, "{wrong:?}");
    }
    assert_eq!(code(&project.run(&["setup", "goose", "--scope", "project"])), 125);
}

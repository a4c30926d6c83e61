//! The judge as a user meets it: verdicts, refusals, approvals, configuration.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

#[path = "judge/afterwards.rs"]
mod afterwards;
#[path = "judge/approvals.rs"]
mod approvals;
#[path = "judge/going_on.rs"]
mod going_on;
#[path = "judge/guarded.rs"]
mod guarded;
#[path = "judge/network.rs"]
mod network;
mod support;
#[path = "judge/waiting.rs"]
mod waiting;

use serde_json::Value;
use support::{Project, code, text};

/// A write that asks: a hook runs later, outside of any jail.
const HOOK: &str = "echo true > .git/hooks/pre-commit";
const QUESTION: &str = "ne[v]er: ";

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("one JSON object")
}

fn pending(project: &Project) -> Vec<Value> {
    let list = json(&project.run(&["approvals", "list", "--json"]).stdout);
    list.as_array().expect("a list").clone()
}

#[test]
fn test_tells_by_its_status() {
    let project = Project::new();
    for (line, status) in [
        ("ls -la", 0),
        ("cargo test", 0),
        ("frobnicate", 3),
        ("git push --force", 3),
        ("curl https://example.com", 4),
        ("cat /etc/passwd", 4),
        ("echo 'unterminated", 3),
    ] {
        let output = project.run(&["shell", "test", line]);
        assert_eq!(code(&output), status, "{line}: {}", text(&output.stdout));
    }
    assert_eq!(code(&project.run(&["shell", "test"])), 2);
    assert_eq!(code(&project.run(&["shell", "nonsense"])), 2);
    assert!(project.read(".clada/commands.json").is_none());
}

#[test]
fn test_explains_each_step() {
    let project = Project::new();
    let shown = text(&project.run(&["shell", "test", "xargs env curl x"]).stdout);
    assert!(shown.starts_with("deny  xargs env curl x\n"), "{shown}");
    assert!(shown.contains("1 parse") && shown.contains("2 blocklist"), "{shown}");
    assert!(shown.contains("through xargs > env"), "{shown}");
    assert!(shown.contains("hint: "), "{shown}");
}

#[test]
fn test_as_json() {
    let project = Project::new();
    let verdict = json(&project.run(&["shell", "test", "--json", "echo hi | sudo tee x"]).stdout);
    assert_eq!(verdict["decision"], "deny");
    assert_eq!(verdict["step"], "blocklist");
    for key in ["rule", "reason", "hint"] {
        assert!(verdict[key].is_string(), "{key}: {verdict}");
    }
    assert!(verdict["source"]["line"].is_u64(), "{verdict}");
    let commands = verdict["commands"].as_array().expect("commands");
    assert!(commands.iter().any(|command| command["argv"] == serde_json::json!(["echo", "hi"])));
    assert!(
        commands.iter().any(|command| command["via"] == serde_json::json!(["sudo"])),
        "{verdict}"
    );
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let project = Project::new();
    let input = "\"ls\"\n\"curl x\"\nnot json\n\"frobnicate\"\n\"echo a\\necho b\"\n";
    let output = project.feed(&["shell", "test", "--json", "--batch"], input);
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a verdict"))
        .collect();
    let decisions: Vec<&str> =
        lines.iter().map(|line| line["decision"].as_str().unwrap_or_default()).collect();
    assert_eq!(decisions, ["allow", "deny", "deny", "confirm", "allow"]);
    assert!(lines[2]["error"].is_string());
    assert_eq!(code(&output), 2);
}

#[test]
fn run_refuses_before_anything_runs() {
    let project = Project::new();
    let output = project.run(&["run", "--", "echo x > made; curl y"]);
    assert_eq!(code(&output), 126);
    assert!(text(&output.stderr).contains("rule block-curl"), "{}", text(&output.stderr));
    assert!(project.read("made").is_none());
}

#[test]
fn a_directory_that_is_not_there_is_not_the_root() {
    let project = Project::new();
    project.write("sub/x", "");
    for (directory, status) in
        [("sub", 0), ("missing", 125), ("sub/x", 125), ("/etc", 126), ("..", 126), (".clada", 126)]
    {
        let output = project.run(&["run", "--cwd", directory, "--", "touch made"]);
        assert_eq!(code(&output), status, "{directory}: {}", text(&output.stderr));
        assert!(project.read("made").is_none(), "{directory}");
    }
    assert!(project.read("sub/made").is_some());
}

#[test]
fn the_shell_face_stops_at_a_denied_program() {
    let project = Project::new();
    let output = project.run(&["-c", "echo x > made; curl y; echo z > after"]);
    assert_eq!(code(&output), 126);
    assert_eq!(project.read("made").as_deref(), Some("x\n"));
    assert!(project.read("after").is_none());
}

#[test]
fn the_shell_face_asks_nobody_about_what_is_not_there() {
    let project = Project::new();
    let output = project.run(&["-c", "frobnicate; cat /etc/passwd; echo on"]);
    assert_eq!(text(&output.stdout), "on\n");
    let errors =
        "bash: frobnicate: command not found\ncat: /etc/passwd: No such file or directory\n";
    assert_eq!(text(&output.stderr), errors);
    assert!(pending(&project).is_empty());
}

#[test]
fn what_a_word_becomes_is_judged_again() {
    let project = Project::new();
    project.write("name", "curl\n");
    // Approved as written; what it turns out to be is denied all the same.
    let output = project.run(&["run", "--yes", "--", "read -r name < name; $name x"]);
    assert_eq!(code(&output), 126, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("block-curl"), "{}", text(&output.stderr));
}

#[test]
fn an_approval_is_for_exactly_this_and_used_once() {
    let project = Project::new();
    let output = project.run(&["run", "--json", "--", HOOK]);
    let refused = json(&output.stdout);
    assert_eq!((code(&output), &refused["decision"]), (126, &Value::from("confirm")));
    let id = refused["approval"]["id"].as_str().expect("an id").to_owned();
    assert!(project.read(".git/hooks/pre-commit").is_none());
    // Asked again it is the same question; another text is another one.
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 126);
    assert_eq!(pending(&project).len(), 1);
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 0);
    assert_eq!(code(&project.run(&["run", "--", &format!("{HOOK}; true")])), 126);
    assert!(project.read(".git/hooks/pre-commit").is_none());
    let output = project.run(&["run", "--json", "--", HOOK]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert_eq!(json(&output.stdout)["approval"]["id"], Value::from(id.as_str()));
    assert_eq!(project.read(".git/hooks/pre-commit").as_deref(), Some("true\n"));
    // Used up.
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 126);
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 125);
}

#[test]
fn an_approval_does_not_outlive_the_policy() {
    let project = Project::new();
    let refused = json(&project.run(&["run", "--json", "--", HOOK]).stdout);
    let id = refused["approval"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(code(&project.run(&["approvals", "approve", &id])), 0);
    project.write(".exacta.toml", "profile = \"dev\"\n");
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 126);
}

#[test]
fn a_denied_question_stays_denied() {
    let project = Project::new();
    let refused = json(&project.run(&["run", "--json", "--", HOOK]).stdout);
    let id = refused["approval"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(code(&project.run(&["approvals", "deny", &id, "--never"])), 0);
    assert_eq!(code(&project.run(&["run", "--yes", "--", HOOK])), 126);
    let kept: Value =
        serde_json::from_str(&project.read(".clada/commands.json").expect("a file")).expect("JSON");
    assert_eq!(kept["blocked"], serde_json::json!([HOOK]));
}

#[test]
fn yes_answers_and_no_input_refuses() {
    let project = Project::new();
    assert_eq!(code(&project.run(&["run", "--no-input", "--", HOOK])), 126);
    assert!(pending(&project).is_empty());
    assert_eq!(code(&project.run(&["run", "--yes", "--", HOOK])), 0);
    // Never a deny.
    assert_eq!(code(&project.run(&["run", "--yes", "--", "sudo ls"])), 126);
}

#[test]
fn standard_input_is_no_answer() {
    let project = Project::new();
    let output = project.feed(&["run", "--", HOOK], "yes\no\nonce\nalways\n");
    assert_eq!(code(&output), 126);
    assert!(project.read(".git/hooks/pre-commit").is_none());
}

#[test]
fn a_person_answers_on_the_terminal() {
    let project = Project::new();
    let line = format!("run -- '{HOOK}'");
    let shown = project.answer(&line, QUESTION, "no");
    assert!(shown.contains("  | echo true > .git/hooks/pre-commit"), "{shown}");
    assert!(shown.contains("why ") && shown.contains("always adds to"), "{shown}");
    assert!(project.read(".git/hooks/pre-commit").is_none());
    let _ = project.answer(&line, QUESTION, "once");
    assert_eq!(project.read(".git/hooks/pre-commit").as_deref(), Some("true\n"));
}

#[test]
fn always_stores_exactly_what_was_shown() {
    let project = Project::new();
    let shown = project.answer(&format!("run -- '{HOOK}'"), QUESTION, "always");
    assert!(shown.contains(HOOK), "{shown}");
    let kept: Value =
        serde_json::from_str(&project.read(".clada/commands.json").expect("a file")).expect("JSON");
    assert_eq!(kept["allowed"], serde_json::json!([HOOK]));
    assert_eq!(code(&project.run(&["run", "--", HOOK])), 0);
    // Nothing else.
    assert_eq!(code(&project.run(&["run", "--", "echo false > .git/hooks/pre-push"])), 126);
}

#[test]
fn always_is_not_offered_where_it_would_be_anything() {
    let project = Project::new();
    let line = r#"run -- 'python3 -c "import os; os.unlink(input())"'"#;
    let shown = project.answer(line, QUESTION, "always");
    assert!(shown.contains("always is not offered"), "{shown}");
    assert!(project.read(".clada/commands.json").is_none());
}

#[test]
fn a_prompt_shows_the_end_and_hides_nothing() {
    let project = Project::new();
    let padding = " ".repeat(5_000);
    project.write("line", &format!("echo \x1b[2Kharmless{padding}; {HOOK}"));
    let shown = project.answer("run -- \"$(cat line)\"", QUESTION, "no");
    assert!(shown.contains("> .git/hooks/pre-commit"), "{shown}");
    assert!(!shown.contains("\x1b[2K"), "{shown:?}");
}

#[test]
fn safe_runs_nothing() {
    let project = Project::new();
    for arguments in [
        ["--profile", "safe", "-c", "echo x > made"],
        ["--profile=safe", "run", "--", "echo x > made"],
    ] {
        assert_eq!(code(&project.run(&arguments)), 126);
    }
    let output =
        project.command(&["run", "--yes", "--", "echo hi"]).env("EXACTA_PROFILE", "safe").output();
    assert_eq!(code(&output.expect("the binary runs")), 126);
    assert!(project.read("made").is_none());
}

#[test]
fn full_auto_asks_only_about_what_cannot_be_undone() {
    let project = Project::new();
    for (line, status) in
        [("frobnicate", 0), ("git push", 3), ("curl x", 4), ("cat /etc/passwd", 4), ("echo '", 3)]
    {
        let output = project.run(&["--profile", "full-auto", "shell", "test", line]);
        assert_eq!(code(&output), status, "{line}: {}", text(&output.stdout));
    }
}

const DENY_MAKE: &str = r#"
[[rule]]
id = "no-make"
verdict = "deny"
command = ["make"]
reason = "use just"
match = ["make all"]
not_match = ["cmake ."]
"#;

const ALLOW_FROBNICATE: &str = r#"
[[rule]]
id = "ours"
verdict = "allow"
command = ["frobnicate"]
reason = "our own tool"
match = ["frobnicate x"]
"#;

#[test]
fn a_project_may_only_tighten_until_it_is_trusted() {
    let project = Project::new();
    project.write(".exacta.toml", &format!("{DENY_MAKE}{ALLOW_FROBNICATE}"));
    let status = |line: &str| code(&project.run(&["shell", "test", line]));
    assert_eq!((status("make all"), status("frobnicate x")), (4, 3));
    assert!(text(&project.run(&["shell", "status"]).stdout).contains("notice"));
    assert_eq!(code(&project.run(&["trust"])), 126);
    assert_eq!(code(&project.run(&["trust", "--yes"])), 0);
    assert_eq!((status("make all"), status("frobnicate x")), (4, 0));
    // Trust is in the content, not in the name.
    project.write(".exacta.toml", &format!("{DENY_MAKE}{ALLOW_FROBNICATE}# changed\n"));
    assert_eq!(status("frobnicate x"), 3);
    assert_eq!(code(&project.run(&["trust", "--yes"])), 0);
    assert_eq!(code(&project.run(&["trust", "--forget"])), 0);
    assert_eq!(status("frobnicate x"), 3);
}

#[test]
fn an_operator_may_lift_a_default() {
    let project = Project::new();
    let rule = r#"
[[rule]]
id = "our-registry"
verdict = "allow"
command = ["curl"]
with = ["https://registry.example/*"]
hosts = ["registry.example"]
overrides = ["block-curl"]
reason = "our own registry"
match = ["curl https://registry.example/x"]
not_match = ["curl https://evil.example/x"]
"#;
    project.write("config.toml", rule);
    let status =
        |line: &str| code(&project.run(&["--config", "config.toml", "shell", "test", line]));
    assert_eq!(status("curl https://registry.example/x"), 0);
    assert_eq!(status("curl https://evil.example/x"), 4);
    assert_eq!(status("curl https://registry.example/x https://evil.example/"), 3);
}

#[test]
fn a_broken_file_is_shown_with_its_place_and_nothing_runs() {
    let project = Project::new();
    for (file, expected) in [
        ("profile = \"reckless\"\n", "unknown profile"),
        ("[[rule]]\nid = \"x\"\nverdict = \"deny\"\ncomand = [\"ls\"]\nreason = \"r\"\n", "comand"),
        (
            "[[rule]]\nid = \"x\"\nverdict = \"deny\"\ncommand = [\"ls\"]\nreason = \"r\"\nmatch = [\"cat x\"]\n",
            "cat x",
        ),
        (
            "[[rule]]\nid = \"x\"\nverdict = \"deny\"\ncommand = [\"@nothing\"]\nreason = \"r\"\n",
            "nothing",
        ),
        ("not toml", ".exacta.toml:1"),
    ] {
        project.write(".exacta.toml", file);
        let output = project.run(&["-c", "echo x > made"]);
        let errors = text(&output.stderr);
        assert_eq!(code(&output), 125, "{errors}");
        assert!(errors.contains(expected) && errors.contains(".exacta.toml:"), "{errors}");
        assert!(errors.contains('^'), "{errors}");
        assert!(project.read("made").is_none());
    }
}

#[test]
fn a_project_file_is_no_link() {
    let project = Project::new();
    project.write("private", "token = \"secret\"\n");
    for target in ["private", "/dev/zero", "nowhere"] {
        let link = project.root.join(".exacta.toml");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).expect("a link");
        for arguments in [&["-c", "echo ran"][..], &["trust", "--yes"]] {
            let output = project.run(arguments);
            assert_eq!(code(&output), 125, "{target}: {}", text(&output.stdout));
            assert!(!text(&output.stderr).contains("secret"), "{}", text(&output.stderr));
        }
    }
}

#[test]
fn a_named_configuration_must_be_there() {
    let project = Project::new();
    assert_eq!(code(&project.run(&["--config", "missing.toml", "-c", "true"])), 125);
}

#[test]
fn refusals_can_be_silent() {
    let project = Project::new();
    project.write(".exacta.toml", "[agent]\nrefusals = \"404\"\n");
    let output = project.run(&["run", "--", "curl x"]);
    assert_eq!(text(&output.stderr), "bash: curl: command not found\n");
    assert_eq!(code(&output), 127);
    // Neither a report nor a screen tells it apart from what is not there.
    let output = project.run(&["run", "--json", "--", "true; xargs curl x"]);
    let told = text(&output.stdout);
    assert!(!told.contains("block-") && !told.contains("refused"), "{told}");
    assert_eq!(json(&output.stdout)["exit_code"], 127);
    project.write(".exacta.toml", "[agent]\nrefusals = \"explain\"\n");
    project.write("config.toml", "[agent]\nrefusals = \"404\"\n");
    let output = project.run(&["--config", "config.toml", "run", "--", "curl x"]);
    assert_eq!(code(&output), 127, "a project cannot have more said than its operator wants");
}

#[test]
fn init_writes_a_file_that_loads() {
    let project = Project::new();
    assert_eq!(code(&project.run(&["init"])), 0);
    assert_eq!(code(&project.run(&["shell", "status"])), 0);
    assert_eq!(code(&project.run(&["init"])), 125);
    let permissions = r#"{"permissions": {"allow": ["Bash(npm run lint:*)", "Read(./src)", "Bash(frobnicate)"],
        "deny": ["Bash(git push:*)"], "ask": ["Bash(make deploy)"]}}"#;
    project.write(".claude/settings.json", permissions);
    let output = project.run(&["init", "--force", "--import", "claude-code"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("took over 4 rules"), "{}", text(&output.stdout));
    let status = |line: &str| code(&project.run(&["shell", "test", line]));
    assert_eq!((status("git push"), status("make deploy"), status("frobnicate")), (4, 3, 3));
    assert_eq!(code(&project.run(&["trust", "--yes"])), 0);
    assert_eq!(status("frobnicate"), 0);
}

#[test]
fn lists_are_tables_or_json() {
    let project = Project::new();
    project.write(
        ".clada/commands.json",
        r#"{"allowed": ["npm test"], "blocked": ["npm run build"]}"#,
    );
    let blocked = json(&project.run(&["shell", "blocklist", "--json"]).stdout);
    let entries = blocked.as_array().expect("a list");
    assert!(entries.iter().all(|entry| entry["decision"] == "deny"));
    assert!(entries.iter().any(|entry| entry["about"] == serde_json::json!(["npm run build"])));
    let allowed = text(&project.run(&["shell", "allowlist"]).stdout);
    assert!(allowed.lines().all(|line| line.split('\t').count() == 5), "{allowed}");
    assert!(allowed.contains("npm test"));
    assert_eq!(code(&project.run(&["run", "--", "npm run build"])), 126);
}

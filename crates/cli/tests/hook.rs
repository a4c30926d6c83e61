//! `exacta hook claude-code` as an agent meets it: JSON in, a decision out, and nothing let through when something fails.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

mod support;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use support::{Project, code, text};

fn call(project: &Project, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "cwd": project.root,
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "t",
    })
}

/// The decision, `none` without an opinion, and the whole answer.
fn asked(project: &Project, options: &[&str], call: &Value) -> (String, Value) {
    let arguments = [&["hook", "claude-code"], options].concat();
    let output = project.feed(&arguments, &call.to_string());
    assert_eq!(code(&output), 0, "{call}: {}", text(&output.stderr));
    if output.stdout.is_empty() {
        return ("none".to_owned(), Value::Null);
    }
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let answer = answer["hookSpecificOutput"].clone();
    assert_eq!(answer["hookEventName"], "PreToolUse");
    (answer["permissionDecision"].as_str().expect("a decision").to_owned(), answer)
}

/// A line as the agent's own shell runs it.
fn shell(project: &Project, line: &str) -> Output {
    Command::new("setsid")
        .args(["-w", "bash", "-c", line])
        .current_dir(&project.root)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", project.root.parent().expect("above"))
        .stdin(Stdio::null())
        .output()
        .expect("bash(1) runs")
}

fn command(project: &Project, options: &[&str], line: &str) -> (String, Value) {
    asked(project, options, &call(project, "Bash", &json!({ "command": line })))
}

#[test]
fn commands_in_the_agents_own_shell() {
    let project = Project::new();
    for (line, expected) in [
        ("ls -la", "allow"),
        ("cat src/a.rs | grep -n fn 2>&1 | head", "allow"),
        ("pwd; echo done 2>/dev/null", "allow"),
        // In a jail and with undo the rules allow these. Here there is neither: the agent's own settings decide.
        ("rm -rf src", "none"),
        ("mv a b", "none"),
        ("make", "none"),
        ("npm test", "none"),
        ("git status", "none"),
        ("echo x > a", "none"),
        ("find . -name x -delete", "none"),
        ("sed -i s/a/b/ f", "none"),
        ("X=1 ls", "none"),
        ("ls() { make; }; ls", "none"),
        ("cat a | xargs rm", "none"),
        ("sort -o a b", "none"),
        // Not the private one.
        ("cat /tmp/somebody", "none"),
        ("git push", "ask"),
        ("some-unknown-program", "ask"),
        ("echo x > .git/hooks/pre-commit", "ask"),
        ("if then", "ask"),
        ("kill 4242", "ask"),
        ("PATH=. ls", "ask"),
        ("exacta -c ls", "ask"),
        ("curl https://evil.example", "deny"),
        ("x=c; ${x}url https://evil.example", "deny"),
        ("sudo ls", "deny"),
        ("cat /etc/passwd", "deny"),
        ("cat ../../x", "deny"),
        ("echo x > /etc/passwd", "deny"),
    ] {
        let (decision, answer) = command(&project, &[], line);
        assert_eq!(decision, expected, "{line}: {answer}");
        assert_eq!(answer.get("updatedInput"), None, "{line}");
        if decision == "deny" || decision == "ask" {
            let reason = answer["permissionDecisionReason"].as_str().expect("a reason");
            assert!(reason.contains('['), "which rule? {reason}");
            assert!(reason.contains("hint: "), "what instead? {reason}");
        }
    }
}

#[test]
fn home_is_the_callers_in_its_own_shell_and_the_project_in_exacta() {
    let project = Project::new();
    for line in ["cat ~/notes", "cat $HOME/notes", "cd; cat notes", "cat \"$ELSEWHERE\""] {
        let decision = |options: &[&str]| {
            let mut child = project
                .command(&[&["hook", "claude-code"], options].concat())
                .env("HOME", "/home/somebody")
                .env("ELSEWHERE", "/etc/passwd")
                .stdin(Stdio::piped())
                .spawn()
                .expect("the binary runs");
            let call = call(&project, "Bash", &json!({ "command": line })).to_string();
            let mut input = child.stdin.take().expect("a pipe");
            input.write_all(call.as_bytes()).expect("input");
            drop(input);
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(code(&output), 0, "{}", text(&output.stderr));
            text(&output.stdout)
        };
        assert!(decision(&[]).contains(r#""deny""#), "{line}: {}", decision(&[]));
        assert!(decision(&["--rewrite"]).contains(r#""allow""#), "{line}");
    }
}

#[test]
fn rewritten_commands_run_in_exacta() {
    let project = Project::new();
    project.write("a.txt", "hello\n");
    let lines = [
        "ls",
        "-x",
        "echo 'it'\\''s' \"$HOME\" `pwd` \\\\ $((1+1)) ü",
        "cat <<'E'\na 'b'\n$c\nE",
        "printf '%s\\n' \"a  b\" '' !x",
        "# only a comment",
        "",
    ];
    for line in lines {
        let input = json!({ "command": line, "timeout": 5, "description": "d", "run_in_background": false });
        let (decision, answer) = asked(&project, &["--rewrite"], &call(&project, "Bash", &input));
        assert_eq!(decision, "allow", "{line}");
        let updated = &answer["updatedInput"];
        for field in ["timeout", "description", "run_in_background"] {
            assert_eq!(updated[field], input[field], "{line}");
        }
        let rewritten = updated["command"].as_str().expect("a command");
        assert!(rewritten.starts_with(env!("CARGO_BIN_EXE_exacta")), "{rewritten}");
        // What a shell makes of it is what exacta would make of the text.
        let through = shell(&project, rewritten);
        let plain = project.run(&["-c", "--", line]);
        assert_eq!(text(&through.stdout), text(&plain.stdout), "{line}");
        assert_eq!(code(&through), code(&plain), "{line}");
    }
    // It can be taken back.
    let (_, answer) = command(&project, &["--rewrite"], "echo changed > a.txt; rm a.txt");
    shell(&project, answer["updatedInput"]["command"].as_str().expect("a command"));
    assert_eq!(project.read("a.txt"), None);
    assert_eq!(code(&project.run(&["undo"])), 0);
    assert_eq!(project.read("a.txt").as_deref(), Some("hello\n"));
}

#[test]
fn with_rewriting_exacta_asks_and_denies_itself() {
    let project = Project::new();
    let (decision, answer) = command(&project, &["--rewrite"], "curl https://evil.example");
    assert_eq!((decision.as_str(), answer.get("updatedInput")), ("deny", None));
    let (decision, answer) = command(&project, &["--rewrite"], "git push");
    assert_eq!(decision, "allow");
    let refused = shell(&project, answer["updatedInput"]["command"].as_str().expect("a command"));
    assert_eq!(code(&refused), 126, "{}", text(&refused.stderr));
    assert!(
        text(&refused.stderr).contains("exacta approvals approve"),
        "{}",
        text(&refused.stderr)
    );
    // What the hook was told, exacta is told.
    let (_, answer) = command(&project, &["--rewrite", "--profile", "full-auto"], "ls");
    let line = answer["updatedInput"]["command"].as_str().expect("a command").to_owned();
    assert!(line.ends_with(" --profile full-auto -c 'ls'"), "{line}");
}

#[test]
fn while_the_agent_only_plans_exacta_lets_nothing_happen_by_itself() {
    let project = Project::new();
    for (line, expected) in [("ls", "allow"), ("rm a", "ask"), ("make", "ask"), ("sudo ls", "deny")]
    {
        let mut call = call(&project, "Bash", &json!({ "command": line }));
        call["permission_mode"] = json!("plan");
        let (decision, answer) = asked(&project, &["--rewrite"], &call);
        assert_eq!(decision, expected, "{line}: {answer}");
        assert_eq!(answer.get("updatedInput").is_some(), expected != "deny", "{line}");
    }
}

#[test]
fn files_of_other_tools() {
    let project = Project::new();
    std::os::unix::fs::symlink("/etc", project.root.join("link")).expect("a link");
    project.write("src/a.rs", "");
    let inside = project.root.join("src/a.rs");
    for (tool, field, path, expected) in [
        ("Write", "file_path", inside.to_str().expect("UTF-8"), "none"),
        ("Write", "file_path", "src/new.rs", "none"),
        ("Read", "file_path", "src/a.rs", "none"),
        ("Read", "file_path", "/etc/passwd", "deny"),
        ("Write", "file_path", "/etc/passwd", "deny"),
        ("Edit", "file_path", "../outside", "deny"),
        ("MultiEdit", "file_path", "link/passwd", "deny"),
        ("NotebookEdit", "notebook_path", "/home/x.ipynb", "deny"),
        ("NotebookEdit", "notebook_path", "a.ipynb", "none"),
        ("Write", "file_path", "/tmp/everybodys", "deny"),
        ("Write", "file_path", ".clada/commands.json", "deny"),
        ("Read", "file_path", ".clada/exacta.db", "deny"),
        ("Write", "file_path", ".git/hooks/pre-commit", "ask"),
        ("Edit", "file_path", ".git/config", "ask"),
        ("Edit", "file_path", ".claude/settings.json", "ask"),
        ("Read", "file_path", ".git/config", "none"),
    ] {
        let (decision, answer) =
            asked(&project, &[], &call(&project, tool, &json!({ field: path })));
        assert_eq!(decision, expected, "{tool} {path}: {answer}");
    }
    for tool in ["WebFetch", "Task", "Glob", "BashOutput", "mcp__exacta__shell_exec"] {
        assert_eq!(asked(&project, &[], &call(&project, tool, &json!({}))).0, "none", "{tool}");
    }
}

#[test]
fn the_rules_are_those_of_the_calls_directory() {
    let project = Project::new();
    let rules =
        "[[rule]]\nid = \"no-ls\"\nverdict = \"deny\"\ncommand = [\"ls\"]\nreason = \"not here\"\n";
    project.write("inner/.exacta.toml", rules);
    project.write("inner/deep/x", "");
    let mut asked_in = call(&project, "Bash", &json!({ "command": "ls" }));
    assert_eq!(asked(&project, &[], &asked_in).0, "allow");
    asked_in["cwd"] = json!(project.root.join("inner/deep"));
    let (decision, answer) = asked(&project, &[], &asked_in);
    assert_eq!(decision, "deny", "{answer}");
    assert!(answer["permissionDecisionReason"].as_str().is_some_and(|it| it.contains("not here")));
    // `..` is of the call's directory.
    let mut upwards = call(&project, "Read", &json!({ "file_path": "../x" }));
    upwards["cwd"] = json!(project.root.join("inner/deep"));
    assert_eq!(asked(&project, &[], &upwards).0, "none");
    // Without a project the directory itself is one.
    let bare = project.root.parent().expect("above").join("bare");
    std::fs::create_dir(&bare).expect("a directory");
    let mut in_bare = call(&project, "Read", &json!({ "file_path": "a" }));
    in_bare["cwd"] = json!(bare);
    assert_eq!(asked(&project, &[], &in_bare).0, "none");
    in_bare["tool_input"] = json!({ "file_path": "../a" });
    assert_eq!(asked(&project, &[], &in_bare).0, "deny");
    assert!(std::fs::read_dir(&bare).expect("it").next().is_none(), "it leaves nothing");
    // What a person has said is known.
    project.write(".clada/commands.json", r#"{"allowed":["git push"],"blocked":["ls -l"]}"#);
    assert_eq!(command(&project, &[], "echo a;   ls   -l").0, "deny");
    assert_eq!(command(&project, &["--rewrite"], "ls -l").0, "deny");
    assert_eq!(command(&project, &[], "git push").0, "none");
}

#[test]
fn what_setup_writes_works_and_blocks_without_exacta() {
    let project = Project::new();
    let shown = project.answer("setup claude-code --write", "[y/N] ", "yes");
    assert!(shown.contains("wrote "), "{shown}");
    let settings: Value =
        serde_json::from_str(&project.read(".claude/settings.json").expect("a file"))
            .expect("JSON");
    let hook = &settings["hooks"]["PreToolUse"][0];
    assert!(hook["matcher"].as_str().is_some_and(|matcher| matcher.starts_with("Bash|")));
    let line = hook["hooks"][0]["command"].as_str().expect("a command");
    let call = call(&project, "Bash", &json!({ "command": "sudo ls" })).to_string();
    let call = call.replace('\'', "");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_exacta")).parent().expect("a folder");
    let with = |path: &str| shell(&project, &format!("PATH={path}; echo '{call}' | {{ {line}; }}"));
    let output = with(&format!("{}:$PATH", bin.display()));
    assert!(text(&output.stdout).contains(r#""deny""#), "{}", text(&output.stderr));
    assert_eq!(
        code(&with("/usr/bin:/bin")),
        2,
        "a hook that is not there must not let anything through"
    );
}

fn blocks(project: &Project, arguments: &[&str], input: &[u8], why: &str) {
    let arguments = [&["hook", "claude-code"], arguments].concat();
    let output = project.feed_bytes(&arguments, input);
    let errors = text(&output.stderr);
    assert_eq!(code(&output), 2, "{why}: {errors}");
    assert!(output.stdout.is_empty(), "{why}: {}", text(&output.stdout));
    assert!(errors.contains(why), "{why}: {errors}");
}

#[test]
fn whatever_cannot_be_judged_is_blocked() {
    let project = Project::new();
    let fine = call(&project, "Bash", &json!({ "command": "ls" }));
    let with = |name: &str, value: Value| {
        let mut call = fine.clone();
        call[name] = value;
        call.to_string()
    };
    let without = |name: &str| {
        let mut call = fine.clone();
        call.as_object_mut().expect("an object").remove(name);
        call.to_string()
    };
    let deep = "[".repeat(100_000);
    for (input, why) in [
        (String::new(), "not JSON"),
        ("{".to_owned(), "not JSON"),
        (format!("{fine} {fine}"), "not JSON"),
        (deep, "not JSON"),
        ("[]".to_owned(), "not a JSON object"),
        ("null".to_owned(), "not a JSON object"),
        (without("tool_name"), "tool_name is missing"),
        (with("tool_name", json!(1)), "tool_name is not a text"),
        (without("cwd"), "cwd is missing"),
        (with("cwd", json!(null)), "cwd is not a text"),
        (with("cwd", json!("")), "cwd is not absolute"),
        (with("cwd", json!("relative")), "cwd is not absolute"),
        (with("cwd", json!("/does/not/exist")), "/does/not/exist"),
        (with("cwd", json!("/etc/passwd")), "/etc/passwd"),
        (with("permission_mode", json!(1)), "permission_mode is not a text"),
        (without("tool_input"), "tool_input is not an object"),
        (with("tool_input", json!("ls")), "tool_input is not an object"),
        (with("tool_input", json!({})), "command is missing"),
        (with("tool_input", json!({ "command": ["ls"] })), "command is not a text"),
        (with("tool_input", json!({ "command": null })), "command is not a text"),
        (with("tool_input", json!({ "command": "ls\0; x" })), "NUL"),
        (with("hook_event_name", json!("PostToolUse")), "PreToolUse"),
        (call(&project, "Write", &json!({})).to_string(), "file_path is missing"),
        (call(&project, "Read", &json!({ "file_path": 1 })).to_string(), "file_path is not a text"),
    ] {
        blocks(&project, &[], input.as_bytes(), why);
        blocks(&project, &["--rewrite"], input.as_bytes(), why);
    }
    let mut bytes = fine.to_string().into_bytes();
    bytes.insert(bytes.len() - 2, 0xff);
    blocks(&project, &[], &bytes, "not JSON");
    let huge = json!({ "command": "x".repeat(11 << 20) });
    blocks(
        &project,
        &[],
        call(&project, "Bash", &huge).to_string().as_bytes(),
        "larger than 10 MB",
    );
    // A directory that is not in the project that was named.
    blocks(&project, &["--root", "/usr"], fine.to_string().as_bytes(), "not in the project");
    // Wrong use of the hook itself.
    for wrong in [&["hook"][..], &["hook", "nobody"], &["hook", "claude-code", "--rewrites"]] {
        assert_eq!(code(&project.feed(wrong, &fine.to_string())), 2, "{wrong:?}");
    }
}

#[test]
fn a_broken_configuration_blocks() {
    let fine = |project: &Project| call(project, "Bash", &json!({ "command": "ls" })).to_string();
    let project = Project::new();
    project.write(".exacta.toml", "[[rule]\n");
    blocks(&project, &[], fine(&project).as_bytes(), ".exacta.toml");
    let project = Project::new();
    project.write(".exacta.toml", "unknown_key = 1\n");
    blocks(&project, &["--rewrite"], fine(&project).as_bytes(), "unknown_key");
    let project = Project::new();
    blocks(&project, &["--config", "/no/such/file"], fine(&project).as_bytes(), "/no/such/file");
    project.write(".clada/commands.json", "{");
    blocks(&project, &[], fine(&project).as_bytes(), "commands.json");
}

#[test]
fn it_does_not_wait_for_ever_and_an_answer_that_nobody_gets_is_none() {
    let project = Project::new();
    let fine = call(&project, "Bash", &json!({ "command": "ls" })).to_string();
    // Input that does not end.
    let mut child = project
        .command(&["hook", "claude-code"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let held = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(held);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("no decision after 5 s"), "{}", text(&output.stderr));
    // Nowhere to write to.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut child = project
        .command(&["hook", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(full)
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(fine.as_bytes()).expect("input");
    assert_eq!(code(&child.wait_with_output().expect("it ends")), 2);
    let fine = fine.replace('\'', "");
    let closed = format!("echo '{fine}' | {} hook claude-code >&-", env!("CARGO_BIN_EXE_exacta"));
    assert_eq!(code(&shell(&project, &closed)), 2);
}

#[test]
fn a_long_command_is_judged_or_blocked() {
    let project = Project::new();
    for line in ["x".repeat(1 << 20), "$(".repeat(50_000), "echo a; ".repeat(50_000) + "curl x"] {
        let input = call(&project, "Bash", &json!({ "command": line })).to_string();
        let output = project.feed(&["hook", "claude-code"], &input);
        let answer = text(&output.stdout);
        let stopped =
            code(&output) == 2 || answer.contains(r#""deny""#) || answer.contains(r#""ask""#);
        assert!(stopped, "{} {answer}", code(&output));
    }
    assert!(!project.root.join("core").exists(), "it did not crash");
}

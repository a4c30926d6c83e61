//! Plans that run: to a good end, to a bad one, and to none at all.

use super::support::{code, text};
use super::{id, in_json, plan, project, report};

#[test]
fn a_plan_that_completes() {
    let project = project();
    project.write(
        "plan.toml",
        r#"
goal = "a greeting"
agent = "anna"
[[steps]]
command = "echo hello > greeting.txt; echo made"
expect = { files_exist = "greeting.txt", stdout_contains = "made", changed_only = "greeting.txt" }
[[steps]]
command = "cat greeting.txt"
expect = { stdout_matches = "^hel+o$" }
"#,
    );
    let output = project.run(&["task", "run", "plan.toml"]);
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(code(&output), 0, "{shown}{said}");
    for expected in [
        "Goal: a greeting\n",
        "State: completed (every step did what was expected of it)\n",
        "  1. echo hello > greeting.txt; echo made\n     done in ",
        "     ok files_exist: expected greeting.txt, found it is there\n",
        "     ok stdout_matches: expected \"^hel+o$\", found \"hello\"\n",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    for expected in
        ["[1/2] echo hello > greeting.txt; echo made\n  | made\n[1/2] done in ", "  | hello\n"]
    {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert!(!said.contains('\x1b'), "{said}");
}

#[test]
fn the_report_for_programs() {
    let project = project();
    plan(&project, &["echo one", "echo two >&2"]);
    let (status, report) = report(&project, &["run", "plan.toml", "--agent", "berta"]);
    assert_eq!(status, 0, "{report}");
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["state"], "completed");
    assert_eq!(report["agent"], "berta");
    assert_eq!(report["denied"], false);
    assert_eq!(report["plan"]["steps"][0]["command"], "echo one");
    assert_eq!(report["steps"][0]["number"], 1);
    assert_eq!(report["steps"][0]["attempts"][0]["stdout"], "one\n");
    assert_eq!(report["steps"][1]["attempts"][0]["stderr"], "two\n");
    assert_eq!(report["steps"][1]["checks"][0]["what"], "exit_code");
    let way: Vec<&str> = report["moves"]
        .as_array()
        .expect("a way")
        .iter()
        .filter_map(|it| it["to"].as_str())
        .collect();
    assert_eq!(way, ["pending", "validating", "running", "evaluating", "completed"]);
    // S4's entries, to the letter.
    let log = report["executionLog"].as_array().expect("a log");
    let said = |kind: &str, content: &str| {
        log.iter().any(|entry| {
            entry["type"] == kind
                && entry["content"] == content
                && entry["timestamp"].is_u64()
                && entry.as_object().is_some_and(|fields| fields.len() == 3)
        })
    };
    assert!(
        said("command", "echo one") && said("output", "one") && said("error", "two"),
        "{log:?}"
    );
}

#[test]
fn from_standard_input_and_as_json() {
    let project = project();
    let json = r#"{"goal": "g", "steps": [{"command": "echo hi"}]}"#;
    let output = project.feed(&["task", "run", "-", "--json"], json);
    assert_eq!((code(&output), in_json(&output)["state"].as_str()), (0, Some("completed")));
    let toml = "goal = \"g\"\n[[steps]]\ncommand = \"echo hi\"\n";
    assert_eq!(code(&project.feed(&["task", "run", "-"], toml)), 0);
}

#[test]
fn what_was_expected_and_what_was_found() {
    let project = project();
    project.write(
        "plan.toml",
        "goal = \"g\"\n[[steps]]\ncommand = \"echo five\"\nretry = { attempts = 0 }\n\
         expect = { stdout_contains = \"six\" }\n[[steps]]\ncommand = \"echo never\"\n",
    );
    let output = project.run(&["task", "run", "plan.toml"]);
    let shown = text(&output.stdout);
    assert_eq!(code(&output), 1, "{shown}");
    for expected in [
        "State: failed (step 1 (echo five) has failed: stdout_contains: expected \"six\", found \"five\"",
        "     NO stdout_contains: expected \"six\", found \"five\"\n",
        "  2. echo never\n     skipped\n",
        "What step 1 wrote last to stdout:\n  | five\n",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
}

#[test]
fn denied_is_four_and_nothing_ran() {
    let project = project();
    plan(&project, &["touch begun", "git push --force", "perl -e 1"]);
    let (status, report) = report(&project, &["run", "plan.toml", "--yes"]);
    assert_eq!((status, &report["state"]), (4, &"failed".into()), "{report}");
    assert_eq!(report["denied"], true);
    assert!(report["reason"].as_str().is_some_and(|why| why.contains("is denied by")), "{report}");
    assert_eq!(project.read("begun"), None);
    let all = report["steps"].as_array().expect("steps");
    assert!(
        all.iter()
            .all(|step| step["state"] == "skipped" && step["attempts"] == serde_json::json!([]))
    );
}

#[test]
fn a_failure_taken_back() {
    let project = project();
    project.write("kept.txt", "as it was\n");
    plan(&project, &["echo new > made.txt", "echo changed > kept.txt", "cat missing.txt"]);
    let (status, report) = report(&project, &["run", "plan.toml", "--rollback-on-failure"]);
    assert_eq!((status, &report["rolled_back"]), (1, &true.into()), "{report}");
    assert_eq!(project.read("kept.txt").as_deref(), Some("as it was\n"));
    assert_eq!(project.read("made.txt"), None);
    assert_eq!(report["steps"][0]["state"], "undone");
    let shown = text(&project.run(&["task", "show", &id(&report)]).stdout);
    assert!(shown.contains("What was done was undone.\n"), "{shown}");
    assert!(shown.contains("taken back"), "{shown}");
}

#[test]
fn a_failure_that_stays() {
    let project = project();
    plan(&project, &["echo new > made.txt", "cat missing.txt"]);
    let (status, _) = report(&project, &["run", "plan.toml"]);
    assert_eq!((status, project.read("made.txt").as_deref()), (1, Some("new\n")));
}

#[test]
fn begun_anew_where_it_failed() {
    let project = project();
    plan(&project, &["echo once >> count.txt", "test -e there"]);
    let (status, failed) = report(&project, &["run", "plan.toml"]);
    assert_eq!(status, 1, "{failed}");
    let id = id(&failed);
    assert_eq!(code(&project.run(&["task", "run", &id])), 1);
    project.write("there", "");
    let (status, left) = report(&project, &["retry", &id, "--no-run"]);
    assert_eq!((status, &left["state"]), (0, &"pending".into()));
    let (status, done) = report(&project, &["run", &id]);
    assert_eq!((status, &done["state"]), (0, &"completed".into()), "{done}");
    // What is done is not done again.
    assert_eq!(project.read("count.txt").as_deref(), Some("once\n"));
    let output = project.run(&["task", "retry", &id]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("is completed: it cannot be retried"));
}

#[test]
fn no_more_attempts_than_the_operator_wants() {
    let project = project();
    let step =
        "command = \"cat missing\"\nidempotent = true\nretry = { attempts = 5, backoff = 0 }\n";
    project.write("plan.toml", &format!("goal = \"g\"\n[[steps]]\n{step}"));
    project.write(".exacta.toml", "[tasks]\nretries = 1\n");
    let (status, failed) = report(&project, &["run", "plan.toml"]);
    assert_eq!(status, 1, "{failed}");
    assert_eq!(failed["steps"][0]["attempts"].as_array().map(Vec::len), Some(2), "{failed}");
    let told =
        "tasks.retries is 1: no step is tried again more often, as these would be: step 1 (5)";
    let log = failed["executionLog"].as_array().expect("a log");
    assert!(log.iter().any(|entry| entry["content"] == told), "{log:?}");
    let said = text(&project.run(&["task", "run", "plan.toml"]).stderr);
    assert!(said.contains(&format!("exacta: {told}\n")), "{said}");
}

/// What is said of a directory that cannot be used, and what to do about it.
#[test]
fn a_state_that_is_no_directory() {
    for own in [false, true] {
        let project = project();
        plan(&project, &["echo a"]);
        let place = if own {
            let state = project.root.parent().expect("a home").join(".local/state");
            std::fs::create_dir_all(&state).expect("made");
            state.join("exacta")
        } else {
            project.root.join(".clada")
        };
        std::fs::write(&place, "").expect("written");
        let output = project.run(&["task", "run", "plan.toml"]);
        let said = text(&output.stderr);
        assert_eq!(code(&output), 125, "{said}");
        let told = said.lines().next().expect("a line");
        assert!(told.contains(&place.display().to_string()), "{said}");
        assert!(told.ends_with(": Not a directory"), "{said}");
        assert!(said.contains("hint: something else is where the directory has to be"), "{said}");
        assert_eq!(std::fs::read(&place).expect("it is still there"), b"");
    }
}

#[test]
fn a_plan_with_a_byte_order_mark() {
    let project = project();
    let json = "\u{feff}{\"goal\": \"g\", \"steps\": [{\"command\": \"echo hi\"}]}";
    assert_eq!(code(&project.feed(&["task", "run", "-"], json)), 0);
    let toml = "\u{feff}goal = \"g\"\n[[steps]]\ncommand = \"echo hi\"\n";
    project.write("plan.toml", toml);
    assert_eq!(code(&project.run(&["task", "run", "plan.toml"])), 0);
}

#[test]
fn a_goal_needs_a_planner() {
    let project = project();
    let output = project.run(&["task", "run", "--goal", "anything"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("no planner is configured"), "{}", text(&output.stderr));
    assert!(super::newest(&project).is_none());
}

//! Texts that are no plans: where, what, and what to do. And what they are held against.

use super::support::{code, text};
use super::{in_json, project};

#[test]
fn the_schema_is_one() {
    let output = project().run(&["task", "schema"]);
    let schema = in_json(&output);
    assert_eq!(code(&output), 0);
    assert!(schema["properties"]["steps"].is_object(), "{schema}");
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let project = project();
    for (name, plan, place, field) in [
        ("p.toml", "goal = \"g\"\n[[steps]]\ncomand = \"ls\"\n", "p.toml:3:", "steps[0]"),
        ("p.toml", "goal = \"g\"\nsteps = []\n", "p.toml:2:", "steps"),
        (
            "p.json",
            "{\"goal\": \"g\",\n \"steps\": [{\"command\": \"ls\",\n  \"timeout\": \"soon\"}]}",
            "p.json:3:",
            "steps[0].timeout",
        ),
        (
            "p.toml",
            "goal = \"g\"\n[[steps]]\ncommand = \"ls\"\nexpect = { stdout_matches = \"(\" }\n",
            "p.toml:4:",
            "steps[0].expect.stdout_matches",
        ),
        ("p.json", "{\"goal\": ", "p.json:1:", ""),
    ] {
        project.write(name, plan);
        let output = project.run(&["task", "run", name]);
        let said = text(&output.stderr);
        assert_eq!(code(&output), 2, "{plan}: {said}");
        assert!(said.starts_with(place) && said.contains(field), "{plan}: {said}");
        let error = in_json(&project.run(&["task", "run", name, "--json"]));
        assert!(error["field"].as_str().is_some_and(|it| it.starts_with(field)), "{error}");
        assert!(error["line"].is_u64(), "{error}");
    }
    assert!(super::newest(&project).is_none(), "what is no plan is no task");
}

/// As in a plan, so on the command line.
#[test]
fn a_name_that_no_agent_has() {
    let project = project();
    super::plan(&project, &["echo a"]);
    for name in ["a\nb", &"x".repeat(101)] {
        let output = project.run(&["task", "run", "plan.toml", "--agent", name, "--json"]);
        assert_eq!(code(&output), 2, "{}", text(&output.stderr));
        let error = in_json(&output);
        assert!(
            error["error"].as_str().is_some_and(|it| it.contains("no name of an agent")),
            "{error}"
        );
    }
    assert!(super::newest(&project).is_none());
}

#[test]
fn neither_a_file_nor_a_task() {
    let project = project();
    let output = project.run(&["task", "run", "nothing.toml"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("nothing.toml: No such file or directory\nhint: "));
    assert_eq!(code(&project.run(&["task", "run", "0123abc"])), 1);
    project.write("latin1.toml", "");
    std::fs::write(project.root.join("latin1.toml"), b"goal = \"\xfc\"\n").expect("a file");
    for name in ["latin1.toml", "nothing.toml"] {
        let output = project.run(&["task", "run", name, "--json"]);
        assert_eq!(code(&output), 2);
        let error = in_json(&output);
        assert!(error["error"].as_str().is_some_and(|it| it.starts_with(name)), "{error}");
        assert!(error["hint"].is_string(), "{error}");
    }
}

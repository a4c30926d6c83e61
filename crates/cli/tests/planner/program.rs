//! `planner.command`: any program of the operator's.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::text;
use super::{COMMAND, GOAL, PLAN, Planned, assert_planned};

/// A script beside the project.
fn script(planned: &Planned, lines: &str) -> String {
    let path = planned.project.root.parent().expect("above").join("planner.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path.to_str().expect("text").to_owned()
}

pub fn programmed(lines: &str) -> Planned {
    let planned = Planned::new("");
    let path = script(&planned, lines);
    planned.with(&format!(
        "[planner]\nkind = \"command\"\ncommand = [{path:?}, \"an argument\"]\ntimeout = \"20s\""
    ))
}

#[test]
fn a_program_is_asked_on_standard_input() {
    let planned =
        programmed(&format!("cat > \"$HOME/asked\"; pwd > \"$HOME/where\"; cat <<'E'\n{PLAN}\nE"));
    planned.project.write("README.md", "# Hi\n");
    assert_planned(&planned.plan());
    let home = planned.project.root.parent().expect("above");
    let asked = std::fs::read_to_string(home.join("asked")).expect("a request");
    let asked: Value = serde_json::from_str(&asked).expect("JSON");
    assert_eq!(asked["goal"], GOAL);
    assert_eq!(asked["root"], planned.project.root.to_str().expect("text"));
    assert_eq!(asked["schema"]["type"], "object");
    assert!(asked["context"].as_str().is_some_and(|it| it.contains("# Hi")), "{asked}");
    assert_eq!(asked["repairs"], serde_json::json!([]));
    // Not where the project could be what it loads.
    assert_eq!(std::fs::read_to_string(home.join("where")).expect("a place"), "/\n");
}

#[test]
fn it_may_answer_in_toml() {
    let planned =
        programmed(&format!("cat <<'E'\ngoal = \"g\"\n[[steps]]\ncommand = \"{COMMAND}\"\nE"));
    assert_planned(&planned.plan());
}

#[test]
fn it_is_told_what_was_wrong() {
    let planned = programmed(&format!(
        "if grep -q '\"problem\"'; then cat <<'E'\n{PLAN}\nE\nelse echo '{{\"goal\":'; fi"
    ));
    let output = planned.plan();
    assert_planned(&output);
    assert!(text(&output.stderr).contains("asking again"), "{}", text(&output.stderr));
    let said = programmed("echo nonsense").failure();
    assert!(said.contains("after 3 tries"), "{said}");
}

#[test]
fn its_complaint_is_shown() {
    let said = programmed("echo first >&2; echo 'no network\x1b[2J' >&2; exit 7").failure();
    assert!(said.contains("the planner failed (exit status: 7): first no network [2J"), "{said}");
    let said = programmed("kill -9 $$").failure();
    assert!(said.contains("it did not say why"), "{said}");
}

#[test]
fn its_time_is_limited_with_all_that_it_starts() {
    for lines in [
        "sleep 60",
        "sleep 61 & exec sleep 61",
        "trap '' TERM; cat > /dev/null; while :; do sleep 1; done",
    ] {
        let mut planned = programmed(lines);
        planned.configuration = planned.configuration.replace("20s", "1s");
        let begun = Instant::now();
        let said = planned.failure();
        assert!(said.contains("no plan after 1 s"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
    // One that is left behind holds nothing up.
    let begun = Instant::now();
    assert_planned(
        &programmed(&format!("sleep 62 > /dev/null 2>&1 &\ncat <<'E'\n{PLAN}\nE")).plan(),
    );
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn too_much_is_no_plan() {
    let said = programmed("head -c 3000000 /dev/zero | tr '\\0' x").failure();
    assert!(said.contains("the answer is longer than 1048576 bytes"), "{said}");
}

#[test]
fn nothing_of_the_project_can_be_the_program() {
    let planned = Planned::new("");
    planned.project.write("planner.sh", "#!/bin/sh\necho from the project > ran\n");
    let root = planned.project.root.clone();
    let link = root.parent().expect("above").join("link.sh");
    std::os::unix::fs::symlink(root.join("planner.sh"), &link).expect("a link");
    let link = link.to_str().expect("text");
    let inside = root.join("planner.sh").to_str().expect("text").to_owned();
    for (words, expected) in [
        (format!("[{inside:?}]"), "names a file of the project"),
        (format!("[\"sh\", {inside:?}]"), "names a file of the project"),
        (format!("[\"sh\", {link:?}]"), "names a file of the project"),
        (format!("[\"sh\", \"--rcfile={inside}\"]"), "names a file of the project"),
        ("[\"./planner.sh\"]".to_owned(), "is a relative path"),
        ("[\"no-such-planner-anywhere\"]".to_owned(), "is not on the PATH"),
        ("[\"/no/such/planner\"]".to_owned(), "cannot be started"),
    ] {
        let mut planned =
            Planned::new(&format!("[planner]\nkind = \"command\"\ncommand = {words}\n"));
        planned.project = super::Project::new();
        // The project of the words above.
        let said = {
            let mut arguments = vec!["--root"];
            let place = root.to_str().expect("text").to_owned();
            arguments.extend([place.as_str(), "task", "plan", GOAL]);
            let output = planned.run(&arguments);
            assert_eq!(super::code(&output), 1, "{words}: {}", text(&output.stderr));
            text(&output.stderr)
        };
        assert!(said.contains(expected), "{words}: {said}");
    }
    // By a name that the project has too.
    let said = Planned::new("[planner]\nkind = \"command\"\ncommand = [\"sh\", \"planner.sh\"]\n")
        .failure();
    assert!(said.contains("the planner failed"), "{said}");
    assert_eq!(planned.project.read("ran"), None);
}

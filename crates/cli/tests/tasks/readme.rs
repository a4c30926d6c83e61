//! What the README shows is what is seen.

use std::path::PathBuf;

use super::support::{Project, code, text};

fn of_repository(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).expect("a file of the repository")
}

/// Numbers and times differ from one machine to the other.
fn without_numbers(line: &str) -> String {
    let line: String =
        line.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ").replace("00", "0").replace("00", "0")
}

#[test]
fn the_task_of_the_readme() {
    let project = Project::new();
    for name in ["examples/tidy.toml", "docs/tasks.md", "docs/undo.md"] {
        project.write(name, &of_repository(name));
    }
    let readme = of_repository("README.md");
    let section = readme.split("\n## A task\n").nth(1).expect("a section");
    let section = section.split("\n## ").next().expect("its text");
    let mut shown = section
        .split("    $ exacta task run examples/tidy.toml\n")
        .nth(1)
        .expect("the example")
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("    "))
        .map(without_numbers)
        .filter(|line| !line.is_empty());
    let seen = project.answer("task run examples/tidy.toml", "[l]ater: ", "y");
    let seen = seen.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
    let seen: Vec<String> = seen.lines().map(without_numbers).collect();
    let count = shown.clone().count();
    assert!(count > 10, "{section}");
    assert!(shown.all(|line| seen.contains(&line)), "{:#?}\n{seen:#?}", shown.collect::<Vec<_>>());
    assert_eq!(project.read("lengths.txt"), None);
}

#[test]
fn every_plan_among_the_examples_can_be_read() {
    let project = Project::new();
    project.write("plan.toml", &of_repository("examples/tidy.toml"));
    let output = project.run(&["task", "run", "plan.toml", "--no-input"]);
    assert_eq!(code(&output), 4, "{}", text(&output.stderr));
}

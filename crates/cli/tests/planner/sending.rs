//! What a planner is told of a project, and what it is not.

use super::server::{Reply, Server, openai};
use super::support::code;
use super::{PLAN, Planned};

/// All that was sent for this goal.
fn sent(planned: &Planned, server: &Server, goal: &str) -> String {
    let output = planned.run(&["task", "plan", goal]);
    assert_eq!(code(&output), 0, "{}", super::text(&output.stderr));
    let asked = server.asked();
    let body = &asked.last().expect("a request").body;
    assert!(!asked.last().expect("a request").text.contains("never-sent"), "{body}");
    body["messages"][1]["content"].as_str().expect("a text").to_owned()
}

fn planned() -> (Planned, Server) {
    let server = Server::start([Reply::stream(&openai(PLAN, "stop"), 100)]);
    (Planned::at("openai", &server), server)
}

#[test]
fn names_scripts_and_the_beginning_of_the_readme() {
    let (planned, server) = planned();
    let project = &planned.project;
    project
        .write("README.md", "# Greeter\n\nSays hello.\n")
        .write(
            "package.json",
            r#"{"name":"greeter","scripts":{"test":"vitest run"},"never-sent":1}"#,
        )
        .write("Makefile", "build: x\n\tnever-sent\n")
        .write("Cargo.toml", "[package]\nname = \"greeter-core\"\n# never-sent\n")
        .write("src/deep/main.rs", "never-sent")
        .write(".gitignore", "/out\n*.log\n")
        .write("out/never-sent.txt", "")
        .write("never-sent.log", "")
        .write("node_modules/never-sent/index.js", "")
        .write("target/never-sent", "")
        .write(".git/never-sent", "")
        .write(".trash/never-sent", "");
    let planned = planned.with("[tasks]\nallow = [\"cargo test\"]");
    let said = sent(&planned, &server, "greet");
    for expected in [
        "Goal: greet\n",
        "# Greeter\n\nSays hello.",
        "npm run test = vitest run",
        "Makefile: build",
        "package greeter-core",
        "\nsrc/deep/main.rs",
        "\n.gitignore\n",
        "cargo test",
    ] {
        assert!(said.contains(expected), "{expected:?} is not in: {said}");
    }
}

#[test]
fn no_secret_is_sent() {
    let (mut planned, server) = planned();
    // Put together here, so that nothing in the repository looks like one.
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let password = "correct-horse-battery-never-sent";
    planned.variables.push(("DEPLOY_TOKEN", "opaque-value-never-sent-1234".to_owned()));
    planned
        .project
        .write(
            "README.md",
            &format!("Use {token}, or\npassword: {password}\nopaque-value-never-sent-1234\n"),
        )
        .write("package.json", &format!(r#"{{"scripts":{{"push":"push --token={token}"}}}}"#))
        .write(&format!("{token}.txt"), "");
    let said =
        sent(&planned, &server, &format!("push with {token} and opaque-value-never-sent-1234"));
    let asked = server.asked();
    let body = &asked[0].text;
    assert!(!body.contains(&token), "{body}");
    assert!(!body.contains(super::KEY), "{body}");
    assert!(said.contains("Goal: push with [REDACTED] and [REDACTED]"), "{said}");
    // The plan keeps the goal as it was asked for.
    let output = planned.run(&["task", "plan", &format!("use {token}"), "--json"]);
    assert!(super::text(&output.stdout).contains(&token));
}

#[test]
fn no_link_leads_out() {
    let (planned, server) = planned();
    let outside = planned.project.root.parent().expect("above").join("outside");
    std::fs::create_dir_all(&outside).expect("made");
    std::fs::write(outside.join("never-sent.md"), "never-sent").expect("written");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(outside.join(target), planned.project.root.join(name))
            .expect("a link");
    };
    link("never-sent.md", "README.md");
    link("never-sent.md", "package.json");
    link(".", "folder");
    let said = sent(&planned, &server, "look");
    assert!(!said.contains("beginning of README"), "{said}");
}

#[test]
fn a_large_project_fits_the_budget() {
    let (planned, server) = planned();
    planned.project.write("README.md", &"Ünïcödé words. ".repeat(5_000));
    for number in 0..1_500 {
        planned
            .project
            .write(&format!("deep/folder{number}/a-file-with-a-long-name-{number}.txt"), "");
    }
    planned.project.write("zz-at-the-top.txt", "");
    let said = sent(&planned, &server, "look");
    assert!(said.len() < (12 << 10) + 500, "{}", said.len());
    assert!(said.contains("(cut)") && said.contains("are not listed)"), "{said}");
    // What is nearest to the root is there.
    assert!(said.contains("zz-at-the-top.txt"), "{said}");
}

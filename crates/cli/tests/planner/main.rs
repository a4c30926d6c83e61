//! `exacta task plan` against servers with the real wire formats, and against programs: plans, errors, secrets, time.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories, run the binary and serve answers"
)]

mod anthropic;
mod bundled;
mod ending;
mod openai;
mod program;
mod sending;
mod server;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod support;
mod trouble;

use std::process::Output;

use server::Server;
use support::{Project, code, text};

const KEY: &str = "sk-test-7d1f0c9a2b8e4f6a9c3d";
const GOAL: &str = "say hello";
/// With characters of every length.
const PLAN: &str = r#"{"goal":"other","agent":null,"steps":[{"command":"echo 'grüße € 😀'","why":"\"so\"","idempotent":true}]}"#;
const COMMAND: &str = "echo 'grüße € 😀'";

/// A project with a planner in the operator's configuration.
struct Planned {
    project: Project,
    configuration: String,
    variables: Vec<(&'static str, String)>,
}

impl Planned {
    fn new(configuration: &str) -> Self {
        let variables =
            vec![("OPENAI_API_KEY", KEY.to_owned()), ("ANTHROPIC_API_KEY", KEY.to_owned())];
        Planned { project: Project::new(), configuration: configuration.to_owned(), variables }
    }

    fn at(kind: &str, server: &Server) -> Self {
        let version = if kind == "openai" { "/v1" } else { "" };
        Self::new(&format!(
            "[planner]\nkind = \"{kind}\"\nmodel = \"m-1\"\nurl = \"http://127.0.0.1:{}{version}\"\ntimeout = \"20s\"\n",
            server.port
        ))
    }

    fn with(mut self, line: &str) -> Self {
        self.configuration.push_str(line);
        self.configuration.push('\n');
        self
    }

    /// What the operator has written.
    fn configured(&self) {
        let home = self.project.root.parent().expect("a home").join(".config/exacta");
        std::fs::create_dir_all(&home).expect("made");
        std::fs::write(home.join("config.toml"), &self.configuration).expect("written");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.configured();
        let mut command = self.project.command(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())));
        let output = command.output().expect("the binary runs");
        for stream in [&output.stdout, &output.stderr] {
            assert!(!text(stream).contains(KEY), "the key is shown: {}", text(stream));
        }
        output
    }

    fn plan(&self) -> Output {
        self.run(&["task", "plan", GOAL])
    }

    /// It has to fail, and what it says.
    fn failure(&self) -> String {
        let output = self.plan();
        let said = text(&output.stderr);
        assert_eq!(code(&output), 1, "{said}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        assert!(said.contains("\nhint: "), "{said}");
        said
    }
}

/// It has led to the plan.
fn assert_planned(output: &Output) {
    let (plan, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(code(output), 0, "{said}");
    assert!(plan.contains(&format!("command = \"{COMMAND}\"")), "{plan}");
    // Who asked for what is not for the planner to say.
    assert!(plan.starts_with(&format!("goal = \"{GOAL}\"\n")), "{plan}");
}

#[test]
fn without_a_planner_it_is_said_how_to_have_one() {
    let planned = Planned { variables: Vec::new(), ..Planned::new("") };
    let said = planned.failure();
    assert!(said.contains("no planner is configured"), "{said}");
    assert!(said.contains("ANTHROPIC_API_KEY") && said.contains("OPENAI_API_KEY"), "{said}");
    let output = planned.run(&["task", "plan", GOAL, "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(answer["error"].as_str().is_some_and(|it| it.contains("no planner")), "{answer}");
}

#[test]
fn without_a_key_it_is_said_which() {
    for (kind, variable) in [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")] {
        let configuration = format!("[planner]\nkind = \"{kind}\"\nmodel = \"m\"\n");
        let planned = Planned { variables: Vec::new(), ..Planned::new(&configuration) };
        let said = planned.failure();
        assert!(said.contains(&format!("the variable {variable} is not set")), "{said}");
        let planned = Planned { variables: vec![("MINE", String::new())], ..planned };
        let said = planned.with("key_env = \"MINE\"").failure();
        assert!(said.contains("the variable MINE is not set"), "{said}");
    }
}

#[test]
fn a_project_cannot_say_who_plans() {
    let server = Server::start([server::Reply::stream(&server::openai(PLAN, "stop"), 100)]);
    let planned = Planned { variables: Vec::new(), ..Planned::new("") };
    planned.project.write(".exacta.toml", &Planned::at("openai", &server).configuration);
    let said = planned.failure();
    assert!(said.contains("no planner is configured"), "{said}");
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn the_schema_is_printed() {
    let output = Planned::new("").run(&["task", "schema"]);
    assert_eq!(code(&output), 0);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(schema["type"], "object");
}

//! The bundled server, which a newcomer meets first: no key, no network, both wire formats.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::Planned;
use super::support::{code, text};

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

struct Bundled {
    child: Child,
    address: String,
}

impl Bundled {
    fn start(log: &str) -> Self {
        let mut child = Command::new("python3")
            .arg(example("planner-server.py"))
            .args(["--port", "0", "--log", log])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Bundled { child, address }
    }
}

impl Drop for Bundled {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_demonstration_of_the_readme() {
    let shown = std::fs::read_to_string(example("planner.toml")).expect("the example");
    for (kind, version) in [("openai", "/v1"), ("anthropic", "")] {
        let planned = Planned { variables: Vec::new(), ..Planned::new("") };
        let log = planned.project.root.parent().expect("above").join("log");
        let bundled = Bundled::start(log.to_str().expect("text"));
        let configuration = shown
            .replace("kind = \"openai\"", &format!("kind = {kind:?}"))
            .replace("http://127.0.0.1:7400/v1", &format!("{}{version}", bundled.address));
        let planned = planned.with(&configuration);
        planned.project.write("README.md", "one\ntwo\nthree\nfour\n");
        let output =
            planned.run(&["task", "plan", "note how the README begins", "-o", "plan.toml"]);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains("asking none at 127.0.0.1"),
            "{}",
            text(&output.stderr)
        );
        let plan = planned.project.read("plan.toml").expect("a plan");
        for expected in [
            "goal = \"note how the README begins\"\n",
            "command = \"head -n 3 README.md > NOTES.md\"\n",
            "files_exist = [\"NOTES.md\"]\n",
            "changed_only = [\"NOTES.md\"]\n",
        ] {
            assert!(plan.contains(expected), "{plan}");
        }
        let log = std::fs::read_to_string(log).expect("a log");
        assert!(log.contains("The beginning of README.md"), "{log}");
        let output = planned.run(&["task", "run", "--goal", "note how the README begins"]);
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(code(&output), 0, "{shown}{said}");
        assert!(shown.contains("State: completed"), "{shown}");
        assert!(said.contains("[1/") && said.contains("asking none at"), "{said}");
        assert!(
            planned.project.read("NOTES.md").is_some_and(|notes| notes.starts_with("one\ntwo"))
        );
        // Another goal, another plan; and the format is spoken by whoever asks wrongly too.
        let output = planned.run(&["task", "plan", "something else"]);
        assert!(text(&output.stdout).contains("command = \"ls -la\""), "{}", text(&output.stdout));
    }
}

//! Hosts by grant as a user meets them. Nothing leaves the machine: what is asked for here is refused.

use serde_json::Value;

use crate::support::Project;

const RULE: &str = r#"
[[rule]]
id = "our-git"
verdict = "allow"
command = ["git ls-remote"]
hosts = ["granted.invalid", "192.0.2.1"]
overrides = ["network", "ask-git-network"]
reason = "our own server"
"#;

/// The report, and the connections in it: host, verdict, reason.
fn report(project: &Project, arguments: &[&str]) -> (Value, Vec<[String; 3]>) {
    let output = project.run(arguments);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let all = report["isolation"]["connections"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |it: &Value| [text(&it["host"]), text(&it["verdict"]), text(&it["reason"])];
    let connections = all.iter().map(of).collect();
    (report, connections)
}

#[test]
fn every_connection_is_in_the_report() {
    let project = Project::new();
    project.write("operator.toml", RULE);
    let run = |script: &str| {
        let arguments = ["--config", "operator.toml", "--json", "run", "--no-input", "--", script];
        report(&project, &arguments)
    };
    let (whole, connections) = run("git ls-remote http://other.invalid/x 2>&1");
    let reason = "no rule grants it to this command";
    assert_eq!(connections, [["other.invalid", "refused", reason]], "{whole}");
    assert_eq!(whole["isolation"]["net"], "granted-hosts");
    let first = &whole["isolation"]["connections"][0];
    assert_eq!((&first["port"], &first["protocol"]), (&Value::from(80), &Value::from("http")));
    assert_eq!((&first["sent_bytes"], &first["address"]), (&Value::from(0), &Value::Null));
    assert!(first["duration_ms"].is_number() && first["timestamp"].is_string());
    // A granted address of nobody's is still looked at.
    let (whole, connections) = run("git ls-remote http://192.0.2.1/x 2>&1");
    let reason = "it leads to 192.0.2.1, a private address";
    assert_eq!(connections, [["192.0.2.1", "refused", reason]], "{whole}");
    let (whole, connections) = run("git --version");
    assert_eq!((&whole["isolation"]["net"], connections.len()), (&Value::from("loopback"), 0));
}

#[test]
fn a_project_grants_itself_nothing() {
    let project = Project::new();
    project.write(".exacta.toml", RULE);
    let script = "git ls-remote http://192.0.2.1/x";
    let (whole, connections) = report(&project, &["--json", "run", "--no-input", "--", script]);
    assert_eq!((&whole["exit_code"], connections.len()), (&Value::from(126), 0), "{whole}");
}

#[test]
fn a_yes_is_to_the_host_that_was_asked_about() {
    let project = Project::new();
    let script = "git ls-remote http://192.0.2.1/x; git ls-remote --get-url http://192.0.2.1/x";
    let (whole, connections) = report(&project, &["--json", "run", "--yes", "--", script]);
    let reason = "it leads to 192.0.2.1, a private address";
    assert_eq!(connections, [["192.0.2.1", "refused", reason]], "{whole}");
}

#[test]
fn hosts_that_cannot_be_granted_are_errors_of_the_file() {
    let project = Project::new();
    project.write("operator.toml", &RULE.replace("granted.invalid", "localhost"));
    let output = project.run(&["--config", "operator.toml", "run", "--", "echo hi"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("this machine itself cannot be granted"), "{text}");
    assert_eq!(output.status.code(), Some(125));
}

//! The snippets: one per line in `lines.txt`, separated by `%%%%` in `blocks.txt`; and the open suite.

use std::io::Write;
use std::process::{Command, Stdio};

pub fn snippets() -> Vec<&'static str> {
    let lines = include_str!("lines.txt").lines();
    let blocks = include_str!("blocks.txt").split("%%%%\n");
    lines.chain(blocks).collect()
}

/// The scripts of the open shell suite; none, said aloud, if it is not there.
pub fn conformance_scripts() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/cases.json");
    let Ok(text) = std::fs::read(path) else {
        eprintln!("skipped: {path} is missing");
        return Vec::new();
    };
    let cases: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let text = |case: &serde_json::Value, key: &str| case[key].as_str().unwrap().to_owned();
    let cases = cases.as_array().unwrap().iter();
    cases.map(|case| (text(case, "id"), text(case, "script"))).collect()
}

/// What `bash -n` says: nothing if it accepts the script.
pub fn bash_complaint(script: &str) -> Option<String> {
    let output = Command::new("bash").args(["-n", "-c", "--", script]).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let warnings_only = complaint.lines().all(|line| line.contains("warning: "));
    if !output.status.success() || !warnings_only {
        return Some(complaint);
    }
    // Errors inside `[[ ]]` are reported with status 0, some without a word.
    if script.starts_with("[[") && !parsed_as_body(script) {
        return Some("silent".into());
    }
    None
}

/// Whether a function with this body can be defined.
fn parsed_as_body(script: &str) -> bool {
    let definition = format!("f() {{\n{script}\n}}\necho defined\n");
    bash_output(definition.as_bytes()) == b"defined\n"
}

/// What bash prints for a script given on its standard input.
pub fn bash_output(script: &[u8]) -> Vec<u8> {
    let mut bash = Command::new("bash")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin.take().unwrap().write_all(script).unwrap();
    bash.wait_with_output().unwrap().stdout
}

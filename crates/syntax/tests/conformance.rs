//! The open shell suite: whatever bash accepts, we accept.
#![expect(
    clippy::disallowed_methods,
    reason = "bash is the oracle, and the suite lies outside the crate"
)]

use exacta_syntax::{Limits, ParseOptions, parse};
use std::process::{Command, Stdio};

#[test]
fn accepts_what_bash_accepts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/cases.json");
    let Ok(text) = std::fs::read(path) else {
        eprintln!("skipped: {path} is missing");
        return;
    };
    let cases: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let mut failures = 0;
    for case in cases.as_array().unwrap() {
        let script = case["script"].as_str().unwrap();
        let id = case["id"].as_str().unwrap();
        let Err(error) = parse(script.as_bytes(), ParseOptions::default(), Limits::default())
        else {
            continue;
        };
        if error.to_string().contains("coproc") {
            continue;
        }
        let accepted = Command::new("bash")
            .args(["-n", "-c", script])
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .status()
            .unwrap()
            .success();
        if accepted {
            failures += 1;
            eprintln!("--- {id}: {error} at {:?}\n{script}", error.span);
        }
    }
    assert_eq!(failures, 0);
}

//! `exacta redact` as it is used: in a pipe, with a configuration, with secrets in the environment.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run the binary"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("exacta-redact-{name}-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a temporary directory");
    place
}

fn redact(place: &Path, configuration: &str, text: &str) -> Output {
    let file = place.join("config.toml");
    fs::write(&file, configuration).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .args(["--root".as_ref(), place.as_os_str(), "--config".as_ref(), file.as_os_str()])
        .args(["redact", "--json"])
        .env("SERVICE_PASSWORD", "q8w7e6r5t4")
        .env("LICENCE", "plain-licence")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut input = child.stdin.take().expect("its input");
    // What does not like its configuration has ended before it reads.
    let _it_may_have_ended = input.write_all(text.as_bytes());
    drop(input);
    child.wait_with_output().expect("its end")
}

#[test]
fn secrets_are_replaced_and_counted() {
    let place = folder("counted");
    let rules = "[redact]\nsecrets_env = [\"LICENCE\"]\nrules = [{ kind = \"ticket\", pattern = \"T-([0-9]{4})\" }]\n";
    let text = "DB_PASSWORD=hunter2\nT-1234 q8w7e6r5t4 plain-licence\nnothing";
    let output = redact(&place, rules, text);
    fs::remove_dir_all(&place).expect("it is there");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(shown, "DB_PASSWORD=[REDACTED]\nT-[REDACTED] [REDACTED] [REDACTED]\nnothing");
    let report: Value = serde_json::from_slice(&output.stderr).expect("a report");
    assert_eq!(report["total"], 4);
    assert_eq!(report["kinds"]["password"], 1);
    assert_eq!(report["kinds"]["ticket"], 1);
    assert_eq!(report["kinds"]["environment"], 2);
    assert!(output.status.success());
}

#[test]
fn a_wrong_pattern_is_shown_where_it_stands() {
    let place = folder("wrong");
    let rules = "[redact]\nrules = [{ kind = \"x\", pattern = \"(\" }]\n";
    let output = redact(&place, rules, "text");
    fs::remove_dir_all(&place).expect("it is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains(":2:33") || said.contains("line 2") || said.contains("config.toml:2"),
        "{said}"
    );
    assert!(said.contains("the pattern \"(\" cannot be used") && said.contains('^'), "{said}");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(125), &b""[..]));
}

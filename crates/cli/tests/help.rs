//! `exacta VERB --help`, `exacta help VERB`, `exacta man`: for every verb that completions offer.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests run the binary and a formatter of manual pages"
)]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn exacta(arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_exacta"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// As completions list them: one line each in fish's.
fn verbs() -> Vec<String> {
    let (script, _) = exacta(&["completions", "fish"]);
    let lines = script.lines().filter(|line| line.contains("__fish_use_subcommand"));
    let names = lines.filter_map(|line| line.split(" -a ").nth(1)?.split(' ').next());
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.len() > 15, "{names:?}");
    names
}

/// Of one verb, in fish's completions.
fn options(verb: &str) -> Vec<String> {
    let (script, _) = exacta(&["completions", "fish"]);
    let own = format!("'__fish_seen_subcommand_from {verb}' -l ");
    let lines = script.lines().filter_map(|line| line.split_once(&own)?.1.split(' ').next());
    lines.map(|name| format!("--{name}")).collect()
}

#[test]
fn every_verb_has_help() {
    let (whole, status) = exacta(&["--help"]);
    assert_eq!(status, Some(0));
    assert_eq!(exacta(&["help"]).0, whole);
    for verb in verbs() {
        let (help, status) = exacta(&[&verb, "--help"]);
        assert_eq!(status, Some(0), "{verb}");
        assert!(help.starts_with(&format!("exacta {verb}: ")), "{help}");
        for part in ["\nUsage:\n", "\nExit status:\n", "--root DIR"] {
            assert!(help.contains(part), "{verb}: {part}");
        }
        for option in options(&verb) {
            assert!(help.contains(&option), "{verb}: {option}");
        }
        assert_eq!(exacta(&["help", &verb]).0, help);
        assert_eq!(exacta(&[&verb, "-h"]).0, help);
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(125), "{verb}: {longest:?}");
    }
}

#[test]
fn the_help_of_all_mentions_everything() {
    let (whole, _) = exacta(&["--help"]);
    for verb in verbs() {
        let mentioned = whole.contains(&format!("exacta {verb}"))
            || whole.contains(&format!("| {verb} "))
            || whole.contains(&format!("; {verb} "))
            || whole.contains(&format!("] {verb} "));
        assert!(mentioned, "{verb}");
        for option in options(&verb) {
            assert!(whole.contains(&option), "{verb}: {option}");
        }
    }
}

#[test]
fn words_of_verbs_have_their_own() {
    let (help, status) = exacta(&["shell", "test", "--help"]);
    assert_eq!(status, Some(0));
    assert!(help.starts_with("exacta shell test: would it be allowed?"), "{help}");
    assert!(help.contains("--batch") && !help.contains("shell status"), "{help}");
    assert!(!help.contains("--grep"), "of history: {help}");
    let (history, _) = exacta(&["shell", "history", "--help"]);
    assert!(history.contains("--grep TEXT") && !history.contains("--batch"), "{history}");
    let (export, _) = exacta(&["audit", "export", "--help"]);
    assert!(export.contains("--format") && !export.contains("--follow"), "{export}");
    assert_eq!(exacta(&["help", "shell", "test"]).0, help);
    assert_eq!(exacta(&["help", "nonsense"]).1, Some(2));
    assert_eq!(exacta(&["help", "shell", "nonsense"]).1, Some(2));
    assert_eq!(exacta(&["help", "run", "x", "y"]).1, Some(2));
    // It is the command's own, behind the words of the verb.
    let (shown, _) = exacta(&["run", "--", "grep --help"]);
    assert!(shown.contains("--recursive"), "{shown}");
}

fn formatted(page: &str) -> Output {
    let mut child = Command::new("groff")
        .args(["-man", "-Tutf8", "-ww", "-rLL=100n"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("groff(1) runs");
    let sent = child.stdin.take().expect("a pipe").write_all(page.as_bytes());
    sent.expect("it is read");
    child.wait_with_output().expect("it ends")
}

#[test]
fn manual_pages_are_sound() {
    let has_groff = Command::new("groff").arg("--version").output().is_ok();
    let pages = std::iter::once(None).chain(verbs().into_iter().map(Some));
    for verb in pages {
        let arguments: Vec<&str> = ["man"].into_iter().chain(verb.as_deref()).collect();
        let (page, status) = exacta(&arguments);
        assert_eq!(status, Some(0), "{verb:?}");
        for part in [".TH \"EXACTA", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH EXIT STATUS\n"] {
            assert!(page.contains(part), "{verb:?}: {part}");
        }
        assert!(page.is_ascii(), "{verb:?}");
        if has_groff {
            let output = formatted(&page);
            assert!(output.status.success());
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{verb:?}");
            assert!(output.stdout.len() > 500, "{verb:?}");
        }
    }
    assert_eq!(exacta(&["man", "nonsense"]).1, Some(2));
}

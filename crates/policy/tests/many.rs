//! Ten thousand commands in a line: every one is judged, wherever the blocked one stands, and within a second.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may fail, and asks how long it has run"
)]

#[path = "scoring/world.rs"]
mod world;

use std::time::Duration;

use exacta_policy::{Decision, Policy, Profile};
use world::Project;

const COUNT: usize = 10_000;
const BLOCKED: &str = "curl http://example.com/";
/// On a processor, in a debug build; a release build takes a fraction of it.
const AT_MOST: Duration = Duration::from_secs(1);

/// `COUNT` harmless commands put together, the one at `place` replaced.
fn line(separator: &str, harmless: &str, place: Option<usize>, other: &str) -> String {
    let commands: Vec<&str> =
        (0..COUNT).map(|number| if place == Some(number) { other } else { harmless }).collect();
    commands.join(separator)
}

fn decision(text: &str) -> Decision {
    let policy = Policy::builtin(Profile::Dev).expect("the built-in rules");
    // Once before: the tables are read when they are first needed.
    policy.screen("true".into(), &Project);
    let begun = time_spent();
    let verdict = policy.screen(text.into(), &Project);
    let took = time_spent().saturating_sub(begun);
    assert!(took < AT_MOST, "took {took:?}");
    verdict.decision
}

/// How long this thread has had a processor: a busy machine does not count.
fn time_spent() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + BLOCKED + &close.repeat(depth)
}

#[test]
fn harmless_ones_are_allowed() {
    assert_eq!(decision(&line("; ", "echo ok", None, "")), Decision::Allow);
}

#[test]
fn the_last_first_and_middle_one_is_found() {
    for separator in ["; ", " && ", " || ", "\n", " & "] {
        for place in [0, COUNT / 2, COUNT - 1] {
            let text = line(separator, "echo ok", Some(place), BLOCKED);
            assert_eq!(decision(&text), Decision::Deny, "{separator:?} {place}");
        }
    }
}

#[test]
fn one_in_nested_subshells_is_found() {
    for (open, close) in [("( ", " )"), ("{ ", "; }"), ("echo $(", ")"), ("if true; then ", "; fi")]
    {
        let hidden = nested(open, close, 20);
        for place in [0, COUNT / 2, COUNT - 1] {
            let text = line("; ", "echo ok", Some(place), &hidden);
            assert_eq!(decision(&text), Decision::Deny, "{open:?} {place}");
        }
    }
}

#[test]
fn one_in_a_text_for_a_shell_is_found() {
    let inner = line("; ", "echo ok", Some(COUNT - 1), BLOCKED);
    for text in
        [format!("bash -c '{inner}'"), format!("eval '{inner}'"), format!("sh <<'E'\n{inner}\nE\n")]
    {
        assert_eq!(decision(&text), Decision::Deny, "{}", text.get(..20).unwrap_or_default());
    }
}

#[test]
fn one_among_ten_thousand_words_and_stages_is_found() {
    let words = format!("echo {} $({BLOCKED})", "word ".repeat(COUNT));
    assert_eq!(decision(&words), Decision::Deny);
    let stages = format!("{}{BLOCKED}", "cat | ".repeat(COUNT / 10));
    assert_eq!(decision(&stages), Decision::Deny);
    let cases = format!("case x in {} z) {BLOCKED};; esac", "y) echo ok;; ".repeat(COUNT));
    assert_eq!(decision(&cases), Decision::Deny);
}

/// Deeper than the parser or the judge go: never allowed.
#[test]
fn too_deep_is_not_allowed() {
    for (open, close) in [("( ", " )"), ("echo $(", ")"), ("eval eval ", ""), ("env nice ", "")] {
        let verdict = decision(&nested(open, close, 3_000));
        assert!(verdict > Decision::Allow, "{open:?}");
    }
}

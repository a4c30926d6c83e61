//! What bash accepts we accept, and what it rejects we reject.

use exacta_syntax::{Limits, ParseOptions, parse};

use crate::corpus;

/// Snippets we complain about in other words: bash has been through the text as arithmetic or as a regular
/// expression first.
const DIFFERENT_WORDS: [&str; 4] =
    ["((1)", "(( (1) )", "for ((i=(1;2);i;i)); do :; done", "[[ a =~ ) ]]"];

fn our_complaint(script: &str) -> Option<(String, u32)> {
    let result = parse(script.as_bytes(), ParseOptions::default(), Limits::default());
    result.err().map(|error| (error.to_string(), error.span.line))
}

#[test]
fn agrees_with_bash_on_the_corpus() {
    let mut failures = Vec::new();
    for snippet in corpus::snippets() {
        let ours = our_complaint(snippet);
        let theirs = corpus::bash_complaint(snippet);
        if ours.is_none() != theirs.is_none() {
            failures.push(format!("{snippet}\n  we:   {ours:?}\n  bash: {theirs:?}"));
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

/// Messages agree in their words and in the line they name.
#[test]
fn complains_in_the_words_of_bash() {
    let mut failures = Vec::new();
    for snippet in corpus::snippets() {
        let (Some(ours), Some(theirs)) = (our_complaint(snippet), corpus::bash_complaint(snippet))
        else {
            continue;
        };
        let first = theirs.lines().next().unwrap_or_default();
        let theirs = first.split_once(": line ").and_then(|(_, rest)| rest.split_once(": "));
        let known = DIFFERENT_WORDS.contains(&snippet);
        if let Some((line, words)) = theirs
            && ((words, line) != (ours.0.as_str(), ours.1.to_string().as_str())) != known
        {
            failures.push(format!("{snippet}\n  we:   {ours:?}\n  bash: {words} in {line}"));
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn accepts_what_bash_accepts_of_the_open_suite() {
    let mut failures = Vec::new();
    for (id, script) in corpus::conformance_scripts() {
        let Some(ours) = our_complaint(&script) else { continue };
        if corpus::bash_complaint(&script).is_none() {
            failures.push(format!("{id}: {}\n{script}", ours.0));
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

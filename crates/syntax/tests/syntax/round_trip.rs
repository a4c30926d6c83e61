//! parse(print(tree)) = tree.

use exacta_syntax::{Limits, ParseOptions, parse, print_list};

use crate::corpus;

/// Why a text does not survive, or nothing.
pub fn broken(script: &[u8], options: ParseOptions) -> Option<String> {
    let tree = parse(script, options, Limits::default()).ok()?;
    let printed = print_list(&tree);
    // The text is longer and may nest deeper than what was written.
    let limits = Limits { depth: 400, ..Limits::default() };
    match parse(&printed, options, limits) {
        Ok(again) if again == tree => None,
        Ok(again) => Some(format!("differs:\n{printed}\n{tree:?}\n{again:?}")),
        Err(error) => Some(format!("{error}:\n{printed}\n{tree:?}")),
    }
}

fn check(scripts: impl Iterator<Item = String>) {
    let mut failures = Vec::new();
    for script in scripts {
        for extglob in [false, true] {
            let options = ParseOptions { extglob, posix: false };
            if let Some(reason) = broken(script.as_bytes(), options) {
                failures.push(format!("=== {script}\n--- {reason}"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} broken:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_corpus_survives() {
    check(corpus::snippets().into_iter().map(str::to_owned));
}

#[test]
fn the_open_suite_survives() {
    check(corpus::conformance_scripts().into_iter().map(|(_, script)| script));
}

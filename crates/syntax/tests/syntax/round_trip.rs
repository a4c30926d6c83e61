//! parse(print(tree)) = tree.

use exacta_syntax::ast::List;
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
        Ok(again) => Some(format!(
            "differs:\n{printed}\n{}\n{}",
            without_spans(&tree),
            without_spans(&again)
        )),
        Err(error) => Some(format!("{error}:\n{printed}\n{}", without_spans(&tree))),
    }
}

fn without_spans(tree: &List) -> String {
    let text = format!("{tree:?}");
    let mut shown = String::new();
    for (index, piece) in text.split("span: Span {").enumerate() {
        let piece =
            if index == 0 { piece } else { piece.split_once('}').map_or("", |(_, rest)| rest) };
        shown.push_str(piece);
    }
    shown
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

//! Depth is limited in everything that nests, and what is within the limit fits a small stack.

use std::time::{Duration, Instant};

use bstr::BStr;
use exacta_syntax::{Limits, ParseOptions, SyntaxErrorKind, parse, parse_arithmetic, print_list};

/// Opening, innermost, closing.
const NESTINGS: [(&str, &str, &str); 36] = [
    ("{ ", "a", "; }"),
    ("( ", "a", " )"),
    ("(", "a", ")"),
    ("if a; then ", "b", "; fi"),
    ("if ", "a", "; then b; fi"),
    ("if a; then b; else c; ", "d", "; fi"),
    ("while ", "a", "; do b; done"),
    ("for x in y; do ", "a", "; done"),
    ("for ((;;)); do ", "a", "; done"),
    ("case x in x) ", "a", ";; esac"),
    ("f() { ", "a", "; }"),
    ("echo $(", "a", ")"),
    ("echo \"$(", "a", ")\""),
    ("echo <(", "a", ")"),
    ("echo $(( $(", "a", ") ))"),
    ("echo $((", "1", "))"),
    ("echo $(( $((", "1", ")) ))"),
    ("echo $((echo) ", "a", ")"),
    ("((", "1", "))"),
    ("((a) ", "; b", ")"),
    ("$[", "1", "]"),
    ("${x:-", "a", "}"),
    ("\"${x:-", "a", "}\""),
    ("${x#", "a", "}"),
    ("${x/a/", "b", "}"),
    ("${x[", "1", "]}"),
    ("${x[", "1", "]!}"),
    ("${x:", "1", "}"),
    ("a[", "1", "]=x"),
    ("a=(x$(", "a", "))"),
    ("[[ ( ", "a", " ) ]]"),
    ("[[ ! ", "a", " ]]"),
    ("[[ a == $(", "a", ") ]]"),
    ("[[ a =~ (", "a", ") ]]"),
    ("cat <<E\n$(", "a", ")\nE\n"),
    ("x=`", "a", "`"),
];

/// Nesting that repeats only a part of the text.
const REPETITIONS: [(&str, &str, &str, &str, &str); 9] = [
    ("echo $((", "(", "1", ")", "))"),
    ("((", "-", "1", "", "))"),
    ("((", "1+(", "1", ")", "))"),
    ("((", "x=", "1", "", "))"),
    ("((", "a?b:", "1", "", "))"),
    ("((", "a[", "1", "]", "))"),
    ("[[ ", "( ", "a", " )", " ]]"),
    ("[[ ", "! ", "a", "", " ]]"),
    ("echo ", "{a,", "b", "}", ""),
];

fn texts(levels: usize) -> Vec<String> {
    let mut texts = Vec::new();
    for (open, middle, close) in NESTINGS {
        texts.push(format!("{}{middle}{}", open.repeat(levels), close.repeat(levels)));
        texts.push(open.repeat(levels));
    }
    for (before, open, middle, close, after) in REPETITIONS {
        let inside = format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
        texts.push(format!("{before}{inside}{after}"));
    }
    texts
}

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn everything_that_nests_is_limited() {
    on_a_small_stack(|| {
        for levels in [150, 198, 205, 1_000, 10_000] {
            for text in texts(levels) {
                let start = Instant::now();
                for extglob in [false, true] {
                    let options = ParseOptions { extglob, posix: false };
                    if let Ok(tree) = parse(text.as_bytes(), options, Limits::default()) {
                        drop(print_list(&tree.clone()));
                    }
                }
                let beginning: String = text.chars().take(20).collect();
                let elapsed = start.elapsed();
                assert!(elapsed < Duration::from_secs(2), "{levels} × {beginning}: {elapsed:?}");
            }
        }
    });
}

#[test]
fn ten_thousand_levels_are_too_deep() {
    on_a_small_stack(|| {
        for (open, middle, close) in NESTINGS {
            let text = format!("{}{middle}{}", open.repeat(10_000), close.repeat(10_000));
            // Text in backquotes cannot nest without ever more backslashes; a here-document that is
            // announced twice on a line has no body in the first.
            let flat = open.starts_with("x=`") || open.starts_with("cat");
            let result = parse(text.as_bytes(), ParseOptions::default(), Limits::default());
            let too_deep = matches!(&result, Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep(200)));
            assert!(too_deep || flat || result.is_err(), "{open} nests without limit");
        }
        for (before, open, middle, close, after) in REPETITIONS {
            let inside = format!("{}{middle}{}", open.repeat(10_000), close.repeat(10_000));
            let text = format!("{before}{inside}{after}");
            let result = parse(text.as_bytes(), ParseOptions::default(), Limits::default());
            let error = result.expect_err(open);
            assert_eq!(error.kind, SyntaxErrorKind::TooDeep(200), "{before}{open}");
        }
    });
}

#[test]
fn late_arithmetic_is_limited() {
    on_a_small_stack(|| {
        for (open, close) in [("(", ")"), ("-", ""), ("x=", ""), ("a?b:", ""), ("a[", "]")] {
            for levels in [10_000, 195] {
                let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
                let result = parse_arithmetic(BStr::new(&text), Limits::default());
                assert_eq!(result.is_ok(), levels < 200, "{open} {levels}");
            }
        }
    });
}

/// Backtracking is bounded: each `((` is tried once, each broken `${` once.
#[test]
fn ambiguity_does_not_explode() {
    on_a_small_stack(|| {
        let texts = [
            format!("{}a{}", "$((echo ".repeat(150), ")".repeat(150)),
            format!("{}a{}", "$((echo ".repeat(90), ") )".repeat(90)),
            format!("{}a{}", "((a;".repeat(90), ") )".repeat(90)),
            format!("{}1{}", "$(( $((".repeat(90), ")) )".repeat(90)),
            format!("{}1{}", "${a[".repeat(90), "]!}".repeat(90)),
            "$((".repeat(150),
            "((".repeat(150),
            "$(( ( ".repeat(150),
            "${a[".repeat(150),
            "$((\"".repeat(150),
            "<((".repeat(150),
        ];
        for text in texts {
            let start = Instant::now();
            let _ = parse(text.as_bytes(), ParseOptions::default(), Limits::default());
            let elapsed = start.elapsed();
            let beginning: String = text.chars().take(12).collect();
            assert!(elapsed < Duration::from_millis(500), "{beginning}: {elapsed:?}");
        }
    });
}

#[test]
fn long_flat_texts_are_linear() {
    let pieces = [
        "echo a\n", "a; ", "a && ", "a | ", "'x'", "$x", "{a}", "{a,b}", "{1..", "\\a", "x=(",
        "# c\n", "a=b ", "${x}", "$(a)", "<<E ", "\n", "`a`", "*(", "a[b]=c ", "[", "$", "~",
        "\\\n", "1+", "\"",
    ];
    for piece in pieces {
        for prefix in ["", "echo ", "((", "cat <<E\n", "[[ "] {
            let text = format!("{prefix}{}", piece.repeat(10_000));
            let start = Instant::now();
            let _ = parse(text.as_bytes(), ParseOptions::default(), Limits::default());
            let elapsed = start.elapsed();
            assert!(elapsed < Duration::from_secs(2), "{prefix}{piece}: {elapsed:?}");
        }
    }
}

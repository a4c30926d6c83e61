use super::{Pattern, PatternOptions, Reach};

fn matches(pattern: &str, text: &str) -> bool {
    let options = PatternOptions { extglob: true, ..PatternOptions::default() };
    Pattern::new(pattern.into(), options).matches(text.as_bytes())
}

#[test]
fn whole_texts() {
    let table: &[(&str, &str, bool)] = &[
        ("", "", true),
        ("", "a", false),
        ("a*c", "abc", true),
        ("a*c", "abcd", false),
        ("*", "", true),
        ("?", "é", true),
        ("??", "é", false),
        ("[[:alpha:]]", "é", true),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("[]]", "]", true),
        ("[!]]", "]", false),
        ("[a", "[a", true),
        ("[a-]", "-", true),
        ("[\\]]", "]", true),
        ("[a\\-z]", "b", false),
        ("[a\\-z]", "-", true),
        ("\\*", "*", true),
        ("\\*", "a", false),
        ("@(a|b)c", "bc", true),
        ("+(ab|c)", "abcab", true),
        ("+(ab|c)", "", false),
        ("*(ab|c)", "", true),
        ("!(a|b)", "c", true),
        ("!(a|b)", "a", false),
        ("!(a|b)", "ab", true),
        ("?(a)b", "b", true),
        ("@(a|@(b|c))d", "cd", true),
        ("a@(", "a@(", true),
        ("@(a|*)", "xyz", true),
        ("[[:digit:][:upper:]]", "Q", true),
        ("[z-a]", "m", false),
    ];
    for (pattern, text, expected) in table {
        assert_eq!(matches(pattern, text), *expected, "{pattern:?} on {text:?}");
    }
}

#[test]
fn no_blow_up() {
    let text = "a".repeat(2_000);
    assert!(!matches("*a*a*a*a*a*a*a*a*b", &text));
    assert!(!matches("*(*(*(*(a))))b", &text));
    assert!(!matches("*(a|aa|aaa)b", &text));
    assert!(!matches("+(+(+(a)+(a)))b", &text.get(..300).unwrap_or_default()));
}

#[test]
fn parts_of_texts() {
    let pattern = |text: &str| Pattern::new(text.into(), PatternOptions::default());
    assert_eq!(pattern("*/").prefix(b"a/b/c", Reach::Shortest), Some(2));
    assert_eq!(pattern("*/").prefix(b"a/b/c", Reach::Longest), Some(4));
    assert_eq!(pattern("/*").suffix(b"a/b/c", Reach::Shortest), Some(3));
    assert_eq!(pattern("/*").suffix(b"a/b/c", Reach::Longest), Some(1));
    assert_eq!(pattern("?").suffix("aé".as_bytes(), Reach::Shortest), Some(1));
    assert_eq!(pattern("x").suffix(b"abc", Reach::Shortest), None);
    let mut found = Vec::new();
    pattern("b?").find_each(b"abcabd", |start, end| {
        found.push((start, end));
        true
    });
    assert_eq!(found, [(1, 3), (4, 6)]);
}

#[test]
fn leading_dots() {
    let options = PatternOptions { extglob: true, leading_dot: true, ..PatternOptions::default() };
    let matches =
        |pattern: &str, text: &str| Pattern::new(pattern.into(), options).matches(text.as_bytes());
    assert!(!matches("*", ".a"));
    assert!(matches(".*", ".a"));
    assert!(!matches("[.]a", ".a"));
    assert!(matches("@(.a|b)", ".a"));
    assert!(!matches("@(*|b)", ".a"));
    assert!(!matches("!(b)", ".a"));
}

#[test]
fn ignoring_case() {
    let options = PatternOptions { ignore_case: true, ..PatternOptions::default() };
    let matches =
        |pattern: &str, text: &str| Pattern::new(pattern.into(), options).matches(text.as_bytes());
    assert!(matches("abc", "ABC"));
    assert!(matches("[a-c]x", "BX"));
    assert!(matches("É*", "école"));
    assert!(!matches("abc", "ABD"));
}

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
    assert!(!matches("+(+(+(a)+(a)))b", text.get(..300).unwrap_or_default()));
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

/// Both ways of matching agree on everything short that a few characters can make.
#[test]
fn stretches_and_positions_agree() {
    let texts: Vec<Vec<u8>> = strings(b"ab.", 4);
    for pattern in strings(b"ab?*", 4) {
        let pattern = Pattern::new(pattern.as_slice().into(), PatternOptions::default());
        for text in &texts {
            let ends = pattern.ends_from(text, 0);
            let starts = pattern.starts_to_end(text);
            assert_eq!(pattern.matches(text), ends.contains(&text.len()));
            assert_eq!(pattern.prefix(text, Reach::Shortest), ends.first().copied());
            assert_eq!(pattern.prefix(text, Reach::Longest), ends.last().copied());
            assert_eq!(pattern.suffix(text, Reach::Shortest), starts.last().copied());
            assert_eq!(pattern.suffix(text, Reach::Longest), starts.first().copied());
            let mut found = None;
            pattern.find_each(text, |start, end| {
                found = Some((start, end));
                false
            });
            let first = pattern.all_starts(text).first().copied().filter(|at| *at < text.len());
            let expected = first
                .and_then(|start| pattern.ends_from(text, start).last().map(|end| (start, *end)));
            assert_eq!(found, expected);
        }
    }
}

fn strings(letters: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..longest {
        last = last
            .iter()
            .flat_map(|text| letters.iter().map(|letter| [text.as_slice(), &[*letter]].concat()))
            .collect();
        all.extend_from_slice(&last);
    }
    all
}

#[test]
fn long_texts_are_quick() {
    let spaces = " ".repeat(1 << 20);
    let options = PatternOptions { extglob: true, ..PatternOptions::default() };
    let trim = Pattern::new("*([[:space:]])".into(), options);
    assert_eq!(trim.prefix(spaces.as_bytes(), Reach::Longest), Some(1 << 20));
    assert_eq!(trim.suffix(spaces.as_bytes(), Reach::Longest), Some(0));
    let not = Pattern::new("*!(b)*!(c)x".into(), options);
    assert!(!not.matches(spaces.get(..1 << 16).unwrap_or_default().as_bytes()));
    let plain = |text: &str| Pattern::new(text.into(), PatternOptions::default());
    assert!(!plain("*a*b*").matches(spaces.as_bytes()));
    assert_eq!(plain("* x").prefix(spaces.as_bytes(), Reach::Longest), None);
    let mut count = 0;
    plain(" *x").find_each(spaces.as_bytes(), |_, _| {
        count += 1;
        true
    });
    assert_eq!(count, 0);
}

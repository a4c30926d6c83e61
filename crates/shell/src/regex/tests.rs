//! The translation of expressions, compared with what GNU `grep` and PCRE give.

use super::{Error, Matcher, Node, Preference, Syntax, parse_perl, parse_posix};

/// An expression, a line, whether the line is selected, and what `grep -o` prints of it.
type Row = (&'static str, &'static str, bool, &'static [&'static str]);

const BASIC: &[Row] = &[
    ("a*b", "xaab", true, &["aab"]),
    ("*a", "x*a*a", true, &["*a", "*a"]),
    (r"\(*a\)", "*a", true, &["*a"]),
    (r"a\{2\}", "aaaa", true, &["aa", "aa"]),
    (r"a\{2,\}", "aaaaa", true, &["aaaaa"]),
    (r"a\{,2\}", "aaab", true, &["aa", "a"]),
    (r"a\{1,2\}\{2\}", "aaaaa", true, &["aaaa"]),
    (r"a\|b", "xaybz", true, &["a", "b"]),
    (r"a\+", "baaab", true, &["aaa"]),
    (r"a\?b", "ab b", true, &["ab", "b"]),
    (r"\(ab\)*c", "ababc", true, &["ababc"]),
    ("^a", "aba", true, &["a"]),
    ("a^b", "a^b", true, &["a^b"]),
    (r"\(^a\)", "aa", true, &["a"]),
    (r"x\|^a", "xa", true, &["x"]),
    ("a$", "aba", true, &["a"]),
    ("a$b", "a$b", true, &["a$b"]),
    (r"\(a$\)", "ba", true, &["a"]),
    (r"a$\|b", "ba", true, &["b", "a"]),
    ("^*", "*a", true, &["*"]),
    ("^*a", "*aa", true, &["*a"]),
    (r"\(^*a\)", "*a", true, &["*a"]),
    ("[abc]", "xcb", true, &["c", "b"]),
    ("[^abc]", "acdb", true, &["d"]),
    ("[]a]", "x]a", true, &["]", "a"]),
    ("[^]a]", "]ab", true, &["b"]),
    ("[a-]", "b-a", true, &["-", "a"]),
    ("[--/]", "./-", true, &[".", "/", "-"]),
    (r"[a\]b]", r"\]b]", false, &[]),
    ("[[:alpha:]]", "1é2x", true, &["é", "x"]),
    ("[[:digit:]-]", "a-1", true, &["-", "1"]),
    ("[[.a.]-c]", "abcd", true, &["a", "b", "c"]),
    ("[[=a=]]", "xa", true, &["a"]),
    ("[[.-.]]", "a-b", true, &["-"]),
    (r"\w", "-é_9-", true, &["é", "_", "9"]),
    (r"\W", "é-_", true, &["-"]),
    (r"\s", "a\tb", true, &["\t"]),
    (r"\S", "\ta", true, &["a"]),
    (r"\<", "ab cd", true, &[]),
    (r"\<.", "ab cd", true, &["a", "c"]),
    (r".\>", "ab cd", true, &["b", "d"]),
    (r"\bb", "ab bc", true, &["b"]),
    (r"\Bb", "ab bc", true, &["b"]),
    (r"\(a\)\1", "abaa", true, &["aa"]),
    (r"\(.\)\(.\)\2\1", "xabbay", true, &["abba"]),
    (r"\(a*\)b\1", "aabaa", true, &["aabaa"]),
    (r"\d", "d1", true, &["d"]),
    (r"\.", "a.", true, &["."]),
    (r"\n", "n", true, &["n"]),
    (".", "日本", true, &["日", "本"]),
    ("a.c", "a日c", true, &["a日c"]),
    (r"\{1\}a", "{1}a", true, &["{1}a"]),
    ("+", "a+", true, &["+"]),
    ("?", "a?", true, &["?"]),
    ("a{1}", "a{1}", true, &["a{1}"]),
    ("(a)", "(a)", true, &["(a)"]),
    (r"a|b\|a", "b", false, &[]),
];

const EXTENDED: &[Row] = &[
    ("a|ab|abc", "abcd", true, &["abc"]),
    ("(a|ab)(c|bcd)(d*)", "abcd", true, &["abcd"]),
    ("a?(ab)?", "ab", true, &["ab"]),
    ("(a|b)*c", "abac", true, &["abac"]),
    ("x*", "axxb", true, &["xx"]),
    ("a+b*", "aabbab", true, &["aabb", "ab"]),
    ("(ab){2}", "ababab", true, &["abab"]),
    ("a{2}{3}", "aaaaaaa", true, &["aaaaaa"]),
    ("a{,2}", "aaa", true, &["aa", "a"]),
    ("a{0}b", "ab", true, &["b"]),
    ("a{1", "a{1", true, &["a{1"]),
    ("a{x}", "a{x}", true, &["a{x}"]),
    ("a{1,x", "a{1,x", true, &["a{1,x"]),
    ("a)", "a)", true, &["a)"]),
    ("()", "a", true, &[]),
    ("(|a)b", "ab", true, &["ab"]),
    ("a||b", "ab", true, &["a", "b"]),
    ("(^a)", "aab", true, &["a"]),
    ("(a$)", "aab", false, &[]),
    ("a^b", "a^b", false, &[]),
    ("a$b", "a$b", false, &[]),
    ("^$", "", true, &[]),
    ("^", "a", true, &[]),
    (r"\(a\)", "(a)", true, &["(a)"]),
    (r"\{1\}", "{1}", true, &["{1}"]),
    (r"(a)\1", "aaa", true, &["aa"]),
    (r"(a)(b)\2\1", "abba", true, &["abba"]),
    (r"([a-z])\1", "xaabb", true, &["aa", "bb"]),
    (r"(.*)\1", "abab", true, &["abab"]),
    ("[a-c]+", "xabcd", true, &["abc"]),
    ("[^,]+", "a,bc", true, &["a", "bc"]),
    ("[[:upper:]][[:lower:]]*", "Ab cD", true, &["Ab", "D"]),
    (r"\bfoo\b", "foo food foo", true, &["foo", "foo"]),
    (r"\w+@\w+\.\w+", "me@site.org x", true, &["me@site.org"]),
    ("foo|foobar|bar", "foobarbar", true, &["foobar", "bar"]),
    ("(foo|foobar)(bar)?", "foobarbar", true, &["foobarbar"]),
    ("é+", "éé", true, &["éé"]),
    (".{3}", "日本語x", true, &["日本語"]),
    ("(a|b|c|d){3}", "abcdab", true, &["abc", "dab"]),
    ("a.*b", "a1b2b3", true, &["a1b2b"]),
    ("a.*?b", "a1b2b3", true, &["a1b2b"]),
    (r"\<a", "a ba", true, &["a"]),
    (r"a\>", "ba ab", true, &["a"]),
    ("x{2,3}", "xxxxx", true, &["xxx", "xx"]),
    ("-", "a-b", true, &["-"]),
    (r"\-", "a-b", true, &["-"]),
    (r"a\|b|a", "b", false, &[]),
];

const PERL: &[Row] = &[
    ("a|ab", "abc", true, &["a"]),
    ("a+?", "aaa", true, &["a", "a", "a"]),
    ("a.*?b", "a1b2b", true, &["a1b"]),
    ("(?<=a)b", "abcb", true, &["b"]),
    ("(?<!a)b", "abcb", true, &["b"]),
    ("a(?=b)", "abac", true, &["a"]),
    ("a(?!b)", "abac", true, &["a"]),
    (r"foo\Kbar", "foobar", true, &["bar"]),
    (r"(\w)\1", "aabb", true, &["aa", "bb"]),
    (r"(?<x>a)\k<x>", "aaa", true, &["aa"]),
    ("(?P<x>a)(?P=x)", "aa", true, &["aa"]),
    ("(?i)ab", "AbaB", true, &["Ab", "aB"]),
    ("(?i:a)b", "AbAB", true, &["Ab"]),
    ("a(?i)b", "aBAB", true, &["aB"]),
    (r"\d+", "a12b3", true, &["12", "3"]),
    (r"\D+", "a12b", true, &["a", "b"]),
    (r"\w+", "ab_1-é", true, &["ab_1"]),
    (r"\s", "a\tb", true, &["\t"]),
    (r"\bfoo\b", "foo food", true, &["foo"]),
    ("[[:^digit:]]+", "a1b", true, &["a", "b"]),
    (r"[^\W\d]+", "ab1c", true, &["ab", "c"]),
    (r"\x61", "a", true, &["a"]),
    (r"\x{e9}", "é", true, &["é"]),
    (r"\141", "a", true, &["a"]),
    (r"\Qa.b\E+", "a.bb", true, &["a.bb"]),
    ("(?>a+)ab", "aaab", false, &[]),
    ("a++b", "aab", true, &["aab"]),
    ("(?:ab)+", "ababx", true, &["abab"]),
    ("(a|ab)(c|bcd)", "abcd", true, &["abcd"]),
    ("x{2,}", "xxx", true, &["xxx"]),
    ("x{,2}", "x{,2}", true, &["x{,2}"]),
    (r"\p{Lu}", "aÉB", true, &["É", "B"]),
    (r"\P{L}", "a1", true, &["1"]),
    ("(?x) a b # c", "ab", true, &["ab"]),
    ("(?s).", "a", true, &["a"]),
    (r"\Aa", "aa", true, &["a"]),
    (r"a\z", "aa", true, &["a"]),
    ("[a-c-]", "-b", true, &["-", "b"]),
    ("[]a]", "]a", true, &["]", "a"]),
    (r"[\]a]", "]a", true, &["]", "a"]),
    (r"\h+", "a \tb", true, &[" \t"]),
    (r"\N+", "ab", true, &["ab"]),
];

const BAD_BASIC: &[(&str, &str)] = &[
    ("[a", "Unmatched [, [^, [:, [., or [="),
    (r"a\{1", r"Unmatched \{"),
    (r"\(a", r"Unmatched ( or \("),
    (r"a\)", r"Unmatched ) or \)"),
    ("[[:foo:]]", "Invalid character class name"),
    ("[:space:]", "character class syntax is [[:space:]], not [:space:]"),
    (r"a\", "Trailing backslash"),
    ("[b-a]", "Invalid range end"),
    (r"a\{2,1\}", r"Invalid content of \{\}"),
    (r"\(a\)\2", "Invalid back reference"),
    (r"\1", "Invalid back reference"),
    (r"a\{1a\}", r"Invalid content of \{\}"),
    (r"a\{99999\}", "Regular expression too big"),
    ("[[.zz.]]", "Invalid collation character"),
    ("[a-[:digit:]]", "Invalid range end"),
];

const BAD_EXTENDED: &[(&str, &str)] = &[
    ("(a", r"Unmatched ( or \("),
    ("a{2,1}", r"Invalid content of \{\}"),
    ("a{}", r"Invalid content of \{\}"),
    ("a{1,2,3}", r"Invalid content of \{\}"),
    ("a{99999}", "Regular expression too big"),
    (r"(a)\2", "Invalid back reference"),
    ("[[:alpha", "Unmatched [, [^, [:, [., or [="),
    ("[[=ab=]]", "Invalid collation character"),
];

const BAD_PERL: &[(&str, &str)] = &[
    ("(a", "missing closing parenthesis"),
    ("a)", "unmatched closing parenthesis"),
    ("[a", "missing terminating ] for character class"),
    ("*a", "quantifier does not follow a repeatable item"),
    ("a**", "quantifier does not follow a repeatable item"),
    ("a{2,1}", "numbers out of order in {} quantifier"),
    ("(?<=a*)b", "lookbehind assertion is not fixed length"),
    (r"a\", r"\ at end of pattern"),
    ("(?z)", "unrecognized character after (? or (?-"),
    ("[z-a]", "range out of order in character class"),
    ("[[:foo:]]", "unknown POSIX class name"),
    (r"\p{Foo}", r"unknown property after \P or \p"),
    ("(?<n", "syntax error in subpattern name (missing terminator?)"),
    (r"\k<x>", "reference to non-existent subpattern"),
    (r"\2", "reference to non-existent subpattern"),
    (r"\x{110000}", r"character code point value in \x{} or \o{} is too large"),
    ("(?<1>a)", "subpattern name must start with a non-digit"),
    ("a{70000}", "number too big in {} quantifier"),
    ("(?<n>a)(?<n>b)", "two named subpatterns have the same name (PCRE2_DUPNAMES not set)"),
    (r"[\d-z]", "invalid range in character class"),
    (r"\c", r"\c at end of pattern"),
    ("^*", "quantifier does not follow a repeatable item"),
];

/// What `grep -o` prints.
fn matches(matcher: &Matcher, line: &str) -> Vec<String> {
    let mut scratch = matcher.scratch(None);
    let mut found = Vec::new();
    let mut from = 0;
    while let Ok(Some(range)) = matcher.find_at(&mut scratch, line.as_bytes(), from) {
        if range.is_empty() {
            if range.start >= line.len() {
                break;
            }
            from = range.start + 1;
            continue;
        }
        found.push(String::from_utf8_lossy(&line.as_bytes()[range.clone()]).into_owned());
        from = range.end;
    }
    found
}

fn check(rows: &[Row], preference: Preference, parse: impl Fn(&str) -> Result<Node, Error>) {
    for (pattern, line, selected, expected) in rows {
        let node = parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
        let matcher = Matcher::new(&node, preference, b'\n').expect("a matcher");
        let mut scratch = matcher.scratch(None);
        let is_match = matcher.is_match(&mut scratch, line.as_bytes());
        assert_eq!(is_match, Ok(*selected), "{pattern} on {line}");
        assert_eq!(matches(&matcher, line), *expected, "{pattern} on {line}");
        // Scanning a buffer finds every line that matches.
        let buffer = format!("{line}\n");
        let place = matcher.scan(&mut scratch, buffer.as_bytes(), 0..buffer.len());
        let candidate = place.is_some_and(|place| place < buffer.len());
        assert!(candidate || !selected, "{pattern} on {line}: not found by the scan");
        assert!(matcher.must_verify() || candidate == *selected, "{pattern} on {line}: the scan");
    }
}

fn posix(syntax: Syntax) -> impl Fn(&str) -> Result<Node, Error> {
    move |pattern| parse_posix(pattern.as_bytes(), syntax, false).map(|parsed| parsed.node)
}

#[test]
fn basic() {
    check(BASIC, Preference::Longest, posix(Syntax::GREP));
}

#[test]
fn extended() {
    check(EXTENDED, Preference::Longest, posix(Syntax::EGREP));
}

#[test]
fn perl() {
    check(PERL, Preference::First, |pattern| parse_perl(pattern.as_bytes(), false));
}

#[test]
fn what_is_wrong_is_named_in_the_usual_words() {
    for (pattern, message) in BAD_BASIC {
        let error = posix(Syntax::GREP)(pattern).expect_err(pattern);
        assert_eq!(error, Error::Invalid(message), "{pattern}");
    }
    for (pattern, message) in BAD_EXTENDED {
        let error = posix(Syntax::EGREP)(pattern).expect_err(pattern);
        assert_eq!(error, Error::Invalid(message), "{pattern}");
    }
    for (pattern, message) in BAD_PERL {
        let error = parse_perl(pattern.as_bytes(), false).expect_err(pattern);
        assert_eq!(error, Error::Invalid(message), "{pattern}");
    }
}

#[test]
fn what_is_not_there_is_refused() {
    for pattern in ["(?|a|b)", "(?(1)a)", "(?R)", "(?1)", "(*FAIL)", r"\X", r"\G", "(?&n)", "(?C)"]
    {
        let error = parse_perl(pattern.as_bytes(), false).expect_err(pattern);
        assert!(matches!(error, Error::Unsupported(_)), "{pattern}: {error:?}");
    }
    let deep = "(".repeat(10_000) + &")".repeat(10_000);
    assert!(matches!(posix(Syntax::EGREP)(&deep), Err(Error::Unsupported(_))));
    assert!(matches!(parse_perl(deep.as_bytes(), false), Err(Error::Unsupported(_))));
    let repeats = format!("a{}", "{2}".repeat(1_000));
    assert!(matches!(posix(Syntax::EGREP)(&repeats), Err(Error::Unsupported(_))));
}

#[test]
fn folding() {
    for (pattern, line) in [("straße", "STRASSE"), ("é", "É"), ("[a-c]", "B"), ("[[:upper:]]", "x")]
    {
        let parsed = parse_posix(pattern.as_bytes(), Syntax::EGREP, true).expect(pattern);
        let matcher = Matcher::new(&parsed.node, Preference::Longest, b'\n').expect(pattern);
        let expected = pattern != "straße";
        let found = matcher.is_match(&mut matcher.scratch(None), line.as_bytes());
        assert_eq!(found, Ok(expected), "{pattern} on {line}");
    }
}

#[test]
fn expressions_that_explode_are_given_up() {
    let node = parse_perl(br"(a+)+\1$", false).expect("an expression");
    let matcher = Matcher::new(&node, Preference::First, b'\n').expect("a matcher");
    let line = "a".repeat(40) + "b";
    let found = matcher.is_match(&mut matcher.scratch(None), line.as_bytes());
    assert_eq!(found, Err(Error::TooComplex));
    // The same without a back-reference is no trouble at all.
    let node = parse_perl(b"(a+)+$", false).expect("an expression");
    let matcher = Matcher::new(&node, Preference::First, b'\n').expect("a matcher");
    let found = matcher.is_match(&mut matcher.scratch(None), line.as_bytes());
    assert_eq!(found, Ok(false));
}

/// Any text is an expression or an error, never a panic, and so is what it is matched against.
#[test]
fn any_text_is_an_expression_or_an_error() {
    const PIECES: [&str; 40] = [
        "a", "b", ".", "*", "+", "?", "{", "}", "{1,2}", "{2}", "(", ")", "|", "[", "]", "^", "$",
        "\\", "\\(", "\\)", "\\{", "\\}", "\\1", "\\w", "\\b", "[[:", ":]]", "[a-", "(?", "(?=",
        "(?<=", "(?<!", "(?i)", "\\K", "\\x{", "\\p{", "\u{e9}", "\n", "\\Q", "-",
    ];
    let mut seed = 42_u64;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let length = next(8);
        let pattern: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        let fold = next(2) == 1;
        let nodes = [
            parse_posix(pattern.as_bytes(), Syntax::GREP, fold).map(|parsed| parsed.node),
            parse_posix(pattern.as_bytes(), Syntax::EGREP, fold).map(|parsed| parsed.node),
            parse_posix(pattern.as_bytes(), Syntax::EMACS, fold).map(|parsed| parsed.node),
            parse_perl(pattern.as_bytes(), fold),
        ];
        // Building automata is slow without optimization: not every expression gets one.
        if next(20) > 0 {
            continue;
        }
        for node in nodes.into_iter().flatten() {
            let Ok(matcher) = Matcher::new(&node, Preference::Longest, b'\n') else { continue };
            for line in [b"".as_slice(), b"ab", b"a{1}(b)", b"\xff\xfe", "éé".as_bytes()] {
                let mut scratch = matcher.scratch(None);
                let _ = matcher.find_at(&mut scratch, line, 0);
                let _ = matcher.scan(&mut scratch, line, 0..line.len());
            }
        }
    }
}

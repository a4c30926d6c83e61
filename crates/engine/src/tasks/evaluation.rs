//! What a step has led to, compared with what was expected of it. Pure: whoever ran it says what it found.

use super::patterns::{glob_matches, regex};
use super::{Check, Expect};

/// What came of one attempt.
pub struct Facts<'a> {
    /// Absent: it did not end by itself.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    /// It was not let run: the rule and the reason.
    pub refused: Option<&'a str>,
    /// What was found in its output, by [`of_output`].
    pub output: &'a [Check],
    /// Is there anything at this path of the project?
    pub exists: &'a dyn Fn(&str) -> bool,
    /// The paths that it has changed, from the root of the project on. Absent: nobody knows.
    pub changed: Option<&'a [String]>,
}

/// Every expectation with what was found. One that cannot be looked at has not held.
pub fn evaluate(expect: &Expect, facts: &Facts<'_>) -> Vec<Check> {
    if let Some(refused) = facts.refused {
        return vec![check("refused", "to be let run", refused, false)];
    }
    let mut checks = Vec::new();
    if facts.timed_out {
        checks.push(check("timeout", "an end in time", "it ran out of time", false));
    }
    checks.push(exit_code(expect, facts));
    checks.extend_from_slice(facts.output);
    let there = |path: &str| if (facts.exists)(path) { "it is there" } else { "it is not there" };
    for path in &expect.files_exist {
        checks.push(check("files_exist", path, there(path), (facts.exists)(path)));
    }
    for path in &expect.files_absent {
        checks.push(check("files_absent", path, there(path), !(facts.exists)(path)));
    }
    checks.extend(expect.changed_only.as_ref().map(|only| changed(only, facts.changed)));
    checks
}

/// The expectations of the output, held against all of it that there is: what is kept of it afterwards is less.
pub fn of_output(expect: &Expect, stdout: Written<'_>, stderr: Written<'_>) -> Vec<Check> {
    let contains = expect.stdout_contains.iter().map(|text| stdout.contains(text));
    let matches = expect.stdout_matches.iter().map(|it| stdout.matches("stdout_matches", it));
    let errors = expect.stderr_matches.iter().map(|it| stderr.matches("stderr_matches", it));
    contains.chain(matches).chain(errors).collect()
}

/// Has everything held?
pub fn held(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.held)
}

/// The first that has not, in a sentence.
pub fn failure(checks: &[Check]) -> Option<String> {
    let failed = checks.iter().find(|check| !check.held)?;
    Some(in_words(failed))
}

/// `exit_code: expected 0, found 1`
pub fn in_words(check: &Check) -> String {
    format!("{}: expected {}, found {}", check.what, check.expected, check.found)
}

fn check(what: &str, expected: &str, found: &str, held: bool) -> Check {
    Check { what: what.to_owned(), expected: expected.to_owned(), found: found.to_owned(), held }
}

fn exit_code(expect: &Expect, facts: &Facts<'_>) -> Check {
    let found =
        facts.exit_code.map_or_else(|| "none: it was ended".to_owned(), |code| code.to_string());
    let held = facts.exit_code == Some(expect.exit_code) && !facts.timed_out;
    check("exit_code", &expect.exit_code.to_string(), &found, held)
}

/// One stream of what was written.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    pub bytes: &'a [u8],
    /// There was more: these are its beginning and its end.
    pub cut: bool,
}

impl Written<'_> {
    fn contains(self, text: &str) -> Check {
        let found = memchr::memmem::find(self.bytes, text.as_bytes());
        self.check("stdout_contains", text, found)
    }

    /// An expression that cannot be used was refused when the plan was read; here it has not held.
    fn matches(self, what: &str, pattern: &str) -> Check {
        match regex(pattern) {
            Ok(regex) => {
                let found = regex.find(self.bytes).map(|found| found.start());
                self.check(what, pattern, found)
            }
            Err(why) => check(what, pattern, &format!("no regular expression: {why}"), false),
        }
    }

    fn check(self, what: &str, expected: &str, at: Option<usize>) -> Check {
        let found = match at {
            Some(at) => line_at(self.bytes, at),
            None if self.cut => {
                let (found, kilobytes) = (last_lines(self.bytes), (self.bytes.len() >> 10).max(1));
                format!("{found} (only {kilobytes} KB of it, from both ends, were looked at)")
            }
            None => last_lines(self.bytes),
        };
        check(what, &quoted(expected), &found, at.is_some())
    }
}

/// So much of what was found is shown.
const WIDEST: usize = 200;
const LINES: usize = 3;

/// The line that this place is on.
fn line_at(bytes: &[u8], at: usize) -> String {
    let start = memchr::memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |it| it + 1);
    let line = bytes.get(start..).unwrap_or_default().split(|byte| *byte == b'\n').next();
    quoted(&String::from_utf8_lossy(line.unwrap_or_default()))
}

/// What the output ends with, which is where most programs say what went wrong.
fn last_lines(bytes: &[u8]) -> String {
    let text = crate::report::without_escapes(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "nothing".to_owned();
    }
    let tail = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
    quoted(&tail.join("\n"))
}

/// On one line, and not a long one: its end is what counts.
fn quoted(text: &str) -> String {
    let text = crate::report::without_escapes(text.as_bytes());
    let length = text.chars().count();
    if length <= WIDEST {
        return format!("{text:?}");
    }
    let end: String = text.chars().skip(length - WIDEST).collect();
    format!("…{end:?}")
}

fn changed(only: &[String], changed: Option<&[String]>) -> Check {
    const MOST: usize = 5;
    let expected = if only.is_empty() { "nothing".to_owned() } else { only.join(", ") };
    let Some(changed) = changed else {
        return check("changed_only", &expected, "nobody knows what it has changed", false);
    };
    let allowed = |path: &str| only.iter().any(|pattern| glob_matches(pattern, path));
    let others: Vec<&String> = changed.iter().filter(|path| !allowed(path)).collect();
    let found = match (others.as_slice(), changed) {
        ([], []) => "nothing was changed".to_owned(),
        ([], _) => "nothing else was changed".to_owned(),
        (others, _) => {
            let shown: Vec<String> = others.iter().take(MOST).map(|path| quoted(path)).collect();
            let more = others.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", shown.join(", "))
        }
    };
    check("changed_only", &expected, &found, others.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(exit_code: i32) -> Facts<'static> {
        Facts {
            exit_code: Some(exit_code),
            timed_out: false,
            refused: None,
            output: &[],
            exists: &|path| path == "there",
            changed: Some(&[]),
        }
    }

    fn only(expect: Expect, facts: &Facts<'_>) -> (bool, String, String) {
        let checks = evaluate(&expect, facts);
        let last = checks.last().unwrap();
        (held(&checks), last.expected.clone(), last.found.clone())
    }

    fn texts(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    #[test]
    fn where_nothing_is_said_zero_is_expected() {
        for (code, expected) in [(0, true), (1, false), (137, false)] {
            let checks = evaluate(&Expect::default(), &facts(code));
            assert_eq!(held(&checks), expected);
            assert_eq!(checks.len(), 1);
        }
        let checks = evaluate(&Expect::default(), &facts(1));
        assert_eq!(failure(&checks).unwrap(), "exit_code: expected 0, found 1");
        let expect = Expect { exit_code: 3, ..Expect::default() };
        assert!(held(&evaluate(&expect, &facts(3))));
    }

    #[test]
    fn what_ran_out_of_time_or_was_refused_has_failed() {
        let late = Facts { timed_out: true, exit_code: None, ..facts(0) };
        let checks = evaluate(&Expect::default(), &late);
        assert_eq!(
            failure(&checks).unwrap(),
            "timeout: expected an end in time, found it ran out of time"
        );
        assert!(checks.iter().all(|check| !check.held));
        // Whatever it ended with, and be it what was expected.
        let expect = Expect { exit_code: 124, ..Expect::default() };
        let late = Facts { timed_out: true, ..facts(124) };
        assert!(!held(&evaluate(&expect, &late)));
        let refused = Facts { refused: Some("block-curl: blocked"), ..facts(0) };
        let checks = evaluate(&Expect::default(), &refused);
        assert_eq!(
            failure(&checks).unwrap(),
            "refused: expected to be let run, found block-curl: blocked"
        );
    }

    fn written(bytes: &[u8]) -> Written<'_> {
        Written { bytes, cut: false }
    }

    /// The only expectation of it: whether it held, what was expected, and what was found.
    fn found(expect: &Expect, stdout: Written<'_>, stderr: &[u8]) -> (bool, String, String) {
        let checks = of_output(expect, stdout, written(stderr));
        let [check] = checks.as_slice() else { panic!("{checks:?}") };
        (check.held, check.expected.clone(), check.found.clone())
    }

    fn containing(text: &str) -> Expect {
        Expect { stdout_contains: texts(text), ..Expect::default() }
    }

    #[test]
    fn output_is_compared_with_what_was_found() {
        let stdout = written(b"first\n\x1b[31m12 tests ok\x1b[0m\nlast\n");
        let contains = |text: &str| found(&containing(text), stdout, b"");
        assert_eq!(contains("tests ok"), (true, "\"tests ok\"".into(), "\"12 tests ok\"".into()));
        assert_eq!(
            contains("13 tests"),
            (false, "\"13 tests\"".into(), "\"first\\n12 tests ok\\nlast\"".into())
        );
        let matches = |text: &str| {
            let expect = Expect { stdout_matches: texts(text), ..Expect::default() };
            found(&expect, stdout, b"").0
        };
        assert!(matches("^last$") && matches("[0-9]+ tests"));
        assert!(!matches("^tests") && !matches("("));
        let stderr = Expect { stderr_matches: texts("^warning"), ..Expect::default() };
        assert!(found(&stderr, stdout, b"warning: x\n").0);
        assert_eq!(found(&containing("x"), written(b"\n\n"), b"").2, "nothing");
    }

    #[test]
    fn what_was_not_looked_at_is_told() {
        let bytes = "y\n".repeat(1 << 10);
        let cut = Written { bytes: bytes.as_bytes(), cut: true };
        let told = "\"y\\ny\\ny\" (only 2 KB of it, from both ends, were looked at)";
        assert_eq!(found(&containing("x"), cut, b"").2, told);
        // What was found needs no excuse.
        assert_eq!(found(&containing("y"), cut, b"").2, "\"y\"");
    }

    #[test]
    fn files_are_there_or_not() {
        let run = facts(0);
        for (path, exist, absent) in [("there", true, false), ("gone", false, true)] {
            let expect = Expect { files_exist: texts(path), ..Expect::default() };
            assert_eq!(only(expect, &run).0, exist, "{path}");
            let expect = Expect { files_absent: texts(path), ..Expect::default() };
            assert_eq!(only(expect, &run).0, absent, "{path}");
        }
    }

    #[test]
    fn nothing_else_may_have_changed() {
        let list = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (patterns, paths, expected, found) in [
            (&["src/**"][..], &["src/a.rs"][..], true, "nothing else was changed"),
            (&["src/**"], &[], true, "nothing was changed"),
            (&[], &[], true, "nothing was changed"),
            (&[], &["x"], false, "\"x\""),
            (&["*.lock"], &["a.lock", "b", "c/d.lock"], false, "\"b\", \"c/d.lock\""),
            (
                &["x"],
                &["1", "2", "3", "4", "5", "6"],
                false,
                "\"1\", \"2\", \"3\", \"4\", \"5\" and 1 more",
            ),
        ] {
            let paths = list(paths);
            let run = Facts { changed: Some(&paths), ..facts(0) };
            let expect = Expect { changed_only: Some(list(patterns)), ..Expect::default() };
            let (held, _, told) = only(expect, &run);
            assert_eq!((held, told.as_str()), (expected, found), "{patterns:?} {paths:?}");
        }
        let unknown = Facts { changed: None, ..facts(0) };
        let expect = Expect { changed_only: Some(list(&["**"])), ..Expect::default() };
        assert!(!only(expect, &unknown).0);
    }

    #[test]
    fn what_is_found_stays_short() {
        for bytes in ["x".repeat(10_000).as_bytes(), b"\xff\xfe"] {
            assert!(found(&containing("y"), written(bytes), b"").2.len() < 300);
        }
    }
}

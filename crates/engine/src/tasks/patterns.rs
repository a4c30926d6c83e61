//! Regular expressions and patterns of paths in what a plan expects: tried when the plan is read, used when a step has run.

use exacta_policy::glob;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;

/// An expression that needs more than this is a mistake.
const LARGEST: usize = 1 << 20;

/// Searched for anywhere in the output; `^` and `$` are the ends of lines.
pub fn regex(pattern: &str) -> Result<Regex, String> {
    let config = Regex::config()
        .nfa_size_limit(Some(LARGEST))
        .hybrid_cache_capacity(LARGEST)
        .utf8_empty(false);
    Regex::builder()
        .configure(config)
        .syntax(syntax::Config::new().utf8(false).multi_line(true))
        .build(pattern)
        .map_err(|error| reason(&error))
}

/// What the parser says, on one line.
fn reason(error: &BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// A path of the project that a plan may name: relative, and without a way out.
pub fn check_path(path: &str) -> Result<(), String> {
    if path.trim().is_empty() {
        return Err("an empty path".to_owned());
    }
    if path.starts_with('/') || path.starts_with('~') {
        return Err(format!("{path:?} does not begin at the root of the project"));
    }
    if path.split('/').any(|part| part == "..") {
        return Err(format!("{path:?} leads out of where it begins"));
    }
    if path.contains('\0') {
        return Err("no path has a NUL in it".to_owned());
    }
    Ok(())
}

/// A pattern of paths: `*`, `?` and `[a-z]` within a part, `**` across parts.
pub fn check_glob(pattern: &str) -> Result<(), String> {
    check_path(pattern)?;
    if pattern.contains(['{', '}']) {
        return Err(format!("{pattern:?} has braces, which mean nothing here"));
    }
    for part in parts(pattern) {
        if part.contains("**") && part != "**" {
            return Err(format!("`**` stands alone between slashes, not in {part:?}"));
        }
        if let Some(set) = part.find('[')
            && !part.get(set + 1..).unwrap_or_default().contains(']')
        {
            return Err(format!("a `[` without its `]` in {part:?}"));
        }
    }
    Ok(())
}

/// Does the pattern match all of the path? `dir/**` is `dir` as well, and `dir/` is all that is in it.
pub fn glob_matches(pattern: &str, path: &str) -> bool {
    let mut wanted: Vec<&str> = parts(pattern).collect();
    if pattern.ends_with('/') {
        wanted.push("**");
    }
    let found: Vec<&str> = parts(path).collect();
    let (mut at, mut done) = (0, 0);
    // Only the last `**` is tried again, which suffices as it does for `*`.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (wanted.get(at), found.get(done)) {
            (Some(&"**"), _) => {
                retry = Some((at + 1, done));
                at += 1;
            }
            (None, None) => return true,
            (Some(pattern), Some(name)) if glob::matches(pattern.as_bytes(), name.as_bytes()) => {
                (at, done) = (at + 1, done + 1);
            }
            _ => match retry {
                Some((star, taken)) if taken < found.len() => {
                    retry = Some((star, taken + 1));
                    (at, done) = (star, taken + 1);
                }
                _ => return false,
            },
        }
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_by_parts() {
        for (pattern, path, expected) in [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src", true),
            ("src/", "src/a/b.rs", true),
            ("src/**", "srcs/a", false),
            ("**/*.rs", "a/b/c.rs", true),
            ("**/*.rs", "c.rs", true),
            ("*.rs", "a/c.rs", false),
            ("./Cargo.lock", "Cargo.lock", true),
            ("[a-c]?.txt", "b1.txt", true),
            ("[a-c]?.txt", "d1.txt", false),
            ("**/a/**/b", "x/a/y/a/z/b", true),
            ("**", "anything/at/all", true),
        ] {
            assert_eq!(glob_matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for bad in ["", "/etc", "~/x", "../x", "a/../../x", "a**", "x[a", "{a,b}", "a\0b"] {
            assert!(check_glob(bad).is_err(), "{bad:?}");
        }
        assert!(check_path("a..b/c").is_ok());
        assert!(regex("(").is_err());
        assert!(regex("a{1000}{1000}").is_err());
        assert!(regex("^ok$").is_ok_and(|regex| regex.is_match("first\nok\nlast")));
        assert!(regex("\\xff").is_ok());
    }
}

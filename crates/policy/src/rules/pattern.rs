//! Patterns of commands, words and paths: written by people, kept in a normal form, matched where they stand.
//!
//! The normal form is text again (`push|send -f --config=*`), so that the built-in rules cost nothing to load:
//! words are separated by one blank, alternatives by `|`, `*` is any text, `?` any one byte, and `\` takes the
//! meaning from what follows. Used by the build script as well, hence without anything of the crate.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::braces::{alternatives, expand_braces};

/// Lists that a pattern can name as `@name`.
pub type Lists = BTreeMap<String, Vec<String>>;

/// As the last word of a command's pattern: no operand follows.
pub const END: &str = "$";

/// A command: which program, and what must be among its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// A name (`git`), one with `*` (`mkfs*`), a path (`./gradlew`, `*/*`), or `builtin:NAME`.
    pub program: Cow<'static, str>,
    /// The other words in normal form.
    pub rest: Cow<'static, str>,
}

/// Reads a command pattern; one for each name of a program that it gives.
pub fn command(text: &str, lists: &Lists) -> Result<Vec<Pattern>, String> {
    let mut words = split(text)?.into_iter();
    let Some(first) = words.next() else {
        return Err("an empty pattern would match every command".into());
    };
    let mut rest = String::new();
    for part in words {
        if !rest.is_empty() {
            rest.push(' ');
        }
        rest.push_str(&word(&part, lists)?);
    }
    let programs = alternatives(&first, lists, 0)?;
    if let Some(option) = programs.iter().find(|name| name.starts_with('-')) {
        return Err(format!("a pattern begins with the name of a program, not with `{option}`"));
    }
    let rest = Cow::<str>::Owned(rest);
    Ok(programs
        .into_iter()
        .map(|program| Pattern { program: Cow::Owned(program), rest: rest.clone() })
        .collect())
}

/// Reads the pattern of one word: `{a,b}`, `*`, `?`, `@list`; the result has alternatives separated by `|`.
pub fn word(text: &str, lists: &Lists) -> Result<String, String> {
    if text.is_empty() {
        return Err("an empty pattern matches nothing".into());
    }
    Ok(alternatives(text, lists, 0)?.join("|"))
}

/// Does one of the alternatives match all of the text?
pub fn matches(pattern: &str, text: &[u8]) -> bool {
    each(pattern).any(|one| matches_one(one.as_bytes(), text))
}

/// The alternatives of a word in normal form.
pub fn each(pattern: &str) -> impl Iterator<Item = &str> {
    Pieces { rest: Some(pattern), separator: b'|' }
}

/// The words of a command's rest in normal form.
pub fn words(rest: &str) -> impl Iterator<Item = &str> {
    Pieces { rest: Some(rest).filter(|rest| !rest.is_empty()), separator: b' ' }
}

/// Are letters the same in either case?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Exact,
    Either,
}

/// One alternative against a text: `*` is any text, `\` makes the next byte plain.
pub fn matches_one(pattern: &[u8], text: &[u8]) -> bool {
    matches_in(pattern, text, Case::Exact)
}

pub fn matches_in(pattern: &[u8], text: &[u8], case: Case) -> bool {
    let same = |wanted: u8, found: u8| {
        wanted == found || (case == Case::Either && wanted.eq_ignore_ascii_case(&found))
    };
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let (plain, byte, next) = match (pattern.get(p), pattern.get(p + 1)) {
            (Some(b'\\'), Some(byte)) => (true, Some(*byte), p + 2),
            (byte, _) => (false, byte.copied(), p + 1),
        };
        if !plain && byte == Some(b'*') {
            retry = Some((next, t));
            p = next;
            continue;
        }
        match (byte, text.get(t)) {
            (None, None) => return true,
            (Some(b'?'), Some(_)) if !plain => (p, t) = (next, t + 1),
            (Some(wanted), Some(found)) if same(wanted, *found) => (p, t) = (next, t + 1),
            _ => match retry {
                Some((after, from)) if from < text.len() => {
                    retry = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// What every match of this alternative begins with, if that and nothing more is asked for: `src/` of `src/*`.
pub fn open_prefix(pattern: &str) -> Option<&str> {
    let prefix = pattern.strip_suffix('*')?;
    (!prefix.contains(['*', '?', '\\'])).then_some(prefix)
}

/// Is there a `*` or `?` with its meaning?
pub fn has_star(pattern: &str) -> bool {
    let mut bytes = pattern.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'*' | b'?' => return true,
            _ => {}
        }
    }
    false
}

/// A path against a glob: `*` and `?` within a part, `**` across parts; `dir/**` is `dir` as well.
///
/// Linear in practice: only the last `**` is tried again, which suffices for globs as it does for `*`. Nothing is
/// allocated: hundreds of globs are asked about every path.
pub fn path_matches(glob: &[u8], path: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (part(glob, p), part(path, n)) {
            (Some((b"**", next)), _) => {
                retry = Some((next, n));
                p = next;
            }
            (None, None) => return true,
            (Some((wanted, after)), Some((name, next))) if name_matches(wanted, name) => {
                (p, n) = (after, next);
            }
            _ => {
                let Some((after, from)) = retry else { return false };
                let Some((_, next)) = part(path, from) else { return false };
                retry = Some((after, next));
                (p, n) = (after, next);
            }
        }
    }
}

/// The first letters of a path's parts. Hundreds of globs are asked about every path, and hardly any of them can mean
/// it: most guarded names begin with a dot, and most paths have none.
#[derive(Debug, Clone, Copy)]
pub struct Beginnings([u64; 4]);

impl Beginnings {
    pub fn of(path: &[u8]) -> Self {
        let mut letters = [0; 4];
        let mut first = true;
        for byte in path {
            // The part before the first slash of `/etc` is empty, and so is that of a glob which begins so.
            if first && let Some(word) = letters.get_mut(usize::from(byte >> 6)) {
                *word |= 1 << (byte & 63);
            }
            first = *byte == b'/';
        }
        Beginnings(letters)
    }

    /// Can the glob match the path? What a part must begin with is there, or nothing is said about it.
    pub fn admit(self, glob: &[u8]) -> bool {
        let rest = glob.strip_prefix(b"**/").unwrap_or(glob);
        match rest.first() {
            None | Some(b'*' | b'?') => true,
            Some(byte) => {
                let word = self.0.get(usize::from(byte >> 6)).copied().unwrap_or(u64::MAX);
                (word >> (byte & 63)) & 1 == 1
            }
        }
    }
}

/// The part of a path that begins there, and where the next one does.
fn part(path: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let rest = path.get(start..)?;
    let length = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    Some((rest.get(..length)?, start + length + 1))
}

/// Reads a glob of paths, `{a,b}` written out; `~/` is the project's root.
pub fn paths(text: &str) -> Result<Vec<String>, String> {
    let mut all = vec![String::new()];
    expand_braces(text, &mut all, 0)?;
    all.iter().map(|one| path(one)).collect()
}

fn path(text: &str) -> Result<String, String> {
    let text = text.strip_prefix("~/").unwrap_or(text);
    match text {
        "" | "~" => Ok(".".into()),
        _ if text.contains('\\') => Err("a path has no backslashes".into()),
        _ if text.contains("/../") || text.starts_with("../") || text.ends_with("/..") => {
            Err("a path is matched after `..` is resolved; write where it leads".into())
        }
        _ => Ok(text.strip_prefix("./").unwrap_or(text).into()),
    }
}

fn name_matches(part: &[u8], name: &[u8]) -> bool {
    // Most names differ in their first letter.
    if let (Some(wanted), Some(found)) = (part.first(), name.first())
        && wanted != found
        && !matches!(wanted, b'*' | b'?')
    {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (part.get(p), name.get(n)) {
            (Some(b'*'), _) => {
                retry = Some((p + 1, n));
                p += 1;
            }
            (None, None) => return true,
            (Some(b'?'), Some(_)) => (p, n) = (p + 1, n + 1),
            (Some(wanted), Some(found)) if wanted == found => (p, n) = (p + 1, n + 1),
            _ => match retry {
                Some((after, from)) if from < name.len() => {
                    retry = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// Cuts at a separator that no `\` stands before; the pieces keep their backslashes.
struct Pieces<'a> {
    rest: Option<&'a str>,
    separator: u8,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        // Most pieces have no backslash.
        let end = rest.bytes().position(|byte| byte == self.separator || byte == b'\\');
        match end.map(|at| (at, rest.as_bytes().get(at))) {
            None => {
                self.rest = None;
                return Some(rest);
            }
            Some((at, Some(byte))) if *byte == self.separator => {
                let (piece, after) = rest.split_at_checked(at)?;
                self.rest = after.get(1..);
                return Some(piece);
            }
            Some(_) => {}
        }
        let mut plain = false;
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if plain => plain = false,
                b'\\' => plain = true,
                _ if byte == self.separator => {
                    let (piece, after) = rest.split_at_checked(at)?;
                    self.rest = after.get(1..);
                    return Some(piece);
                }
                _ => {}
            }
        }
        self.rest = None;
        Some(rest)
    }
}

/// The words as written, blanks outside braces between them.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut depth = 0_usize;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                current.push('\\');
                current.push(characters.next().ok_or("a backslash needs something after it")?);
            }
            '{' => {
                depth += 1;
                current.push('{');
            }
            '}' => {
                depth = depth.checked_sub(1).ok_or("a `}` without its `{`")?;
                current.push('}');
            }
            _ if character.is_whitespace() && depth == 0 => {
                if !current.is_empty() {
                    words.push(std::mem::take(&mut current));
                }
            }
            _ if character.is_whitespace() => {
                return Err("blanks between braces: `{a,b}` holds parts of one word".into());
            }
            _ => current.push(character),
        }
    }
    if depth > 0 {
        return Err("a `{` without its `}`".into());
    }
    if !current.is_empty() {
        words.push(current);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Lists {
        let mut lists = Lists::new();
        lists.insert("managers".into(), vec!["npm".into(), "{pn,}pm".into(), "@more".into()]);
        lists.insert("more".into(), vec!["yarn".into()]);
        lists.insert("loop".into(), vec!["@loop".into()]);
        lists.insert("none".into(), Vec::new());
        lists
    }

    #[test]
    fn commands_are_taken_apart() {
        let found = command("@managers  publish {-f,--force} x*", &lists()).unwrap();
        let programs: Vec<&str> = found.iter().map(|p| p.program.as_ref()).collect();
        assert_eq!(programs, ["npm", "pnpm", "pm", "yarn"]);
        assert_eq!(found[0].rest, "publish -f|--force x*");
        assert_eq!(words(&found[0].rest).collect::<Vec<_>>(), ["publish", "-f|--force", "x*"]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for bad in [
            "",
            " ",
            "git {a,b",
            "git a}",
            "git {a,}",
            "@nothing x",
            "@loop",
            "@none",
            "-f",
            "a \\",
        ] {
            assert!(command(bad, &lists()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn words_match_as_a_whole() {
        for (pattern, text, expected) in [
            ("push", "push", true),
            ("push", "pushed", false),
            ("a|b|c", "c", true),
            ("*", "", true),
            ("test:*", "test:unit", true),
            ("*.py", "a.py.py", true),
            ("*a*b", "xaxxbab", true),
            ("*a*b", "xaxxba", false),
            ("/\\*", "/*", true),
            ("/\\*", "/etc", false),
            ("4???", "4755", true),
            ("4???", "444", false),
            ("a\\?", "ab", false),
            ("a\\|b", "a|b", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_matches_is_admitted() {
        for (glob, path, expected) in [
            ("**/.git/config", "a/.git/config", true),
            ("**/.git/config", "src/main.rs", false),
            ("/etc/shadow", "/etc/shadow", true),
            ("/etc/shadow", "etc/shadow", false),
            ("**/*.pem", "x", true),
            (".", ".", true),
            ("**/{}", "a/{}", true),
        ] {
            assert_eq!(Beginnings::of(path.as_bytes()).admit(glob.as_bytes()), expected, "{glob}");
            assert!(expected || !path_matches(glob.as_bytes(), path.as_bytes()), "{glob} {path}");
        }
    }

    #[test]
    fn paths_match_by_parts() {
        for (glob, path, expected) in [
            (".git/hooks/**", ".git/hooks/pre-commit", true),
            (".git/hooks/**", ".git/hooks", true),
            (".git/hooks/**", ".git/hooksx", false),
            ("**/.git/config", ".git/config", true),
            ("**/.git/config", "a/b/.git/config", true),
            ("**/.ssh/**", "/home/u/.ssh/id_rsa", true),
            ("*.pem", "a/b.pem", false),
            ("**/*.pem", "a/b.pem", true),
            ("/dev/sd*", "/dev/sda1", true),
            ("/dev/sd?", "/dev/sda1", false),
            ("**/a/**/b", "x/a/y/a/z/b", true),
        ] {
            assert_eq!(path_matches(glob.as_bytes(), path.as_bytes()), expected, "{glob} {path}");
        }
    }
}

//! What `find`, `fd` and a `grep` of names look for: `find . -name '.ex*' -exec truncate -s0 {} +`. If the names that
//! are asked for can be those of something guarded, what is done with the files is judged as if it were found.
//!
//! A pattern that ordinary files match as well (`*.toml`) is not aimed at what is guarded, and says nothing.

use bstr::{BStr, BString, ByteSlice};

use super::added::placed;
use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::event::{Access, Input};
use crate::glob;
use crate::guarded;
use crate::programs::Reading;
use crate::verdict::Finding;
use crate::word::Word;

/// Files and directories that stand for all that is guarded; a directory ends in a slash.
const GUARDED: &[&str] = &[
    ".git/",
    ".git/hooks/pre-commit",
    ".git/config",
    ".git/objects/pack/a.pack",
    ".clada/",
    ".clada/commands.json",
    ".exacta.toml",
    ".claude/",
    ".claude/settings.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".mcp.json",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".envrc",
    ".husky/pre-commit",
    ".vscode/tasks.json",
    ".ssh/id_rsa",
    ".aws/credentials",
    ".netrc",
    "AGENTS.md",
    "CLAUDE.md",
];

/// Files that stand for all others.
const ORDINARY: &[&str] = &[
    "README.md",
    "Cargo.toml",
    "package.json",
    "config.json",
    "src/main.rs",
    "src/config",
    "src/config/settings.json",
    "src/hooks/use-thing.ts",
    "docs/agents.md",
    "tests/test_app.py",
    "a.log",
    "a.pack",
];

/// So many of what can be found are judged.
const MOST: usize = 4;

/// A test of names.
struct Test {
    pattern: BString,
    /// Of the whole path, not of the last part of it.
    path: bool,
    any_case: bool,
}

impl Test {
    fn matches(&self, path: &BStr) -> bool {
        let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
        let text = if self.path { path.as_bytes() } else { name };
        if self.any_case {
            let pattern = self.pattern.to_ascii_lowercase();
            return glob::matches(&pattern, &text.to_ascii_lowercase());
        }
        glob::matches(&self.pattern, text)
    }

    /// Is there a part that begins with a dot?
    fn is_aimed(&self) -> bool {
        let dotted = |part: &[u8]| part.starts_with(b".") && !matches!(part, b"." | b"..");
        self.pattern.split_str("/").any(dotted)
    }
}

/// What a command asks for.
#[derive(Default)]
struct Search {
    wanted: Vec<Test>,
    unwanted: Vec<Test>,
    /// One of those wanted suffices.
    either: bool,
    /// `f`, `d`.
    kind: Option<BString>,
}

impl Search {
    fn finds(&self, path: &BStr) -> bool {
        let mut wanted = self.wanted.iter().map(|test| test.matches(path));
        let found = if self.either { wanted.any(|it| it) } else { wanted.all(|it| it) };
        found && !self.unwanted.iter().any(|test| test.matches(path))
    }

    fn guarded(&self, start: &BStr) -> Vec<BString> {
        let start = start.trim_end_with(|c| c == '/');
        let from = |path: &str| {
            BString::from([start, b"/", path.trim_end_matches('/').as_bytes()].concat())
        };
        let of_kind = |path: &str| match self.kind.as_ref().map(|kind| kind.as_slice()) {
            Some(b"f") => !path.ends_with('/'),
            Some(b"d") => path.ends_with('/'),
            _ => true,
        };
        if self.wanted.is_empty() {
            return Vec::new();
        }
        let ordinary = || ORDINARY.iter().any(|path| self.finds(from(path).as_bstr()));
        if !self.wanted.iter().any(Test::is_aimed) && ordinary() {
            return Vec::new();
        }
        let found = GUARDED.iter().filter(|path| of_kind(path)).map(|path| from(path));
        found.filter(|path| self.finds(path.as_bstr())).take(MOST).collect()
    }
}

impl Inquiry<'_> {
    /// Remembers what a command that lists names can list of what is guarded.
    pub fn note_sought(&mut self, subjected: &Subjected<'_>) {
        const LISTERS: [&str; 9] =
            ["echo", "fd", "fdfind", "find", "git", "grep", "ls", "printf", "rg"];
        if LISTERS.iter().any(|name| subjected.reading.name == *name) {
            self.lists_guarded = sought(subjected);
        }
    }

    /// `find . -name .git -delete`
    pub fn removes_sought(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        if subjected.reading.name != "find" || !has(subjected.reading, &["-delete"]) {
            return;
        }
        for path in sought(subjected) {
            self.path(&Word::Literal(path), Access::Delete, subjected, findings);
        }
        for start in subjected.reading.operands.iter().filter(|start| in_git(start.shown())) {
            self.path(start, Access::Delete, subjected, findings);
        }
    }

    /// The command that is given what is found, with what is guarded in its place.
    pub fn given_sought(&self, subjected: &Subjected<'_>, words: &[Word]) -> Vec<Vec<Word>> {
        const GIVEN: [&str; 3] = ["parallel", "rush", "xargs"];
        let reading = subjected.reading;
        let paths = match &subjected.invocation.input {
            _ if matches!(reading.name.as_slice(), b"find" | b"fd" | b"fdfind") => {
                sought(subjected)
            }
            Input::Pipe(_) if GIVEN.iter().any(|name| reading.name == *name) => {
                self.lists_guarded.clone()
            }
            _ => Vec::new(),
        };
        let place = placeholder(reading);
        let put = |path: &BString| {
            let mut filled: Vec<Word> =
                words.iter().map(|word| placed(word, &place, path)).collect();
            if filled == words {
                filled.push(Word::Literal(path.clone()));
            }
            filled
        };
        paths.iter().map(put).collect()
    }
}

fn placeholder(reading: &Reading) -> BString {
    let option = reading.options.iter().find(|option| {
        option.names.iter().any(|name| ["-I", "-J", "--replace"].iter().any(|it| name == it))
    });
    let value = option.and_then(|option| option.value.as_ref()?.as_literal());
    value.map_or_else(|| "{}".into(), BString::from)
}

fn has(reading: &Reading, wanted: &[&str]) -> bool {
    let mut names = reading.options.iter().flat_map(|option| &option.names);
    names.any(|name| wanted.iter().any(|it| name == it))
}

fn in_git(path: &BStr) -> bool {
    path.split_str("/").any(|part| part == b".git")
}

/// The guarded paths that a command lists, as it would name them.
fn sought(subjected: &Subjected<'_>) -> Vec<BString> {
    let reading = subjected.reading;
    match reading.name.as_slice() {
        b"find" => {
            let search = of_find(reading);
            let starts: Vec<&BStr> = reading.operands.iter().filter_map(Word::as_literal).collect();
            let starts = if starts.is_empty() { vec![BStr::new(".")] } else { starts };
            starts.into_iter().flat_map(|start| search.guarded(start)).take(MOST).collect()
        }
        b"fd" | b"fdfind" if has(reading, &["-H", "-u", "--hidden", "--unrestricted"]) => {
            let start = reading.operands.get(1).and_then(Word::as_literal);
            of_fd(reading).guarded(start.unwrap_or(BStr::new(".")))
        }
        b"grep"
            if matches!(subjected.invocation.input, Input::Pipe(_)) && !has(reading, &["-v"]) =>
        {
            let pattern = reading.operands.first().and_then(Word::as_literal);
            pattern.map(of_expression).unwrap_or_default().guarded(".".into())
        }
        b"echo" | b"git" | b"ls" | b"printf" => {
            let pattern = |word: &Word| match word {
                Word::Dynamic(dynamic) => dynamic.glob.clone(),
                Word::Literal(text) if reading.name == "git" => Some(text.clone()),
                Word::Literal(_) => None,
            };
            let patterns = reading.operands.iter().filter_map(pattern);
            patterns.flat_map(|it| guarded::paths(it.as_bstr(), Access::Write)).take(MOST).collect()
        }
        _ => Vec::new(),
    }
}

fn of_find(reading: &Reading) -> Search {
    let mut search = Search::default();
    let mut turned = false;
    // Where the alternative at hand begins.
    let mut since = 0;
    let mut pruned = false;
    for option in &reading.options {
        let is = |names: &[&str]| option.names.iter().any(|name| names.iter().any(|it| name == it));
        if is(&["!", "-not"]) {
            turned = !turned;
        } else if is(&["-o", "-or"]) {
            // What is pruned, and nothing else done with it, is left out of the others.
            if std::mem::take(&mut pruned) {
                search.unwanted.extend(search.wanted.drain(since.min(search.wanted.len())..));
            }
            search.either = true;
            since = search.wanted.len();
        } else if is(&["-prune"]) {
            pruned = true;
        } else if is(&["-type"]) {
            search.kind = option.value.as_ref().and_then(Word::as_literal).map(BString::from);
        } else if let Some(test) = test_of(&option.names, option.value.as_ref()) {
            let tests = if turned { &mut search.unwanted } else { &mut search.wanted };
            tests.push(test);
            turned = false;
        }
    }
    search
}

fn test_of(names: &[BString], value: Option<&Word>) -> Option<Test> {
    const TESTS: [(&str, bool, bool); 8] = [
        ("-name", false, false),
        ("-iname", false, true),
        ("-path", true, false),
        ("-ipath", true, true),
        ("-wholename", true, false),
        ("-iwholename", true, true),
        ("-regex", true, false),
        ("-iregex", true, true),
    ];
    let (name, path, any_case) =
        TESTS.into_iter().find(|(known, ..)| names.iter().any(|name| name == known))?;
    let text = value?.as_literal()?;
    let pattern = if name.ends_with("regex") { pattern_of(text) } else { text.into() };
    Some(Test { pattern, path, any_case })
}

fn of_fd(reading: &Reading) -> Search {
    let Some(text) = reading.operands.first().and_then(Word::as_literal) else {
        return Search::default();
    };
    let mut search = if has(reading, &["-g", "--glob", "-F", "--fixed-strings"]) {
        let test = Test { pattern: text.into(), path: false, any_case: true };
        Search { wanted: vec![test], ..Search::default() }
    } else {
        of_expression(text)
    };
    for test in &mut search.wanted {
        test.path = has(reading, &["-p", "--full-path"]);
    }
    search
}

/// A regular expression that is looked for in names.
fn of_expression(text: &BStr) -> Search {
    let start: &[u8] = if text.starts_with(b"^") { b"" } else { b"*" };
    let end: &[u8] = if text.ends_with(b"$") { b"" } else { b"*" };
    let inner = text.strip_prefix(b"^").unwrap_or(text);
    let inner = inner.strip_suffix(b"$").unwrap_or(inner);
    let pattern = [start, &pattern_of(inner.as_bstr()), end].concat().into();
    Search { wanted: vec![Test { pattern, path: false, any_case: true }], ..Search::default() }
}

/// A pattern of the shell that matches all that a regular expression does, and perhaps more.
fn pattern_of(expression: &BStr) -> BString {
    let mut pattern = BString::default();
    let mut bytes = expression.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'(' | b')' | b'|' | b'{' | b'}' | b'+' | b'?') => pattern.push(b'*'),
                Some(next) => pattern.push(next),
                None => {}
            },
            b'.' => pattern.push(b'?'),
            b'*' | b'+' | b'?' | b'{' | b'}' | b'(' | b')' | b'|' => {
                // What it repeats or leaves open may be anything.
                if byte != b'(' && pattern.last().is_some_and(|last| *last != b'*') {
                    pattern.pop();
                }
                pattern.push(b'*');
            }
            b'^' | b'$' => {}
            byte => pattern.push(byte),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Invocation;
    use crate::programs;

    fn found(line: &str) -> usize {
        let words: Vec<Word> = line.split(' ').map(Word::literal).collect();
        let reading = programs::read(&words);
        let invocation = Invocation { words, ..Invocation::default() };
        sought(&Subjected::of(&invocation, &reading)).len()
    }

    #[test]
    fn what_is_looked_for() {
        for line in [
            "find . -name .git -delete",
            "find -iname .GIT -delete",
            "find . -path ./.git* -delete",
            "find . -path */.git/hooks/* -delete",
            "find . -regex .*/\\.git/.* -delete",
            "find . -regex \\./\\.g.t.* -delete",
            "find . ( -name x -o -name .exacta.toml ) -delete",
            "find . -name config -path ./.git/* -delete",
            "find . -name CLAUDE.md -delete",
            "fd -H ^\\.git$ -x rm",
            "fd -H -g .ex* -x rm",
        ] {
            assert!(found(line) > 0, "{line}");
        }
        for line in [
            "find . -name *.toml -delete",
            "find . -name *.pyc -delete",
            "find . -type f -delete",
            "find . -not -path ./.git/* -name *.swp -delete",
            "find . -path ./.git -prune -o -name *.py -delete",
            "find . -name .gitkeep -delete",
            "find . -name .*.swp -delete",
            "find . -name config -delete",
            "fd -e py -x rm",
            "fd .git -x rm",
        ] {
            assert_eq!(found(line), 0, "{line}");
        }
    }
}

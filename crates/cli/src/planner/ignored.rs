//! Which files git would ignore, roughly: the patterns of `.gitignore` files on the way down. For a list that a planner sees,
//! not for decisions.

use exacta::policy::glob;

/// Never of interest, whatever is ignored.
const SKIPPED: &[&str] = &[
    ".git",
    ".clada",
    ".trash",
    ".hg",
    ".svn",
    "node_modules",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    ".cache",
    ".next",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
];

/// Of one file. Every name is compared with all of them.
const MOST_PATTERNS: usize = 500;

#[derive(Debug, Clone, Default)]
pub struct Ignored {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    /// The directory of the file that it is from, with a slash at its end; empty at the root.
    base: String,
    parts: Vec<String>,
    /// A path from there on; else a name at any depth.
    anchored: bool,
    only_directories: bool,
    negated: bool,
}

impl Ignored {
    /// With what the file of this directory says.
    pub fn with(&self, base: &str, text: &str) -> Self {
        let mut patterns = self.patterns.clone();
        let more = text.lines().filter_map(|line| Pattern::read(base, line));
        patterns.extend(more.take(MOST_PATTERNS));
        Ignored { patterns }
    }

    /// The path is relative to the root. The last pattern that fits decides.
    pub fn covers(&self, path: &str, is_directory: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if SKIPPED.contains(&name) {
            return true;
        }
        let fitting = self.patterns.iter().rev().find(|pattern| pattern.fits(path, is_directory));
        fitting.is_some_and(|pattern| !pattern.negated)
    }
}

impl Pattern {
    fn read(base: &str, line: &str) -> Option<Self> {
        let line = line.trim_end();
        let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let only_directories = line.ends_with('/');
        let body = line.trim_end_matches('/');
        let mut parts: Vec<String> =
            body.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        // Two of them mean what one means, and cost a way for each place between them.
        parts.dedup_by(|one, other| one == "**" && other == "**");
        let anchored = body.contains('/');
        (!parts.is_empty()).then(|| Pattern {
            base: base.to_owned(),
            parts,
            anchored,
            only_directories,
            negated,
        })
    }

    fn fits(&self, path: &str, is_directory: bool) -> bool {
        let Some(below) = path.strip_prefix(&self.base) else { return false };
        if self.only_directories && !is_directory {
            return false;
        }
        let names: Vec<&str> = below.split('/').collect();
        if self.anchored {
            return parts_fit(&self.parts, &names);
        }
        let name = names.last().copied().unwrap_or_default();
        self.parts.first().is_some_and(|part| glob::matches(part.as_bytes(), name.as_bytes()))
    }
}

fn parts_fit(parts: &[String], names: &[&str]) -> bool {
    match (parts.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((part, rest)), _) if part == "**" => {
            parts_fit(rest, names)
                || names.split_first().is_some_and(|(_, names)| parts_fit(parts, names))
        }
        (Some((part, rest)), Some((name, names))) => {
            glob::matches(part.as_bytes(), name.as_bytes()) && parts_fit(rest, names)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_as_git_reads_them() {
        let ignored = Ignored::default()
            .with("", "# c\n\n*.log\n!keep.log\n/only-here\nbuild/\ndocs/*.tmp\na/**/z\n")
            .with("sub/", "local\n");
        for (path, is_directory) in [
            ("x.log", false),
            ("deep/x.log", false),
            ("only-here", false),
            ("build", true),
            ("deep/build", true),
            ("docs/a.tmp", false),
            ("a/z", false),
            ("a/b/c/z", false),
            ("sub/local", false),
            ("sub/deep/local", true),
            (".git", true),
            ("web/node_modules", true),
        ] {
            assert!(ignored.covers(path, is_directory), "{path}");
        }
        for (path, is_directory) in [
            ("keep.log", false),
            ("sub/only-here", false),
            ("build", false),
            ("docs/deep/a.tmp", false),
            ("local", false),
            ("src", true),
        ] {
            assert!(!ignored.covers(path, is_directory), "{path}");
        }
    }
}

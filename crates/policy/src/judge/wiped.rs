//! All of the project at once: `truncate -s 0 $(git ls-files)`, `for f in *; do : > "$f"; done`. One file that is
//! emptied is work; all of them are a loss.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::event::{Access, Assign, Directory, Input};
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::word::{Dynamic, Word};

/// So many patterns of loops are remembered.
const MOST: usize = 64;

/// Patterns that all names match.
const ALL: [&str; 8] = ["*", "./*", "**", "**/*", "./**/*", "./**", "*.*", "**/*.*"];

impl Inquiry<'_> {
    /// `for f in $(git ls-files)`: the variable is each of all files in turn.
    pub fn runs_over(&mut self, assign: &Assign) {
        let Word::Dynamic(dynamic) = &assign.value else { return };
        let pattern = dynamic.glob.as_ref().is_some_and(|glob| ALL.iter().any(|all| glob == all));
        let all = pattern || self.lists_everything_in(dynamic.written.as_bstr());
        if all && !self.each_of_all.contains(&assign.name) {
            self.each_of_all.push(assign.name.clone());
        }
        let mut patterns: Vec<BString> = dynamic.glob.iter().cloned().collect();
        if dynamic.written.contains_str("$(") || dynamic.written.contains(&b'`') {
            patterns.extend_from_slice(&self.lists_guarded);
        }
        for pattern in patterns.into_iter().take(MOST.saturating_sub(self.each_of_pattern.len())) {
            self.each_of_pattern.push((assign.name.clone(), pattern));
        }
    }

    /// `git ls-files | while read -r f`: the same.
    pub fn reads_over(&mut self, subjected: &Subjected<'_>) {
        const READING: [&str; 3] = ["mapfile", "read", "readarray"];
        let reads = READING.iter().any(|name| subjected.reading.name == *name);
        if !reads || !matches!(subjected.invocation.input, Input::Pipe(_)) {
            return;
        }
        let names = subjected.reading.operands.iter().filter_map(Word::as_literal);
        if self.gives_everything(subjected) {
            self.each_of_all.extend(names.clone().map(BString::from));
        }
        for name in names {
            let guarded = self.lists_guarded.iter().map(|path| (name.into(), path.clone()));
            self.each_of_pattern.extend(guarded);
        }
    }

    /// Is what goes, or is emptied, each of all files?
    pub fn wiped(&self, dynamic: &Dynamic, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        let gone = leaves_nothing(opening);
        let written = dynamic.written.as_bstr();
        let pattern = dynamic.glob.as_ref().is_some_and(|glob| ALL.iter().any(|all| glob == all))
            && !self.is_a_part(opening.directory);
        let all = || super::added::is_everything(written) || self.lists_everything_in(written);
        if gone && (pattern || all() || self.is_each_of_all(written)) {
            findings.extend(self.situation("whole-project", &written.to_str_lossy()));
        }
    }

    /// `xargs -I{} sh -c ': > {}'`: the place that is kept for each of all files.
    pub fn wiped_in_place(&self, path: &BStr, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        let Opening { access, directory, by } = opening;
        if path == "{}"
            && leaves_nothing(opening)
            && self.each_of_all.iter().any(|name| name == "{}")
        {
            findings.extend(self.situation("whole-project", "{}"));
        }
        let mirrors = |by: &Subjected<'_>| {
            let mut names = by.reading.options.iter().flat_map(|option| &option.names);
            by.reading.name == "rsync" && names.any(|name| name.starts_with(b"--del"))
        };
        if access == Access::Write
            && by.is_some_and(mirrors)
            && super::paths::absolute(path, directory)
                .is_some_and(|path| self.inside(path.as_bstr()) == ".")
        {
            findings.extend(self.situation("whole-project", "--delete"));
        }
    }

    /// `cd "$x" && rm -rf *`: all of something goes, and nobody knows where. What a build makes anew may.
    pub fn removed_somewhere(
        &self,
        path: &Word,
        opening: Opening<'_>,
        findings: &mut Vec<Finding>,
    ) {
        let Opening { access, directory, by } = opening;
        // What is found by its name is not everything.
        let found = path.shown() == "{}" && !self.each_of_all.iter().any(|place| place == "{}");
        let lost = access == Access::Delete && directory.expected().is_none() && !found;
        if lost && by.is_some_and(is_recursive) && is_relative(path) && !is_made_anew(path) {
            findings.extend(self.situation("unread-path", &path.shown().to_str_lossy()));
        }
    }

    /// `(cd build && rm -rf *)`: what is emptied is one directory of the project, not all of it.
    pub fn empties_a_part(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        if self.is_a_part(&subjected.directory) && subjected.reading.operands.iter().all(stays_here)
        {
            findings.retain(|finding| &*finding.rule != "ask-rm-everything");
        }
    }

    /// A directory of the project or of `/tmp`, and for certain not all of either.
    fn is_a_part(&self, directory: &Directory) -> bool {
        let Directory::Known(directory) = directory else { return false };
        let part = self.inside(directory.as_bstr());
        match self.world.place(directory.as_bstr()) {
            Place::Project => part != "." && !part.starts_with(b"."),
            Place::Scratch => directory.starts_with(b"/tmp/"),
            _ => false,
        }
    }

    fn is_each_of_all(&self, written: &BStr) -> bool {
        if self.each_of_all.is_empty() {
            return false;
        }
        let signs = |c| matches!(c, '"' | '$' | '{' | '}' | '.' | '/');
        let name = written.trim_with(signs);
        let name = name.strip_suffix(b"[@]").or(name.strip_suffix(b"[*]")).unwrap_or(name);
        self.each_of_all.iter().any(|known| name == known.as_bytes())
    }
}

fn is_recursive(by: &Subjected<'_>) -> bool {
    let mut names = by.reading.options.iter().flat_map(|option| &option.names);
    by.reading.name == "rm"
        && names.any(|name| name == "-r" || name == "-R" || name == "--recursive")
}

fn is_relative(path: &Word) -> bool {
    let start = match path {
        Word::Dynamic(dynamic) => dynamic.glob.as_ref().unwrap_or(&dynamic.prefix).as_bstr(),
        Word::Literal(text) => text.as_bstr(),
    };
    !start.is_empty() && !start.starts_with(b"/")
}

/// A path that does not leave the directory at hand.
fn stays_here(path: &Word) -> bool {
    let text = match path {
        Word::Dynamic(dynamic) => dynamic.glob.as_ref().map(|glob| glob.as_bstr()),
        Word::Literal(text) => Some(text.as_bstr()),
    };
    text.is_some_and(|text| {
        !text.starts_with(b"/") && !text.split_str("/").any(|part| part == b"..")
    })
}

/// What builds, tests and package managers make, and make again.
fn is_made_anew(path: &Word) -> bool {
    const NAMES: &[&str] = &[
        "DerivedData",
        "Pods",
        "__pycache__",
        "_build",
        "_site",
        "bin",
        "bower_components",
        "build",
        "cache",
        "coverage",
        "deps",
        "dist",
        "dist-newstyle",
        "elm-stuff",
        "generated",
        "htmlcov",
        "lib",
        "log",
        "logs",
        "node_modules",
        "obj",
        "out",
        "output",
        "playwright-report",
        "public",
        "site",
        "storybook-static",
        "target",
        "temp",
        "test-results",
        "tmp",
        "vendor",
        "venv",
        "zig-cache",
        "zig-out",
    ];
    const HIDDEN: [&str; 4] = [".git", ".clada", ".ssh", ".claude"];
    let shown = path.shown();
    let shown = shown.strip_prefix(b"./").unwrap_or(shown);
    let first = shown.split_str("/").next().unwrap_or_default();
    let hidden = first.len() > 1
        && first.starts_with(b".")
        && !first.iter().any(|byte| b"*?[".contains(byte))
        && !HIDDEN.iter().any(|known| first.starts_with(known.as_bytes()));
    let suffix = first.strip_prefix(b"*.").is_some_and(|end| end.iter().all(|byte| *byte != b'*'));
    hidden || suffix || NAMES.iter().any(|known| first == known.as_bytes())
}

/// What is opened is gone afterwards, or empty.
fn leaves_nothing(opening: Opening<'_>) -> bool {
    match opening.access {
        Access::Delete => true,
        Access::Write => opening.by.is_none_or(empties),
        Access::Read | Access::Enter | Access::Execute => false,
    }
}

/// Does it leave nothing in what it writes?
fn empties(by: &Subjected<'_>) -> bool {
    let reading = by.reading;
    let names = |known: &str| reading.operands.iter().any(|operand| operand.shown() == known);
    let nothing = || names("/dev/null") || names("/dev/zero") || names("if=/dev/null");
    match reading.name.as_slice() {
        b"shred" | b"tee" | b"truncate" => true,
        b"cp" | b"install" | b"dd" | b"ln" | b"rsync" => nothing(),
        b"sed" => names("d") || names("1,$d"),
        _ => false,
    }
}

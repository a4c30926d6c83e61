//! All of the project at once: `truncate -s 0 $(git ls-files)`, `for f in *; do : > "$f"; done`. One file that is
//! emptied is work; all of them are a loss.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::event::{Access, Assign, Input};
use crate::verdict::Finding;
use crate::word::{Dynamic, Word};

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
        const MOST: usize = 64;
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
        let pattern = dynamic.glob.as_ref().is_some_and(|glob| ALL.iter().any(|all| glob == all));
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

//! Variables that make programs execute something.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};

use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::effect::Effect;
use crate::event::{Access, Directory};
use crate::programs;
use crate::rules::{Subject, ValueKind};
use crate::surroundings::Place;
use crate::verdict::{Decision, Finding};
use crate::walk::Start;
use crate::word::Word;

impl Inquiry<'_> {
    /// A variable that programs will see.
    pub fn variable(&self, name: &BString, value: &Word, findings: &mut Vec<Finding>) {
        let written = value.as_literal().map(|value| self.seen_from_root(value));
        let written = written.as_ref().map(AsRef::as_ref);
        let subject = Subject::Variable { name: name.as_bstr(), value: written };
        for rule in self.policy.rules().matching(&subject, self.policy.profile()) {
            let stands = match &rule.value {
                ValueKind::Any => true,
                ValueKind::Shell => !self.harmless_command(value),
                ValueKind::Paths => !self.harmless_paths(name.as_bstr(), value),
                ValueKind::Options(program) => !harmless_options(program, value),
            };
            if stands {
                let about = [name.as_slice(), b"=", value.shown()].concat();
                findings.push(self.finding(rule, about.into()));
            }
        }
        self.names_a_secret(value, findings);
        // Shells that are old enough take it for a function, and run what follows.
        if value.prefix().trim_ascii_start().starts_with(b"() {") {
            findings.extend(self.situation("dynamic-code", &name.to_str_lossy()));
        }
    }

    /// `export FILE=/etc/shadow`: whoever reads the variable is told where a secret is.
    fn names_a_secret(&self, value: &Word, findings: &mut Vec<Finding>) {
        let path = value.prefix();
        if !path.starts_with(b"/") || path.contains(&b':') || path.len() < 4 {
            return;
        }
        let directory = Directory::Known(self.world.directory().into());
        let opening = Opening { access: Access::Read, directory: &directory, by: None };
        if let Some(path) = super::paths::absolute(path, &directory) {
            self.by_path_rules(path.as_bstr(), opening, findings);
        }
    }

    /// A path of the project as rules write it, wherever the project lies: `./.venv`.
    fn seen_from_root<'v>(&self, value: &'v BStr) -> Cow<'v, BStr> {
        let rest = value.strip_prefix(self.world.root().as_bytes());
        match rest.filter(|rest| rest.starts_with(b"/")) {
            Some(rest) => Cow::Owned(BString::from([b".", rest].concat())),
            None => Cow::Borrowed(value),
        }
    }

    /// Would it be allowed, typed as a command?
    pub fn harmless_command(&self, value: &Word) -> bool {
        let Some(text) = value.as_literal() else { return false };
        if text.trim_ascii().is_empty() {
            return true;
        }
        let directory = Directory::Known(self.world.directory().into());
        let start = Start { directory, ..Start::default() };
        let verdict = self.aside(|inquiry| {
            inquiry.tasks = self.tasks;
            inquiry.script(text, &start);
        });
        // A file of the project may be run by who names it; put behind a harmless name it is a trap.
        verdict.decision == Decision::Allow
            && verdict.commands.iter().all(|command| &*command.finding.rule != "project-program")
    }

    /// Remembers where the text has names of programs looked up.
    pub fn looks_up(&mut self, name: &BString, value: &Word) {
        if name != "PATH" {
            return;
        }
        let directory = Directory::Known(self.world.directory().into());
        let known = value.as_literal().unwrap_or_else(|| value.prefix());
        for entry in known.split_str(":").filter(|entry| !entry.is_empty()) {
            let Some(path) = super::paths::absolute(entry.as_bstr(), &directory) else { continue };
            let place = self.world.place(path.as_bstr());
            let known = self.program_directories.contains(&path);
            if !known && matches!(place, Place::Project | Place::Scratch) {
                self.program_directories.push(path);
            }
        }
    }

    /// This very text has put something there.
    fn has_written_beneath(&self, directory: &BStr) -> bool {
        let beneath = |path: &BString| {
            path.strip_prefix(directory.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
        };
        self.written.keys().any(beneath) || self.filled.iter().any(beneath)
    }

    /// Directories of the system, or of the project where such things usually are.
    fn harmless_paths(&self, name: &BStr, value: &Word) -> bool {
        let Some(text) = value.as_literal() else { return false };
        let directory = Directory::Known(self.world.directory().into());
        text.split_str(":").all(|entry| {
            let entry = entry.as_bstr();
            if entry.is_empty() {
                // An empty entry of PATH is the current directory; elsewhere it is nothing.
                return name != "PATH";
            }
            let Some(path) = super::paths::absolute(entry, &directory) else { return false };
            match self.world.place(path.as_bstr()) {
                Place::Project if name == "PATH" => {
                    is_tool_directory(path.as_bstr()) && !self.has_written_beneath(path.as_bstr())
                }
                Place::System | Place::Project => true,
                _ => false,
            }
        })
    }
}

/// `node_modules/.bin`, `venv/bin`: where a project keeps its programs.
fn is_tool_directory(path: &BStr) -> bool {
    path.ends_with(b"/bin") || path.ends_with(b"/.bin") || path.ends_with(b"/Scripts")
}

/// None of the options executes anything.
fn harmless_options(program: &str, value: &Word) -> bool {
    let Some(text) = value.as_literal() else { return false };
    let mut words = vec![Word::literal(program)];
    let split = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.extend(split.map(Word::literal));
    let reading = programs::read(&words);
    reading
        .effects
        .iter()
        .all(|effect| matches!(effect, Effect::Open { .. } | Effect::Directory(_)))
        && reading.operands.is_empty()
}

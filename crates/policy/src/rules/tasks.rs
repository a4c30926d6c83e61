//! What tasks may run (S4): its safe list, which is that of the rules in `safe-s4.toml`, and what the operator adds to it.

use std::sync::LazyLock;

use crate::event::Input;
use crate::programs::Reading;

use super::builtin;
use super::compile::{About, Compiled, compile};
use super::matching::{self, Command};
use super::pattern::{Lists, Pattern};
use super::schema::Rule;

/// The file whose rules are S4's safe list.
const FILE: &str = "safe-s4.toml";
/// On S4's list, but without a rule that allows them: S3 blocks them. They run where the operator's rules let them.
const BLOCKED: &[&str] = &["curl", "wget"];

static SAFE: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let blocked = BLOCKED.iter().filter_map(|name| compiled(name).ok());
    builtin::of_file(FILE).cloned().chain(blocked).collect()
});

/// S4's safe list and what extends it.
#[derive(Debug, Clone, Default)]
pub struct TaskList {
    more: Vec<Compiled>,
}

impl TaskList {
    /// With the commands that begin so: `cargo test`, written as in a rule. Else why it cannot be one.
    pub fn with(mut self, entry: &str) -> Result<Self, String> {
        self.more.push(compiled(entry)?);
        // Programs are known by their names without versions: `python3` is `python`.
        if let Some(plain) = without_version(entry) {
            self.more.push(compiled(&plain)?);
        }
        Ok(self)
    }

    /// S4's safe list in words, without what is on it and blocked by S3: `ls`, `npm run`.
    pub fn safe() -> Vec<String> {
        let entries = builtin::of_file(FILE).filter_map(|entry| match &entry.about {
            About::Command(patterns) => Some(patterns),
            _ => None,
        });
        entries.flat_map(|patterns| patterns.iter()).flat_map(written_out).collect()
    }

    /// Is the command on the list?
    pub(crate) fn includes(&self, reading: &Reading, input: &Input, builtin: bool) -> bool {
        let command = Command { reading, input, builtin };
        SAFE.iter().chain(&self.more).any(|entry| match &entry.about {
            About::Command(patterns) => {
                patterns.iter().any(|pattern| matching::command(entry, pattern, &command))
            }
            _ => false,
        })
    }
}

/// Every command that a pattern of the list is about: `npm run`, `npm test`.
fn written_out(pattern: &Pattern) -> Vec<String> {
    let words = pattern.rest.split(' ').filter(|word| !word.is_empty());
    words.fold(vec![pattern.program.to_string()], |begun, word| {
        let with = |begun: &String| {
            let begun = begun.clone();
            word.split('|').map(move |choice| format!("{begun} {choice}"))
        };
        begun.iter().flat_map(with).collect()
    })
}

/// `python3 -m x` as `python -m x`.
fn without_version(entry: &str) -> Option<String> {
    let end = entry.find(char::is_whitespace).unwrap_or(entry.len());
    let (name, rest) = entry.split_at(end);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let stem = stem.strip_suffix('-').unwrap_or(stem);
    (stem.len() < name.len() && !stem.is_empty()).then(|| format!("{stem}{rest}"))
}

/// A rule that allows: what is not known of a word never makes it match.
fn compiled(entry: &str) -> Result<Compiled, String> {
    let rule = Rule {
        id: "tasks-allow".to_owned(),
        verdict: "allow".to_owned(),
        command: vec![entry.to_owned()],
        reason: "allowed in tasks".to_owned(),
        ..Rule::default()
    };
    compile(&rule, &Lists::new()).map_err(|problem| problem.message)
}

//! Commands of a task (S4): what an irreversible keyword names is asked about, what is not on the list is refused. For the
//! rest the ordinary verdict stands.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::{Inquiry, built_in};
use crate::event::Invocation;
use crate::programs::Kind;
use crate::rules::irreversible_keyword;
use crate::verdict::{Decision, Finding, Step};

/// Of a finding that asks about an irreversible keyword.
pub const TASK_IRREVERSIBLE: &str = "task-irreversible";
/// Of a finding that refuses what is not on the list.
pub const TASK_NOT_LISTED: &str = "task-not-listed";

/// Of a finding that asks about commands which the task has written into a file, and which something runs from there.
pub const TASK_WRITTEN: &str = "task-written-then-run";

/// They change nothing but the shell, or lead to commands that are judged themselves. `eval`, `source`, `exec`, `trap` and
/// their like are not among them: what they run may be known only when it is too late to ask.
const LANGUAGE: [&str; 43] = [
    ":",
    "[",
    "alias",
    "bg",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "continue",
    "declare",
    "dirs",
    "disown",
    "exit",
    "export",
    "false",
    "fg",
    "getopts",
    "hash",
    "jobs",
    "let",
    "local",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "test",
    "times",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

impl Inquiry<'_> {
    /// One effective command. What is found goes before what the rules say of it: of two findings that are equally strict a
    /// person is told the one about the task.
    pub fn in_task(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let Some(list) = self.tasks else { return };
        let Subjected { invocation, reading, builtin, .. } = subjected;
        let keyword = irreversible_keyword(reading);
        if let Some(keyword) = keyword {
            findings.insert(0, irreversible(keyword));
        }
        // `./rm` is no `rm`: nobody knows what it is.
        if keyword.is_some() && reading.path.is_none() {
            return;
        }
        let name = reading.name.as_bstr();
        let own = reading.path.is_none() && *builtin && is_language(name);
        let defined = invocation.defined || self.world.is_defined(name);
        if !own && !defined && !list.includes(reading, &invocation.input, *builtin) {
            let shown = invocation.words.first().map_or(name, |word| word.shown());
            findings.insert(0, not_listed(shown));
        }
    }

    /// `npm run x` after `package.json` was written: the commands in there are none that were held against the list.
    pub fn written_in_task(&mut self, subjected: &Subjected<'_>) {
        if self.tasks.is_none() || !Kind::RunsProject.includes(subjected.reading.name.as_bstr()) {
            return;
        }
        let Some(path) = self.fresh_commands() else { return };
        let reason =
            "commands that the task has written itself would be run, and nobody has judged them";
        let finding = Finding {
            irreversible: true,
            about: path,
            hint: "a person decides before anything of the task runs".into(),
            ..built_in(Decision::Confirm, TASK_WRITTEN, reason)
        };
        let words = subjected.invocation.words.iter().map(|word| word.shown().into()).collect();
        self.note(words, &subjected.invocation.via, vec![finding]);
    }

    /// A command whose name is known only when it runs.
    pub fn unknown_in_task(&self, invocation: &Invocation, findings: &mut Vec<Finding>) {
        if let (Some(_), Some(name)) = (self.tasks, invocation.words.first()) {
            findings.insert(0, not_listed(name.shown()));
        }
    }
}

fn is_language(name: &BStr) -> bool {
    LANGUAGE.iter().any(|known| name == *known)
}

fn irreversible(keyword: &str) -> Finding {
    Finding {
        irreversible: true,
        about: keyword.into(),
        hint: "a person decides before anything of the task runs".into(),
        ..built_in(
            Decision::Confirm,
            TASK_IRREVERSIBLE,
            &format!("irreversible keyword `{keyword}`"),
        )
    }
}

fn not_listed(name: &BStr) -> Finding {
    let reason = format!(
        "only commands on the safe list run in a task, and `{}` is not on it",
        name.to_str_lossy()
    );
    Finding {
        step: Step::Allowlist,
        about: name.into(),
        hint: "plan with commands of the list, or have the operator add it to `tasks.allow` in the configuration"
            .into(),
        ..built_in(Decision::Deny, TASK_NOT_LISTED, &reason)
    }
}

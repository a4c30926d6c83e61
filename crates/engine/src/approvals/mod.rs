//! What a person decides: the question, the answers, and what they hold for.
//!
//! - [`digest`]: what an approval is bound to.
//! - [`pending`]: questions that nobody was there to answer; [`storage`] is where they are kept.
//! - [`desk`]: where they are decided, whichever door the decision comes through.
//! - [`waiting`]: whoever asked waits for that.
//! - [`grants`]: what has been decided already.
//! - [`preview`]: what a command would change, for whoever is to decide about it.
//! - [`tried`]: what has run apart, for whoever would rather approve the result than the text.

mod desk;
mod digest;
mod grants;
mod pending;
mod preview;
mod storage;
mod tried;
mod waiting;

pub use desk::{DecideError, Desk, Ruling, Who};
pub use digest::Digest;
pub use grants::{Grant, Scope, Standing};
pub use pending::{Asked, Pending, PendingError, PendingStore, State};
pub use preview::Preview;
pub use tried::Tried;
pub(crate) use tried::shortened_to;
pub use waiting::{Patience, Waiting};

use bstr::BString;
use exacta_policy::JudgedCommand;

/// Something that needs a person.
#[derive(Debug, Clone)]
pub struct Question {
    /// The whole request as it was asked.
    pub text: BString,
    pub directory: BString,
    /// The commands that ask, and why.
    pub asks: Vec<JudgedCommand>,
    /// The commands of the same request that are allowed anyway.
    pub allowed: usize,
    /// Exactly what `always` would store; absent where it is not offered.
    pub always: Option<BString>,
    pub digest: Digest,
    pub asker: Asker,
    /// It has run apart already: this is what came of it.
    pub tried: Option<Tried>,
    /// The task whose plan it is about.
    pub task: Option<String>,
}

/// When a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// Before anything runs.
    #[default]
    Before,
    /// Where a request can change nothing but the project, it runs apart first: the question is whether its result is wanted.
    After,
}

/// Who asks, and what for: as they say it themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asker {
    pub agent: String,
    pub goal: String,
    /// All that is to be done for it, in order.
    pub plan: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Once,
    /// For the rest of this session.
    Session,
    /// From now on, in this project.
    Always,
    No,
    /// From now on not, in this project.
    Never,
    /// Nobody is there: the question is filed.
    Nobody,
    /// It was filed, and what became of it stands there.
    Filed,
}

/// Whoever can be asked.
pub trait Approver: Send + Sync {
    fn ask(&self, question: &Question) -> Answer;

    /// Who answers, for the record: `terminal`, `--yes`.
    fn name(&self) -> &str;
}

/// Nobody: questions are filed.
#[derive(Debug, Default)]
pub struct Unattended;

impl Approver for Unattended {
    fn ask(&self, _question: &Question) -> Answer {
        Answer::Nobody
    }

    fn name(&self) -> &'static str {
        "nobody"
    }
}

/// The same answer to everything: `--yes`, `--no-input`.
#[derive(Debug)]
pub struct Standard {
    pub answer: Answer,
    pub name: &'static str,
}

impl Approver for Standard {
    fn ask(&self, _question: &Question) -> Answer {
        self.answer
    }

    fn name(&self) -> &str {
        self.name
    }
}

/// Programs for which a stored yes would be a yes to anything.
const NEVER_ALWAYS: &[&str] = &[
    ".",
    "Rscript",
    "ash",
    "awk",
    "bash",
    "builtin",
    "bun",
    "bunx",
    "busybox",
    "chroot",
    "command",
    "coproc",
    "dash",
    "deno",
    "doas",
    "docker",
    "env",
    "eval",
    "exec",
    "expect",
    "find",
    "fish",
    "flock",
    "gawk",
    "gdb",
    "git",
    "ionice",
    "ipython",
    "irb",
    "julia",
    "ksh",
    "ltrace",
    "lua",
    "luajit",
    "make",
    "mawk",
    "mksh",
    "nawk",
    "nice",
    "node",
    "nodejs",
    "nohup",
    "npx",
    "nsenter",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pkexec",
    "pnpx",
    "podman",
    "powershell",
    "pwsh",
    "pypy",
    "python",
    "ruby",
    "runuser",
    "script",
    "setsid",
    "sh",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "tclsh",
    "time",
    "timeout",
    "trap",
    "ts-node",
    "tsx",
    "unshare",
    "uv",
    "watch",
    "xargs",
    "zsh",
];

/// The text that `always` would store, unless it would open the door to anything.
pub fn storable(text: &BString, asks: &[JudgedCommand]) -> Option<BString> {
    let open = asks.iter().any(|command| {
        let name = command.argv.first().map_or(&b""[..], |name| name.as_slice());
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        let plain = base.split(u8::is_ascii_digit).next().unwrap_or(base);
        // Bare version control may do anything; one of its subcommands is what it is.
        let bare = plain != b"git" || command.argv.len() < 2;
        !command.via.is_empty()
            || (bare && NEVER_ALWAYS.iter().any(|program| program.as_bytes() == plain))
    });
    (!open).then(|| text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use exacta_policy::{Decision, Finding, Step};

    fn asking(words: &[&str], via: &[&str]) -> JudgedCommand {
        let finding = Finding {
            decision: Decision::Confirm,
            rule: "r".into(),
            source: None,
            step: Step::Policy,
            reason: "".into(),
            hint: "".into(),
            irreversible: false,
            about: BString::default(),
        };
        let texts = |words: &[&str]| words.iter().map(|word| BString::from(*word)).collect();
        let findings = vec![finding.clone()];
        JudgedCommand { argv: texts(words), literal: true, via: texts(via), finding, findings }
    }

    #[test]
    fn always_is_no_key_to_everything() {
        let text = BString::from("text");
        for words in [&["python3.12", "-"][..], &["/usr/bin/pwsh"], &["su"], &["git"], &["watch"]] {
            assert_eq!(storable(&text, &[asking(words, &[])]), None, "{words:?}");
        }
        assert_eq!(storable(&text, &[asking(&["x"], &["env"])]), None);
        assert_eq!(storable(&text, &[asking(&["git", "push"], &[])]), Some(text.clone()));
    }
}

//! Puts the pieces together: a text or an action goes in, every finding about it is gathered, the strictest wins.
//!
//! - [`inquiry`]: the state of one verdict.
//! - [`command`]: one effective command: its name, its rules.
//! - [`effects`]: what its words do.
//! - [`named`], [`processes`], [`production`], [`answered`]: what is told by any of its words, or by
//!   what it is fed with.
//! - [`fed`]: files that are named in what it is fed with.
//! - [`unread`]: what the words of a program without a table look like.
//! - [`scripts`]: texts for a shell, code in other languages; [`chosen`]: those that a pattern means, [`implied`]: files that tools run without being told,
//!   [`left`]: … later, [`obeyed`]: … elsewhere, [`texts`], [`sources`], [`sights`]: commands in
//!   them, and what harms in any language.
//! - [`tasks`]: what holds for commands of a task beside.
//! - [`paths`], [`unknown`], [`variables`]: where paths lead, also those of which only a part is known, which variables make programs execute; [`home`]: what `~` means;
//!   [`computed`], [`system`], [`wiped`], [`sought`]: paths that a command says, programs that are copied, all files at
//!   once, and those that are looked for by name.

mod added;
mod answered;
mod beside;
mod chosen;
mod command;
mod computed;
mod edits;
mod effects;
mod fed;
mod filekinds;
mod given;
mod home;
mod implied;
mod inquiry;
mod left;
mod listed;
mod named;
mod obeyed;
mod paths;
mod processes;
mod production;
mod quoted;
mod scripts;
mod sights;
mod sought;
mod sources;
mod system;
mod tasks;
mod telling;
mod texts;
mod through;
mod unknown;
mod unread;
mod variables;
mod wiped;

use std::sync::{Arc, OnceLock};

use bstr::{BStr, BString, ByteSlice};

use crate::event::{Access, Directory, Event, Input, Invocation, Open};
use crate::rules::{LoadError, Outright, RuleFile, RuleSet, TaskList};
use crate::surroundings::Surroundings;
use crate::verdict::Verdict;
use crate::walk::Start;
use crate::word::Word;

use inquiry::Inquiry;
pub use tasks::{TASK_IRREVERSIBLE, TASK_NOT_LISTED, TASK_WRITTEN};

/// S3 §2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Profile {
    Safe,
    #[default]
    Dev,
    FullAuto,
}

impl Profile {
    pub fn name(self) -> &'static str {
        match self {
            Profile::Safe => "safe",
            Profile::Dev => "dev",
            Profile::FullAuto => "full-auto",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Profile::Safe, Profile::Dev, Profile::FullAuto]
            .into_iter()
            .find(|profile| profile.name() == name)
    }
}

/// What is about to happen, every word known.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    Run {
        argv: &'a [BString],
        /// In this process: what it runs in turn comes back as an action of its own.
        in_process: bool,
        /// What differs from the environment the session began with; only programs see it.
        environment: &'a [(BString, BString)],
        directory: &'a BStr,
    },
    Open {
        path: &'a BStr,
        access: Access,
    },
}

/// The rules in force under a profile.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: RuleSet,
    profile: Profile,
    /// What is judged are commands of tasks.
    tasks: Option<Arc<TaskList>>,
    /// Made when somebody asks.
    outright: OnceLock<Outright>,
}

impl Policy {
    pub fn new(rules: RuleSet, profile: Profile) -> Self {
        Policy { rules, profile, tasks: None, outright: OnceLock::new() }
    }

    /// The same rules with S4's: an irreversible keyword asks, and what is neither that nor on the list is refused.
    pub fn for_tasks(&self, list: TaskList) -> Policy {
        Policy { tasks: Some(Arc::new(list)), ..self.clone() }
    }

    /// The built-in rules alone.
    pub fn builtin(profile: Profile) -> Result<Self, LoadError> {
        Self::load(&[], profile)
    }

    /// The built-in rules and those of the files.
    pub fn load(files: &[RuleFile], profile: Profile) -> Result<Self, LoadError> {
        Ok(Policy::new(RuleSet::load(files)?, profile))
    }

    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Are commands of this name denied, but for what a rule excepts?
    pub fn denies_outright(&self, name: &BStr) -> bool {
        self.outright.get_or_init(|| self.rules.outright(self.profile)).denies(name)
    }

    /// Every name and pattern by which commands are denied outright, always in the same order.
    pub fn each_denied_outright(&self, each: impl FnMut(&str)) {
        self.rules.each_outright(self.profile, each);
    }

    /// Nothing but permissions is said about commands of this name: they need no judgement as long as their paths
    /// are somebody else's business. In a task every command must be on the list.
    pub fn is_plain(&self, name: &BStr) -> bool {
        self.tasks.is_none() && self.profile != Profile::Safe && !self.rules.mentions(name)
    }

    /// A whole text before it runs, with what is literally known. It may refuse and ask; it never permits.
    pub fn screen(&self, text: &BStr, world: &dyn Surroundings) -> Verdict {
        let mut inquiry = Inquiry::new(self, world);
        let directory = Directory::Known(world.directory().into());
        let positional = vec![Word::literal("bash")];
        let start = Start { directory, positional, ..Start::default() };
        inquiry.script(text, &start);
        inquiry.left_behind();
        inquiry.end()
    }

    /// One action that is about to happen.
    pub fn judge(&self, action: &Action<'_>, world: &dyn Surroundings) -> Verdict {
        let mut inquiry = Inquiry::new(self, world);
        match action {
            Action::Run { argv, in_process, environment, directory } => {
                inquiry.comes_back = *in_process;
                inquiry.command(&Invocation {
                    words: argv.iter().cloned().map(Word::Literal).collect(),
                    assignments: environment
                        .iter()
                        .map(|(name, value)| (name.clone(), Word::Literal(value.clone())))
                        .collect(),
                    input: Input::Inherited,
                    directory: Directory::Known(directory.as_bstr().into()),
                    ..Invocation::default()
                });
            }
            Action::Open { path, access } => inquiry.event(&Event::Open(Open {
                path: Word::literal(*path),
                access: *access,
                directory: Directory::Known(world.directory().into()),
                content: None,
                via: Vec::new(),
            })),
        }
        inquiry.end()
    }
}

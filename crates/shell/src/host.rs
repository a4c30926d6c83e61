//! The only way from the shell to the world.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bstr::{BStr, BString};

use crate::control::Control;
use crate::filesystem::{FileSystem, OpenFile};
use crate::status::ExitStatus;

/// Everything outside the interpreter. One object per session; shared by the threads of a pipeline.
pub trait Host: Send + Sync {
    fn files(&self) -> &dyn FileSystem;

    /// Asked before anything is run or opened, with what it has become after expansion. Whatever does it takes the
    /// clearance, so that nothing can be done unasked.
    fn judge(&self, action: &Action<'_>) -> Result<Clearance, Refusal> {
        let _ = action;
        Ok(Clearance::unrestricted())
    }

    /// Whether [`Host::record`] wants to hear of every command; the clock is read only then.
    fn records(&self) -> bool {
        false
    }

    /// Told of every simple command after it ended.
    fn record(&self, step: Step) {
        let _ = step;
    }

    /// Runs a real program to its end. `None`: there is no such program.
    fn run_program(&self, program: &Program<'_>, clearance: Clearance) -> Option<Ended> {
        let _ = (program, clearance);
        None
    }

    /// A real program will run, and files are about to be opened for it: they should be where it finds them.
    fn expect_program(&self, argv: &[BString], directory: &BStr) {
        let _ = (argv, directory);
    }

    /// Where a real program of this name is, for `type`, `which` and `command -v`.
    fn find_program(&self, name: &BStr) -> Option<BString> {
        let _ = name;
        None
    }

    fn now(&self) -> SystemTime;

    /// What the processors have worked for this process and the programs it ran, for `time` and `times`.
    fn processor_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Seed for `$RANDOM`, names of temporary files.
    fn random(&self) -> u64;

    fn identity(&self) -> &Identity;
}

/// Who the script is told it is. The host's own values are not passed on unless the operator wants it.
#[derive(Debug, Clone)]
pub struct Identity {
    pub user_id: u32,
    pub group_id: u32,
    pub user_name: BString,
    pub group_name: BString,
    pub host_name: BString,
    /// `$$`
    pub process_id: u32,
    pub parent_id: u32,
    /// IANA name of the time zone when `TZ` is not set; empty: UTC.
    pub time_zone: String,
}

/// What the script is about to do.
#[derive(Debug)]
pub enum Action<'a> {
    /// A command, after expansion.
    Run {
        argv: &'a [BString],
        how: Execution,
        directory: &'a BStr,
        /// What a program would be given; empty for what runs in process.
        environment: &'a [(BString, BString)],
    },
    /// A redirect, `source`, or a file that a tool opens: the absolute path as the script names it.
    Open { path: &'a BStr, writes: bool },
}

/// Where a command would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    InProcess,
    Program,
    /// There is no such command: what is left to say is whether it may even be asked for.
    Missing,
}

/// A yes to one action, with whatever goes with it. Only a host makes one.
#[derive(Clone)]
pub struct Clearance {
    rule: Option<Arc<str>>,
    restrictions: Option<Arc<dyn Any + Send + Sync>>,
}

impl Clearance {
    /// A host without rules.
    pub fn unrestricted() -> Self {
        Clearance { rule: None, restrictions: None }
    }

    pub fn new(rule: Arc<str>, restrictions: Option<Arc<dyn Any + Send + Sync>>) -> Self {
        Clearance { rule: Some(rule), restrictions }
    }

    /// The rule that allowed it.
    pub fn rule(&self) -> Option<&Arc<str>> {
        self.rule.as_ref()
    }

    /// What the host has attached for itself.
    pub fn restrictions<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.restrictions.as_deref().and_then(|any| any.downcast_ref())
    }
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub argv: Vec<BString>,
    /// In process, not a program.
    pub builtin: bool,
    /// The rule that allowed it.
    pub rule: Option<Arc<str>>,
    pub status: ExitStatus,
    pub duration: Duration,
}

/// "No", as a value. The request ends with status 126.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub rule: String,
    pub reason: String,
    pub hint: String,
    /// Say only that there is no such command.
    pub concealed: bool,
    /// A person may still allow it, under this id.
    pub approval: Option<String>,
}

/// A real program with all it needs.
pub struct Program<'a> {
    /// What the script calls it: a name, or a path.
    pub name: &'a BStr,
    /// What it is told it is called comes first.
    pub argv: &'a [BString],
    pub environment: &'a [(BString, BString)],
    pub directory: &'a BStr,
    pub descriptors: &'a [(u32, Arc<dyn OpenFile>)],
    pub file_mode_mask: u32,
    /// The process of the script that runs it.
    pub control: &'a Arc<Control>,
    /// That process has nothing else to do: signals to it are for the program.
    pub takes_over: bool,
}

/// What became of a real program.
#[derive(Debug)]
pub enum Ended {
    Exited(ExitStatus),
    /// By this signal.
    Signalled(i32),
    /// The system would not run the file.
    NotRun(io::Error),
    /// Nothing can be run at all, for this reason.
    Unable(String),
}

//! How a session begins.

use std::path::PathBuf;
use std::sync::Arc;

use bstr::BString;
use exacta_shell::control::Limits;

use crate::audit::AuditOptions;
use crate::commands_file::{Trust, TrustNothing};
use crate::gate::Judgement;
use crate::kept_output::OutputLimit;
use crate::programs::ProgramOptions;
use crate::project::TEMPORARY;
use crate::redaction::Redaction;
use crate::undo::Retention;

#[derive(Clone)]
pub struct SessionOptions {
    /// The project: all that exists for the session beside its private `/tmp`.
    pub root: PathBuf,
    /// Where to begin, if inside the root; else the root.
    pub directory: Option<PathBuf>,
    /// Exported variables.
    pub environment: Vec<(BString, BString)>,
    pub limits: Limits,
    pub storage: Storage,
    /// What `/tmp` is, from the state of the project on.
    pub temporary: PathBuf,
    /// `$0`
    pub name: BString,
    /// `$1` and on.
    pub arguments: Vec<BString>,
    /// Keep a record of every command for [`Outcome::steps`].
    pub record_steps: bool,
    /// What it is judged by; absent: the built-in rules under `dev`, in the face of S0, with nobody to ask.
    pub judgement: Option<Judgement>,
    /// Whether what came with the repository may allow commands.
    pub trust: Arc<dyn Trust>,
    /// Keep so much of the output of a request; absent: all of it, as far as [`Limits::output_bytes`] goes.
    pub output: Option<OutputLimit>,
    /// Real programs may run, in a jail; absent: there are none.
    pub programs: Option<ProgramOptions>,
    /// How much is remembered of what was done.
    pub retention: Retention,
    /// How it is recorded. Absent, or without a real directory: it is not.
    pub audit: Option<AuditOptions>,
    /// What must not be written to disk or shown; secrets of the environment come by themselves.
    pub redaction: Redaction,
}

/// Where files live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The real directory.
    Directory,
    /// Nothing but memory; empty at first.
    Memory,
    /// Reads the real directory, keeps changes in memory.
    Overlay,
}

impl SessionOptions {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        SessionOptions {
            root: root.into(),
            directory: None,
            environment: Vec::new(),
            limits: Limits::default(),
            storage: Storage::Directory,
            temporary: PathBuf::from(TEMPORARY),
            name: BString::from("bash"),
            arguments: Vec::new(),
            record_steps: false,
            judgement: None,
            trust: Arc::new(TrustNothing),
            output: None,
            programs: None,
            retention: Retention::default(),
            audit: Some(AuditOptions::default()),
            redaction: Redaction::default(),
        }
    }
}

//! What a session answers.

use std::time::Duration;

use exacta_shell::host::Step;
use exacta_shell::status::{ExitStatus, Stop};

use crate::gate::Judged;
use crate::programs::Tally;
use crate::redaction::Report;
use crate::undo::UndoReport;

/// What became of a request. Output is empty if the caller gave streams of its own.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Why it was ended from outside, if it was.
    pub stopped: Option<Stop>,
    /// The script asked to leave: `exit`, or `set -e`.
    pub exited: bool,
    /// Every command that ran, if [`SessionOptions::record_steps`] asks for them.
    pub steps: Vec<Step>,
    pub duration: Duration,
    /// What the processors have worked for its programs, and with [`SessionOptions::record_steps`] for all of it.
    pub processor_time: Duration,
    /// What the judge has said, and what a person has approved.
    pub judged: Judged,
    /// Output was over its limit, and only head and tail of it are left.
    pub truncated: bool,
    /// Where the whole of it is, as a script sees it.
    pub spill: Option<String>,
    /// What its programs have used and what held them; absent: none has run.
    pub programs: Option<Tally>,
    /// The record by which it can be taken back; absent: it has changed nothing that could be.
    pub undo: Option<UndoReport>,
    /// What was replaced in its output, where the caller gets results without secrets.
    pub redacted: Report,
}

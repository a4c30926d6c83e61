//! Is the chain what was written? What was changed, removed, put in or cut off is named.
//!
//! Three things say so. Each record's hash covers the one before: whoever changes something must write all that follows
//! anew. Checkpoints are signed with a key that is not in the project: what was signed cannot be written anew. And the last
//! of what is on the disk is anchored in the user's own state: records up to there cannot be cut off, checkpoints and all.

mod beside;
mod links;
mod signatures;

use std::fmt;
use std::ops::ControlFlow;

use super::chain::Hash;
use super::error::AuditError;
use super::key::{PublicKey, Signed};
use super::ledger::Archive;
use crate::watch::Watch;

/// More are not listed: the database is not what it was, and nobody reads on.
const MOST: usize = 50;

/// What is known from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The user's own key. Absent: signatures are only checked against the keys that come with them.
    pub key: Option<PublicKey>,
    /// Heads that were kept outside: in the user's state, or wherever somebody has copied one to.
    pub anchors: Vec<Signed>,
}

/// What is wrong, and with which record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// The record; of several, the first.
    pub sequence: u64,
    /// In words.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is not what was written.
    Changed,
    /// It is not there any more.
    Removed,
    /// It was never written.
    Inserted,
    /// The last records are not there any more.
    CutOff,
    /// A signature does not hold, or is not the user's.
    Unsigned,
}

impl ProblemKind {
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Changed => "changed",
            ProblemKind::Removed => "removed",
            ProblemKind::Inserted => "inserted",
            ProblemKind::CutOff => "cut off",
            ProblemKind::Unsigned => "not signed",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}: {}: {}", self.sequence, self.kind.name(), self.detail)
    }
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub records: u64,
    pub first: u64,
    pub last: u64,
    /// Where it ends, by its hash.
    pub head: Hash,
    /// Signed up to here.
    pub signed: u64,
    /// Anchored outside up to here.
    pub anchored: u64,
    /// Removed by the operator's limits, up to here.
    pub cut: u64,
    pub problems: Vec<Problem>,
}

impl Report {
    pub fn is_good(&self) -> bool {
        self.problems.is_empty()
    }

    fn add(&mut self, kind: ProblemKind, sequence: u64, detail: impl Into<String>) {
        if self.problems.len() < MOST {
            self.problems.push(Problem { kind, sequence, detail: detail.into() });
        }
    }
}

/// Looks at everything.
pub fn verify(archive: &dyn Archive, known: &Known, watch: &Watch) -> Result<Report, AuditError> {
    let mut report = Report::default();
    let head = archive.head()?;
    let checkpoints = archive.checkpoints()?;
    let start = links::beginning(archive, &mut report)?;
    let expected =
        signatures::check(&checkpoints, known, &archive.database(), start.cut, &mut report);
    let told = links::walk(archive, start, &head, &expected, watch, &mut report)?;
    signatures::ends(&expected, &head, &mut report);
    if report.is_good() {
        signatures::are_there(&checkpoints, known, &mut report);
    }
    if !told.renumbered {
        beside::check_outputs(archive, &told, &mut report)?;
        beside::check_rows(archive, &told, &mut report)?;
        beside::check_outlines(archive, &told, &mut report)?;
    }
    report.problems.sort_by_key(|problem| problem.sequence);
    Ok(report)
}

/// Goes on.
const ON: ControlFlow<()> = ControlFlow::Continue(());

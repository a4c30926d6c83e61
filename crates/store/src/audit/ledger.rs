//! What a store of records must be able to do. `SQLite` is one ([`super::Database`]); a database that many machines share can
//! be another. Sessions know [`Ledger`] alone, verification [`Archive`].

use std::ops::ControlFlow;

use super::chain::{Hash, Link};
use super::entry::{Entry, Moment};
use super::error::AuditError;
use super::key::Signed;

/// An entry with the content that is kept beside it: standard output, standard error.
#[derive(Debug, Clone)]
pub struct Draft {
    pub entry: Entry,
    pub beside: [Option<Vec<u8>>; 2],
}

impl From<Entry> for Draft {
    fn from(entry: Entry) -> Self {
        Draft { entry, beside: [None, None] }
    }
}

/// When an entry has to be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// It outlives this process, and in time a power cut.
    Process,
    /// It outlives a power cut from the moment on that somebody is told.
    Disk,
}

/// How a batch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    pub durability: Durability,
    /// Nothing follows from this process: what was written so far is signed.
    pub last: bool,
}

/// Takes records, one batch after the other; all of a batch or nothing.
pub trait Ledger: Send {
    fn append(&mut self, batch: &[Draft], manner: Manner) -> Result<(), AuditError>;

    /// Removes some of what is clearly older or more than the operator wants to keep, if there is any: cheap to ask, and never
    /// long. How many records are gone.
    fn retain(&mut self, limits: &Limits) -> Result<u64, AuditError>;
}

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    pub records: u64,
    pub requests: u64,
    /// The last one of them.
    pub upto: u64,
    /// When that was written.
    pub time: Moment,
    /// Bytes of the database that its records need no more.
    pub bytes: u64,
}

/// How long records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub days: u64,
    /// Of the whole database.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { days: 365, bytes: 2_000_000_000 }
    }
}

/// The end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub database: [u8; 16],
    pub sequence: u64,
    pub stamp: Moment,
    pub hash: Hash,
}

/// Content beside the chain, as it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    pub sequence: u64,
    /// 0: standard output, 1: standard error.
    pub stream: u8,
    pub data: Vec<u8>,
}

/// What is looked up by, and must agree with the record that it was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Row {
    /// The request's first record.
    pub first: u64,
    /// Its outcome, if there is one.
    pub last: Option<u64>,
    pub id: Vec<u8>,
    pub session: String,
    pub verdict: i64,
    pub exit: Option<i64>,
    pub started: Moment,
    pub command: Vec<u8>,
}

/// Is given one thing after the other, and says whether it wants more.
pub type Each<'a, T> = &'a mut dyn FnMut(T) -> ControlFlow<()>;

/// Gives everything out again as it is, so that whoever doubts it can look.
pub trait Archive {
    fn database(&self) -> [u8; 16];
    fn head(&self) -> Result<Head, AuditError>;
    /// Records from this one on, in their order.
    fn links(&self, from: u64, each: Each<'_, Link>) -> Result<(), AuditError>;
    fn beside(&self, each: Each<'_, Beside>) -> Result<(), AuditError>;
    fn rows(&self, each: Each<'_, Row>) -> Result<(), AuditError>;
    /// The outlines by which blocks of records are searched, each with the number of its block.
    fn outlines(&self, each: Each<'_, (u64, Vec<u8>)>) -> Result<(), AuditError>;
    fn checkpoints(&self) -> Result<Vec<Signed>, AuditError>;
    /// The last cut, if records were ever removed, with its number.
    fn last_cut(&self) -> Result<Option<Link>, AuditError>;
}

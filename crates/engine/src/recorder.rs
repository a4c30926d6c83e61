//! What was asked, what was decided, how it ended: kept in memory until there is a store for it.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use bstr::BString;
use exacta_policy::Decision;
use exacta_shell::status::ExitStatus;

/// More than this many are not kept; the oldest go first.
const CAPACITY: usize = 1_000;

/// One way out of the pipeline.
#[derive(Debug, Clone)]
pub struct Record {
    pub time: SystemTime,
    pub argv: Vec<BString>,
    pub decision: Decision,
    pub rule: String,
    pub reason: String,
    /// Absent if it did not run, or has not ended.
    pub status: Option<ExitStatus>,
}

#[derive(Debug, Default)]
pub struct Recorder {
    records: Mutex<std::collections::VecDeque<Record>>,
}

impl Recorder {
    pub fn add(&self, record: Record) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.len() == CAPACITY {
            records.pop_front();
        }
        records.push_back(record);
    }

    pub fn all(&self) -> Vec<Record> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

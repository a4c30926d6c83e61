//! What came of it: what was enforced, and what a program did.

use std::io;
use std::time::Duration;

use bstr::BString;
use serde::{Deserialize, Serialize};

use crate::ladder::{Level, Missing};
use crate::plan::Limits;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    Exited(u8),
    Signalled(u8),
}

/// A program that has ended, with all that came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub ending: Ending,
    /// Of the whole tree, so far as the tier measures it.
    pub processor_time: Duration,
    pub memory_peak: u64,
    pub processes_peak: u32,
    pub limits_hit: Vec<LimitHit>,
    pub execs: Vec<Exec>,
    pub walls: Walls,
    /// Those that were in force.
    pub limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitHit {
    ProcessorTime,
    Memory,
    Processes,
    Tasks,
}

/// A program that was started inside, for the record. What is seen here is not what holds: the view is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    pub path: BString,
    pub argv: Vec<BString>,
    pub process: u32,
    pub parent: u32,
    /// What was read when it was asked for is what was running afterwards.
    pub confirmed: bool,
}

/// What stands between a program and the machine, as it was really put up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// The rung of the ladder that these are.
    pub level: Level,
    pub namespaces: bool,
    /// What is not granted does not exist, rather than being refused.
    pub absence: bool,
    /// The version of Landlock in force; 0: none.
    pub landlock: u32,
    pub system_calls: bool,
    pub limits: Tier,
    /// The limit on processes counts processes and not threads.
    pub counted: bool,
    /// What is missing from the highest rung.
    pub missing: Vec<Missing>,
}

impl Walls {
    /// What stands, by the names that results and records have for it.
    pub fn standing(&self) -> Vec<String> {
        let all = [
            (self.namespaces, "namespaces".to_owned()),
            (self.absence, "absent-paths".to_owned()),
            (self.landlock > 0, format!("landlock-{}", self.landlock)),
            (self.system_calls, "seccomp".to_owned()),
            (self.counted, "process-count".to_owned()),
        ];
        all.into_iter().filter_map(|(stands, name)| stands.then_some(name)).collect()
    }
}

/// Who holds the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tier {
    ControlGroups2,
    ControlGroups1,
    /// Limits of each process, and a look at the whole every so often: they may be passed for a moment.
    #[default]
    Sampled,
}

/// A step that could not be done. Nothing has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// In words, as it fits after "could not": `mount the project`.
    pub step: String,
    /// The system's error number.
    pub errno: i32,
}

impl Failure {
    pub fn new(step: impl Into<String>, error: impl Into<io::Error>) -> Self {
        let error: io::Error = error.into();
        Failure { step: step.into(), errno: error.raw_os_error().unwrap_or(0) }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let error = io::Error::from_raw_os_error(self.errno);
        write!(out, "could not {}: {error}", self.step)
    }
}

impl std::error::Error for Failure {}

/// Names the step of what failed.
pub(crate) trait AtStep<T> {
    fn at(self, step: &str) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> AtStep<T> for Result<T, E> {
    fn at(self, step: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(step, error))
    }
}

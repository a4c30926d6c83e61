//! What is to be done: a goal, and the commands that lead there with what is expected of each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// S4's limits, where a plan says nothing else.
pub const USUAL_TIMEOUT: Duration = Duration::from_secs(60);
/// Of the output of one command.
pub const USUAL_OUTPUT: u64 = 10 << 10;
/// How often a step that has failed is tried again.
pub const USUAL_RETRIES: u32 = 3;
/// The pause before the first of them; it doubles.
pub const USUAL_BACKOFF: Duration = Duration::from_secs(1);

/// Of the name of an agent, in bytes.
pub const LONGEST_AGENT: usize = 100;

/// It stands in tables and names a queue: one line, and not a long one. Empty: nobody in particular.
pub fn is_agent(name: &str) -> bool {
    name.len() <= LONGEST_AGENT && !name.chars().any(char::is_control)
}

/// A plan as it is kept. What people and planners write is read by [`super::reading`], which says where it is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub goal: String,
    /// Who it is done for: of one agent one task runs at a time.
    #[serde(default)]
    pub agent: String,
    pub steps: Vec<PlannedStep>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// For the shell, from the root of the project on.
    pub command: String,
    #[serde(default)]
    pub why: String,
    #[serde(default)]
    pub expect: Expect,
    /// Absent: [`USUAL_TIMEOUT`].
    #[serde(default)]
    pub timeout: Option<Duration>,
    #[serde(default)]
    pub retry: Retry,
    /// Running it twice is as good as once, whatever came of the first time.
    #[serde(default)]
    pub idempotent: bool,
}

/// What a step must lead to. What is absent is not looked at, but for the exit code, which is 0 then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expect {
    pub exit_code: i32,
    pub stdout_contains: Vec<String>,
    pub stdout_matches: Vec<String>,
    pub stderr_matches: Vec<String>,
    /// Relative to the root.
    pub files_exist: Vec<String>,
    pub files_absent: Vec<String>,
    /// Patterns of paths: nothing else may have changed.
    pub changed_only: Option<Vec<String>>,
}

/// How often a step that has failed is tried again, and after which pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retry {
    pub attempts: u32,
    pub backoff: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry { attempts: USUAL_RETRIES, backoff: USUAL_BACKOFF }
    }
}

impl PlannedStep {
    pub fn time_limit(&self) -> Duration {
        self.timeout.unwrap_or(USUAL_TIMEOUT)
    }
}

//! What comes of a primitive (S2).

use std::time::Duration;

/// What a command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashResult {
    /// -1 if it was ended before it had one, see [`timed_out`](Self::timed_out).
    pub exit_code: i32,
    /// What is no UTF-8 is replaced.
    pub stdout: String,
    pub stderr: String,
    /// It took too long, and nothing of it is left.
    pub timed_out: bool,
    /// More was printed than is kept.
    pub truncated: bool,
    pub metadata: ExecutionMetadata,
}

impl BashResult {
    pub fn success(&self) -> bool {
        self.exit_code == 0
    }
}

/// About the run itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionMetadata {
    pub duration: Duration,
    /// That of the context.
    pub operation_id: String,
    /// `bash`
    pub primitive: String,
}

//! What `execute_run` answers, and how S1 writes it as JSON.

use std::fmt;

use serde::Serialize;

/// The command ran and ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunValue {
    /// Standard output and standard error, as they were produced.
    pub output: String,
}

/// The command did not run, or not well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunError {
    /// S1's text.
    pub error: String,
    /// What it had produced, if it ran to its end.
    pub output: Option<String>,
    pub kind: RunErrorKind,
}

/// For exit codes and callers that must not read texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunErrorKind {
    /// Not a command of the strict grammar, or not with these flags.
    Invalid,
    /// A path or a working directory that is not there for it.
    Path,
    NotApproved,
    Blocked,
    /// It ended with this exit code.
    Failed(u8),
    NotFound,
    TimedOut,
    TooLarge,
    /// The caller has given up.
    Cancelled,
    /// exacta could not do its work.
    Internal,
}

pub type RunResult = Result<RunValue, RunError>;

impl RunError {
    pub(super) fn new(kind: RunErrorKind, error: impl Into<String>) -> Self {
        RunError { error: error.into(), output: None, kind }
    }

    pub(super) fn internal(problem: &dyn fmt::Display) -> Self {
        Self::new(RunErrorKind::Internal, problem.to_string())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl std::error::Error for RunError {}

/// `{"ok":true,"value":{"output":…}}` or `{"ok":false,"error":…,"output":…}`, keys in this order.
pub fn to_json(result: &RunResult) -> String {
    let written = match result {
        Ok(value) => {
            let value = Output { output: &value.output };
            serde_json::to_string(&Success { ok: true, value })
        }
        Err(error) => {
            let output = error.output.as_deref();
            serde_json::to_string(&Failure { ok: false, error: &error.error, output })
        }
    };
    // Strings and booleans can always be written.
    written.unwrap_or_default()
}

#[derive(Serialize)]
struct Success<'a> {
    ok: bool,
    value: Output<'a>,
}

#[derive(Serialize)]
struct Output<'a> {
    output: &'a str,
}

#[derive(Serialize)]
struct Failure<'a> {
    ok: bool,
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

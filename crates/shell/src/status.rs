//! How a command ended, and the ways out of one that is still running.

use std::fmt;

/// 0 to 255, as `$?` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct ExitStatus(pub u8);

impl ExitStatus {
    pub const SUCCESS: ExitStatus = ExitStatus(0);
    pub const FAILURE: ExitStatus = ExitStatus(1);
    /// Wrong use of a builtin.
    pub const USAGE: ExitStatus = ExitStatus(2);
    /// The time of the request is over.
    pub const TIMED_OUT: ExitStatus = ExitStatus(124);
    /// exacta itself could not do it.
    pub const UNABLE: ExitStatus = ExitStatus(125);
    pub const REFUSED: ExitStatus = ExitStatus(126);
    pub const NOT_FOUND: ExitStatus = ExitStatus(127);
    pub const BROKEN_PIPE: ExitStatus = ExitStatus(141);

    pub fn success(self) -> bool {
        self.0 == 0
    }

    pub fn from_bool(success: bool) -> Self {
        if success { Self::SUCCESS } else { Self::FAILURE }
    }

    /// `exit 256` is 0: only the low eight bits count.
    pub fn from_number(number: i64) -> Self {
        ExitStatus((number & 0xff) as u8)
    }

    pub fn from_signal(signal: i32) -> Self {
        Self::from_number(128 + i64::from(signal))
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Control leaves the current command in another way than by ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupt {
    Break(u32),
    Continue(u32),
    Return(ExitStatus),
    /// `exit`, `set -e`, and errors after which bash leaves a non-interactive shell.
    Exit(ExitStatus),
    /// An error after which bash drops the rest of the current top-level command and reads the next line
    /// (`echo $((1/0)); echo not reached`). The message is already printed.
    Discard(ExitStatus),
    /// Ended by a signal without a trap: `SIGPIPE` on a closed pipe, `kill $$`.
    Killed(i32),
    /// A limit, a cancellation or a refusal: nothing in the script can catch it.
    Stopped(Stop),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    Cancelled,
    TimedOut,
    Limit(LimitKind, u64),
    Refused(crate::host::Refusal),
    /// What it is about to do cannot be recorded, for this reason.
    Unrecorded(String),
    /// A signal ended this process of the script, not the request: [`Interrupt::Killed`] to the interpreter.
    Killed(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    Steps,
    LoopIterations,
    Recursion,
    OutputBytes,
    OpenFiles,
    ExpansionBytes,
    PipelineDepth,
    Processes,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Cancelled => f.write_str("cancelled"),
            Stop::TimedOut => f.write_str("timed out"),
            Stop::Limit(kind, limit) => match kind {
                LimitKind::Steps => write!(f, "step limit exceeded (max {limit})"),
                LimitKind::LoopIterations => {
                    write!(f, "loop iteration limit exceeded (max {limit})")
                }
                LimitKind::Recursion => write!(f, "recursion limit exceeded (max {limit})"),
                LimitKind::OutputBytes => write!(f, "output limit exceeded (max {limit} bytes)"),
                LimitKind::OpenFiles => write!(f, "open file limit exceeded (max {limit})"),
                LimitKind::ExpansionBytes => {
                    write!(f, "expansion limit exceeded (max {limit} bytes)")
                }
                LimitKind::PipelineDepth => write!(f, "pipe depth exceeded (max {limit})"),
                LimitKind::Processes => write!(f, "process limit exceeded (max {limit})"),
            },
            Stop::Killed(signal) => write!(f, "killed by signal {signal}"),
            Stop::Refused(refusal) if refusal.concealed => {
                write!(f, "{}: command not found", refusal.reason)
            }
            Stop::Refused(refusal) => write!(f, "refused by policy: {}", refusal.reason),
            Stop::Unrecorded(why) => write!(f, "not done, because it cannot be recorded: {why}"),
        }
    }
}

impl From<Stop> for Interrupt {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Killed(signal) => Interrupt::Killed(signal),
            stop => Interrupt::Stopped(stop),
        }
    }
}

/// What running something gives.
pub type Flow = Result<ExitStatus, Interrupt>;

/// Any other result on the way, e.g. of an expansion. Messages are printed where the error is found.
pub type Running<T> = Result<T, Interrupt>;

//! Why something could not be done with a task: what, why, and what to do next. That a task has failed is no error.

use std::fmt;
use std::io;

use exacta_store::UndoError;
use exacta_store::audit::AuditError;
use rustix::io::Errno;

use super::State;
use crate::approvals::{DecideError, PendingError};
use crate::error::EngineError;

#[derive(Debug)]
pub enum TaskError {
    /// None has this id, or more than one begins so.
    Unknown(String),
    /// What is no name of an agent.
    Agent(String),
    /// Somebody else works on it.
    Busy(String),
    /// It is in a state in which that cannot be.
    Not {
        id: String,
        doing: &'static str,
        state: State,
    },
    /// The state machine does not lead there.
    Illegal {
        id: String,
        from: State,
        to: State,
    },
    /// Somebody else has changed it meanwhile.
    Changed(String),
    /// It cannot be said that running it again is safe.
    Unsafe {
        id: String,
        step: usize,
        why: String,
    },
    /// There is no operator's state, in which turns are taken.
    NoState,
    /// It has a goal and no plan, and nobody is there to make one.
    NoPlanner(String),
    /// What is kept of it cannot be read.
    Broken {
        id: String,
        problem: String,
    },
    /// A file or a directory of the state is not as it has to be.
    Files {
        doing: String,
        error: io::Error,
    },
    Store(AuditError),
    Engine(Box<EngineError>),
    Approval(Box<PendingError>),
    Decision(Box<DecideError>),
    Undo(UndoError),
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Unknown(id) => write!(f, "there is no task {id}, or more than one"),
            TaskError::Agent(name) => {
                let name: String = name.chars().take(40).collect();
                write!(f, "{name:?} is no name of an agent")
            }
            TaskError::Busy(id) => write!(f, "another process works on task {id}"),
            TaskError::Not { id, doing, state } => {
                write!(f, "task {id} is {}: it cannot be {doing}", state.name())
            }
            TaskError::Illegal { id, from, to } => {
                write!(f, "task {id} cannot go from {} to {}", from.name(), to.name())
            }
            TaskError::Changed(id) => write!(f, "somebody else has changed task {id} meanwhile"),
            TaskError::Unsafe { id, step, why } => {
                write!(f, "step {} of task {id} may have taken effect already: {why}", step + 1)
            }
            TaskError::NoState => write!(
                f,
                "neither XDG_STATE_HOME nor HOME says where agents can take turns, and so nothing runs"
            ),
            TaskError::NoPlanner(id) => write!(f, "task {id} has no plan, and nobody makes one"),
            TaskError::Broken { id, problem } => {
                write!(f, "what is kept of task {id} cannot be read: {problem}")
            }
            TaskError::Files { doing, error } => {
                write!(f, "cannot {doing}: {}", exacta_shell::errno::text(error))
            }
            TaskError::Store(error) => error.fmt(f),
            TaskError::Engine(error) => error.fmt(f),
            TaskError::Approval(error) => error.fmt(f),
            TaskError::Decision(error) => error.fmt(f),
            TaskError::Undo(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TaskError {}

impl TaskError {
    /// What a person can do about it.
    pub fn next(&self) -> Option<&'static str> {
        match self {
            TaskError::Unknown(_) => Some("`exacta task list` shows the ids"),
            TaskError::Agent(_) => Some("one line of at most 100 bytes"),
            TaskError::Busy(_) => {
                Some("`exacta task log -f` follows it, `exacta task cancel` ends it")
            }
            TaskError::Not { state: State::Completed, .. } => {
                Some("it is done: a new task can do it again")
            }
            TaskError::Not {
                state: State::Failed | State::Cancelled | State::NeedsReview, ..
            } => Some("`exacta task retry` has it begin anew"),
            TaskError::Not { .. } | TaskError::Changed(_) | TaskError::Illegal { .. } => {
                Some("`exacta task show` says what it waits for")
            }
            TaskError::Unsafe { .. } => {
                Some("look at what it did with `exacta task show`, then retry it with --force")
            }
            TaskError::NoState => Some("set HOME, or XDG_STATE_HOME"),
            TaskError::NoPlanner(_) => Some("give it a plan, or set up a planner"),
            TaskError::Files { error, .. } => unusable(error),
            TaskError::Store(error) => error.next(),
            TaskError::Undo(error) => error.next(),
            TaskError::Decision(error) if is_settled(error) => Some(
                "`exacta task show` says what came of it; after a yes `exacta task run` goes on",
            ),
            TaskError::Broken { .. }
            | TaskError::Engine(_)
            | TaskError::Approval(_)
            | TaskError::Decision(_) => None,
        }
    }
}

/// Somebody has answered before.
fn is_settled(error: &DecideError) -> bool {
    matches!(error, DecideError::Store(PendingError::Settled(_)))
}

/// What to do about a directory that cannot be used.
fn unusable(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::ACCESS | Errno::PERM | Errno::ROFS => {
            Some("it has to be yours and writable: `ls -ld` says whose it is and what is allowed")
        }
        // The last one: a link, which is not followed.
        Errno::NOTDIR | Errno::EXIST | Errno::LOOP => Some(
            "something else is where the directory has to be: move it away, and it is made anew",
        ),
        Errno::NOSPC | Errno::DQUOT => Some("make room on the disk"),
        _ => None,
    }
}

impl From<AuditError> for TaskError {
    fn from(error: AuditError) -> Self {
        TaskError::Store(error)
    }
}

impl From<EngineError> for TaskError {
    fn from(error: EngineError) -> Self {
        TaskError::Engine(Box::new(error))
    }
}

impl From<PendingError> for TaskError {
    fn from(error: PendingError) -> Self {
        TaskError::Approval(Box::new(error))
    }
}

impl From<DecideError> for TaskError {
    fn from(error: DecideError) -> Self {
        TaskError::Decision(Box::new(error))
    }
}

impl From<UndoError> for TaskError {
    fn from(error: UndoError) -> Self {
        TaskError::Undo(error)
    }
}

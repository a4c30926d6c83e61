//! What can go wrong with a primitive (S2).

use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum PrimitiveError {
    /// The command may not run, and nothing of it has.
    Validation {
        message: String,
    },
    /// The working directory is not one that commands may use.
    PathNotAllowed {
        path: PathBuf,
    },
    /// The command ran and failed.
    CommandFailed {
        exit_code: i32,
        message: String,
    },
    /// The policy has refused something that the command was about to do, and ended it.
    Refused {
        message: String,
        /// What to do instead.
        hint: Option<String>,
        /// A person may still allow it, under this id.
        approval: Option<String>,
    },
    Io(io::Error),
}

pub type PrimitiveResult<T> = Result<T, PrimitiveError>;

impl fmt::Display for PrimitiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrimitiveError::Validation { message } => write!(f, "validation error: {message}"),
            PrimitiveError::PathNotAllowed { path } => {
                write!(f, "path not allowed: {}", path.display())
            }
            PrimitiveError::CommandFailed { exit_code, message } => {
                write!(f, "command failed with exit code {exit_code}: {message}")
            }
            PrimitiveError::Refused { message, .. } => write!(f, "refused by policy: {message}"),
            PrimitiveError::Io(error) => write!(f, "{}", exacta_shell::errno::text(error)),
        }
    }
}

impl std::error::Error for PrimitiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PrimitiveError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for PrimitiveError {
    fn from(error: io::Error) -> Self {
        PrimitiveError::Io(error)
    }
}

//! Why something could not be recorded or read: what, why, and what to do next.

use std::fmt;

use rustix::io::Errno;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditError {
    /// The file system says no.
    System {
        doing: &'static str,
        path: String,
        errno: Errno,
    },
    /// The database does.
    Database {
        doing: &'static str,
        problem: String,
    },
    /// A link, a directory, somebody else's file: it may have come with the repository.
    NotOurs {
        name: String,
    },
    /// The database was made by a later version.
    Newer {
        found: i64,
        known: i64,
    },
    /// It is no database of this kind.
    Foreign,
    /// A record that cannot be read.
    Unreadable(u64),
    Encoding(String),
    /// What signs the chain cannot be used.
    Key(String),
    /// Nothing was ever recorded here.
    Nothing,
    /// Nothing, or more than one, has this id.
    NoSuchRequest(String),
    /// An earlier record could not be written, and so none is since.
    Closed(Box<AuditError>),
    /// The thread that writes could not be started, or has died.
    NoWriter(String),
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::System { doing, path, errno } => {
                let error = std::io::Error::from(*errno).to_string();
                let text = error.split(" (os error").next().unwrap_or_default();
                write!(f, "{path}: cannot {doing}: {text}")
            }
            AuditError::Database { doing, problem } => {
                write!(f, ".clada/exacta.db: cannot {doing}: {problem}")
            }
            AuditError::NotOurs { name } => {
                write!(f, ".clada/{name} is not a plain file of yours")
            }
            AuditError::Newer { found, known } => write!(
                f,
                ".clada/exacta.db has version {found}, and this exacta knows up to {known}"
            ),
            AuditError::Foreign => write!(f, ".clada/exacta.db is no database of exacta's"),
            AuditError::Unreadable(sequence) => write!(f, "record {sequence} cannot be read"),
            AuditError::Encoding(problem) => write!(f, "a record cannot be encoded: {problem}"),
            AuditError::Key(problem) => write!(f, "the key that signs the record: {problem}"),
            AuditError::Nothing => write!(f, "nothing was recorded in this project"),
            AuditError::NoSuchRequest(id) => write!(f, "no request {id}"),
            AuditError::Closed(cause) => write!(f, "an earlier record was not written: {cause}"),
            AuditError::NoWriter(problem) => write!(f, "nobody can write it: {problem}"),
        }
    }
}

impl std::error::Error for AuditError {}

impl AuditError {
    /// What a person can do about it.
    pub fn next(&self) -> Option<&'static str> {
        match self {
            AuditError::System { errno: Errno::NOSPC | Errno::DQUOT, .. } => {
                Some("make room on the disk")
            }
            AuditError::System { errno: Errno::ACCESS | Errno::PERM | Errno::ROFS, .. } => {
                Some("make .clada in the project writable for you, or choose another --root")
            }
            AuditError::Database { problem, .. } if problem.contains("full") => {
                Some("make room on the disk")
            }
            AuditError::Database { .. } => Some(
                "if it stays so: `exacta audit verify`, and move .clada/exacta.db away to begin anew",
            ),
            AuditError::NotOurs { .. } | AuditError::Foreign => {
                Some("look at it; if you do not need it, move it away")
            }
            AuditError::Newer { .. } => Some("use the newer exacta here"),
            AuditError::Key(_) => Some("look at `exacta/audit` in your state directory"),
            AuditError::NoSuchRequest(_) => Some("`exacta shell history` shows the ids"),
            AuditError::Closed(cause) => cause.next(),
            AuditError::Unreadable(_) => Some("`exacta audit verify` says more"),
            AuditError::System { .. }
            | AuditError::NoWriter(_)
            | AuditError::Encoding(_)
            | AuditError::Nothing => None,
        }
    }
}

/// What the database says, with what was being done.
pub(crate) fn database(doing: &'static str) -> impl Fn(rusqlite::Error) -> AuditError {
    move |error| AuditError::Database { doing, problem: error.to_string() }
}

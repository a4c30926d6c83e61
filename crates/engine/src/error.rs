//! Why exacta itself could not do its work. A refusal or a failing command is not an error: see `Outcome`.

use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum EngineError {
    /// The project directory cannot be used.
    Root { path: PathBuf, error: io::Error },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Root { path, error } => write!(
                f,
                "cannot use {} as the project root: {}\n\nhint: name an existing directory with --root DIR",
                path.display(),
                exacta_shell::errno::text(error)
            ),
        }
    }
}

impl std::error::Error for EngineError {}

//! Why exacta itself could not do its work. A refusal or a failing command is not an error: see `Outcome`.

use std::fmt;
use std::io;
use std::path::PathBuf;

use exacta_policy::rules::LoadError;

use crate::commands_file::CommandsFileError;

#[derive(Debug)]
pub enum EngineError {
    /// The project directory cannot be used.
    Root { path: PathBuf, error: io::Error },
    /// The rules cannot be used: nothing runs.
    Rules(Box<LoadError>),
    /// A configuration file cannot be read: nothing runs.
    Configuration { path: PathBuf, problem: String },
    /// `.clada/commands.json` cannot be used: nothing runs.
    Commands(CommandsFileError),
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
            EngineError::Configuration { path, problem } => write!(
                f,
                "cannot read {}: {problem}\n\nhint: mend the file, or name another with --config FILE",
                path.display()
            ),
            EngineError::Rules(error) => error.fmt(f),
            EngineError::Commands(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EngineError {}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> Self {
        EngineError::Rules(Box::new(error))
    }
}

impl From<CommandsFileError> for EngineError {
    fn from(error: CommandsFileError) -> Self {
        EngineError::Commands(error)
    }
}

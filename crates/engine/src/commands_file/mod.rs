//! `.clada/commands.json`: which exact commands a person has allowed and blocked for good (S1).
//!
//! The file belongs to people: keys that are not ours stay, and a file that cannot be understood is an error that
//! names it and is left as it is. What came with the repository cannot allow anything until it is trusted.

mod document;
pub(crate) mod index;
mod storage;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use document::Document;
use storage::Storage;

use crate::filesystem::state::State;

/// As messages name it.
pub const NAME: &str = ".clada/commands.json";

/// The file of one project.
#[derive(Debug, Clone)]
pub struct CommandsFile {
    root: PathBuf,
}

/// What the file says about commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    allowed: Vec<String>,
    blocked: Vec<String>,
}

/// What the file says about one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allowed,
    Blocked,
    Unknown,
}

/// What became of a wish to allow a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    Allowed,
    /// Somebody else has blocked it in the meantime; a block is never taken back silently.
    Blocked,
}

/// Whether a file that came with the repository may allow commands: `exacta trust` says so.
pub trait Trust: Send + Sync {
    fn trusts(&self, content: &[u8]) -> bool;

    /// Did the file come with the repository? `tracked` says what git thinks now; who has a memory remembers it, so
    /// that taking the file out of git's index does not make it a person's own.
    fn came_with_repository(&self, tracked: bool) -> bool {
        tracked
    }

    /// exacta itself has changed a file that was trusted.
    fn rewritten(&self, before: &[u8], after: &[u8]) {
        let _ = (before, after);
    }
}

/// Nothing that came with a repository is trusted.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustNothing;

impl Trust for TrustNothing {
    fn trusts(&self, _content: &[u8]) -> bool {
        false
    }
}

/// The file cannot be used; nothing may run.
#[derive(Debug)]
pub enum CommandsFileError {
    /// Not what the file must be. Line and column count from 1.
    Broken {
        path: PathBuf,
        line: usize,
        column: usize,
        problem: String,
    },
    Unusable {
        path: PathBuf,
        error: io::Error,
    },
}

impl CommandsFile {
    /// The file of the project at `root`; it need not exist.
    pub fn of(root: impl Into<PathBuf>) -> Self {
        CommandsFile { root: root.into() }
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(NAME)
    }

    /// What holds now. A missing file decides nothing.
    pub fn read(&self, trust: &dyn Trust) -> Result<Decisions, CommandsFileError> {
        let state = self.wrap(storage::state(&self.root))?;
        self.read_in(&state, trust)
    }

    /// The same where the project is open already.
    pub(crate) fn read_in(
        &self,
        state: &State,
        trust: &dyn Trust,
    ) -> Result<Decisions, CommandsFileError> {
        let content = self.wrap(storage::read(state))?;
        let Some(content) = content else { return Ok(Decisions::default()) };
        let document = self.parse(&content)?;
        let mut decisions = Decisions {
            allowed: document.allowed().to_vec(),
            blocked: document.blocked().to_vec(),
        };
        if !decisions.allowed.is_empty()
            && trust.came_with_repository(index::is_tracked(&self.root, NAME))
            && !trust.trusts(&content)
        {
            decisions.allowed.clear();
        }
        Ok(decisions)
    }

    /// From now on this command runs without a question.
    pub fn allow(&self, command: &str, trust: &dyn Trust) -> Result<Entered, CommandsFileError> {
        self.change(trust, |document| {
            if document.blocked().iter().any(|blocked| blocked == command) {
                return Entered::Blocked;
            }
            document.allow(command);
            Entered::Allowed
        })
    }

    /// From now on this command is refused without a question.
    pub fn block(&self, command: &str, trust: &dyn Trust) -> Result<(), CommandsFileError> {
        self.change(trust, |document| document.block(command))
    }

    /// Under the lock: read, change, replace. Nothing is written if nothing changes.
    fn change<T>(
        &self,
        trust: &dyn Trust,
        change: impl FnOnce(&mut Document) -> T,
    ) -> Result<T, CommandsFileError> {
        let storage = self.wrap(Storage::lock(&self.root))?;
        let before = self.wrap(storage.read())?;
        let mut document = match &before {
            Some(content) => self.parse(content)?,
            None => Document::default(),
        };
        let original = document.clone();
        let result = change(&mut document);
        if document == original && before.is_some() {
            return Ok(result);
        }
        let after = document.text();
        self.wrap(storage.replace(after.as_bytes()))?;
        if let Some(before) = &before
            && trust.trusts(before)
        {
            trust.rewritten(before, after.as_bytes());
        }
        Ok(result)
    }

    fn parse(&self, content: &[u8]) -> Result<Document, CommandsFileError> {
        Document::parse(content).map_err(|broken| CommandsFileError::Broken {
            path: self.path(),
            line: broken.line,
            column: broken.column,
            problem: broken.problem,
        })
    }

    fn wrap<T>(&self, result: io::Result<T>) -> Result<T, CommandsFileError> {
        result.map_err(|error| CommandsFileError::Unusable { path: self.path(), error })
    }
}

impl Decisions {
    /// Exactly this text; a block wins.
    pub fn about(&self, command: &str) -> Decision {
        let names = |list: &[String]| list.iter().any(|known| known == command);
        if names(&self.blocked) {
            Decision::Blocked
        } else if names(&self.allowed) {
            Decision::Allowed
        } else {
            Decision::Unknown
        }
    }

    pub fn allowed(&self) -> &[String] {
        &self.allowed
    }

    pub fn blocked(&self) -> &[String] {
        &self.blocked
    }
}

impl CommandsFileError {
    pub fn path(&self) -> &Path {
        match self {
            CommandsFileError::Broken { path, .. } | CommandsFileError::Unusable { path, .. } => {
                path
            }
        }
    }
}

impl fmt::Display for CommandsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandsFileError::Broken { path, line, column, problem } => {
                write!(f, "{}:{line}:{column}: {problem}", path.display())
            }
            CommandsFileError::Unusable { path, error } => {
                write!(f, "{}: {}", path.display(), exacta_shell::errno::text(error))
            }
        }
    }
}

impl std::error::Error for CommandsFileError {}

//! Which files that came with a project a person has read and accepted, by their exact content. Kept in the user's
//! state directory, outside every project.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::approvals::Digest;
use crate::filesystem::state;
use crate::kept_file;

const NAME: &str = "trusted.json";
const LOCK: &str = "trusted.lock";
const NEW: &str = "trusted.json.new";
const MAXIMUM_SIZE: u64 = 16 << 20;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    /// Paths with the digests of the contents that are trusted there.
    trusted: BTreeMap<String, String>,
    /// Paths whose files came with a repository.
    foreign: BTreeSet<String>,
}

#[derive(Debug)]
pub struct TrustStore {
    folder: Option<PathBuf>,
}

#[derive(Debug)]
pub enum TrustError {
    /// There is no place to keep it.
    NoState,
    Io {
        path: PathBuf,
        error: io::Error,
    },
    Broken {
        path: PathBuf,
        message: String,
    },
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustError::NoState => f.write_str(
                "there is no state directory to keep trust in\n\nhint: set HOME or XDG_STATE_HOME",
            ),
            TrustError::Io { path, error } => {
                write!(f, "{}: {}", path.display(), exacta_shell::errno::text(error))
            }
            TrustError::Broken { path, message } => {
                write!(f, "{} is broken: {message}\n\nhint: mend or remove it", path.display())
            }
        }
    }
}

impl std::error::Error for TrustError {}

impl TrustStore {
    pub fn open(folder: Option<PathBuf>) -> Self {
        TrustStore { folder }
    }

    /// Is this content trusted at this path? A store that cannot be read trusts nothing.
    pub fn is_trusted(&self, path: &Path, content: &[u8]) -> bool {
        let Ok(known) = self.read() else { return false };
        known.trusted.get(&path.display().to_string()) == Some(&digest(content))
    }

    pub fn trust(&self, path: &Path, content: &[u8]) -> Result<(), TrustError> {
        self.change(|known| {
            known.trusted.insert(path.display().to_string(), digest(content));
        })
    }

    /// Remembers that what is there came with a repository.
    fn note_foreign(&self, path: &Path) -> Result<(), TrustError> {
        let name = path.display().to_string();
        if self.read()?.foreign.contains(&name) {
            return Ok(());
        }
        self.change(|known| {
            known.foreign.insert(name);
        })
    }

    /// Did it come with a repository once? A store that cannot be read knows nothing good.
    fn is_foreign(&self, path: &Path) -> bool {
        self.read().map_or(true, |known| known.foreign.contains(&path.display().to_string()))
    }

    /// `false`: it was not trusted.
    pub fn forget(&self, path: &Path) -> Result<bool, TrustError> {
        if self.folder.is_none() {
            return Ok(false);
        }
        self.change(|known| known.trusted.remove(&path.display().to_string()).is_some())
    }

    fn read(&self) -> Result<Known, TrustError> {
        let Some(folder) = &self.folder else { return Ok(Known::default()) };
        match state::open_existing_path(folder) {
            Ok(directory) => self.read_in(&directory),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Known::default()),
            Err(error) => Err(self.problem(error)),
        }
    }

    fn read_in(&self, directory: &OwnedFd) -> Result<Known, TrustError> {
        let text = kept_file::read(directory, NAME, MAXIMUM_SIZE);
        match text.map_err(|error| self.problem(error))? {
            Some(text) => serde_json::from_slice(&text).map_err(|error| TrustError::Broken {
                path: self.path(),
                message: error.to_string(),
            }),
            None => Ok(Known::default()),
        }
    }

    /// Under the lock: read, change, replace. Of two who write at once neither is forgotten.
    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> Result<T, TrustError> {
        let folder = self.folder.as_ref().ok_or(TrustError::NoState)?;
        let directory = state::open_path(folder).map_err(|error| self.problem(error))?;
        let lock = kept_file::lock(&directory, LOCK).map_err(|error| self.problem(error))?;
        let mut known = self.read_in(&directory)?;
        let before = known.clone();
        let result = change(&mut known);
        if known != before {
            // Texts in maps can always be written.
            let text = serde_json::to_vec_pretty(&known).unwrap_or_default();
            kept_file::replace(&directory, NAME, NEW, &text, &lock)
                .map_err(|error| self.problem(error))?;
        }
        Ok(result)
    }

    fn path(&self) -> PathBuf {
        self.folder.as_deref().unwrap_or(Path::new("")).join(NAME)
    }

    fn problem(&self, error: io::Error) -> TrustError {
        TrustError::Io { path: self.path(), error }
    }
}

fn digest(content: &[u8]) -> String {
    Digest::of_parts([content]).to_string()
}

/// `.clada/commands.json` of one project.
#[derive(Debug)]
pub struct TrustedCommands {
    pub store: std::sync::Arc<TrustStore>,
    pub path: PathBuf,
}

impl crate::commands_file::Trust for TrustedCommands {
    fn trusts(&self, content: &[u8]) -> bool {
        self.store.is_trusted(&self.path, content)
    }

    fn came_with_repository(&self, tracked: bool) -> bool {
        if tracked {
            // If it cannot be remembered, it still counts now.
            let _ = self.store.note_foreign(&self.path);
        }
        tracked || self.store.is_foreign(&self.path)
    }

    fn rewritten(&self, _before: &[u8], after: &[u8]) {
        // If it cannot be kept, the new file is not trusted: the safe side.
        let _ = self.store.trust(&self.path, after);
    }
}

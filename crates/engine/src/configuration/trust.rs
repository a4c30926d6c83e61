//! Which files that came with a project a person has read and accepted, by their exact content. Kept in the user's
//! state directory, outside every project.

#![expect(
    clippy::disallowed_methods,
    reason = "the user's own state directory, outside of any project"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::approvals::Digest;

const NAME: &str = "trusted.json";

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
        let mut known = self.read()?;
        known.trusted.insert(path.display().to_string(), digest(content));
        self.write(&known)
    }

    /// Remembers that what is there came with a repository.
    fn note_foreign(&self, path: &Path) -> Result<(), TrustError> {
        let mut known = self.read()?;
        if known.foreign.insert(path.display().to_string()) {
            self.write(&known)?;
        }
        Ok(())
    }

    /// Did it come with a repository once? A store that cannot be read knows nothing good.
    fn is_foreign(&self, path: &Path) -> bool {
        self.read().map_or(true, |known| known.foreign.contains(&path.display().to_string()))
    }

    /// `false`: it was not trusted.
    pub fn forget(&self, path: &Path) -> Result<bool, TrustError> {
        let mut known = self.read()?;
        let was_trusted = known.trusted.remove(&path.display().to_string()).is_some();
        if was_trusted {
            self.write(&known)?;
        }
        Ok(was_trusted)
    }

    fn read(&self) -> Result<Known, TrustError> {
        let Some(folder) = &self.folder else { return Ok(Known::default()) };
        let path = folder.join(NAME);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| TrustError::Broken { path, message: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Known::default()),
            Err(error) => Err(TrustError::Io { path, error }),
        }
    }

    fn write(&self, known: &Known) -> Result<(), TrustError> {
        let folder = self.folder.as_ref().ok_or(TrustError::NoState)?;
        let wrap = |error| TrustError::Io { path: folder.join(NAME), error };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrap)?;
        let temporary = folder.join(format!("{NAME}.{}", std::process::id()));
        let write = || -> io::Result<()> {
            let mut options = fs::OpenOptions::new();
            let mut file =
                options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(&serde_json::to_vec_pretty(known)?)?;
            file.sync_all()?;
            fs::rename(&temporary, folder.join(NAME))
        };
        write().map_err(wrap)
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

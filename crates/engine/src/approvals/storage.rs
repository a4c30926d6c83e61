//! The folder where questions are kept, `.clada/approvals/`: by handle, one writer at a time.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state, which no script can see: opened by handle, never through a link"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use super::PendingError;
use crate::commands_file::index;
use crate::filesystem::state::{self, State};
use crate::kept_file::{self, Lock};

const NAME: &str = ".clada/approvals";
const FOLDER: &str = "approvals";
const LOCK: &str = "lock";
const NEW: &str = "new";

/// A command as long as a system takes, and why it asks; more is no question.
const MAXIMUM_SIZE: u64 = 16 << 20;

#[derive(Debug, Clone)]
pub(super) struct Storage {
    root: PathBuf,
}

/// The right to write, until it is dropped.
pub(super) struct Writer<'a> {
    storage: &'a Storage,
    folder: OwnedFd,
    lock: Lock,
}

impl Storage {
    pub(super) fn of(root: &Path) -> Self {
        Storage { root: root.to_owned() }
    }

    pub(super) fn path(&self, id: &str) -> PathBuf {
        self.root.join(name(id))
    }

    /// Is it in git's index? Then nobody here has decided it.
    pub(super) fn came_with_repository(&self, id: &str) -> bool {
        index::is_tracked(&self.root, &name(id))
    }

    pub(super) fn lock(&self) -> Result<Writer<'_>, PendingError> {
        let open = || -> io::Result<(OwnedFd, Lock)> {
            let folder = self.state()?.subdirectory(FOLDER)?;
            let lock = kept_file::lock(&folder, LOCK)?;
            Ok((folder, lock))
        };
        let (folder, lock) = open().map_err(|error| self.problem(error))?;
        Ok(Writer { storage: self, folder, lock })
    }

    /// Every file with its id. One that vanished meanwhile is no question any more.
    pub(super) fn read_all(&self) -> Result<Vec<(String, Vec<u8>)>, PendingError> {
        let existing = || {
            let state = self.state()?.open_existing()?;
            state::open_existing(&state, FOLDER)
        };
        let folder = match existing() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.problem(error)),
        };
        let mut all = Vec::new();
        for entry in Dir::read_from(&folder).map_err(|error| self.problem(error.into()))? {
            let entry = entry.map_err(|error| self.problem(error.into()))?;
            let Ok(file) = entry.file_name().to_str() else { continue };
            let Some(id) = file.strip_suffix(".json") else { continue };
            let text = kept_file::read(&folder, file, MAXIMUM_SIZE)
                .map_err(|error| PendingError::Io { path: self.path(id), error })?;
            all.extend(text.map(|text| (id.to_owned(), text)));
        }
        Ok(all)
    }

    /// One file by its id; `None`: there is none.
    pub(super) fn read(&self, id: &str) -> Result<Option<Vec<u8>>, PendingError> {
        if id.is_empty() || id.contains(['/', '\0']) {
            return Ok(None);
        }
        let read = || {
            let folder = self.state()?.existing_subdirectory(FOLDER)?;
            kept_file::read(&folder, &format!("{id}.json"), MAXIMUM_SIZE)
        };
        match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map_err(|error| PendingError::Io { path: self.path(id), error }),
        }
    }

    fn state(&self) -> io::Result<State> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(State::InProject(Arc::new(rustix::fs::open(&self.root, flags, Mode::empty())?)))
    }

    fn problem(&self, error: io::Error) -> PendingError {
        PendingError::Io { path: self.root.join(NAME), error }
    }
}

impl Writer<'_> {
    pub(super) fn replace(&self, id: &str, text: &[u8]) -> Result<(), PendingError> {
        kept_file::replace(&self.folder, &format!("{id}.json"), NEW, text, &self.lock)
            .map_err(|error| self.storage.problem(error))
    }

    pub(super) fn remove(&self, id: &str) -> Result<(), PendingError> {
        match rustix::fs::unlinkat(&self.folder, format!("{id}.json"), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.storage.problem(error.into())),
        }
    }
}

fn name(id: &str) -> String {
    format!("{NAME}/{id}.json")
}

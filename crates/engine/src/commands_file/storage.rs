//! The file on disk.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state, which no script can see: opened by handle, never through a link"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use crate::filesystem::state::State;
use crate::kept_file::{self, Lock};

const FILE: &str = "commands.json";
const LOCK: &str = "commands.lock";
const NEW: &str = "commands.json.new";

/// Many thousand commands; more is not a list that a person has made.
const MAXIMUM_SIZE: u64 = 16 << 20;

/// The content now; `None` if there is no file.
pub(super) fn read(state: &State) -> io::Result<Option<Vec<u8>>> {
    match state.open_existing() {
        Ok(directory) => kept_file::read(&directory, FILE, MAXIMUM_SIZE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The right to write, until it is dropped.
pub(super) struct Storage {
    directory: OwnedFd,
    lock: Lock,
}

impl Storage {
    pub(super) fn lock(root: &Path) -> io::Result<Self> {
        let directory = state(root)?.open()?;
        let lock = kept_file::lock(&directory, LOCK)?;
        Ok(Storage { directory, lock })
    }

    pub(super) fn read(&self) -> io::Result<Option<Vec<u8>>> {
        kept_file::read(&self.directory, FILE, MAXIMUM_SIZE)
    }

    pub(super) fn replace(&self, content: &[u8]) -> io::Result<()> {
        kept_file::replace(&self.directory, FILE, NEW, content, &self.lock)
    }
}

pub(super) fn state(root: &Path) -> io::Result<State> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(State::InProject(Arc::new(rustix::fs::open(root, flags, Mode::empty())?)))
}

//! The one room where files are opened.
//!
//! Three trees with one behaviour: [`Confined`] is the real project directory, [`Memory`] lives in this process, and
//! [`over`] makes one that reads the former and writes the latter. Rules that all of them keep:
//!
//! - A path outside does not exist. Every operation on it answers `ENOENT`, never `EACCES` or `EXDEV`.
//! - `.clada`, in any spelling and at any depth, does not exist either.
//! - Nothing is looked up by path and then used by path: what was found is used through its handle.
//!
//! Deliberately absent: mounting, device nodes, extended attributes, locks, watching.

#![expect(clippy::disallowed_methods, reason = "this is the room where files are opened")]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use exacta_shell::errno;
use exacta_shell::filesystem::FileSystem;

use self::state::State;
use crate::error::EngineError;
use crate::session::Storage;
use crate::undo::Transactions;

mod confined;
mod cover;
mod device;
mod directory;
mod file;
mod git_exclude;
mod memory;
mod metadata;
mod mounts;
mod open;
mod overlay;
pub(crate) mod path;
mod points;
mod preimage;
mod preimage_store;
#[doc(hidden)]
pub mod probe;
mod real;
mod recorded;
mod renaming;
mod request;
mod resolve;
pub(crate) mod state;
mod stream;
mod trash;
mod tree;
mod wake;
mod walk;

pub use confined::Confined;
pub(crate) use cover::{Cover, owner_outside};
pub use memory::Memory;
pub use mounts::Places;
pub use overlay::{over, over_directory};
pub(crate) use real::{RealMaker, open_pipe};
pub use request::CurrentRequest;
pub use stream::Stream;
pub(crate) use wake::Wake;

/// The file system of a session, and what its requests leave in the undo journal, if they leave something.
#[derive(Clone)]
pub struct Opened {
    pub files: Arc<dyn FileSystem>,
    pub transactions: Option<Arc<Transactions>>,
    /// Where a layer goes that is laid over the project.
    pub(crate) cover: Option<Arc<Cover>>,
    /// Where exacta keeps what is its own, and records what is done. Absent: nothing is recorded.
    pub(crate) state: Option<State>,
}

impl Opened {
    /// Nothing of what is changed there is recorded.
    pub fn unrecorded(files: Arc<dyn FileSystem>) -> Self {
        Opened { files, transactions: None, cover: None, state: None }
    }
}

/// The file system of a session. In a real directory every change is recorded, and only a request may make one.
pub fn open(root: &Path, storage: Storage) -> Result<Opened, EngineError> {
    open_with(root, storage, Path::new(crate::project::TEMPORARY))
}

/// The same with another `/tmp`, given from the state of the project on.
pub fn open_with(root: &Path, storage: Storage, temporary: &Path) -> Result<Opened, EngineError> {
    let failed = |error| EngineError::Root { path: root.to_owned(), error };
    match storage {
        Storage::Directory => {
            let mut places = Places::in_project(root);
            places.temporary = places.state.join(temporary);
            let files = Confined::open(&places).map_err(failed)?;
            let (files, transactions) = files.recorded();
            let (cover, state) = (Some(files.cover()), Some(files.state()));
            Ok(Opened { files: Arc::new(files), transactions, cover, state })
        }
        Storage::Memory => {
            Ok(Opened::unrecorded(Arc::new(Memory::new(root.as_os_str().as_bytes()))))
        }
        Storage::Overlay => Ok(Opened::unrecorded(Arc::new(over_directory(root).map_err(failed)?))),
    }
}

/// An open directory, shared by whoever resolves relative to it.
pub(crate) type Handle = Arc<OwnedFd>;

/// The one answer for everything outside.
pub(crate) fn missing() -> io::Error {
    errno::error(errno::ENOENT)
}

//! Where the journal works: the project's tree, and the folders below `.clada/undo`.
//!
//! Nothing is made before it is needed. A journal that is not private to the user is not used: a repository could
//! have brought one along.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use bstr::BString;
use rustix::io::Errno;

use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::going::Going;
use crate::path;
use crate::record::{RecordId, TreeIdentity};
use crate::system;
use crate::watch::Watch;

pub(crate) struct Ground {
    root: OwnedFd,
    state: OwnedFd,
    folders: OnceLock<Folders>,
    /// Told by whatever takes long.
    pub watch: Watch,
    /// Asked by whatever keeps a running request waiting.
    pub going: Going,
}

/// `.clada/undo`.
pub(crate) struct Folders {
    pub undo: OwnedFd,
    /// Opened when they are used: a request that changes nothing needs none of them.
    log: OnceLock<OwnedFd>,
    pre: OnceLock<OwnedFd>,
    redo: OnceLock<OwnedFd>,
    /// Records that somebody works on, or worked on when he died.
    pub busy: OwnedFd,
    /// Layers of running requests, and those that are held.
    pub run: OwnedFd,
}

/// What one record keeps, by the numbers of its steps.
pub(crate) struct Slots {
    pub pre: OwnedFd,
    pub redo: OwnedFd,
}

/// Only one applies, undoes, redoes, recovers or cleans at a time. Ends with the value.
pub(crate) struct Lock {
    _file: OwnedFd,
}

/// A directory of the tree and a name in it.
pub(crate) struct Spot {
    pub directory: OwnedFd,
    pub name: BString,
}

impl Ground {
    pub(crate) fn new(root: BorrowedFd<'_>, state: BorrowedFd<'_>) -> Result<Self, UndoError> {
        let doing = "keep the directory open";
        let own = |handle: BorrowedFd<'_>| handle.try_clone_to_owned().map_err(|_| Errno::MFILE);
        let (root, state) = (own(root).at(doing, b"")?, own(state).at(doing, path::STATE)?);
        Ok(Ground {
            root,
            state,
            folders: OnceLock::new(),
            watch: Watch::default(),
            going: Going::default(),
        })
    }

    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The folders, made if they are missing.
    pub(crate) fn folders(&self) -> Result<&Folders, UndoError> {
        if let Some(folders) = self.folders.get() {
            return Ok(folders);
        }
        self.check_file_system()?;
        let undo =
            system::ensure_directory(&self.state, b"undo").at("make the journal", b"undo")?;
        let folders = Ground::open_folders(undo)?;
        Ok(self.folders.get_or_init(|| folders))
    }

    /// The folders if there are any.
    pub(crate) fn existing(&self) -> Result<Option<&Folders>, UndoError> {
        if self.folders.get().is_none() {
            let undo = match system::open_listing(&self.state, b"undo") {
                Err(Errno::NOENT) => return Ok(None),
                undo => undo.at("open the journal", b"undo")?,
            };
            let folders = Ground::open_folders(undo)?;
            return Ok(Some(self.folders.get_or_init(|| folders)));
        }
        Ok(self.folders.get())
    }

    /// Not deleted by somebody.
    pub(crate) fn is_there(&self) -> bool {
        let handle = self.folders.get().map_or(self.state.as_fd(), |folders| folders.undo.as_fd());
        system::stat_handle(handle).is_ok_and(|found| found.st_nlink > 0)
    }

    fn open_folders(undo: OwnedFd) -> Result<Folders, UndoError> {
        let found = system::stat_handle(&undo).at("look at the journal", b"undo")?;
        if found.st_uid != system::user() || found.st_mode & 0o077 != 0 {
            return Err(UndoError::NotPrivate);
        }
        let ensure = |name: &str| {
            system::ensure_directory(&undo, name.as_bytes()).at("make the journal", name.as_bytes())
        };
        let (busy, run) = (ensure("busy")?, ensure("run")?);
        let (log, pre, redo) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Folders { undo, log, pre, redo, busy, run })
    }

    /// Renames have to work between the two.
    fn check_file_system(&self) -> Result<(), UndoError> {
        let root = system::stat_handle(&self.root).at("look at the root", b"")?;
        let state = system::stat_handle(&self.state).at("look at the state", path::STATE)?;
        if root.st_dev == state.st_dev { Ok(()) } else { Err(UndoError::OtherFileSystem) }
    }

    pub(crate) fn identity(&self) -> Result<TreeIdentity, UndoError> {
        let root = system::stat_handle(&self.root).at("look at the root", b"")?;
        let journal = system::stat_handle(&self.folders()?.undo).at("look at the journal", b"")?;
        Ok(TreeIdentity { root: root.st_ino, journal: journal.st_ino })
    }

    pub(crate) fn lock(&self) -> Result<Lock, UndoError> {
        let (folders, doing) = (self.folders()?, "lock the journal");
        let file = match system::open_appending(&folders.undo, b"lock") {
            Err(Errno::NOENT) => match system::create_file(&folders.undo, b"lock") {
                Err(Errno::EXIST) => system::open_appending(&folders.undo, b"lock"),
                made => made,
            },
            opened => opened,
        };
        let file = file.at(doing, b"lock")?;
        system::lock(&file).at(doing, b"lock")?;
        Ok(Lock { _file: file })
    }

    /// Where a path is; `None` when not even its directory is there.
    pub(crate) fn spot(&self, path: &[u8]) -> Result<Option<Spot>, UndoError> {
        let (parent, name) = path::split(path);
        match system::open_directory(self.root(), parent) {
            Ok(directory) => Ok(Some(Spot { directory, name: name.into() })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(errno).at("reach the directory", path),
        }
    }

    pub(crate) fn facts(&self, path: &[u8]) -> Result<Option<Facts>, UndoError> {
        match self.spot(path)? {
            Some(spot) => Facts::of(&spot.directory, &spot.name).at("look at it", path),
            None => Ok(None),
        }
    }

    pub(crate) fn slots(&self, id: RecordId) -> Result<Slots, UndoError> {
        let (folders, name) = (self.folders()?, folder_name(id));
        let ensure = |folder: &OwnedFd| {
            system::ensure_directory(folder, name.as_bytes()).at("keep things", name.as_bytes())
        };
        let [pre, redo] = folders.keeping()?;
        Ok(Slots { pre: ensure(pre)?, redo: ensure(redo)? })
    }
}

impl Folders {
    /// The folders that hold records' folders of kept things.
    pub(crate) fn keeping(&self) -> Result<[&OwnedFd; 2], UndoError> {
        Ok([self.opened(&self.pre, b"pre")?, self.opened(&self.redo, b"redo")?])
    }

    /// Records that are settled.
    pub(crate) fn log(&self) -> Result<&OwnedFd, UndoError> {
        self.opened(&self.log, b"log")
    }

    fn opened<'a>(
        &self,
        folder: &'a OnceLock<OwnedFd>,
        name: &[u8],
    ) -> Result<&'a OwnedFd, UndoError> {
        if let Some(folder) = folder.get() {
            return Ok(folder);
        }
        let opened = system::ensure_directory(&self.undo, name).at("make the journal", name)?;
        Ok(folder.get_or_init(|| opened))
    }

    pub(crate) fn undo(&self) -> BorrowedFd<'_> {
        self.undo.as_fd()
    }
}

pub(crate) fn folder_name(id: RecordId) -> String {
    format!("{:09}", id.0)
}

/// The name of what a step keeps: a number, never a user's name.
pub(crate) fn slot_name(number: u32) -> BString {
    number.to_string().into()
}

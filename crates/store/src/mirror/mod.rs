//! Undo where no overlay can be had: a copy of the project, kept between requests, says what was there before.
//!
//! Programs write into the project itself. Before the first of them the copy is brought up to date ([`refreshing`]); when all are
//! dead, the project is compared with what is known of it ([`found`]), what they have left goes into the request's layer as an
//! overlay would have written it, and the project is as before again ([`taking_back`]). From there on the layer is like any
//! other: looked at, held, dropped, applied.
//!
//! ```text
//! .clada/undo/
//!   mirror.lock            whoever has a request of this kind running
//!   mirror/index           what is known of the project and of its copy
//!   mirror/tree/…          the copy; shared extents where the file system can
//!   mirror/loosened        what of the project is open for a moment
//!   stands                 which objects stand for which
//!   run/<name>/mirrored    the layer of a request that writes into the project
//!   run/<name>/found       what is taken back
//! ```
//!
//! A process that dies leaves a layer with that mark: whoever opens the journal next finishes the taking back, and the layer is
//! held. Until then the copy is not changed.

mod copies;
mod found;
mod index;
mod keeping;
mod loosened;
mod refreshing;
pub(crate) mod stands;
mod survey;
pub(crate) mod taking_back;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use bstr::BString;
use rustix::io::Errno;

pub use self::index::Extent;
use self::index::Index;
pub use self::refreshing::Told;
use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::ground::Ground;
use crate::journal::Journal;
use crate::layer::folder;
use crate::path;
use crate::recover;
use crate::system;

const FOLDER: &[u8] = b"mirror";
const LOCK: &[u8] = b"mirror.lock";
const TREE: &[u8] = b"tree";

/// How large a project is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub entries: u64,
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { entries: 300_000, bytes: 2 << 30 }
    }
}

impl Budget {
    fn check(&self, extent: Extent) -> Result<(), UndoError> {
        if extent.entries <= self.entries && extent.bytes <= self.bytes {
            return Ok(());
        }
        Err(UndoError::OverBudget { entries: self.entries, bytes: self.bytes })
    }
}

/// A copy of the project as it is now, and the right to compare with it: nobody else changes it while this lives.
pub struct Mirror {
    ground: Arc<Ground>,
    folder: OwnedFd,
    tree: OwnedFd,
    index: Index,
    /// Whether a directory with another number is another one: an overlay may give one a new number at any time.
    is_stable: bool,
    _lock: OwnedFd,
}

impl Journal {
    /// A copy of the project, brought up to date. Waits while another request has it, for as long as the running one goes on.
    pub fn mirror(&self, budget: &Budget, told: Told<'_>) -> Result<Mirror, UndoError> {
        const TRIES: u32 = 5;
        for _ in 0..TRIES {
            let lock = self.wait_for_mirror()?;
            if folder::has_unfinished(&self.ground)? {
                drop(lock);
                recover::recover(&self.ground)?;
                continue;
            }
            let _nobody_turns_a_record = self.ground.lock()?;
            let mut mirror = Mirror::open(&self.ground, lock)?;
            if keeping::extent(&self.ground).is_none() {
                mirror.probe().at("keep apart what programs change", b"")?;
            }
            mirror.index = refreshing::refresh(&mirror, budget, told)?;
            return Ok(mirror);
        }
        let doing = "bring to an end what an earlier request has left";
        Err(UndoError::System { doing, path: BString::default(), errno: Errno::BUSY })
    }

    fn wait_for_mirror(&self) -> Result<OwnedFd, UndoError> {
        let doing = "wait for another request whose programs write into the project";
        loop {
            if let Some(lock) = lock(&self.ground)? {
                return Ok(lock);
            }
            self.ground.going.check().at(doing, b"")?;
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// `None`: somebody else has it.
fn lock(ground: &Ground) -> Result<Option<OwnedFd>, UndoError> {
    let undo = ground.folders()?.undo();
    let taken = || -> Result<Option<OwnedFd>, Errno> {
        let file = match system::open_appending(undo, LOCK) {
            Err(Errno::NOENT) => match system::create_file(undo, LOCK) {
                Err(Errno::EXIST) => system::open_appending(undo, LOCK)?,
                made => made?,
            },
            file => file?,
        };
        Ok(system::try_lock(&file)?.then_some(file))
    };
    taken().at("lock the copy of the project", LOCK)
}

/// What was left open by somebody who died while he copied.
pub(crate) fn close_left(ground: &Ground) -> Result<(), UndoError> {
    let Some(folders) = ground.existing()? else { return Ok(()) };
    let Ok(folder) = system::open_listing(folders.undo(), FOLDER) else { return Ok(()) };
    if !loosened::is_any(folder.as_fd()) {
        return Ok(());
    }
    match lock(ground)? {
        Some(_lock) => loosened::close_left(ground, folder.as_fd()),
        None => Ok(()),
    }
}

impl Mirror {
    fn open(ground: &Arc<Ground>, lock: OwnedFd) -> Result<Self, UndoError> {
        let opened = || -> Result<(OwnedFd, OwnedFd), Errno> {
            let undo = ground.folders().map_err(|_| Errno::NOENT)?.undo();
            let folder = system::ensure_directory(undo, FOLDER)?;
            let tree = system::ensure_directory(&folder, TREE)?;
            Ok((folder, tree))
        };
        let (folder, tree) = opened().at("make the copy of the project", FOLDER)?;
        let is_stable = !system::is_overlay(&folder).at("look at the file system", FOLDER)?;
        let (ground, index) = (Arc::clone(ground), Index::default());
        Ok(Mirror { ground, folder, tree, index, is_stable, _lock: lock })
    }

    /// The copy as it is, for whoever takes back what somebody dead has left. `None`: a request has it that is alive.
    pub(crate) fn left(ground: &Arc<Ground>) -> Result<Option<Self>, UndoError> {
        let Some(lock) = lock(ground)? else { return Ok(None) };
        let mut mirror = Mirror::open(ground, lock)?;
        loosened::close_left(ground, mirror.folder.as_fd())?;
        let index = Index::load(mirror.folder.as_fd()).at("read the index of the copy", b"")?;
        mirror.index = index.unwrap_or_default();
        Ok(Some(mirror))
    }

    /// How much is copied.
    pub fn extent(&self) -> Extent {
        self.index.extent()
    }

    /// What is known of a copy; nothing where there is none.
    fn copy(&self, path: &[u8]) -> Result<Option<Facts>, UndoError> {
        let (holder, name) = path::split(path);
        match system::open_directory(self.tree.as_fd(), holder) {
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            holder => holder
                .and_then(|holder| Facts::of(holder, name))
                .at("look at the copy of the project", path),
        }
    }

    /// Whether a layer can say here what it has to.
    fn probe(&self) -> Result<(), Errno> {
        const PROBE: &[u8] = b"probe";
        let folder = self.folder.as_fd();
        crate::tree::remove(folder, PROBE)?;
        system::make_directory(folder, PROBE)?;
        let probe = system::open_listing(folder, PROBE)?;
        taking_back::whiteout((probe.as_fd(), b"made"), (probe.as_fd(), b"whiteout"))?;
        taking_back::make_opaque(folder, PROBE)?;
        crate::tree::remove(folder, PROBE)
    }
}

//! The layer that takes what a request writes once it runs a program: made, laid over the project in the jail and for the
//! shell's own commands, taken away, and brought into the project as part of the request's record.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bstr::{BString, ByteSlice};
use exacta_jail::plan::Layers;
use exacta_jail::{Cell, Failure};
use exacta_store::{Layer, Outcome, RecordId, UndoError};
use rustix::io::Errno;

use super::{Transactions, guarded};
use crate::filesystem::{Cover, Handle};

/// What becomes of a request's layer at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// It comes into the project.
    #[default]
    Apply,
    /// It comes into the project also where it changes what runs later on the host: a person has said yes.
    ApplyAll,
    /// It waits for a person.
    Hold,
}

/// A layer that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub id: RecordId,
    pub why: Why,
}

/// Why a layer was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    Asked,
    /// These run later on the host, or decide what agents may do.
    Guarded(Vec<BString>),
    Failed(UndoError),
}

/// The layers of a session, one for each request that needs one.
pub(crate) struct Layering {
    transactions: Arc<Transactions>,
    cover: Arc<Cover>,
    /// The project, inside as outside.
    root: PathBuf,
    /// Where the journal makes layers.
    folders: PathBuf,
    layer: Mutex<Option<Made>>,
}

struct Made {
    layer: Layer,
    /// Somebody may have written to it.
    laid: bool,
}

impl Layering {
    pub(crate) fn new(
        transactions: Arc<Transactions>,
        cover: Arc<Cover>,
        root: PathBuf,
        state: &std::path::Path,
    ) -> Self {
        let folders = state.join("undo/run");
        Layering { transactions, cover, root, folders, layer: Mutex::default() }
    }

    /// For the plan of a jail. The folder is there once a layer was made.
    pub(crate) fn layers(&self) -> Layers {
        Layers { source: self.folders.clone(), target: self.root.clone() }
    }

    /// A layer for the request that is running, if it has none yet.
    pub(crate) fn make(&self) -> Result<(), Failure> {
        let mut layer = self.lock();
        if layer.is_none() {
            let new = self.transactions.new_layer().map_err(|error| unable(&error))?;
            *layer = Some(Made { layer: new, laid: false });
        }
        Ok(())
    }

    /// Lays it over the project in a jail in which nothing runs. From now on what is written goes there, whoever writes.
    pub(crate) fn lay(&self, cell: &mut Cell) -> Result<(), Failure> {
        let mut made = self.lock();
        let Some(Made { layer, laid }) = made.as_mut() else { return Ok(()) };
        if std::mem::replace(laid, true) {
            // It lay over the project in a jail that has ended, and the kernel remembers having worked there.
            self.cover.take_off();
            layer.renew().map_err(|error| unable(&error))?;
        }
        let handle = cell.lay(&self.root, layer.name().as_bstr()).map_err(|failure| Failure {
            step: format!("keep apart what it changes, for undo ({})", failure.step),
            ..failure
        })?;
        let owner = rustix::fs::fstat(self.transactions.root());
        let owner = owner.map(|stat| (stat.st_uid, stat.st_gid)).unwrap_or_default();
        self.transactions.set_layered(true);
        self.cover.put_on(Arc::new(handle), owner);
        Ok(())
    }

    /// The layer, while it lies over the project.
    pub(crate) fn handle(&self) -> Option<Handle> {
        self.cover.handle()
    }

    /// Takes it away again, when all that ran in the jail has ended.
    pub(crate) fn lift(&self, cell: &mut Cell) -> Result<(), Failure> {
        self.cover.take_off();
        cell.lift(&self.root)
    }

    /// After the end of everything that could write to it.
    pub(crate) fn settle(&self, keep: Keep, exit: i32) -> Result<Option<Held>, UndoError> {
        self.cover.take_off();
        self.transactions.set_layered(false);
        let Some(Made { layer, laid }) = self.lock().take() else { return Ok(None) };
        if !laid {
            return layer.discard().map(|()| None);
        }
        if keep == Keep::Hold {
            return self.hold(layer, exit, Why::Asked);
        }
        if keep == Keep::Apply {
            match self.guarded(&layer) {
                Ok(guarded) if guarded.is_empty() => {}
                Ok(guarded) => return self.hold(layer, exit, Why::Guarded(guarded)),
                // What cannot be looked at is not applied unseen.
                Err(error) => return self.hold(layer, exit, Why::Failed(error)),
            }
        }
        let applied = self.transactions.whole_recording().and_then(|record| record.apply(&layer));
        match applied {
            Ok(_) => layer.discard().map(|()| None),
            Err(error) => self.hold(layer, exit, Why::Failed(error)),
        }
    }

    fn guarded(&self, layer: &Layer) -> Result<Vec<BString>, UndoError> {
        let place = self.root.as_os_str().as_bytes().as_bstr();
        guarded::among(&layer.plan()?, layer, self.transactions.root().as_fd(), place)
    }

    fn hold(&self, layer: Layer, exit: i32, why: Why) -> Result<Option<Held>, UndoError> {
        if layer.plan().is_ok_and(|plan| plan.is_empty()) {
            return layer.discard().map(|()| None);
        }
        let outcome = Outcome { exit, strategy: "discard".to_owned() };
        let id = layer.hold(&self.transactions.about(), outcome)?;
        Ok(Some(Held { id, why }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Made>> {
        self.layer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program does not run when what it changes cannot be kept.
fn unable(error: &UndoError) -> Failure {
    let errno = match error {
        UndoError::System { errno, .. } | UndoError::CannotKeep { errno, .. } => *errno,
        UndoError::NoRoom { .. } => Errno::NOSPC,
        UndoError::OtherFileSystem => Errno::XDEV,
        _ => Errno::ACCESS,
    };
    Failure::new(format!("keep apart what it changes, for undo ({error})"), errno)
}

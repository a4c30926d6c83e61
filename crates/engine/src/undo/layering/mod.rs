//! The layer that takes what a request writes once it runs a program: made, laid over the project in the jail and for the
//! shell's own commands, taken away, and brought into the project as part of the request's record. Where the kernel refuses to
//! lay one, what programs have changed is found by comparing ([`mirrored`]).

mod mirrored;

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bstr::{BString, ByteSlice};
use exacta_jail::plan::Layers;
use exacta_jail::{Cell, Failure};
use exacta_shell::filesystem::OpenFile;
use exacta_store::{Dismissed, Layer, LayerAhead, LayerPlan, Mirror, Outcome, RecordId, UndoError};
use rustix::io::Errno;

use super::{Transactions, guarded};
use crate::filesystem::{Cover, Handle, owner_outside};

/// Removes what is left of a layer, now or later.
pub(crate) type PutAway<'a> = dyn Fn(Dismissed) -> Result<(), UndoError> + 'a;

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
    /// The programs of the running request write directly: a rule says so.
    direct: AtomicBool,
    /// The last request had a layer that lay over the project: the next one may want one too.
    again: AtomicBool,
    /// The kernel has refused to lay one: it is not asked again.
    refused: AtomicBool,
    /// Nothing can be kept of what programs change, and whoever starts them is asked.
    unlayered: AtomicBool,
    /// Where the running request says what it has to say.
    errors: Mutex<Option<Arc<dyn OpenFile>>>,
}

struct Made {
    layer: Layer,
    /// Somebody may have written to it.
    laid: bool,
    /// It lies over the project already in the jail that is used, and nobody has looked into it.
    ahead: Option<OwnedFd>,
    /// What is written to instead, where the project's file system cannot carry it.
    aside: Option<OwnedFd>,
    /// What is written goes into the project, and this knows what was there before.
    mirror: Option<Mirror>,
}

impl Made {
    fn new(layer: Layer, ahead: Option<OwnedFd>) -> Self {
        Made { layer, laid: false, ahead, aside: None, mirror: None }
    }
}

/// Whether a folder has served for long enough. Each use of one leaves some deleted inodes beside it, which slow down ext4 without
/// a journal for minutes; a new one lies elsewhere. Nobody counts: one in so many is.
fn is_worn() -> bool {
    const USES: u32 = 32;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.is_ok_and(|now| now.subsec_micros() % USES == 0)
}

impl Layering {
    pub(crate) fn new(
        transactions: Arc<Transactions>,
        cover: Arc<Cover>,
        root: PathBuf,
        state: &Path,
    ) -> Self {
        let folders = state.join("undo/run");
        Layering {
            transactions,
            cover,
            root,
            folders,
            layer: Mutex::default(),
            direct: AtomicBool::default(),
            again: AtomicBool::default(),
            refused: AtomicBool::default(),
            unlayered: AtomicBool::default(),
            errors: Mutex::default(),
        }
    }

    /// The project, inside as outside.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// For the plan of a jail. The folder is there once a layer was made.
    pub(crate) fn layers(&self) -> Layers {
        // One that was laid before must be renewed first, and some cannot lie on the disk at all.
        let made = self.lock();
        let is_new = |made: &Made| !made.laid && made.ahead.is_none();
        let fit = |made: &Made| !made.layer.is_aside() && !self.refused.load(Ordering::Acquire);
        let ready = |made: &&Made| is_new(made) && fit(made) && !self.is_direct();
        let first = made.as_ref().filter(ready).map(|made| made.layer.name().clone());
        Layers { source: self.folders.clone(), target: self.root.clone(), first }
    }

    /// From now on the programs of the running request write directly. False when they have a layer already: then they keep
    /// it, because the one is not to hide what the others have written.
    pub(crate) fn write_directly(&self) -> bool {
        let direct = self.cover.handle().is_none();
        self.direct.store(direct, Ordering::Release);
        direct
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.direct.load(Ordering::Acquire)
    }

    /// A layer for the request that is running, if it has none yet.
    pub(crate) fn make(&self) -> Result<(), Failure> {
        if self.is_direct() {
            return Ok(());
        }
        let mut layer = self.lock();
        if layer.is_none() {
            let new = self.transactions.new_layer().map_err(|error| unable(&error))?;
            *layer = Some(Made::new(new, None));
        }
        Ok(())
    }

    /// A layer for a request that may come, if it is likely that one comes which wants it. Each is made once.
    pub(crate) fn make_ahead(&self) -> Option<LayerAhead> {
        let ahead = self.transactions.layer_ahead()?;
        if ahead.is_aside() {
            let _recovered_later = ahead.dismiss().remove();
            return None;
        }
        Some(ahead)
    }

    /// Whether the next request is likely to want a layer. Asked once for each.
    pub(crate) fn is_wanted_again(&self) -> bool {
        self.again.load(Ordering::Acquire) && self.again.swap(false, Ordering::AcqRel)
    }

    /// The running request uses a layer that lies over the project already.
    pub(crate) fn take_over(&self, ahead: LayerAhead, mount: OwnedFd) -> Result<(), UndoError> {
        let layer = ahead.begin(&self.transactions.about())?;
        *self.lock() = Some(Made::new(layer, Some(mount)));
        Ok(())
    }

    /// Lays it over the project in a jail in which nothing runs. From now on what is written goes there, whoever writes.
    pub(crate) fn lay(&self, cell: &mut Cell) -> Result<(), Failure> {
        let mut made = self.lock();
        let made = made.as_mut().ok_or_else(not_made)?;
        if made.mirror.is_some() {
            return Ok(());
        }
        let handle = if made.laid {
            self.lay_again(cell, made)?
        } else {
            // What somebody changes from now on is found; what this request has changed itself was before.
            made.layer.stamp().map_err(|error| unable(&error))?;
            match made.ahead.take() {
                Some(mount) => mount,
                None => match self.lay_first(cell, made)? {
                    Some(handle) => handle,
                    None => return Ok(()),
                },
            }
        };
        made.laid = true;
        self.put_on(Arc::new(handle));
        Ok(())
    }

    /// From now on the shell's own commands write there too, and announce nothing.
    fn put_on(&self, handle: Handle) {
        let owner = rustix::fs::fstat(self.transactions.root());
        let owner = owner.map(|stat| (stat.st_uid, stat.st_gid)).unwrap_or_default();
        self.transactions.set_layered(true);
        self.cover.put_on(handle, owner);
    }

    /// In memory, where the project's file system cannot carry it. `None`: nowhere, and what is written goes into the project.
    fn lay_first(&self, cell: &mut Cell, made: &mut Made) -> Result<Option<OwnedFd>, Failure> {
        if self.refused.load(Ordering::Acquire) {
            return self.write_mirrored(made, None).map(|()| None);
        }
        let name = made.layer.name().as_bstr();
        let here = if made.layer.is_aside() {
            Failure::new("write to the project's file system", Errno::OPNOTSUPP)
        } else {
            match cell.lay(&self.root, name) {
                Err(failure) if is_unfit(&failure) => failure,
                laid => return laid.map(Some).map_err(for_undo),
            }
        };
        match cell.lay_aside(&self.root, name, room()) {
            Ok((handle, store)) => {
                made.aside = Some(store);
                Ok(Some(handle))
            }
            Err(there) => {
                let step = format!("{}, nor {}", here.step, there.step);
                let refused = Failure { step, ..there };
                if is_gone(&refused) {
                    return Err(for_undo(refused));
                }
                self.write_mirrored(made, Some(&refused)).map(|()| None)
            }
        }
    }

    /// It lay over the project in a jail that has ended, and the kernel remembers having worked there.
    fn lay_again(&self, cell: &mut Cell, made: &Made) -> Result<OwnedFd, Failure> {
        if made.aside.is_some() {
            // What is in memory is no layer of another jail's.
            let step = "lay what an ended jail has written over the project";
            return Err(for_undo(Failure::new(step, Errno::BUSY)));
        }
        self.cover.take_off();
        made.layer.renew().map_err(|error| unable(&error))?;
        cell.lay(&self.root, made.layer.name().as_bstr()).map_err(for_undo)
    }

    /// The layer, while it lies over the project.
    pub(crate) fn handle(&self) -> Option<Handle> {
        self.cover.handle()
    }

    /// Takes it away again, when all that ran in the jail has ended.
    pub(crate) fn lift(&self, cell: &mut Cell) -> Result<(), Failure> {
        self.cover.take_off();
        if self.is_mirrored() {
            return Ok(());
        }
        cell.lift(&self.root)
    }

    /// After the end of everything that could write to it. What is left of it then is put away by whoever has time.
    pub(crate) fn settle(
        &self,
        keep: Keep,
        exit: i32,
        put_away: &PutAway<'_>,
    ) -> Result<Option<Held>, UndoError> {
        self.cover.take_off();
        self.transactions.set_layered(false);
        self.direct.store(false, Ordering::Release);
        self.again.store(false, Ordering::Release);
        self.say_to(None);
        let Some(made) = self.lock().take() else { return Ok(None) };
        // The copy is nobody else's until all is done.
        let Made { mut layer, laid, aside, mirror, .. } = made;
        self.again.store(laid && aside.is_none() && mirror.is_none(), Ordering::Release);
        if !laid {
            return put_away(layer.dismiss()?).map(|()| None);
        }
        if let Some(store) = aside {
            layer.bring(store.as_fd(), owner_outside)?;
        }
        if let Some(mirror) = &mirror {
            layer.take_back(mirror)?;
        }
        // Most programs only read.
        if mirror.is_none() && layer.is_untouched() {
            let dismissed = if is_worn() { layer.dismiss()? } else { layer.dismiss_unused()? };
            return put_away(dismissed).map(|()| None);
        }
        self.decide(layer, keep, exit, put_away)
    }

    /// Whether what is in it comes into the project.
    fn decide(
        &self,
        layer: Layer,
        keep: Keep,
        exit: i32,
        put_away: &PutAway<'_>,
    ) -> Result<Option<Held>, UndoError> {
        let plan = layer.plan();
        if plan.as_ref().is_ok_and(LayerPlan::is_empty) {
            return put_away(layer.dismiss()?).map(|()| None);
        }
        if keep == Keep::Hold {
            return self.hold(layer, exit, Why::Asked);
        }
        if keep == Keep::Apply {
            match plan.and_then(|plan| self.guarded(&plan, &layer)) {
                Ok(guarded) if guarded.is_empty() => {}
                Ok(guarded) => return self.hold(layer, exit, Why::Guarded(guarded)),
                // What cannot be looked at is not applied unseen.
                Err(error) => return self.hold(layer, exit, Why::Failed(error)),
            }
        }
        let applied = self.transactions.whole_recording().and_then(|record| record.apply(&layer));
        match applied {
            Ok(_) => put_away(layer.dismiss()?).map(|()| None),
            Err(error) => self.hold(layer, exit, Why::Failed(error)),
        }
    }

    fn guarded(&self, plan: &LayerPlan, layer: &Layer) -> Result<Vec<BString>, UndoError> {
        let place = self.root.as_os_str().as_bytes().as_bstr();
        guarded::among(plan, layer, self.transactions.root().as_fd(), place)
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

/// The jail has ended.
fn is_gone(failure: &Failure) -> bool {
    let gone = [Errno::PIPE, Errno::CONNRESET];
    gone.iter().any(|errno| errno.raw_os_error() == failure.errno)
}

/// Whether the file system itself is the reason, one that is an overlay or knows no attributes, or the kernel, that has none.
fn is_unfit(failure: &Failure) -> bool {
    let unfit =
        [Errno::INVAL, Errno::OPNOTSUPP, Errno::PERM, Errno::XDEV, Errno::NODEV, Errno::NOSYS];
    unfit.iter().any(|errno| errno.raw_os_error() == failure.errno)
}

fn not_made() -> Failure {
    for_undo(Failure::new("lay a layer that was not made", Errno::NOENT))
}

fn for_undo(failure: Failure) -> Failure {
    Failure { step: format!("keep apart what it changes, for undo ({})", failure.step), ..failure }
}

/// How much may be written where it has to be kept in memory: a quarter of what is available, and at most this.
fn room() -> u64 {
    const MOST: u64 = 2 << 30;
    let information = rustix::system::sysinfo();
    let unit = u64::from(information.mem_unit.max(1));
    let available = (information.freeram as u64 + information.bufferram as u64) * unit;
    MOST.min(available / 4).max(64 << 20)
}

/// A program does not run when what it changes cannot be kept.
fn unable(error: &UndoError) -> Failure {
    let errno = match error {
        UndoError::System { errno, .. } | UndoError::CannotKeep { errno, .. } => *errno,
        UndoError::NoRoom { .. } => Errno::NOSPC,
        UndoError::OtherFileSystem => Errno::XDEV,
        UndoError::OverBudget { .. } => Errno::FBIG,
        _ => Errno::ACCESS,
    };
    let next = error.next().map(|next| format!("; {next}")).unwrap_or_default();
    Failure::new(format!("keep apart what it changes, for undo ({error}{next})"), errno)
}

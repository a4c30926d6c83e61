//! The folder of a layer: where the kernel keeps what a request's programs write.
//!
//! It has another name until a request uses it (`making.rs`). The lock says that whoever made it is alive: a folder without one
//! was left by a crash, and is held for a person to decide, never applied by itself; one that was not used goes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;

use super::plan;
use super::spare::SPARE;
use crate::content;
use crate::copying;
use crate::error::{At, UndoError};
use crate::facts::{Facts, Time};
use crate::ground::Ground;
use crate::journal;
use crate::mirror::Mirror;
use crate::path::STATE;
use crate::record::{About, Entry, LayerEntry, Outcome, Phase, Record, RecordId};
use crate::recording::new_record;
use crate::system;
use crate::tree;

pub(crate) const UPPER: &[u8] = b"upper";
pub(super) const WORK: &[u8] = b"work";
/// The request, for a record that has to be made without it.
pub(super) const ABOUT: &[u8] = b"about";
/// Its time is that of the mount.
pub(crate) const MOMENT: &[u8] = b"moment";
/// In the folder of a layer that a record holds.
const HELD: &[u8] = b"held";
/// In the folder of a layer that is in the tree.
const SPENT: &[u8] = b"spent";
/// In the folder of a layer that is made when its programs have ended: until it is, what they write is in the project.
pub(crate) const MIRRORED: &[u8] = b"mirrored";
/// Programs end soon after whoever started them was killed, and until then write into the project.
const UNTIL_DEAD: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 300 });
/// What is on its way from elsewhere.
const BROUGHT: &[u8] = b"brought";
pub(super) const UNFINISHED: &[u8] = b".new-";

/// A layer to be written to by an overlay over the project.
pub struct Layer {
    pub(crate) ground: Arc<Ground>,
    pub(crate) name: BString,
    pub(crate) folder: OwnedFd,
    /// The project's file system cannot carry what an overlay writes.
    pub(super) aside: bool,
    /// Its `upper` when it was stamped.
    pub(super) stamped: Option<Facts>,
}

/// Gives the mark of the mount a time that is later than any change before, and not later than any change that follows.
///
/// Only the kernel can give such a time, and on many file systems its clock stands still for some milliseconds: then a change
/// of ours right before would have the same time as one of somebody else right after. So this waits until it has gone on;
/// where times have nanoseconds (Linux 6.13), that is at once.
pub(crate) fn stamp(folder: BorrowedFd<'_>) -> Result<Option<Time>, Errno> {
    const PATIENCE: u32 = 100;
    // What it says may be of long ago; what the clock says now is what a change of ours right before has.
    system::touch(folder, MOMENT)?;
    let before = moment(folder)?;
    let mut now = before;
    for _ in 0..PATIENCE {
        system::touch(folder, MOMENT)?;
        now = moment(folder)?;
        if now > before {
            break;
        }
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    Ok(now)
}

pub(super) fn moment(folder: BorrowedFd<'_>) -> Result<Option<Time>, Errno> {
    Ok(system::stat(folder, MOMENT)?.map(|stat| Time::modified(&stat)))
}

impl Layer {
    /// The name of its folder.
    pub fn name(&self) -> &BString {
        &self.name
    }

    /// Whether it is known that an overlay cannot write to it: what is written elsewhere is [brought](Self::bring) here.
    pub fn is_aside(&self) -> bool {
        self.aside
    }

    /// Brings what an overlay has written elsewhere, `upper` of this directory, by copying it. Before that the layer is empty, and
    /// after it as if the overlay had written to it.
    pub fn bring(
        &self,
        from: BorrowedFd<'_>,
        owners: impl Fn(u32, u32) -> (u32, u32),
    ) -> Result<(), UndoError> {
        let folder = self.folder.as_fd();
        let brought = || -> Result<(), Errno> {
            tree::remove(folder, BROUGHT)?;
            copying::copy((from, UPPER), (folder, BROUGHT), &owners)?;
            tree::remove(folder, UPPER)?;
            system::rename(folder, BROUGHT, folder, UPPER)
        };
        brought().at("bring the layer into the project", &self.name)
    }

    /// To be mounted once more: the kernel keeps a mark of its own where it has worked before.
    pub fn renew(&self) -> Result<(), UndoError> {
        tree::remove(self.folder.as_fd(), WORK)
            .and_then(|()| system::make_directory(&self.folder, WORK))
            .at("use the layer again", &self.name)
    }

    /// Right before it is mounted, or before somebody looks into the mount: what somebody changes from now on is found when
    /// the layer is applied.
    pub fn stamp(&mut self) -> Result<(), UndoError> {
        let moment = stamp(self.folder.as_fd()).at("make a layer", &self.name)?;
        let upper = Facts::of(&self.folder, UPPER).at("look at the layer", &self.name)?;
        // A change in the same moment could not be told from it.
        self.stamped = upper.filter(|upper| Some(upper.changed) < moment);
        Ok(())
    }

    /// Whether it is certain that nothing was written to it since it was stamped. Whatever is written, however deep, leaves a name
    /// in `upper`, or changes what is known of it. To mount it may do that too: then a plan has to be made to know.
    pub fn is_untouched(&self) -> bool {
        let untouched = || -> Result<bool, Errno> {
            let upper = system::open_listing(&self.folder, UPPER)?;
            let now = Facts::from_stat(&system::stat_handle(&upper)?);
            Ok(self.stamped.as_ref() == Some(&now) && system::list(&upper)? == [STATE])
        };
        self.stamped.is_some() && untouched().unwrap_or(false)
    }

    /// Below the state directory: `undo/run/…`.
    pub fn place(&self) -> BString {
        [b"undo/run/".as_slice(), &self.name].concat().into()
    }

    /// What was written, to be looked at from outside.
    pub fn upper(&self) -> Result<OwnedFd, UndoError> {
        system::open_directory(self.folder.as_fd(), UPPER).at("open the layer", &self.name)
    }

    /// The kernel's moment of the mount.
    pub(crate) fn moment(&self) -> Result<Time, UndoError> {
        let facts = Facts::of(&self.folder, MOMENT).at("look at the layer", &self.name)?;
        facts.map(|facts| facts.modified).ok_or(Errno::NOENT).at("look at the layer", &self.name)
    }

    /// After a failed apply everything is as it was, but for its change times.
    pub(crate) fn set_moment(ground: &Ground, name: &[u8]) -> Result<(), UndoError> {
        stamp(open(ground, name)?.as_fd()).map(|_| ()).at("look at the layer", name)
    }

    /// What was in it is in the tree: what is left is nothing to decide about.
    pub(crate) fn set_spent(ground: &Ground, name: &[u8]) -> Result<(), UndoError> {
        match open(ground, name) {
            // It was dropped, which comes after this: the record was not closed before we were stopped.
            Err(UndoError::System { errno: Errno::NOENT, .. }) => Ok(()),
            folder => mark(folder?.as_fd(), SPENT).at("mark the layer", name),
        }
    }

    pub(crate) fn set_unspent(ground: &Ground, name: &[u8]) -> Result<(), UndoError> {
        match system::unlink(open(ground, name)?, SPENT) {
            Err(Errno::NOENT) => Ok(()),
            done => done.at("mark the layer", name),
        }
    }

    /// Drops the layer and everything written to it.
    pub fn discard(self) -> Result<(), UndoError> {
        self.dismiss()?.remove()
    }

    /// The same without the work: from now on it is no layer, and what is left of it is to be removed by somebody.
    pub fn dismiss(self) -> Result<Dismissed, UndoError> {
        let name = unfinished(&self.ground, &self.name)?;
        Ok(Dismissed { ground: self.ground, name, folder: self.folder, is_unused: false })
    }

    /// The same for one that is [untouched](Self::is_untouched): its folder can be used again.
    pub fn dismiss_unused(self) -> Result<Dismissed, UndoError> {
        self.dismiss().map(|dismissed| Dismissed { is_unused: true, ..dismissed })
    }

    /// Keeps the layer for a person to decide: [`Journal::commit`] or [`Journal::discard`].
    pub fn hold(self, about: &About, outcome: Outcome) -> Result<RecordId, UndoError> {
        let mut file = new_record(&self.ground, about)?;
        let id = file.record.id;
        let folder = self.name.clone();
        let layer = LayerEntry { folder, first: 0, sources: Vec::new() };
        let phase = Entry::Phase { phase: Phase::Held, time: system::now() };
        file.append(vec![Entry::Layer(layer), Entry::End(outcome), phase])?;
        file.sync()?;
        mark(self.folder.as_fd(), HELD).at("hold the layer", &self.name)?;
        journal::settle(&self.ground, id)?;
        Ok(id)
    }

    /// The layer of a record that is held.
    pub(crate) fn held(ground: &Arc<Ground>, name: &BStr) -> Result<Self, UndoError> {
        let folder = open(ground, name)?;
        Ok(Layer {
            ground: Arc::clone(ground),
            name: name.to_owned(),
            folder,
            aside: false,
            stamped: None,
        })
    }
}

/// What is left of a layer that was dropped. If nobody removes it, whoever opens the journal next does, once its lock is gone.
pub struct Dismissed {
    pub(super) ground: Arc<Ground>,
    pub(super) name: BString,
    pub(super) folder: OwnedFd,
    pub(super) is_unused: bool,
}

impl Dismissed {
    /// The directory that it is in, its name there, and itself with its lock.
    pub fn whereabouts(&self) -> Result<(BorrowedFd<'_>, &BStr, BorrowedFd<'_>), UndoError> {
        Ok((self.ground.folders()?.run.as_fd(), self.name.as_bstr(), self.folder.as_fd()))
    }

    /// How it becomes the folder of another layer, if it can: when nothing has it mounted any more, [`WORK`] is emptied, and it is
    /// moved to this name in this directory, unless there is one already. The lock is for who does that.
    pub fn reuse(&self) -> Result<Option<Reuse<'_>>, UndoError> {
        if !self.is_unused {
            return Ok(None);
        }
        let directory = self.ground.folders()?.undo.as_fd();
        Ok(Some(Reuse { emptied: WORK.as_bstr(), directory, name: SPARE.as_bstr() }))
    }

    pub fn remove(self) -> Result<(), UndoError> {
        remove(&self.ground, &self.name)
    }
}

/// What is to be done with a folder that is used again.
pub struct Reuse<'a> {
    pub emptied: &'a BStr,
    pub directory: BorrowedFd<'a>,
    pub name: &'a BStr,
}

pub(crate) fn mark(folder: BorrowedFd<'_>, mark: &[u8]) -> Result<(), Errno> {
    match system::create_file(folder, mark) {
        Ok(_) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn open(ground: &Ground, name: &[u8]) -> Result<OwnedFd, UndoError> {
    system::open_listing(&ground.folders()?.run, name).at("open the layer", name)
}

pub(crate) fn remove(ground: &Ground, name: &[u8]) -> Result<(), UndoError> {
    let dropped = unfinished(ground, name)?;
    tree::remove(ground.folders()?.run.as_fd(), &dropped).at("drop the layer", name)
}

/// Half of it must not be taken for a layer: gives it a name that says so.
fn unfinished(ground: &Ground, name: &[u8]) -> Result<BString, UndoError> {
    if name.starts_with(UNFINISHED) {
        return Ok(name.into());
    }
    let run = &ground.folders()?.run;
    let dropped = BString::from([UNFINISHED, name].concat());
    system::rename(run, name, run, &dropped).at("drop the layer", name)?;
    Ok(dropped)
}

/// Layers that nobody works on and no record holds.
pub(crate) fn abandoned(ground: &Ground) -> Result<Vec<BString>, UndoError> {
    let run = &ground.folders()?.run;
    let mut names = Vec::new();
    for name in system::list(run).at("list the layers", b"run")? {
        let Ok(folder) = system::open_listing(run, &name) else { continue };
        let is_held = matches!(system::stat(&folder, HELD), Ok(Some(_)));
        if !is_held && matches!(system::try_lock(&folder), Ok(true)) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether what programs have written is in the project, and has to be taken back before anything else of that kind begins.
pub(crate) fn has_unfinished(ground: &Ground) -> Result<bool, UndoError> {
    let run = &ground.folders()?.run;
    for name in system::list(run).at("list the layers", b"run")? {
        let folder = system::open_listing(run, &name);
        let Some(folder) = folder.ok().filter(|_| !name.starts_with(UNFINISHED)) else { continue };
        if system::stat(&folder, MIRRORED).at("look at the layer", &name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What programs have written into the project when their request died.
pub(crate) fn take_back_left(ground: &Arc<Ground>, name: &BString) -> Result<(), UndoError> {
    // One that was dropped before a program ran: what is in the project is not of its making.
    if name.starts_with(UNFINISHED) {
        return Ok(());
    }
    let mut layer = Layer::held(ground, name.as_bstr())?;
    if system::stat(&layer.folder, MIRRORED).at("look at the layer", name)?.is_none() {
        return Ok(());
    }
    match Mirror::left(ground)? {
        Some(mirror) => {
            std::thread::sleep(UNTIL_DEAD);
            layer.take_back_locked(&mirror)
        }
        // Whoever has it looks for what was left before he changes anything.
        None => Ok(()),
    }
}

/// Holds a layer whose request has died. One that changes nothing goes.
pub(crate) fn adopt(ground: &Arc<Ground>, name: &BString) -> Result<(), UndoError> {
    let folder = open(ground, name)?;
    let is_spent = system::stat(&folder, SPENT).at("look at the layer", name)?.is_some();
    if is_spent || name.starts_with_str(UNFINISHED) {
        return remove(ground, name);
    }
    let about = system::open_reading(&folder, ABOUT).and_then(content::read_all);
    let about = about.ok().and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default();
    if system::stat(&folder, MIRRORED).at("look at the layer", name)?.is_some() {
        // What is in it could not be taken back yet.
        return Ok(());
    }
    let layer = Layer::held(ground, name.as_bstr())?;
    if plan::plan(&layer).is_ok_and(|plan| plan.is_empty()) {
        return layer.discard();
    }
    // Whoever held it was stopped before he could say so here.
    let holds = |record: &Record| record.layer.as_ref().is_some_and(|layer| layer.folder == *name);
    if journal::settled(ground)?.iter().any(|one| one.phase == Phase::Held && holds(one)) {
        return mark(layer.folder.as_fd(), HELD).at("hold the layer", name);
    }
    layer.hold(&about, Outcome { exit: 137, strategy: "discard".to_owned() }).map(|_| ())
}

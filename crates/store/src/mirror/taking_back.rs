//! Takes back what programs have written into the project: into the layer, as an overlay would have left it. Then the project is
//! as before.
//!
//! What is to be done is written down first ([`Found`]), and each entry is then decided by looking, so it can be done again after
//! a crash, as often as it takes. At every moment each version exists once: in the project, in the layer or in the copy.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use super::found::{self, Found, Moved};
use super::{FOLDER, Mirror, stands};
use crate::copying::At as Place;
use crate::error::{At, UndoError};
use crate::facts::{self, Attributes, Facts};
use crate::ground::Spot;
use crate::layer::Layer;
use crate::layer::folder::{MIRRORED, UPPER, mark};
use crate::layer::marks::{self, Marks};
use crate::path;
use crate::system;
use crate::tree;

const OPAQUE: &[u8] = b"user.overlay.opaque";
const WHITEOUT: &[u8] = b"user.overlay.whiteout";
/// Where a whiteout is made.
const MADE: &[u8] = b"whiteout";

impl Layer {
    /// From now on programs write into the project, and this layer is made when they have ended. That is on the disk when this
    /// returns.
    pub fn write_directly(&mut self, _mirror: &Mirror) -> Result<(), UndoError> {
        let run = &self.ground.folders()?.run;
        mark(self.folder.as_fd(), MIRRORED)
            .and_then(|()| system::sync_directory(&self.folder))
            .and_then(|()| system::sync_directory(run))
            .at("make a layer", &self.name)?;
        self.stamp()
    }

    /// When all programs are dead: what they have written is in the layer, and the project is as before.
    pub fn take_back(&mut self, mirror: &Mirror) -> Result<(), UndoError> {
        let _lock = mirror.ground.lock()?;
        self.take_back_locked(mirror)
    }

    /// The same for somebody who has the journal's lock.
    pub(crate) fn take_back_locked(&mut self, mirror: &Mirror) -> Result<(), UndoError> {
        let taking = TakingBack { mirror, upper: self.upper()?, layer: self };
        let taken = taking.go();
        if let Err(UndoError::CopySpoilt { .. }) = &taken {
            // Nothing was touched, and nothing can be: what programs have written stays.
            self.unmark(mirror)?;
        }
        taken?;
        Layer::set_moment(&self.ground, &self.name)?;
        self.unmark_taken()
    }

    fn unmark_taken(&self) -> Result<(), UndoError> {
        let folder = self.folder.as_fd();
        // In this order: a mark without what was found would be one of a request of which nothing was touched yet.
        tree::remove(folder, MIRRORED)
            .and_then(|()| Found::forget(folder))
            .and_then(|()| system::sync_directory(folder))
            .at("finish the layer", &self.name)
    }

    fn unmark(&self, mirror: &Mirror) -> Result<(), UndoError> {
        let undo = mirror.ground.folders()?.undo();
        let _made_anew_the_next_time = tree::remove(undo, FOLDER);
        self.unmark_taken()
    }
}

struct TakingBack<'a> {
    mirror: &'a Mirror,
    layer: &'a Layer,
    upper: OwnedFd,
}

impl TakingBack<'_> {
    fn go(&self) -> Result<(), UndoError> {
        let folder = self.layer.folder.as_fd();
        let known = Found::load(folder).at("read what programs have changed", b"")?;
        let found = match known {
            Some(found) => found,
            None => {
                let found = found::find(self.mirror)?;
                if found.is_empty() {
                    return self.say_nothing();
                }
                found.store(folder).at("write down what programs have changed", b"")?;
                found
            }
        };
        self.open(&found)?;
        let total = found.moved.len() + found.gone.len();
        for (done, moved) in found.moved.iter().enumerate() {
            self.mirror.ground.watch.tell(done, total);
            self.keep(moved)?;
        }
        for path in &found.gone {
            self.say_gone(path)?;
        }
        let mut stand = Vec::new();
        for path in found.changed() {
            self.restore(path, &mut stand)?;
        }
        for (path, facts, _) in &found.directories {
            let known = self.mirror.index.items.get(path).map(|item| item.project.inode);
            stand.extend(known.filter(|known| *known != facts.inode).map(|old| (old, facts.inode)));
        }
        stands::add(&self.mirror.ground, &stand)?;
        self.put_back(&found)?;
        system::sync_everything(self.mirror.ground.root()).at("write everything to the disk", b"")
    }

    /// What the layer has of the root is what the root is.
    fn say_nothing(&self) -> Result<(), UndoError> {
        let root = self.mirror.index.items.get(&BString::default());
        let Some((facts, attributes)) =
            root.and_then(|it| Some((&it.project, it.attributes.as_ref()?)))
        else {
            return Ok(());
        };
        facts::put_back(self.layer.folder.as_fd(), UPPER, facts, attributes)
            .at("make the layer", b"")
    }

    /// The directories of the layer, and those of the project open to be worked in. Their modes come last.
    fn open(&self, found: &Found) -> Result<(), UndoError> {
        for (path, ..) in &found.directories {
            let made = || -> Result<(), Errno> {
                let (holder, name) = path::split(path);
                let holder = system::open_directory(self.upper.as_fd(), holder)?;
                if system::stat(&holder, name)?.is_none() {
                    system::make_directory(&holder, name)?;
                }
                open_for_us(&system::open_object(&holder, name)?)
            };
            made().at("make the layer", path)?;
            let Some(spot) = self.mirror.ground.spot(path)? else { continue };
            system::open_object(&spot.directory, &spot.name)
                .and_then(|object| open_for_us(&object))
                .at("look into it", path)?;
        }
        Ok(())
    }

    fn below<'b>(&self, path: &'b BString) -> Result<(OwnedFd, &'b [u8]), UndoError> {
        let (holder, name) = path::split(path);
        let holder =
            system::open_directory(self.upper.as_fd(), holder).at("make the layer", path)?;
        Ok((holder, name))
    }

    /// What is there now goes into the layer, if it is what was found.
    fn keep(&self, moved: &Moved) -> Result<(), UndoError> {
        let path = &moved.path;
        let (upper, name) = self.below(path)?;
        if let Some(spot) = self.mirror.ground.spot(path)?
            && let Some(facts) = look(&spot, path)?
            && facts.inode == moved.inode
            && system::stat(&upper, name).at("look at the layer", path)?.is_none()
        {
            unlock(&spot, &facts, moved.mode).at("move it into the layer", path)?;
            system::rename(&spot.directory, &spot.name, &upper, name)
                .at("move it into the layer", path)?;
        }
        let kept = Facts::of(&upper, name).at("look at the layer", path)?;
        let replaces = self.mirror.index.items.contains_key(path);
        if replaces && kept.is_some_and(|kept| kept.is_directory()) {
            make_opaque(upper.as_fd(), name).at("mark the layer", path)?;
        }
        Ok(())
    }

    fn say_gone(&self, path: &BString) -> Result<(), UndoError> {
        let (upper, name) = self.below(path)?;
        if system::stat(&upper, name).at("look at the layer", path)?.is_some() {
            return Ok(());
        }
        whiteout((self.layer.folder.as_fd(), MADE), (upper.as_fd(), name))
            .at("mark the layer", path)
    }

    /// What was there before is there again.
    fn restore(&self, path: &BString, stand: &mut Vec<(u64, u64)>) -> Result<(), UndoError> {
        let Some(item) = self.mirror.index.items.get(path).filter(|item| item.is_copied()) else {
            return Ok(());
        };
        let missing = || UndoError::CopySpoilt { path: path.clone() };
        let spot = self.mirror.ground.spot(path)?.ok_or_else(missing)?;
        if look(&spot, path)?.is_none() {
            let (holder, name) = path::split(path);
            let copies = system::open_directory(self.mirror.tree.as_fd(), holder);
            copies
                .and_then(|copies| system::rename(copies, name, &spot.directory, &spot.name))
                .at("put it back", path)?;
        }
        // Anything else was put there by somebody after a crash, and stays.
        let Some(now) = look(&spot, path)? else { return Ok(()) };
        match item.copy {
            Some(copy) => stand.push((item.project.inode, copy.inode)),
            None => self.stand_inside(path, &now, stand)?,
        }
        Ok(())
    }

    fn stand_inside(
        &self,
        top: &BString,
        now: &Facts,
        stand: &mut Vec<(u64, u64)>,
    ) -> Result<(), UndoError> {
        for (path, item) in self.mirror.index.below(top) {
            let new = match (&item.copy, path == top) {
                (Some(copy), _) => Some(copy.inode),
                (None, true) => Some(now.inode),
                (None, false) if item.project.is_directory() => {
                    match self.mirror.ground.facts(path) {
                        // It is closed, and was written down before a crash.
                        Err(error) if error.is_locked() => None,
                        facts => facts?.map(|facts| facts.inode),
                    }
                }
                (None, false) => None,
            };
            stand.extend(new.map(|new| (item.project.inode, new)));
        }
        Ok(())
    }

    /// Modes, owners, attributes and times of directories, on both sides. The deepest first: what is above may forbid to go there.
    fn put_back(&self, found: &Found) -> Result<(), UndoError> {
        let index = &self.mirror.index;
        let left: BTreeMap<&BString, (&Facts, &Attributes)> =
            found.directories.iter().map(|(path, facts, its)| (path, (facts, its))).collect();
        let mut touched: BTreeSet<&BString> = left.keys().copied().collect();
        for path in found.changed() {
            let inside = index.below(path).filter(|(_, item)| item.project.is_directory());
            touched.extend(inside.map(|(path, _)| path));
        }
        for path in touched.into_iter().rev() {
            let known = index.items.get(path);
            let known = known.and_then(|it| Some((&it.project, it.attributes.as_ref()?)));
            if let Some((facts, attributes)) = known.or_else(|| left.get(path).copied()) {
                self.put_back_one(path, facts, attributes)?;
            }
        }
        for (path, (facts, attributes)) in left.into_iter().rev() {
            let put = |directory: BorrowedFd<'_>, name: &[u8]| {
                facts::put_back(directory, name, facts, attributes).at("make the layer", path)
            };
            if path.is_empty() {
                put(self.layer.folder.as_fd(), UPPER)?;
            } else {
                let (upper, name) = self.below(path)?;
                put(upper.as_fd(), name)?;
            }
        }
        Ok(())
    }

    fn put_back_one(
        &self,
        path: &BString,
        facts: &Facts,
        attributes: &Attributes,
    ) -> Result<(), UndoError> {
        let spot = match self.mirror.ground.spot(path) {
            // It is closed, which comes last: what is in it was done before a crash.
            Err(error) if error.is_locked() => return Ok(()),
            spot => spot?,
        };
        let Some(spot) = spot else { return Ok(()) };
        if !look(&spot, path)?.is_some_and(|now| now.is_directory()) {
            return Ok(());
        }
        facts::put_back(&spot.directory, &spot.name, facts, attributes)
            .at("put its attributes back", path)
    }
}

fn look(spot: &Spot, path: &BString) -> Result<Option<Facts>, UndoError> {
    Facts::of(&spot.directory, &spot.name).at("look at it", path)
}

/// A directory learns of its new parent, which takes the permission to write to it. Its mode is kept with it.
fn unlock(spot: &Spot, facts: &Facts, mode: u32) -> Result<(), Errno> {
    let needed = facts.is_directory() && system::user() != 0 && mode & 0o300 != 0o300;
    if !needed || Marks::of(&spot.directory, &spot.name)?.locked.is_some() {
        return Ok(());
    }
    marks::unlock(&spot.directory, &spot.name, mode)
}

/// Nothing is closed to root.
fn open_for_us(object: &OwnedFd) -> Result<(), Errno> {
    if system::user() == 0 {
        return Ok(());
    }
    let mode = system::stat_handle(object)?.st_mode & 0o7777;
    if mode & 0o700 == 0o700 { Ok(()) } else { system::set_mode(object, mode | 0o700) }
}

/// Nothing of what lies below is seen in it.
pub(super) fn make_opaque(holder: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    let object = system::open_object(holder, name)?;
    system::set_attribute(object, OPAQUE, b"y")
}

/// Says that nothing is there, at once and in the way that this file system can hold.
pub(super) fn whiteout(made: Place<'_>, to: Place<'_>) -> Result<(), Errno> {
    match system::make_whiteout(to.0, to.1) {
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => {}
        done => return done,
    }
    tree::remove(made.0, made.1)?;
    system::create_copy(made.0, made.1)?;
    system::set_attribute(system::open_object(made.0, made.1)?, WHITEOUT, b"y")?;
    system::rename(made.0, made.1, to.0, to.1)
}

//! Changes to the view of a standing jail, as the engine asks its warden for them: layers, see `layers.rs`.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString};
use rustix::io::Errno;

use super::{Cell, await_input};
use crate::messages::{Change, Changed};
use crate::outcome::{AtStep, Failure};
use crate::wire;

/// What a change could not do.
const CHANGE: &str = "change the view of the jail";

/// Who is told what has become of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// Whoever changes the view or starts something next.
    ByTheNext,
    /// Nobody: it is a layer laid ahead. If it cannot be had, whoever wants one asks for another.
    ByNobody,
}

/// A layer that was laid before anybody has asked for it: with the jail, or ahead of a request.
pub(super) struct Unclaimed {
    pub target: PathBuf,
    pub folder: BString,
    /// `None`: it was not heard of yet.
    pub mount: Option<OwnedFd>,
    pub since: Since,
}

/// What a program finds that is started before anybody has asked for the layer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    /// The layer: the jail was made for a request that wants it.
    TheBeginning,
    /// The tree: it was laid for a request that may come, and this one does not know of it.
    LaidAhead,
}

impl Cell {
    /// Puts a layer over a tree, for what is started from now on: what it writes goes into this folder, and the tree stays
    /// as it is. See [`View::layers`](crate::plan::View::layers). To be called when nothing runs. Gives the layer as it is
    /// mounted, to be looked at and written to from here as well.
    pub fn lay(&mut self, target: &Path, folder: &BStr) -> Result<OwnedFd, Failure> {
        if let Some(layer) = self.claim(folder)? {
            return Ok(layer);
        }
        self.lift_unclaimed()?;
        let change = Change::Lay { target: target.to_owned(), folder: folder.to_owned() };
        self.change(&change, Awaited::ByTheNext)?;
        self.changed()?.into_iter().next().ok_or(Errno::BADF).at("take over the layer")
    }

    /// Puts a layer over a tree for whoever [claims](Self::claim) it; for what is started without, it is taken away. To be called
    /// when nothing runs and nothing was laid. Does not wait for it.
    pub fn lay_ahead(&mut self, target: &Path, folder: &BStr) -> Result<(), Failure> {
        self.lift_unclaimed()?;
        let (target, folder) = (target.to_owned(), folder.to_owned());
        let change = Change::Lay { target: target.clone(), folder: folder.clone() };
        self.change(&change, Awaited::ByNobody)?;
        let since = Since::LaidAhead;
        self.unclaimed = Some(Unclaimed { target, folder, mount: None, since });
        Ok(())
    }

    /// The layer of this folder, if it lies there and nobody has asked for it yet.
    pub fn claim(&mut self, folder: &BStr) -> Result<Option<OwnedFd>, Failure> {
        self.changed()?;
        let claimed = self.unclaimed.take_if(|it| it.folder == folder && it.mount.is_some());
        Ok(claimed.and_then(|it| it.mount))
    }

    /// The same where the tree's file system cannot carry what is written: it is kept in memory, at most so many bytes. Gives also
    /// the directory that holds it as `upper`, which lives as long as its handle does.
    pub fn lay_aside(
        &mut self,
        target: &Path,
        folder: &BStr,
        most: u64,
    ) -> Result<(OwnedFd, OwnedFd), Failure> {
        self.lift_unclaimed()?;
        let (target, folder) = (target.to_owned(), folder.to_owned());
        self.change(&Change::LayAside { target, folder, most }, Awaited::ByTheNext)?;
        let mut given = self.changed()?.into_iter();
        let both = given.next().zip(given.next());
        both.ok_or(Errno::BADF).at("take over the layer")
    }

    /// Takes away a layer that nobody has asked for, if one lies there.
    pub fn lift_unclaimed(&mut self) -> Result<(), Failure> {
        if self.unclaimed.is_none() {
            return Ok(());
        }
        // Whether it lies there at all.
        self.changed()?;
        self.unclaimed.take().map_or(Ok(()), |unclaimed| self.lift(&unclaimed.target))
    }

    /// The view as whoever starts something now expects it.
    pub(super) fn settle_view(&mut self) -> Result<(), Failure> {
        if self.unclaimed.as_ref().is_some_and(|it| it.since == Since::LaidAhead) {
            self.lift_unclaimed()?;
        }
        self.changed().map(|_| ())
    }

    /// Takes away the layer that was laid over a tree. To be called when nothing runs. Nobody waits for it who does not start
    /// something or lay another: that it could not be done is said then.
    pub fn lift(&mut self, target: &Path) -> Result<(), Failure> {
        self.change(&Change::Lift { target: target.to_owned() }, Awaited::ByTheNext)
    }

    fn change(&mut self, change: &Change, awaited: Awaited) -> Result<(), Failure> {
        // The program that waits has entered the view as it is.
        if self.ordered.is_some() {
            return Err(Failure::new(CHANGE, Errno::BUSY));
        }
        wire::send(&self.ends.changes, change, &[]).at(CHANGE)?;
        self.awaited.push_back(awaited);
        Ok(())
    }

    /// Waits until the view is as it should be. What the last change has given.
    fn changed(&mut self) -> Result<Vec<OwnedFd>, Failure> {
        let gone = || io::Error::from_raw_os_error(libc::EPIPE);
        let mut given = Vec::new();
        while !self.awaited.is_empty() {
            await_input(&self.ends.changes).at(CHANGE)?;
            let answer = wire::receive::<Changed>(&self.ends.changes);
            let (answer, descriptors) = answer.and_then(|it| it.ok_or_else(gone)).at(CHANGE)?;
            let awaited = self.awaited.pop_front();
            self.view_changed |= matches!(answer, Changed::Done);
            match (answer, awaited) {
                (Changed::Done, Some(Awaited::ByNobody)) => {
                    if let Some(unclaimed) = &mut self.unclaimed {
                        unclaimed.mount = descriptors.into_iter().next();
                    }
                }
                (Changed::Done, _) => given = descriptors,
                (Changed::Failed(_), Some(Awaited::ByNobody)) => self.unclaimed = None,
                (Changed::Failed(failure), _) => return Err(failure),
            }
        }
        Ok(given)
    }
}

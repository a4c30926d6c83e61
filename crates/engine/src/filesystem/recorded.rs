//! Direct changes of the project, each announced to the undo journal before it is made.
//!
//! A change that cannot be recorded is not made. What is not in the project is not recorded: the private `/tmp`, and
//! everything while a layer takes what is written (see [`Transactions`]).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::{BStr, BString};
use exacta_shell::errno;
use exacta_store::{Announced, UndoError};
use rustix::fs::{AtFlags, FileType, Mode, RawDir, Stat};
use rustix::io::Errno;

use super::cover;
use super::directory::READING;
use super::resolve::Spot;
use crate::undo::{Change, Transactions, refusal};

/// Who records what is changed; nobody, where there is no project or no session.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Option<Arc<Transactions>>);

/// A change that is about to be made: where, and in which record. Nothing may wait while this lives.
pub(crate) struct Announcing<'a> {
    change: Change<'a>,
    place: BString,
}

impl Recorder {
    pub(crate) fn new(transactions: Arc<Transactions>) -> Self {
        Recorder(Some(transactions))
    }

    /// What is written goes to a layer.
    pub(crate) fn is_layered(&self) -> bool {
        self.0.as_ref().is_some_and(|transactions| transactions.is_layered())
    }

    /// `None`: what happens at this place is not recorded.
    pub(crate) fn at(&self, place: Option<BString>) -> io::Result<Option<Announcing<'_>>> {
        let (Some(transactions), Some(place)) = (&self.0, place) else { return Ok(None) };
        let change = transactions.recording().map_err(|error| refusal(error, &place))?;
        Ok(change.map(|change| Announcing { change, place }))
    }

    /// The project and the private `/tmp` are two file systems where the one is recorded and the other is not, as they are
    /// for every program: what leaves by a rename is gone for undo, what comes may be a whole tree that nobody has
    /// listed, and a file with names on both sides could be changed without a record. So `mv` copies and deletes.
    pub(crate) fn check_same_side(
        &self,
        places: &(Option<BString>, Option<BString>),
    ) -> io::Result<()> {
        let crossing = match places {
            (Some(place), None) | (None, Some(place)) => Some(place.clone()),
            _ => None,
        };
        match self.at(crossing)? {
            Some(_) => Err(errno::error(errno::EXDEV)),
            None => Ok(()),
        }
    }

    /// Something is made by `make`, which has done nothing if it fails.
    pub(crate) fn creating<T>(
        &self,
        place: Option<BString>,
        make: impl Fn() -> io::Result<T>,
    ) -> io::Result<T> {
        match self.at(place)? {
            Some(announcing) => announcing.create(make),
            None => cover::making(make),
        }
    }

    /// Mode, owner or times will change.
    pub(crate) fn before_attributes(&self, spot: &Spot, place: Option<BString>) -> io::Result<()> {
        match self.at(place) {
            Ok(Some(announcing)) => announcing.before_attributes(),
            Ok(None) => Ok(()),
            // That nothing is there is the better answer, and comes by itself.
            Err(_) if look(spot).is_err() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// For a file that stays open, and may be written to by later requests. What it was opened for is recorded.
    pub(crate) fn follow(&self, place: Option<BString>, extent: Extent) -> Option<Followed> {
        let transactions = Arc::clone(self.0.as_ref()?);
        let number = transactions.number();
        let whole = if extent == Extent::Anywhere { number } else { NEVER };
        let (covered, whole) = (AtomicU64::new(number), AtomicU64::new(whole));
        Some(Followed { transactions, place: place?, covered, whole })
    }
}

/// Where a file will be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Behind what it has: `O_APPEND`.
    End,
    Anywhere,
}

impl Announcing<'_> {
    pub(crate) fn create<T>(&self, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let announced = self.change.create(&self.place).map_err(|error| self.refusal(error))?;
        self.or_not(announced, make())
    }

    /// The same for what makes nothing if it gives nothing.
    pub(crate) fn create_maybe<T>(
        &self,
        make: impl FnOnce() -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        let announced = self.change.create(&self.place).map_err(|error| self.refusal(error))?;
        let made = make();
        if !matches!(made, Ok(Some(_))) {
            self.take_off(announced);
        }
        made
    }

    pub(crate) fn link<T>(
        &self,
        existing: &BStr,
        make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let announced = self.change.link(existing, &self.place);
        self.or_not(announced.map_err(|error| self.refusal(error))?, make())
    }

    /// Renames to a place that must be free.
    pub(crate) fn rename<T>(
        &self,
        to: &BStr,
        make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let announced = self.change.moved(&self.place, to).map_err(|error| self.refusal(error))?;
        self.or_not(announced, make())
    }

    /// Renames into the trash, where the place must be free.
    pub(crate) fn trash<T>(
        &self,
        to: &BStr,
        make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let announced = self.change.trash(&self.place, to).map_err(|error| self.refusal(error))?;
        self.or_not(announced, make())
    }

    /// Renames over something, in the journal's own way. It asks less than rename(2): what that refuses is refused before.
    pub(crate) fn rename_over(&self, to: &BStr) -> io::Result<()> {
        self.change.replace(&self.place, to).map_err(|error| match error {
            UndoError::System { path, errno, .. } if path == to => errno.into(),
            error => self.refusal(error),
        })
    }

    /// Takes an empty directory away, in the journal's own way.
    pub(crate) fn remove_empty(&self, spot: &Spot) -> io::Result<()> {
        check_empty_directory(spot)?;
        self.change.delete(&self.place).map_err(|error| self.refusal(error))
    }

    /// Takes anything away, in the journal's own way: only undo brings it back.
    pub(crate) fn delete(&self) -> io::Result<()> {
        self.change.delete(&self.place).map_err(|error| self.refusal(error))
    }

    pub(crate) fn before_attributes(&self) -> io::Result<()> {
        self.change.before_meta(&self.place).map_err(|error| self.refusal(error))
    }

    pub(crate) fn before_write(&self, stat: &Stat) -> io::Result<()> {
        if self.is_covered(stat) {
            return Ok(());
        }
        self.change.before_write(&self.place).map_err(|error| self.refusal(error))
    }

    /// The same for what is written at the end only.
    pub(crate) fn before_append(&self, stat: &Stat) -> io::Result<()> {
        if self.change.covers_append(&self.place, u64::from(stat.st_nlink as u32)) {
            return Ok(());
        }
        self.change.before_append(&self.place).map_err(|error| self.refusal(error))
    }

    /// What the file was before the request is kept already.
    pub(crate) fn is_covered(&self, stat: &Stat) -> bool {
        self.change.covers_write(&self.place, u64::from(stat.st_nlink as u32))
    }

    /// Empties a large file by putting a new one in its place; `None` where that would be seen.
    pub(crate) fn renew(&self) -> io::Result<Option<OwnedFd>> {
        self.change.renew(&self.place).map_err(|error| self.refusal(error))
    }

    /// The journal's own copy of the content, for who has to put it back.
    pub(crate) fn kept_copy(&self) -> Option<OwnedFd> {
        self.change.kept_copy(&self.place)
    }

    fn or_not<T>(&self, announced: Announced, made: io::Result<T>) -> io::Result<T> {
        if made.is_err() {
            self.take_off(announced);
        }
        made
    }

    /// What could not even be written down is found out by looking: it did not happen.
    fn take_off(&self, announced: Announced) {
        let _found_by_looking = self.change.failed(announced);
    }

    fn refusal(&self, error: UndoError) -> io::Error {
        refusal(error, &self.place)
    }
}

/// The number of no request.
const NEVER: u64 = u64::MAX;

/// A file that was open when the request began is recorded again before it is written.
pub(crate) struct Followed {
    transactions: Arc<Transactions>,
    place: BString,
    /// The request in which it was recorded last, for whatever comes behind its end.
    covered: AtomicU64,
    /// The same for all of it.
    whole: AtomicU64,
}

impl Followed {
    pub(crate) fn before_write(&self, file: &OwnedFd, extent: Extent) -> io::Result<()> {
        let number = self.transactions.number();
        let known = match extent {
            Extent::End => &self.covered,
            Extent::Anywhere => &self.whole,
        };
        if known.load(Ordering::Relaxed) == number {
            return Ok(());
        }
        let change = self.transactions.recording().map_err(|error| refusal(error, &self.place))?;
        if let Some(change) = change {
            let recorded = match extent {
                Extent::End => change.before_append(&self.place),
                Extent::Anywhere => change.before_write(&self.place),
            };
            recorded.map_err(|error| refusal(error, &self.place))?;
            self.check_place(file)?;
        }
        self.covered.store(number, Ordering::Relaxed);
        if extent == Extent::Anywhere {
            self.whole.store(number, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes back that a new file is in its place.
    pub(crate) fn take_back(&self, file: &OwnedFd) -> io::Result<()> {
        let Ok(Some(change)) = self.transactions.recording() else { return Ok(()) };
        let inode = rustix::fs::fstat(file)?.st_ino;
        change.take_back(&self.place, inode).map_err(|error| refusal(error, &self.place))
    }

    /// What was kept is what stands at the place. If that is not this file any more, there is no record of it.
    fn check_place(&self, file: &OwnedFd) -> io::Result<()> {
        let open = rustix::fs::fstat(file)?;
        let place =
            rustix::fs::statat(self.transactions.root(), &**self.place, AtFlags::SYMLINK_NOFOLLOW);
        if open.st_nlink == 0 || place.is_ok_and(|place| place.st_ino == open.st_ino) {
            return Ok(());
        }
        Err(io::Error::other(
            "it cannot be recorded for undo: it has been moved since it was opened by an earlier request",
        ))
    }
}

/// As rmdir(2) would answer.
fn check_empty_directory(spot: &Spot) -> io::Result<()> {
    let directory = rustix::fs::openat(&spot.directory, &**spot.name, READING, Mode::empty());
    let directory = match directory {
        Err(Errno::LOOP) => return Err(errno::error(errno::ENOTDIR)),
        // Taken away by a rename, it would go with whatever is in it.
        Err(Errno::ACCESS) => {
            let why = "it cannot be recorded for undo: it may not be listed";
            return Err(io::Error::other(why));
        }
        opened => opened?,
    };
    let mut buffer = Vec::with_capacity(1024);
    let mut entries = RawDir::new(directory.as_fd(), buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Err(errno::error(errno::ENOTEMPTY));
        }
    }
    Ok(())
}

fn look(spot: &Spot) -> Result<Stat, Errno> {
    rustix::fs::statat(&spot.directory, &**spot.name, AtFlags::SYMLINK_NOFOLLOW)
}

/// What rename(2) says of two names that both exist; `Ok(false)` when there is nothing to do.
pub(crate) fn may_replace(from: &Spot, to: &Spot, places: (&BStr, &BStr)) -> io::Result<bool> {
    let (source, target) = (look(from)?, look(to)?);
    let is_directory = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    if !is_directory(&source) && (from.slash || to.slash) {
        return Err(errno::error(errno::ENOTDIR));
    }
    if source.st_ino == target.st_ino && source.st_dev == target.st_dev {
        return Ok(false);
    }
    let inside = |one: &BStr, other: &BStr| {
        one.strip_prefix(&**other).is_some_and(|rest| rest.first() == Some(&b'/'))
    };
    if is_directory(&source) && inside(places.1, places.0) {
        return Err(errno::error(errno::EINVAL));
    }
    match (is_directory(&source), is_directory(&target)) {
        (true, false) => Err(errno::error(errno::ENOTDIR)),
        (false, true) if inside(places.0, places.1) => Err(errno::error(errno::ENOTEMPTY)),
        (false, true) => Err(errno::error(errno::EISDIR)),
        (true, true) => check_empty_directory(to).map(|()| true),
        (false, false) => Ok(true),
    }
}

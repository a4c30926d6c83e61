//! Moving between the tree and what a record keeps, also where a directory is read-only.
//!
//! A name in a directory without permission to write can be moved by its owner only after a chmod. That is written
//! down first: if we die in between, recovery gives the directory its mode back.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bstr::{BStr, BString};
use rustix::io::Errno;

use super::Hand;
use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::ground::{Spot, slot_name};
use crate::path;
use crate::record::{Entry, ancestors};
use crate::system;

/// One end of a rename.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub directory: BorrowedFd<'a>,
    pub name: &'a BStr,
    /// In the tree; what the record keeps has none.
    pub path: Option<&'a BStr>,
}

impl<'a> End<'a> {
    pub(crate) fn tree(spot: &'a Spot, path: &'a BString) -> Self {
        End {
            directory: spot.directory.as_fd(),
            name: spot.name.as_ref(),
            path: Some(path.as_ref()),
        }
    }

    pub(crate) fn slot(folder: &'a OwnedFd, name: &'a BString) -> Self {
        End { directory: folder.as_fd(), name: name.as_ref(), path: None }
    }
}

impl Hand<'_> {
    /// To a name that is free.
    pub(crate) fn rename(&mut self, from: End<'_>, to: End<'_>) -> Result<(), UndoError> {
        self.patiently(from, to, || {
            system::rename(from.directory, from.name, to.directory, to.name)
        })
    }

    /// Both change places at once. False where the file system cannot.
    pub(crate) fn exchange(&mut self, from: End<'_>, to: End<'_>) -> Result<bool, UndoError> {
        let exchange = || match system::exchange(from.directory, from.name, to.directory, to.name) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS) => Ok(false),
            Err(errno) => Err(errno),
        };
        self.patiently(from, to, exchange)
    }

    pub(super) fn patiently<T>(
        &mut self,
        from: End<'_>,
        to: End<'_>,
        mut act: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, UndoError> {
        let shown = from.path.or(to.path).unwrap_or_default();
        match act() {
            Err(Errno::ACCESS) => {}
            done => return done.at("move it", shown),
        }
        let mut loosened = Vec::new();
        for end in [from, to] {
            self.loosen(end, &mut loosened)?;
        }
        let done = act();
        for (object, mode) in loosened.iter().rev() {
            system::set_mode(object, *mode).at("make it read-only again", shown)?;
        }
        done.at("move it", shown)
    }

    /// The directory that holds an end, and what is there if it is a directory itself: it learns of its new parent.
    fn loosen(
        &mut self,
        end: End<'_>,
        loosened: &mut Vec<(OwnedFd, u32)>,
    ) -> Result<(), UndoError> {
        let shown = end.path.unwrap_or_default();
        let holder = end.path.map(|path| BString::from(path::split(path).0));
        for (name, path) in [(b".".as_slice(), holder), (end.name, end.path.map(BString::from))] {
            let Some(facts) = Facts::of(end.directory, name).at("look at it", shown)? else {
                continue;
            };
            let is_ours = facts.is_directory() && facts.user == system::user();
            if !is_ours || facts.mode & 0o300 == 0o300 {
                continue;
            }
            if let Some(path) = path {
                self.file.append(vec![Entry::Loosened { path, mode: facts.mode }])?;
            }
            let object = system::open_object(end.directory, name).at("look at it", shown)?;
            system::set_mode(&object, facts.mode | 0o300).at("make it writable", shown)?;
            loosened.push((object, facts.mode));
        }
        Ok(())
    }

    /// Opens the directories that hold the paths of the record and that we, their owners, may not search.
    pub(crate) fn open_up(&mut self) -> Result<(), UndoError> {
        let paths: Vec<BString> = self.file.record.paths().into_iter().cloned().collect();
        for path in paths {
            let mut holders: Vec<BString> = ancestors(&path).skip(1).map(BString::from).collect();
            holders.reverse();
            for holder in holders {
                let Some(spot) = self.ground.spot(&holder)? else { break };
                let facts = Facts::of(&spot.directory, &spot.name).at("look at it", &holder)?;
                let Some(facts) = facts.filter(Facts::is_locked) else { continue };
                let entry = Entry::Loosened { path: holder.clone(), mode: facts.mode };
                self.file.append(vec![entry])?;
                system::open_object(&spot.directory, &spot.name)
                    .and_then(|object| system::set_mode(object, facts.mode | 0o700))
                    .at("look into it", &holder)?;
            }
        }
        Ok(())
    }

    /// After a crash: what was writable for a moment only, in the tree or already where it is kept.
    pub(crate) fn tighten(&self) -> Result<(), UndoError> {
        // The innermost first: what is above may forbid to go there.
        for (path, mode) in self.file.record.loosened.iter().rev() {
            if let Some(spot) = self.ground.spot(path)? {
                tighten_at(spot.directory.as_fd(), &spot.name, *mode).at("look at it", path)?;
            }
            for numbered in &self.file.record.steps {
                if numbered.step.paths().any(|one| one == path) {
                    let name = slot_name(numbered.number);
                    for folder in [&self.slots.pre, &self.slots.redo] {
                        tighten_at(folder.as_fd(), &name, *mode).at("look at it", path)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn tighten_at(directory: BorrowedFd<'_>, name: &BString, mode: u32) -> Result<(), Errno> {
    match Facts::of(directory, name)? {
        Some(facts)
            if facts.is_directory() && [mode | 0o300, mode | 0o700].contains(&facts.mode) =>
        {
            system::set_mode(system::open_object(directory, name)?, mode)
        }
        _ => Ok(()),
    }
}

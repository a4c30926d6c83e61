//! Content that changes in place: the same inode before and after, for other names of it and for open descriptors.
//!
//! Both contents exist as copies while one takes the other's place, so it can be begun again at any time; most of them are made
//! ahead ([`super::ahead`]). The copy that is no longer needed goes when everything is on disk ([`super::sweep`]).

use std::os::fd::OwnedFd;

use bstr::BString;
use rustix::io::Errno;

use super::Hand;
use super::reach::End;
use super::sync::sync_slot;
use crate::content;
use crate::error::{At, UndoError};
use crate::facts::{self, Attributes, Facts, Kind};
use crate::going::{ALWAYS, Going};
use crate::ground::{Spot, slot_name};
use crate::system;

impl Hand<'_> {
    pub(super) fn unwrite(
        &mut self,
        number: u32,
        path: &BString,
        before: &Facts,
        attributes: &Attributes,
    ) -> Result<(), UndoError> {
        let name = slot_name(number);
        if !is_kept(&self.slots.pre, &name, path)? {
            return Ok(());
        }
        let kept = is_kept(&self.slots.redo, &name, path)?;
        if kept && !self.is_there(path, before.inode)? {
            // It was written back before we were stopped, and has moved on since.
            return Ok(());
        }
        let spot = self.reach(path)?;
        if is_file(&spot, path)? {
            if !kept {
                keep_copy(&spot, &self.slots.redo, number, &ALWAYS).at("keep its content", path)?;
                sync_slot(&self.slots.redo, number, path)?;
            }
            write_from(&self.slots.pre, &name, &spot).at("write its content back", path)?;
        } else {
            // Somebody has deleted it, and this was forced: the copy becomes the file.
            self.rename(End::slot(&self.slots.pre, &name), End::tree(&spot, path))?;
        }
        facts::put_back(&spot.directory, &spot.name, before, attributes)
            .at("put its attributes back", path)
    }

    pub(super) fn rewrite(
        &mut self,
        number: u32,
        path: &BString,
        inode: u64,
    ) -> Result<(), UndoError> {
        let name = slot_name(number);
        let (kept, spot) = (is_kept(&self.slots.pre, &name, path)?, self.ground.spot(path)?);
        if !is_kept(&self.slots.redo, &name, path)? {
            // What the undo put there when there was no file.
            return match spot {
                Some(spot) if !kept && is_file(&spot, path)? => {
                    self.rename(End::tree(&spot, path), End::slot(&self.slots.pre, &name))
                }
                _ => Ok(()),
            };
        }
        if kept && !self.is_there(path, inode)? {
            return Ok(());
        }
        let spot = self.reach(path)?;
        if !kept {
            keep_copy(&spot, &self.slots.pre, number, &ALWAYS).at("keep its content", path)?;
            sync_slot(&self.slots.pre, number, path)?;
        }
        write_from(&self.slots.redo, &name, &spot).at("write its content again", path)?;
        self.put_after(number, path, inode)
    }

    /// Whether a path is still this object.
    pub(super) fn is_there(&self, path: &BString, inode: u64) -> Result<bool, UndoError> {
        Ok(self.ground.facts(path)?.is_some_and(|facts| facts.inode == inode))
    }
}

pub(super) fn is_kept(folder: &OwnedFd, name: &BString, path: &[u8]) -> Result<bool, UndoError> {
    Ok(system::stat(folder, name).at("look at what is kept", path)?.is_some())
}

/// Nothing at all is fine too; anything else is not.
fn is_file(spot: &Spot, path: &BString) -> Result<bool, UndoError> {
    match Facts::of(&spot.directory, &spot.name).at("look at it", path)? {
        None => Ok(false),
        Some(facts) if facts.kind == Kind::File => Ok(true),
        Some(_) => Err(Errno::EXIST).at("write its content back", path),
    }
}

/// A whole copy of a file's content, under its number only when it is complete.
pub(crate) fn keep_copy(
    spot: &Spot,
    folder: &OwnedFd,
    number: u32,
    going: &Going,
) -> Result<(), Errno> {
    keep(spot, folder, number, |from, to| content::copy(from, to, going).map(|()| true)).map(|_| ())
}

/// The same only where nothing has to be copied for it. False where the file system cannot.
pub(crate) fn keep_clone(spot: &Spot, folder: &OwnedFd, number: u32) -> Result<bool, Errno> {
    keep(spot, folder, number, content::clone)
}

/// What is filled gets its number if it is said to be complete.
pub(super) fn keep(
    spot: &Spot,
    folder: &OwnedFd,
    number: u32,
    fill: impl FnOnce(&OwnedFd, &OwnedFd) -> Result<bool, Errno>,
) -> Result<bool, Errno> {
    let name = slot_name(number);
    let unfinished = [name.as_slice(), b".part"].concat();
    if system::stat(folder, &unfinished)?.is_some() {
        system::unlink(folder, &unfinished)?;
    }
    let from = readable(spot)?;
    let copy = system::create_copy(folder, &unfinished)?;
    match fill(&from, &copy) {
        Ok(true) => system::rename_over(folder, &unfinished, &name).map(|()| true),
        unfilled => {
            let _only_space = system::unlink(folder, &unfinished);
            system::close_aside(copy);
            unfilled
        }
    }
}

fn readable(spot: &Spot) -> Result<OwnedFd, Errno> {
    let mut mode = None;
    let opened = match system::open_reading(&spot.directory, &spot.name) {
        Err(Errno::ACCESS) => {
            mode = Some(open_up(spot, 0o400)?);
            system::open_reading(&spot.directory, &spot.name)
        }
        opened => opened,
    };
    close_down(spot, mode)?;
    opened
}

fn write_from(folder: &OwnedFd, name: &BString, spot: &Spot) -> Result<(), Errno> {
    content::write_through(&kept(folder, name)?, &writable(spot)?)
}

/// What a record keeps, to be read.
pub(super) fn kept(folder: &OwnedFd, name: &BString) -> Result<OwnedFd, Errno> {
    let directory = folder.try_clone().map_err(|_| Errno::MFILE)?;
    readable(&Spot { directory, name: name.clone() })
}

pub(super) fn writable(spot: &Spot) -> Result<OwnedFd, Errno> {
    let mut mode = None;
    let opened = match system::open_writing(&spot.directory, &spot.name) {
        Err(Errno::ACCESS) => {
            mode = Some(open_up(spot, 0o200)?);
            system::open_writing(&spot.directory, &spot.name)
        }
        opened => opened,
    };
    close_down(spot, mode)?;
    opened
}

/// Read-only files have an owner who may change that. Their mode is put back at once; if we die in between, with the
/// other attributes.
fn open_up(spot: &Spot, bits: u32) -> Result<u32, Errno> {
    let object = system::open_object(&spot.directory, &spot.name)?;
    let mode = system::stat_handle(&object)?.st_mode & 0o7777;
    system::set_mode(&object, mode | bits)?;
    Ok(mode)
}

fn close_down(spot: &Spot, mode: Option<u32>) -> Result<(), Errno> {
    match mode {
        Some(mode) => system::set_mode(system::open_object(&spot.directory, &spot.name)?, mode),
        None => Ok(()),
    }
}

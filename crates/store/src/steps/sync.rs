//! Waiting for the disk when steps have been taken: for all that they have changed, before the record says so.
//!
//! Telling the file system to write everything is the shortest way: one order, however many files there are. But everything is
//! everybody's, and a build or a download beside us may have gigabytes waiting. Then what was changed is named one by one, if
//! that is not too much.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use super::Hand;
use super::ahead::InPlace;
use super::write::{is_kept, kept};
use crate::error::{At, UndoError};
use crate::facts::{Facts, Kind};
use crate::ground::slot_name;
use crate::path;
use crate::record::Numbered;
use crate::system;
use crate::tree;

/// So much is written in a moment.
const LITTLE: u64 = 64 << 20;
/// Each of them is an order of its own.
const FEW: usize = 200;

/// One copy and its name.
pub(super) fn sync_slot(folder: &OwnedFd, number: u32, path: &[u8]) -> Result<(), UndoError> {
    kept(folder, &slot_name(number))
        .and_then(system::sync_data)
        .and_then(|()| system::sync_directory(folder))
        .at("write to the disk what is kept", path)
}

fn others_have_much() -> bool {
    system::unwritten().is_some_and(|bytes| bytes > LITTLE)
}

impl Hand<'_> {
    pub(crate) fn sync(&self, steps: &[Numbered]) -> Result<(), UndoError> {
        if others_have_much() && self.sync_named(steps).unwrap_or(false) {
            return Ok(());
        }
        self.sync_everything()
    }

    /// The copies that these steps keep, and their names.
    pub(super) fn sync_kept(&self, steps: &[InPlace<'_>]) -> Result<(), UndoError> {
        if steps.len() > FEW || !others_have_much() {
            return self.sync_everything();
        }
        for InPlace { number, path, .. } in steps {
            for folder in [&self.slots.pre, &self.slots.redo] {
                if is_kept(folder, &slot_name(*number), path)? {
                    sync_slot(folder, *number, path)?;
                }
            }
        }
        Ok(())
    }

    fn sync_everything(&self) -> Result<(), UndoError> {
        system::sync_everything(self.ground.root()).at("write everything to the disk", b"")
    }

    /// False when there are too many, or one cannot be opened.
    fn sync_named(&self, steps: &[Numbered]) -> Result<bool, UndoError> {
        let mut directories = BTreeSet::new();
        let mut files = Vec::new();
        for path in steps.iter().flat_map(|one| one.step.paths()) {
            directories.insert(BString::from(path::split(path).0));
            let Some(facts) = self.ground.facts(path)? else { continue };
            self.gather(path, &facts, &mut directories, &mut files)?;
            if directories.len() + files.len() > FEW {
                return Ok(false);
            }
        }
        for path in &files {
            let Some(spot) = self.ground.spot(path)? else { continue };
            system::open_reading(&spot.directory, &spot.name)
                .and_then(system::sync_data)
                .at("write it to the disk", path)?;
        }
        let root = self.ground.root();
        for path in &directories {
            match tree::listing(root, path) {
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                opened => {
                    opened.and_then(system::sync_directory).at("write it to the disk", path)?;
                }
            }
        }
        for folder in [&self.slots.pre, &self.slots.redo] {
            system::sync_directory(folder as &OwnedFd).at("sync the journal", b"")?;
        }
        Ok(true)
    }

    fn gather(
        &self,
        path: &BString,
        facts: &Facts,
        directories: &mut BTreeSet<BString>,
        files: &mut Vec<BString>,
    ) -> Result<(), UndoError> {
        match facts.kind {
            Kind::File => files.push(path.clone()),
            Kind::Directory => {
                directories.insert(path.clone());
                let top = system::open_directory(self.ground.root(), path);
                let inside =
                    top.and_then(|top| tree::entries(top.as_fd())).at("look into", path)?;
                for (below, facts) in inside {
                    let path = path::join(path, &below);
                    match facts.kind {
                        Kind::File => files.push(path),
                        Kind::Directory => drop(directories.insert(path)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

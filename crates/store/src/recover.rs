//! After a crash: whatever somebody was doing when he died is brought to an end, by looking at what is there.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::error::{At, UndoError};
use crate::ground::{Ground, Slots};
use crate::journal;
use crate::layer;
use crate::mirror;
use crate::record::file::{self, RecordFile};
use crate::record::{Outcome, Phase, RecordId};
use crate::recording;
use crate::steps::{Direction, Hand};
use crate::system;
use crate::turn;

/// Costs one listing of an empty directory when nobody has died.
pub(crate) fn recover(ground: &Arc<Ground>) -> Result<(), UndoError> {
    let Some(folders) = ground.existing()? else { return Ok(()) };
    let _tried_again = mirror::close_left(ground);
    let mut ids = Vec::new();
    for name in system::list(&folders.busy).at("list the records", b"busy")? {
        match file::id(&name) {
            Some(id) => ids.push(id),
            None => drop_unborn(&folders.busy, &name),
        }
    }
    let layers = layer::folder::abandoned(ground)?;
    if ids.is_empty() && layers.is_empty() {
        return Ok(());
    }
    let _lock = ground.lock()?;
    for name in &layers {
        // First: a record finds what its request has left when all of it is where it belongs.
        let _tried_again = layer::folder::take_back_left(ground, name);
    }
    ids.sort_unstable();
    for id in ids {
        // One that cannot be brought to an end now stays as it is, and must not keep others from working.
        let _shown_by_the_log = recover_one(ground, id);
    }
    for name in layers {
        let _stays_where_it_is = layer::folder::adopt(ground, &name);
    }
    Ok(())
}

/// A record that has not even got its name. Whoever makes one holds a lock on it, and makes another if it is gone.
fn drop_unborn(busy: &OwnedFd, name: &[u8]) {
    let file = system::open_appending(busy, name);
    if file.is_ok_and(|file| matches!(system::try_lock(&file), Ok(true))) {
        let _only_a_name = system::unlink(busy, name);
    }
}

fn recover_one(ground: &Ground, id: RecordId) -> Result<(), UndoError> {
    let folders = ground.folders()?;
    let mut file = match RecordFile::open(folders.busy.as_fd(), id) {
        // Died before the first step was written: nothing was changed yet.
        Err(UndoError::Damaged { .. }) => return journal::forget_unread(ground, id),
        opened => match opened? {
            Some(file) => file,
            // Somebody is working on it.
            None => return Ok(()),
        },
    };
    if file.record.tree != ground.identity()? {
        return Err(UndoError::OtherTree { id });
    }
    let slots = ground.slots(id)?;
    let mut hand = Hand { ground, slots: &slots, file: &mut file };
    hand.tighten()?;
    match hand.file.record.phase {
        Phase::Recording => {
            recording::repair(&mut hand)?;
            end(ground, &mut file, &slots)
        }
        Phase::Staging => {
            layer::apply::take_back(&mut hand)?;
            if file.record.phase == Phase::Held {
                return journal::settle(ground, id);
            }
            end(ground, &mut file, &slots)
        }
        Phase::Applying => {
            layer::apply::go_on(&mut hand)?;
            end(ground, &mut file, &slots)
        }
        Phase::Undoing => {
            turn::finish(&mut hand, Direction::Undo).and_then(|()| journal::settle(ground, id))
        }
        Phase::Redoing => {
            turn::finish(&mut hand, Direction::Redo).and_then(|()| journal::settle(ground, id))
        }
        Phase::Applied => hand.sweep(Direction::Redo).and_then(|()| journal::settle(ground, id)),
        Phase::Undone => hand.sweep(Direction::Undo).and_then(|()| journal::settle(ground, id)),
        Phase::Held | Phase::Discarded => journal::settle(ground, id),
    }
}

/// The request has ended with its process.
fn end(ground: &Ground, file: &mut RecordFile, slots: &Slots) -> Result<(), UndoError> {
    let interrupted = || Outcome { exit: 137, strategy: "restore".to_owned() };
    let outcome = file.record.outcome.clone().unwrap_or_else(interrupted);
    recording::finish(ground, file, Some(slots), outcome).map(|_| ())
}

//! The first and the last of a record: its number, and what was found when all was done, or when its process had died.

use std::os::fd::AsFd;

use bstr::BString;

use crate::error::{At, UndoError};
use crate::ground::{Ground, Slots, Spot};
use crate::path;
use crate::record::file::{self, RecordFile};
use crate::record::{About, Entry, Made, Numbered, Outcome, Phase, Record, RecordId, Step};
use crate::settle;
use crate::steps::{Direction, Hand};
use crate::system;

/// The next free number. What is found in `head` is only where to begin looking.
pub(crate) fn new_record(ground: &Ground, about: &About) -> Result<RecordFile, UndoError> {
    let folders = ground.folders()?;
    let tree = ground.identity()?;
    let mut id = crate::journal::head(folders)?;
    loop {
        id = RecordId(id.0 + 1);
        let name = file::name(id);
        if system::stat(folders.log()?, name.as_bytes()).at("look for a number", b"")?.is_some() {
            continue;
        }
        let record = Record::begin(id, about.clone(), tree);
        if let Some(file) = RecordFile::create(folders.busy.as_fd(), record)? {
            // Whoever had the number may have settled his record between the two looks.
            if system::stat(folders.log()?, name.as_bytes()).at("look for a number", b"")?.is_some()
            {
                system::unlink(&folders.busy, name.as_bytes()).at("look for a number", b"")?;
                continue;
            }
            crate::journal::set_head(folders, id);
            return Ok(file);
        }
    }
}

/// After a crash: finishes what was begun, and strikes out what was only written down.
pub(crate) fn repair(hand: &mut Hand<'_>) -> Result<(), UndoError> {
    repair_replaced(hand)?;
    let steps = hand.file.record.steps.clone();
    let renewed = steps.iter().filter(|one| matches!(one.step, Step::Replace { .. }));
    hand.redo_steps(&renewed.cloned().collect::<Vec<_>>())?;
    let mut void = Vec::new();
    let mut later: Vec<&BString> = Vec::new();
    for Numbered { number, step } in steps.iter().rev() {
        let happened = match step {
            Step::Delete { path, .. } => {
                let name = crate::ground::slot_name(*number);
                system::stat(&hand.slots.pre, &name).at("look at what is kept", path)?.is_some()
            }
            Step::Move { from, to, inode } | Step::Trash { path: from, to, inode } => {
                let at = |path: &BString| {
                    Ok(hand.ground.facts(path)?.is_some_and(|facts| facts.inode == *inode))
                };
                // Only while nothing later has changed these paths can they be asked.
                let asked =
                    !later.iter().any(|one| path::overlap(one, from) || path::overlap(one, to));
                !asked || !at(from)? || at(to)?
            }
            _ => continue,
        };
        if happened {
            later.extend(step.paths());
        } else {
            void.push(Entry::Void { number: *number });
        }
    }
    if void.is_empty() { Ok(()) } else { hand.file.append(void) }
}

/// In the middle of [`Recording::replace`]: what has changed places goes on to where it is kept.
fn repair_replaced(hand: &mut Hand<'_>) -> Result<(), UndoError> {
    let steps = hand.file.record.steps.clone();
    for pair in steps.windows(2) {
        let [Numbered { number, step: Step::Delete { path: gone, before } }, second] = pair else {
            continue;
        };
        let Step::Move { from, to, inode } = &second.step else { continue };
        if gone != to {
            continue;
        }
        let name = crate::ground::slot_name(*number);
        let kept = system::stat(&hand.slots.pre, &name).at("look at what is kept", to)?.is_some();
        let (Some(source), Some(target)) = (hand.ground.spot(from)?, hand.ground.spot(to)?) else {
            continue;
        };
        let at = |spot: &Spot| system::stat(&spot.directory, &spot.name).at("look at it", to);
        let (here, there) = (at(&source)?.map(|stat| stat.st_ino), at(&target)?);
        if !kept && here == Some(before.inode) {
            system::rename(&source.directory, &source.name, &hand.slots.pre, &name)
                .at("keep what was replaced", to)?;
        } else if kept && here == Some(*inode) && there.is_none() {
            system::rename(&source.directory, &source.name, &target.directory, &target.name)
                .at("rename it", from)?;
        }
    }
    Ok(())
}

/// Closes a record: finds out what was made, and puts it with the settled ones.
pub(crate) fn finish(
    ground: &Ground,
    file: &mut RecordFile,
    slots: Option<&Slots>,
    outcome: Outcome,
) -> Result<Option<RecordId>, UndoError> {
    let id = file.record.id;
    if file.record.steps.is_empty() && file.record.irreversible.is_empty() {
        crate::journal::forget(ground, id)?;
        return Ok(None);
    }
    let renewed = settle::renewed(ground, slots, &file.record)?;
    if !renewed.is_empty() {
        file.append(renewed)?;
    }
    let applied = file.record.phase == Phase::Applying;
    let made = match settle::made(ground, slots, &file.record) {
        Err(error) if error.is_locked() => made_inside(ground, file, slots)?,
        made => made?,
    };
    let entries = vec![
        Entry::Made(made),
        Entry::Left(settle::left_by_request(ground, &file.record)?),
        Entry::End(outcome),
        Entry::Phase { phase: Phase::Applied, time: system::now() },
    ];
    file.append(entries)?;
    if applied {
        file.sync()?;
        if let Some(slots) = slots {
            Hand { ground, slots, file }.sweep(Direction::Redo)?;
        }
    }
    crate::journal::settle(ground, id)?;
    Ok(Some(id))
}

/// The request has left directories that nobody may search: they are opened for a moment.
fn made_inside(
    ground: &Ground,
    file: &mut RecordFile,
    slots: Option<&Slots>,
) -> Result<Made, UndoError> {
    let own = match slots {
        Some(_) => None,
        None => Some(ground.slots(file.record.id)?),
    };
    let Some(slots) = slots.or(own.as_ref()) else { return Err(UndoError::NothingToUndo) };
    let mut hand = Hand { ground, slots, file };
    hand.open_up()?;
    let made = settle::made(ground, Some(slots), &hand.file.record);
    hand.tighten()?;
    made
}

//! What others have changed, made part of a record so that nothing of it is lost when the record is turned.

use std::collections::BTreeSet;

use bstr::BString;

use crate::error::{ConflictKind, UndoError};
use crate::facts::Time;
use crate::record::{DirectoryTime, Entry, Made, Numbered, Record, Step};
use crate::settle;
use crate::steps::{Direction, Hand, side};
use crate::verify::Findings;

/// What has to be written down because others have changed something.
pub(super) fn prepare(
    hand: &Hand<'_>,
    findings: &Findings,
    direction: Direction,
) -> Result<Vec<Entry>, UndoError> {
    let record = &hand.file.record;
    let mut made = record.made.clone();
    let differs = !findings.conflicts.is_empty() || !findings.renewed.is_empty();
    if differs && direction == Direction::Undo {
        made = settle::made(hand.ground, Some(hand.slots), record)?;
    }
    note_times(hand, &mut made, direction.opposite())?;
    let mut entries = Vec::new();
    for (number, pieces) in &findings.divided {
        made.objects.extend(pieces.iter().map(|(piece, inode)| (piece.number, *inode)));
        let pieces = pieces.iter().map(|(piece, _)| piece.clone()).collect();
        entries.push(Entry::Divide { number: *number, pieces });
    }
    let mut number = made.objects.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
    number = number.max(record.next_number);
    let mut front = Vec::new();
    for (old, new) in &findings.renewed {
        entries.extend(follow_renewed(record, *old, *new, direction));
    }
    for conflict in &findings.conflicts {
        let Some(now) = hand.ground.facts(&conflict.path)? else { continue };
        let path = conflict.path.clone();
        if conflict.kind == ConflictKind::Appeared {
            match direction {
                // As if the record had made it: undo takes it away, redo brings it back.
                Direction::Undo => {
                    made.objects.push((number, now.inode));
                    entries.push(Entry::Step(Numbered { number, step: Step::Create { path } }));
                }
                Direction::Redo => {
                    front.push(Numbered { number, step: Step::Delete { path, before: now } });
                }
            }
            number += 1;
        } else {
            entries.extend(follow_replaced(record, &path, now.inode, direction));
        }
    }
    if let (Some(first), false) = (record.steps.first(), front.is_empty()) {
        front.push(first.clone());
        entries.push(Entry::Divide { number: first.number, pieces: front });
    }
    made.objects.sort_unstable();
    entries.push(Entry::Made(made));
    Ok(entries)
}

/// What a step changed or moved has been replaced by an editor: the new object is meant from now on.
fn follow_replaced(
    record: &Record,
    path: &BString,
    now: u64,
    direction: Direction,
) -> impl Iterator<Item = Entry> {
    record.steps.iter().filter_map(move |Numbered { number, step }| {
        let mut step = step.clone();
        let known = match (&mut step, direction) {
            (
                Step::Move { to: there, inode, .. } | Step::Trash { to: there, inode, .. },
                Direction::Undo,
            )
            | (
                Step::Move { from: there, inode, .. } | Step::Trash { path: there, inode, .. },
                Direction::Redo,
            ) => (there, inode),
            (
                Step::Write { path: there, before, .. } | Step::Meta { path: there, before, .. },
                _,
            )
            | (
                Step::Replace { path: there, before } | Step::Delete { path: there, before },
                Direction::Redo,
            ) => (there, &mut before.inode),
            _ => return None,
        };
        if known.0 != path || *known.1 == now {
            return None;
        }
        *known.1 = now;
        let pieces = vec![Numbered { number: *number, step }];
        Some(Entry::Divide { number: *number, pieces })
    })
}

/// What a step changed or moved was put back from a copy since: the copy is meant from now on.
fn follow_renewed(
    record: &Record,
    old: u64,
    new: u64,
    direction: Direction,
) -> impl Iterator<Item = Entry> {
    record.steps.iter().filter_map(move |Numbered { number, step }| {
        let mut step = step.clone();
        let known = match &mut step {
            // Before an undo that is what the record keeps.
            Step::Replace { before, .. } | Step::Delete { before, .. }
                if direction == Direction::Redo =>
            {
                &mut before.inode
            }
            step => step.number_after()?,
        };
        if *known != old {
            return None;
        }
        *known = new;
        let pieces = vec![Numbered { number: *number, step }];
        Some(Entry::Divide { number: *number, pieces })
    })
}

/// Where others have changed names since, the time that is found is the one to come back to.
fn note_times(hand: &Hand<'_>, made: &mut Made, left: Direction) -> Result<(), UndoError> {
    for pair in &mut made.times {
        if let Some((path, known)) = side_mut(pair, left)
            && let Some(found) = settle::modified_at(hand.ground, path)?
        {
            *known = found;
        }
    }
    Ok(())
}

/// What such directories have when a direction has been gone, so that the way back finds nobody else's change in them.
pub(super) fn noted_times(hand: &Hand<'_>, reached: Direction) -> Result<Option<Entry>, UndoError> {
    let record = &hand.file.record;
    if record.keep_times.is_empty() {
        return Ok(None);
    }
    let mut made = record.made.clone();
    for pair in &mut made.times {
        if let Some((path, known)) = side_mut(pair, reached)
            && record.keep_times.contains(path)
            && let Some(found) = settle::modified_at(hand.ground, path)?
        {
            *known = found;
        }
    }
    Ok(Some(Entry::Made(made)))
}

fn side_mut(pair: &mut DirectoryTime, direction: Direction) -> Option<&mut (BString, Time)> {
    match direction {
        Direction::Undo => pair.before.as_mut(),
        Direction::Redo => pair.after.as_mut(),
    }
}

/// Directories in which others have changed names since: their times are not ours any more.
pub(super) fn times_to_keep(
    hand: &Hand<'_>,
    direction: Direction,
) -> Result<Vec<BString>, UndoError> {
    let mut keep = BTreeSet::new();
    for pair in &hand.file.record.made.times {
        if let (Some((now, known)), Some((then, _))) =
            (side(pair, direction.opposite()), side(pair, direction))
            && settle::modified_at(hand.ground, now)?.is_some_and(|found| found != *known)
        {
            keep.insert(then.clone());
        }
    }
    Ok(keep.into_iter().collect())
}

//! Undo and redo: a record is turned as a whole, or not at all.

mod prepare;

use std::collections::HashSet;
use std::os::fd::AsFd;

use bstr::BString;

use crate::error::{At, Conflict, UndoError};
use crate::ground::Ground;
use crate::journal::{self, Journal};
use crate::record::file::{self, RecordFile};
use crate::record::{Entry, Phase, Record, RecordId};
use crate::settle;
use crate::steps::{Direction, Hand};
use crate::system;
use crate::verify::{check_lengths, verify};
use prepare::{noted_times, prepare, times_to_keep};

/// Which records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest so many that can be.
    Last(usize),
    These(Vec<RecordId>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Goes on where others have changed something; their versions are kept where a later redo (or undo) finds them.
    pub force: bool,
    /// Only looks.
    pub dry_run: bool,
}

/// What was done, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub records: Vec<RecordId>,
    /// Paths that are as before (after) again.
    pub restored: Vec<BString>,
    /// Of a dry run, and what was forced.
    pub conflicts: Vec<Conflict>,
    /// Directories that stay because others have put something into them.
    pub kept: Vec<BString>,
}

impl Journal {
    /// Takes requests back, the newest first. All of them or none.
    pub fn undo(&self, which: &Which, options: Options) -> Result<Report, UndoError> {
        self.turn(which, options, Direction::Undo)
    }

    /// Does again what was undone, what was undone last first. All of them or none.
    pub fn redo(&self, which: &Which, options: Options) -> Result<Report, UndoError> {
        self.turn(which, options, Direction::Redo)
    }

    fn turn(
        &self,
        which: &Which,
        options: Options,
        direction: Direction,
    ) -> Result<Report, UndoError> {
        if self.ground.existing()?.is_none() {
            return Err(nothing(direction));
        }
        let _lock = self.ground.lock()?;
        let all = self.log()?;
        let busy = journal::ids_in(self.ground.folders()?.busy.as_fd())?;
        let unreadable = self.unreadable(&all)?;
        let chosen = choose(&all, &busy, which, direction);
        let chosen = chosen.map_err(|error| instead(error, &unreadable))?;
        refuse_to_skip(which, &chosen, &unreadable)?;
        let mut report = Report::default();
        for record in &chosen {
            check(&self.ground, record, &all, &chosen, direction)?;
            preview(&self.ground, record, &chosen, direction, &mut report)?;
        }
        if options.dry_run {
            return Ok(report);
        }
        if !options.force && !report.conflicts.is_empty() {
            return Err(UndoError::Conflicts(report.conflicts));
        }
        let mut report = Report::default();
        for record in &chosen {
            let turned = turn_one(&self.ground, record.id, direction, options.force, &mut report);
            if let Err(error) = turned {
                for done in report.records.iter().rev() {
                    let mut back = Report::default();
                    turn_one(&self.ground, *done, direction.opposite(), true, &mut back)?;
                }
                return Err(error);
            }
            report.records.push(record.id);
        }
        report.restored.sort();
        report.restored.dedup();
        Ok(report)
    }
}

/// What is not there may only be unreadable.
fn instead(error: UndoError, unreadable: &[RecordId]) -> UndoError {
    match error {
        UndoError::NoSuchRecord(id) if unreadable.contains(&id) => UndoError::Damaged { id },
        error => error,
    }
}

/// Who asks for the last ones does not mean those before one that cannot be read.
fn refuse_to_skip(
    which: &Which,
    chosen: &[&Record],
    unreadable: &[RecordId],
) -> Result<(), UndoError> {
    let oldest = chosen.iter().map(|record| record.id).min();
    let skipped = unreadable.iter().copied().find(|id| Some(*id) > oldest);
    match (which, skipped) {
        (Which::Last(_), Some(id)) => Err(UndoError::Damaged { id }),
        _ => Ok(()),
    }
}

fn nothing(direction: Direction) -> UndoError {
    match direction {
        Direction::Undo => UndoError::NothingToUndo,
        Direction::Redo => UndoError::NothingToRedo,
    }
}

/// The phase a record has to be in, on its way, and at its end.
fn phases(direction: Direction) -> [Phase; 3] {
    match direction {
        Direction::Undo => [Phase::Applied, Phase::Undoing, Phase::Undone],
        Direction::Redo => [Phase::Undone, Phase::Redoing, Phase::Applied],
    }
}

/// In the order in which they are turned.
fn choose<'a>(
    all: &'a [Record],
    busy: &[RecordId],
    which: &Which,
    direction: Direction,
) -> Result<Vec<&'a Record>, UndoError> {
    let [wanted, ..] = phases(direction);
    let is_ready = |record: &&Record| record.phase == wanted && !busy.contains(&record.id);
    let mut ready: Vec<&Record> = all.iter().filter(is_ready).collect();
    if direction == Direction::Redo {
        // Within one tick of the clock the oldest was the last.
        ready.sort_by_key(|record| (std::cmp::Reverse(record.since), record.id));
    }
    let chosen = match which {
        Which::Last(count) => ready.into_iter().take(*count).collect(),
        Which::These(ids) => {
            for id in ids {
                let record = all.iter().find(|record| record.id == *id);
                let record = record.ok_or(UndoError::NoSuchRecord(*id))?;
                if busy.contains(id) {
                    return Err(UndoError::Running { id: *id, running: *id });
                }
                if record.phase != wanted {
                    let wanted = if wanted == Phase::Applied { "applied" } else { "undone" };
                    return Err(UndoError::WrongPhase { id: *id, phase: record.phase, wanted });
                }
            }
            ready.into_iter().filter(|record| ids.contains(&record.id)).collect()
        }
    };
    if Vec::is_empty(&chosen) { Err(nothing(direction)) } else { Ok(chosen) }
}

/// Whether others' records are in the way.
fn check(
    ground: &Ground,
    record: &Record,
    all: &[Record],
    chosen: &[&Record],
    direction: Direction,
) -> Result<(), UndoError> {
    let id = record.id;
    if record.torn {
        return Err(UndoError::Damaged { id });
    }
    if record.tree != ground.identity()? {
        return Err(UndoError::OtherTree { id });
    }
    let mut later = Vec::new();
    for other in all.iter().filter(|other| other.id != id && other.touches(record)) {
        match other.phase {
            Phase::Held | Phase::Discarded | Phase::Undone => {}
            Phase::Applied => {
                let together = chosen.iter().any(|one| one.id == other.id);
                if direction == Direction::Undo && other.id > id && !together {
                    later.push(other.id);
                }
            }
            _ => return Err(UndoError::Running { id, running: other.id }),
        }
    }
    if later.is_empty() { Ok(()) } else { Err(UndoError::Later { id, later }) }
}

/// Conflicts that can be seen before anything is touched: not at paths that another of the records will change first.
fn preview(
    ground: &Ground,
    record: &Record,
    chosen: &[&Record],
    direction: Direction,
    report: &mut Report,
) -> Result<(), UndoError> {
    let findings = verify(ground, record)?;
    let earlier = || chosen.iter().take_while(|other| other.id != record.id);
    let hidden: Vec<&BString> = earlier().flat_map(|other| other.paths()).collect();
    let is_seen = |path: &BString| !hidden.iter().any(|other| crate::path::overlap(path, other));
    // Another name of a file that they have changed is changed with it, and comes back with it.
    let objects: HashSet<u64> = earlier().flat_map(|other| other.objects()).collect();
    for conflict in findings.conflicts {
        let now = ground.facts(&conflict.path)?;
        if is_seen(&conflict.path) && now.is_none_or(|now| !objects.contains(&now.inode)) {
            report.conflicts.push(conflict);
        }
    }
    if direction == Direction::Undo {
        report.kept.extend(findings.kept.into_iter().filter(is_seen));
    }
    report.records.push(record.id);
    report.restored.extend(record.paths().into_iter().cloned());
    Ok(())
}

/// Takes the record into work, turns it and puts it with the settled ones, turned or not.
fn turn_one(
    ground: &Ground,
    id: RecordId,
    direction: Direction,
    force: bool,
    report: &mut Report,
) -> Result<(), UndoError> {
    let (folders, name) = (ground.folders()?, file::name(id));
    system::rename(folders.log()?, name.as_bytes(), &folders.busy, name.as_bytes())
        .at("work on the record", name.as_bytes())?;
    let mut turned = || -> Result<(), Stuck> {
        let mut file = RecordFile::open_settled(folders.busy.as_fd(), id)?;
        let slots = ground.slots(id)?;
        let mut hand = Hand { ground, slots: &slots, file: &mut file };
        turn_open(&mut hand, direction, force, report)
    };
    match turned() {
        // It could not even be brought back to where it was: recovery will try.
        Err(Stuck::For(error)) => Err(error),
        Err(Stuck::Not(error)) => journal::settle(ground, id).and(Err(error)),
        Ok(()) => journal::settle(ground, id),
    }
}

/// Whether the record is still on one of its sides.
enum Stuck {
    Not(UndoError),
    For(UndoError),
}

impl From<UndoError> for Stuck {
    fn from(error: UndoError) -> Self {
        Stuck::Not(error)
    }
}

fn turn_open(
    hand: &mut Hand<'_>,
    direction: Direction,
    force: bool,
    report: &mut Report,
) -> Result<(), Stuck> {
    let [from, through, _] = phases(direction);
    let findings = verify(hand.ground, &hand.file.record)?;
    if !force && !findings.conflicts.is_empty() {
        return Err(UndoError::Conflicts(findings.conflicts).into());
    }
    check_lengths(&hand.file.record, &findings)?;
    hand.sweep(direction.opposite())?;
    let keep = times_to_keep(hand, direction)?;
    let mut entries = prepare(hand, &findings, direction)?;
    entries.push(Entry::KeepTimes(keep));
    entries.push(Entry::Phase { phase: through, time: system::now() });
    hand.file.append(entries)?;
    if let Err(error) = hand.sync_record().and_then(|()| finish(hand, direction)) {
        let back = hand.go(direction.opposite());
        let settled = Entry::Phase { phase: from, time: system::now() };
        return match back.and_then(|()| hand.file.append(vec![settled])) {
            Ok(()) => Err(Stuck::Not(error)),
            Err(_) => Err(Stuck::For(error)),
        };
    }
    report.restored.extend(hand.file.record.paths().into_iter().cloned());
    report.kept.extend(findings.kept);
    report.conflicts.extend(findings.conflicts);
    Ok(())
}

/// All steps, to the disk, and the record's word for it. Also how recovery goes on.
pub(crate) fn finish(hand: &mut Hand<'_>, direction: Direction) -> Result<(), UndoError> {
    let [.., reached] = phases(direction);
    hand.keep_ahead(direction)?;
    hand.go(direction)?;
    hand.sync(&hand.file.record.steps)?;
    let left = settle::left(hand.ground, &hand.file.record)?;
    let settled = [Entry::Left(left), Entry::Phase { phase: reached, time: system::now() }];
    let entries = noted_times(hand, direction)?.into_iter().chain(settled);
    hand.file.append(entries.collect())?;
    hand.file.sync()?;
    hand.sweep(direction)
}

//! What a record led to, found by looking when its request has ended.

use std::collections::BTreeSet;
use std::os::fd::AsFd;

use bstr::BString;

use crate::error::{At, UndoError};
use crate::facts::{Attributes, Facts, Time};
use crate::ground::{Ground, Slots, Spot, slot_name};
use crate::mirror::stands::Stands;
use crate::path;
use crate::record::{DirectoryTime, Entry, Left, Made, Numbered, Record, Step};
use crate::system;
use crate::whereabouts::{Ways, Whereabouts};

/// How the record's paths are now.
pub(crate) fn left(ground: &Ground, record: &Record) -> Result<Vec<Left>, UndoError> {
    let mut all = Vec::new();
    for path in places(record) {
        match ground.facts(&path) {
            // It is not looked at later either.
            Err(error) if error.is_locked() => {}
            facts => all.push(Left { facts: facts?, path }),
        }
    }
    Ok(all)
}

/// The same when a request has ended. What it changed in place may have been replaced by somebody else before that: another
/// object is there, and is not what the request left.
pub(crate) fn left_by_request(ground: &Ground, record: &Record) -> Result<Vec<Left>, UndoError> {
    let mut all = left(ground, record)?;
    let ways = Ways::new(&record.steps);
    for (index, numbered) in record.steps.iter().enumerate() {
        let (Step::Write { path, before, .. }
        | Step::Append { path, before, .. }
        | Step::Meta { path, before, .. }) = &numbered.step
        else {
            continue;
        };
        let Whereabouts::Tree(place) = ways.after(index + 1, path) else { continue };
        let found = all.binary_search_by(|left| left.path.cmp(&place)).ok();
        if let Some(left) = found.and_then(|at| all.get_mut(at))
            && left.facts.as_ref().is_some_and(|facts| facts.inode != before.inode)
        {
            left.facts = Some(before.clone());
        }
    }
    Ok(all)
}

/// The paths of the steps, and those to which later steps have taken what they were about.
fn places(record: &Record) -> BTreeSet<BString> {
    let ways = Ways::new(&record.steps);
    let mut places = BTreeSet::new();
    for (index, numbered) in record.steps.iter().enumerate() {
        for path in numbered.step.paths() {
            if let Whereabouts::Tree(place) = ways.after(index + 1, path) {
                places.insert(place);
            }
            places.insert(path.clone());
        }
    }
    places
}

/// What the steps made, wherever it is now. Manifests stay as they were when they were applied.
pub(crate) fn made(
    ground: &Ground,
    slots: Option<&Slots>,
    record: &Record,
) -> Result<Made, UndoError> {
    let mut made = Made { manifests: record.made.manifests.clone(), ..Made::default() };
    let ways = Ways::new(&record.steps);
    let look = Looking { ground, slots, modes: &record.loosened };
    for (index, numbered) in record.steps.iter().enumerate() {
        let number = numbered.number;
        match &numbered.step {
            Step::Create { path } => {
                let place = ways.after(index + 1, path);
                let Some((spot, facts)) = look.at(&place)? else { continue };
                made.objects.push((number, facts.inode));
                if let (Whereabouts::Tree(path), true) = (place, facts.is_directory()) {
                    let after = Some((path, facts.modified));
                    made.times.push(DirectoryTime { before: None, after });
                }
                drop(spot);
            }
            Step::Meta { path, .. } | Step::Write { path, .. } | Step::Append { path, .. } => {
                if let Some((spot, facts)) = look.at(&ways.after(index + 1, path))? {
                    let object = system::open_object(&spot.directory, &spot.name);
                    let found = object.and_then(Attributes::of).at("read its attributes", path)?;
                    made.attributes.push((number, facts, found));
                }
            }
            Step::Replace { .. }
            | Step::Delete { .. }
            | Step::Trash { .. }
            | Step::Link { .. }
            | Step::Move { .. } => {}
        }
    }
    made.times.extend(times(ground, record, &ways)?);
    made.objects.sort_unstable();
    Ok(made)
}

/// What the steps changed or moved may have been put back from a copy since: then that is meant from now on. Looks only where there
/// ever was such a copy.
pub(crate) fn renewed(
    ground: &Ground,
    slots: Option<&Slots>,
    record: &Record,
) -> Result<Vec<Entry>, UndoError> {
    let stands = Stands::load(ground)?;
    let mut entries = Vec::new();
    if stands.is_empty() {
        return Ok(entries);
    }
    let ways = Ways::new(&record.steps);
    let look = Looking { ground, slots, modes: &record.loosened };
    for (index, Numbered { number, step }) in record.steps.iter().enumerate() {
        let mut step = step.clone();
        let path = left_at(&step).clone();
        let Some(inode) = step.number_after() else { continue };
        let found = match look.at(&ways.after(index + 1, &path)) {
            Err(error) if error.is_locked() => continue,
            found => found?.map(|(_, facts)| facts.inode),
        };
        if let Some(found) = found.filter(|found| found != inode && stands.includes(*found, *inode))
        {
            *inode = found;
            let pieces = vec![Numbered { number: *number, step }];
            entries.push(Entry::Divide { number: *number, pieces });
        }
    }
    Ok(entries)
}

/// Where a step has left what it is about.
fn left_at(step: &Step) -> &BString {
    match step {
        Step::Move { to, .. } | Step::Trash { to, .. } => to,
        Step::Link { path, .. }
        | Step::Write { path, .. }
        | Step::Append { path, .. }
        | Step::Meta { path, .. }
        | Step::Replace { path, .. }
        | Step::Delete { path, .. }
        | Step::Create { path } => path,
    }
}

fn times(
    ground: &Ground,
    record: &Record,
    ways: &Ways<'_>,
) -> Result<Vec<DirectoryTime>, UndoError> {
    let mut times = Vec::new();
    for (path, modified) in &record.times {
        let after = match ways.after(0, path) {
            Whereabouts::Tree(now) => modified_at(ground, &now)?.map(|time| (now, time)),
            Whereabouts::Kept { .. } => None,
        };
        times.push(DirectoryTime { before: Some((path.clone(), *modified)), after });
    }
    Ok(times)
}

pub(crate) fn modified_at(ground: &Ground, path: &[u8]) -> Result<Option<Time>, UndoError> {
    match ground.facts(path) {
        Err(error) if error.is_locked() => Ok(None),
        facts => Ok(facts?.map(|facts| facts.modified)),
    }
}

struct Looking<'a> {
    ground: &'a Ground,
    slots: Option<&'a Slots>,
    /// Of directories that are open for a moment.
    modes: &'a [(BString, u32)],
}

impl Looking<'_> {
    fn at(&self, place: &Whereabouts) -> Result<Option<(Spot, Facts)>, UndoError> {
        let (spot, path) = match place {
            Whereabouts::Tree(path) => (self.ground.spot(path)?, path.clone()),
            Whereabouts::Kept { number, below } => (self.kept(*number, below)?, slot_name(*number)),
        };
        let Some(spot) = spot else { return Ok(None) };
        let facts = Facts::of(&spot.directory, &spot.name).at("look at it", &path)?;
        Ok(facts.map(|facts| (spot, self.own_mode(&path, facts))))
    }

    fn own_mode(&self, path: &BString, facts: Facts) -> Facts {
        let known = self.modes.iter().rev().find(|(opened, _)| opened == path);
        match known {
            Some((_, mode)) if facts.mode == *mode | 0o700 => Facts { mode: *mode, ..facts },
            _ => facts,
        }
    }

    fn kept(&self, number: u32, below: &[u8]) -> Result<Option<Spot>, UndoError> {
        let Some(slots) = self.slots else { return Ok(None) };
        let whole = path::join(&slot_name(number), below);
        let (parent, name) = path::split(&whole);
        match system::open_directory(slots.pre.as_fd(), parent) {
            Ok(directory) => Ok(Some(Spot { directory, name: name.into() })),
            Err(_) => Ok(None),
        }
    }
}

//! What a record changed, path by path, with both contents: the caller makes a diff of it.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use crate::error::{At, UndoError};
use crate::facts::{Facts, Kind};
use crate::ground::slot_name;
use crate::journal::Journal;
use crate::path;
use crate::record::{Numbered, Phase, Record, RecordId, Step};
use crate::system;
use crate::tree;

/// One path before and after.
#[derive(Clone, Debug)]
pub struct Change {
    pub path: BString,
    /// It was there before, and is the same object.
    pub moved_from: Option<BString>,
    pub before: Option<Side>,
    pub after: Option<Side>,
}

/// What is at a path on one side of a record.
#[derive(Clone, Debug)]
pub struct Side {
    pub facts: Facts,
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Tree(BString),
    /// Below what the record keeps of before.
    Pre(BString),
    /// Below what it keeps of after.
    Redo(BString),
    Layer(BString),
}

impl Journal {
    /// Changed paths in order. Directories that came or went whole are listed with everything in them; one that was
    /// moved is one change.
    pub fn diff(&self, id: RecordId) -> Result<Vec<Change>, UndoError> {
        let record = self.record(id)?;
        let mut changes = match record.phase {
            Phase::Held => self.planned(&record)?,
            _ => self.recorded(&record)?,
        };
        let mut inside = Vec::new();
        for change in changes.values() {
            self.expand(&record, change, &mut inside)?;
        }
        inside.retain(|change| !is_in_trash(&record, &change.path));
        for change in inside {
            changes.entry(change.path.clone()).or_insert(change);
        }
        Ok(changes.into_values().collect())
    }

    /// The content of a regular file on one side; `None` for anything else.
    pub fn content(&self, id: RecordId, side: &Side) -> Result<Option<OwnedFd>, UndoError> {
        if side.facts.kind != Kind::File {
            return Ok(None);
        }
        let (base, path) = self.base(&self.record(id)?, &side.place)?;
        let (parent, name) = path::split(path);
        let opened = system::open_directory(base.as_fd(), parent)
            .and_then(|parent| system::open_reading(parent, name));
        Ok(Some(opened.at("read it", path)?))
    }

    fn planned(&self, record: &Record) -> Result<BTreeMap<BString, Change>, UndoError> {
        let mut changes = BTreeMap::new();
        for planned in self.held_plan(record.id)?.steps {
            for path in planned.step.paths() {
                let before = self.side(record, Place::Tree(path.clone()))?;
                let after = planned.after.clone();
                let after = after.map(|facts| Side { facts, place: Place::Layer(path.clone()) });
                let change = Change { path: path.clone(), moved_from: None, before, after };
                changes.insert(path.clone(), change);
            }
        }
        Ok(changes)
    }

    fn recorded(&self, record: &Record) -> Result<BTreeMap<BString, Change>, UndoError> {
        let undone = record.phase == Phase::Undone;
        let mut changes = BTreeMap::new();
        for path in record.paths() {
            let here = Some(Place::Tree(path.clone()));
            let (before, after) = if undone {
                (here, redone(&record.steps, path))
            } else {
                (undone_place(&record.steps, path), here)
            };
            let look = |place: Option<Place>| match place {
                Some(place) => self.side(record, place),
                None => Ok(None),
            };
            let (before, after) = (look(before)?, look(after)?);
            if before.is_some() || after.is_some() {
                let change = Change { path: path.clone(), moved_from: None, before, after };
                changes.insert(path.clone(), change);
            }
        }
        join_moves(record, &mut changes);
        Ok(changes)
    }

    fn side(&self, record: &Record, place: Place) -> Result<Option<Side>, UndoError> {
        let (base, path) = self.base(record, &place)?;
        let (parent, name) = path::split(path);
        let parent = match system::open_directory(base.as_fd(), parent) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            parent => parent.at("look at it", path)?,
        };
        let facts = Facts::of(parent, name).at("look at it", path)?;
        Ok(facts.map(|facts| Side { facts, place }))
    }

    fn base<'a>(
        &self,
        record: &Record,
        place: &'a Place,
    ) -> Result<(OwnedFd, &'a BString), UndoError> {
        let own = |path| system::open_directory(self.ground.root(), b"").at("open", path);
        Ok(match place {
            Place::Tree(path) => (own(path)?, path),
            Place::Pre(path) => (self.ground.slots(record.id)?.pre, path),
            Place::Redo(path) => (self.ground.slots(record.id)?.redo, path),
            Place::Layer(path) => (self.held_layer(record)?.upper()?, path),
        })
    }

    /// Everything in a directory that is on one side only, or is another one on each.
    fn expand(
        &self,
        record: &Record,
        change: &Change,
        inside: &mut Vec<Change>,
    ) -> Result<(), UndoError> {
        let directory = |side: &Option<Side>| side.clone().filter(|side| side.facts.is_directory());
        let (before, after) = (directory(&change.before), directory(&change.after));
        let same = |before: &Side, after: &Side| before.facts.inode == after.facts.inode;
        if change.moved_from.is_some() {
            return Ok(());
        }
        if let (Some(before), Some(after)) = (&before, &after)
            && (same(before, after)
                || matches!(after.place, Place::Layer(_)) && before.facts.kind == after.facts.kind)
        {
            return Ok(());
        }
        let mut found: BTreeMap<BString, Change> = BTreeMap::new();
        for (side, is_before) in [(before, true), (after, false)] {
            let Some(side) = side else { continue };
            for (below, facts) in self.entries(record, &side.place)? {
                let place = side.place.below(&below);
                let path = path::join(&change.path, &below);
                let entry = found.entry(path.clone()).or_insert(Change {
                    path,
                    moved_from: None,
                    before: None,
                    after: None,
                });
                let side = Some(Side { facts, place });
                if is_before { entry.before = side } else { entry.after = side }
            }
        }
        inside.extend(found.into_values());
        Ok(())
    }

    fn entries(&self, record: &Record, place: &Place) -> Result<Vec<(BString, Facts)>, UndoError> {
        let (base, path) = self.base(record, place)?;
        let top = system::open_directory(base.as_fd(), path).at("look into", path)?;
        tree::entries(top.as_fd()).at("look into", path)
    }
}

impl Place {
    fn below(&self, below: &[u8]) -> Place {
        match self {
            Place::Tree(path) => Place::Tree(path::join(path, below)),
            Place::Pre(path) => Place::Pre(path::join(path, below)),
            Place::Redo(path) => Place::Redo(path::join(path, below)),
            Place::Layer(path) => Place::Layer(path::join(path, below)),
        }
    }
}

/// Where what was at a path before the record is now, after it.
fn undone_place(steps: &[Numbered], path: &BString) -> Option<Place> {
    let mut place = path.clone();
    for Numbered { number, step } in steps {
        match step {
            Step::Create { path } | Step::Link { path, .. }
                if path::below(&place, path).is_some() =>
            {
                return None;
            }
            Step::Write { path, .. } if *path == place => {
                return Some(Place::Pre(slot_name(*number)));
            }
            Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                if let Some(rest) = path::below(&place, from) {
                    place = path::join(to, rest);
                } else if path::below(&place, to).is_some() {
                    return None;
                }
            }
            Step::Delete { path, .. } | Step::Replace { path, .. } => {
                if let Some(rest) = path::below(&place, path) {
                    return Some(Place::Pre(path::join(&slot_name(*number), rest)));
                }
            }
            Step::Create { .. } | Step::Link { .. } | Step::Write { .. } | Step::Meta { .. } => {}
        }
    }
    Some(Place::Tree(place))
}

/// Where what was at a path after the record is now that it is undone.
fn redone(steps: &[Numbered], path: &BString) -> Option<Place> {
    let mut place = path.clone();
    for Numbered { number, step } in steps.iter().rev() {
        match step {
            Step::Delete { path, .. } if path::below(&place, path).is_some() => return None,
            Step::Write { path, .. } if *path == place => {
                return Some(Place::Redo(slot_name(*number)));
            }
            Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                if let Some(rest) = path::below(&place, to) {
                    place = path::join(from, rest);
                } else if path::below(&place, from).is_some() {
                    return None;
                }
            }
            Step::Link { path, existing, .. } if *path == place => place = existing.clone(),
            Step::Create { path } | Step::Replace { path, .. } => {
                if let Some(rest) = path::below(&place, path) {
                    return Some(Place::Redo(path::join(&slot_name(*number), rest)));
                }
            }
            Step::Delete { .. } | Step::Link { .. } | Step::Write { .. } | Step::Meta { .. } => {}
        }
    }
    Some(Place::Tree(place))
}

/// What was thrown away is shown where it was.
fn is_in_trash(record: &Record, path: &[u8]) -> bool {
    let mut steps = record.steps.iter();
    steps.any(|one| matches!(&one.step, Step::Trash { to, .. } if path::below(path, to).is_some()))
}

/// A path that lost its object to another path is one change with it; what went to the trash was deleted.
fn join_moves(record: &Record, changes: &mut BTreeMap<BString, Change>) {
    for Numbered { step, .. } in &record.steps {
        match step {
            Step::Move { from, to, .. } => {
                let same = |one: &Change, other: &Change| {
                    let inode = |side: &Option<Side>| side.as_ref().map(|side| side.facts.inode);
                    inode(&one.before).is_some() && inode(&one.before) == inode(&other.after)
                };
                let (Some(source), Some(target)) = (changes.get(from), changes.get(to)) else {
                    continue;
                };
                if source.after.is_some() || !same(source, target) {
                    continue;
                }
                let before = source.before.clone();
                if target.before.is_none() {
                    changes.remove(from);
                    if let Some(target) = changes.get_mut(to) {
                        target.before = before;
                        target.moved_from = Some(from.clone());
                    }
                }
            }
            Step::Trash { to, .. } => {
                changes.remove(to);
            }
            _ => {}
        }
    }
}

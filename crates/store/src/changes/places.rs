//! Where the content of a path is that a record had before it, or after it: in the tree, or kept by some record.

use bstr::BString;

use super::steps::Steps;
use crate::ground::slot_name;
use crate::path;
use crate::record::{Numbered, Phase, Record, RecordId, Step};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tree(BString),
    /// Below what a record keeps of before.
    Pre(RecordId, BString),
    /// Below what it keeps of after.
    Redo(RecordId, BString),
    /// Below the upper directory of a layer, which is named.
    Layer(BString, BString),
    /// A file, and what a record keeps that was behind its beginning of so many bytes.
    Appended {
        beginning: Box<Place>,
        length: u64,
        id: RecordId,
        tail: BString,
    },
}

impl Place {
    pub(super) fn below(&self, below: &[u8]) -> Place {
        match self {
            Place::Tree(path) => Place::Tree(path::join(path, below)),
            Place::Pre(id, path) => Place::Pre(*id, path::join(path, below)),
            Place::Redo(id, path) => Place::Redo(*id, path::join(path, below)),
            Place::Layer(name, path) => Place::Layer(name.clone(), path::join(path, below)),
            // A file has nothing below it.
            Place::Appended { beginning, .. } => beginning.below(below),
        }
    }

    pub(super) fn path(&self) -> &BString {
        match self {
            Place::Tree(path)
            | Place::Pre(_, path)
            | Place::Redo(_, path)
            | Place::Layer(_, path) => path,
            Place::Appended { beginning, .. } => beginning.path(),
        }
    }
}

/// Other records that have changed the same paths since: what a record left is with them.
pub(super) struct Since<'a> {
    /// Undone after this one, which came after them; the nearest first.
    undone: Vec<Steps<'a>>,
    /// Applied after this one, the nearest first.
    applied: Vec<Steps<'a>>,
}

impl<'a> Since<'a> {
    /// `all` is in the order of the log: newest first.
    pub(super) fn new(record: &Record, all: &'a [Record]) -> Self {
        let others = || all.iter().filter(|other| other.id != record.id && other.touches(record));
        let before = |other: &&Record| {
            let together = other.since > record.about.time;
            record.phase == Phase::Undone && other.phase == Phase::Undone && together
        };
        Since {
            undone: others()
                .filter(|one| one.id < record.id)
                .filter(before)
                .map(Steps::new)
                .collect(),
            applied: others()
                .rev()
                .filter(|one| one.id > record.id && one.phase == Phase::Applied)
                .map(Steps::new)
                .collect(),
        }
    }

    /// Whether one of them has changed exactly this path.
    pub(super) fn concern(&self, path: &BString) -> bool {
        let mut others = self.undone.iter().chain(&self.applied);
        others.any(|other| other.name(path))
    }

    /// Where something is that the record left in the tree. `None`: nowhere.
    pub(super) fn follow(&self, place: Place) -> Option<Place> {
        self.follow_from(0, place)
    }

    /// Through all of them from an index on.
    fn follow_from(&self, index: usize, place: Place) -> Option<Place> {
        let path = match place {
            Place::Tree(path) => path,
            Place::Appended { beginning, length, id, tail } => {
                let beginning = Box::new(self.follow_from(index, *beginning)?);
                return Some(Place::Appended { beginning, length, id, tail });
            }
            kept => return Some(kept),
        };
        let applied = || self.applied.get(index.checked_sub(self.undone.len())?);
        let next = match (self.undone.get(index), applied()) {
            (Some(other), _) => place_after(other, &path)?,
            (None, Some(other)) => place_before(other, &path)?,
            (None, None) => return Some(Place::Tree(path)),
        };
        self.follow_from(index + 1, next)
    }
}

/// Where what was at a path before a record is while it is applied.
pub(super) fn place_before(steps: &Steps<'_>, path: &BString) -> Option<Place> {
    let (mut place, id, mut index) = (path.clone(), steps.record.id, 0);
    while let Some((behind, Numbered { number, step })) = steps.next(index, &place) {
        index = behind;
        match step {
            Step::Create { path } | Step::Link { path, .. }
                if path::below(&place, path).is_some() =>
            {
                return None;
            }
            Step::Write { path, .. } if *path == place => {
                return Some(Place::Pre(id, slot_name(*number)));
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
                    return Some(Place::Pre(id, path::join(&slot_name(*number), rest)));
                }
            }
            // Its beginning is where it is; how much of it that is, its facts say.
            Step::Append { .. }
            | Step::Create { .. }
            | Step::Link { .. }
            | Step::Write { .. }
            | Step::Meta { .. } => {}
        }
    }
    Some(Place::Tree(place))
}

/// Where what was at a path after a record is while it is undone.
pub(super) fn place_after(steps: &Steps<'_>, path: &BString) -> Option<Place> {
    let (mut place, id, mut index) = (path.clone(), steps.record.id, steps.count());
    let mut appended = Vec::new();
    while let Some((before, Numbered { number, step })) = steps.previous(index, &place) {
        index = before;
        match step {
            Step::Delete { path, .. } if path::below(&place, path).is_some() => return None,
            Step::Write { path, .. } if *path == place => {
                return Some(behind(Place::Redo(id, slot_name(*number)), appended, id));
            }
            Step::Append { path, before, .. } if *path == place => {
                appended.push((before.size, slot_name(*number)));
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
                    let place = Place::Redo(id, path::join(&slot_name(*number), rest));
                    return Some(behind(place, appended, id));
                }
            }
            Step::Delete { .. }
            | Step::Link { .. }
            | Step::Append { .. }
            | Step::Write { .. }
            | Step::Meta { .. } => {}
        }
    }
    Some(behind(Place::Tree(place), appended, id))
}

/// What was appended to something, the last first.
fn behind(place: Place, appended: Vec<(u64, BString)>, id: RecordId) -> Place {
    appended.into_iter().rev().fold(place, |place, (length, tail)| Place::Appended {
        beginning: Box::new(place),
        length,
        id,
        tail,
    })
}

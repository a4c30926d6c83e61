//! What a record changed, path by path, with both contents: the caller makes a diff of it.

mod known;
mod places;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};

use bstr::BString;
use rustix::io::Errno;

use crate::content;
use crate::error::{At, UndoError};
use crate::facts::{Facts, Kind};
use crate::ground::folder_name;
use crate::journal::Journal;
use crate::layer::Layer;
use crate::path;
use crate::record::{Numbered, Phase, Record, RecordId, Step};
use crate::system;
use crate::tree;
use places::{Place, Since};
use steps::Steps;

/// One path before and after.
#[derive(Clone, Debug)]
pub struct Change {
    pub path: BString,
    /// It was there before, and is the same object.
    pub moved_from: Option<BString>,
    pub before: Option<Side>,
    pub after: Option<Side>,
    /// Somebody has changed it since, so that one of the sides is shown as it is now.
    pub changed_since: bool,
}

/// What is at a path on one side of a record.
#[derive(Clone, Debug)]
pub struct Side {
    pub facts: Facts,
    place: Place,
}

/// What a file has on one side, to be read. It may lie in several pieces.
#[derive(Debug)]
pub struct Content {
    parts: Vec<(OwnedFd, u64)>,
}

impl Content {
    /// The first so many bytes of it.
    pub fn read(self, most: u64) -> Result<Vec<u8>, UndoError> {
        let mut bytes = Vec::new();
        for (file, length) in self.parts {
            let length = length.min(most.saturating_sub(bytes.len() as u64));
            bytes.extend(content::read_first(file, length).at("read it", b"")?);
        }
        Ok(bytes)
    }

    /// All of it, piece by piece.
    pub fn each(self, mut piece: impl FnMut(&[u8])) -> Result<(), UndoError> {
        for (file, length) in self.parts {
            content::each_piece(file, length, &mut piece).at("read it", b"")?;
        }
        Ok(())
    }
}

type Changes = BTreeMap<BString, Change>;

impl Change {
    fn new(path: BString) -> Self {
        Change { path, moved_from: None, before: None, after: None, changed_since: false }
    }
}

impl Journal {
    /// Changed paths in order. Directories that came or went whole are listed with everything in them; one that was
    /// moved is one change. Of a record that is held: what committing it would change.
    pub fn diff(&self, id: RecordId) -> Result<Vec<Change>, UndoError> {
        let record = self.record(id)?;
        let changes = match record.phase {
            Phase::Held => self.planned(&self.held_layer(&record)?)?,
            _ => self.recorded(&record)?,
        };
        Ok(changes.into_values().collect())
    }

    /// What applying a layer would change.
    pub fn diff_layer(&self, layer: &Layer) -> Result<Vec<Change>, UndoError> {
        Ok(self.planned(layer)?.into_values().collect())
    }

    /// The content of a regular file on one side; `None` for anything else.
    pub fn content(&self, side: &Side) -> Result<Option<Content>, UndoError> {
        if side.facts.kind != Kind::File {
            return Ok(None);
        }
        let mut parts = Vec::new();
        self.parts(&side.place, side.facts.size, &mut parts)?;
        Ok(Some(Content { parts }))
    }

    /// The files of which a content is made, and how much of each it is.
    fn parts(
        &self,
        place: &Place,
        length: u64,
        parts: &mut Vec<(OwnedFd, u64)>,
    ) -> Result<(), UndoError> {
        if let Place::Appended { beginning, length: first, id, tail } = place {
            self.parts(beginning, length.min(*first), parts)?;
            let tail = Place::Redo(*id, tail.clone());
            return self.parts(&tail, length.saturating_sub(*first), parts);
        }
        let path = place.path();
        let Some(base) = self.base(place)? else { return Err(Errno::NOENT).at("read it", path) };
        let (parent, name) = path::split(path);
        let opened = system::open_directory(base.as_fd(), parent)
            .and_then(|parent| system::open_reading(parent, name));
        parts.push((opened.at("read it", path)?, length));
        Ok(())
    }

    fn planned(&self, layer: &Layer) -> Result<Changes, UndoError> {
        let mut changes = Changes::new();
        for planned in layer.plan()?.steps {
            let Some(path) = planned.step.paths().next() else { continue };
            let layer = Place::Layer(layer.name.clone(), path.clone());
            let before = self.side(Place::Tree(path.clone()))?;
            if !matches!(planned.step, Step::Meta { .. }) {
                for (below, side) in self.inside(before.as_ref())? {
                    at(&mut changes, path::join(path, &below)).before = Some(side);
                }
            }
            for (below, facts) in planned.manifest.unwrap_or_default() {
                let side = Side { facts, place: layer.below(&below) };
                at(&mut changes, path::join(path, &below)).after = Some(side);
            }
            let change = at(&mut changes, path.clone());
            change.before = before;
            change.after = planned.after.map(|facts| Side { facts, place: layer });
        }
        Ok(changes)
    }

    fn recorded(&self, record: &Record) -> Result<Changes, UndoError> {
        let all = self.log()?;
        let since = Since::new(record, &all);
        let steps = Steps::new(record);
        let undone = record.phase == Phase::Undone;
        let mut changes = Changes::new();
        for path in record.paths() {
            let (left, changed_since) = self.left_side(record, &since, path)?;
            let kept = self.kept_side(&steps, &since, path)?;
            let (before, after) = if undone { (left, kept) } else { (kept, left) };
            if before.is_some() || after.is_some() {
                let change = Change { before, after, changed_since, ..Change::new(path.clone()) };
                changes.insert(path.clone(), change);
            }
        }
        join_moves(record, &mut changes);
        let mut inside = Changes::new();
        for change in changes.values().filter(|change| change.moved_from.is_none()) {
            self.expand(record, change, &mut inside)?;
        }
        let trash = trash_of(record);
        for (path, change) in inside {
            // What was thrown away is shown where it was.
            if !trash.iter().any(|to| path::below(&path, to).is_some()) {
                changes.entry(path).or_insert(change);
            }
        }
        Ok(changes)
    }

    /// The side that the record left in the tree, and whether somebody has changed it since.
    fn left_side(
        &self,
        record: &Record,
        since: &Since<'_>,
        path: &BString,
    ) -> Result<(Option<Side>, bool), UndoError> {
        let known = known::left(record, path).map(|left| &left.facts);
        if let Some(None) = known {
            return Ok((None, false));
        }
        let Some(place) = since.follow(Place::Tree(path.clone())) else {
            return Ok((None, false));
        };
        // What other records have changed is known from them; only what is nobody's is compared.
        let is_tree = matches!(place, Place::Tree(_)) && !since.concern(path);
        let Some(found) = self.side(place)? else { return Ok((None, known.is_some())) };
        match known {
            Some(Some(facts)) if !is_tree || facts.is_unchanged(&found.facts) => {
                Ok((Some(Side { facts: facts.clone(), ..found }), false))
            }
            _ => Ok((Some(found), known.is_some())),
        }
    }

    /// The other side: what the record keeps, or only moved or marked and left in the tree.
    fn kept_side(
        &self,
        steps: &Steps<'_>,
        since: &Since<'_>,
        path: &BString,
    ) -> Result<Option<Side>, UndoError> {
        let record = steps.record;
        let (place, known) = if record.phase == Phase::Undone {
            (places::place_after(steps, path), known::after(steps, path))
        } else {
            (places::place_before(steps, path), known::before(steps, path))
        };
        let (place, known) = match place {
            // Only moved: what the record says of it there holds here too.
            Some(Place::Tree(path)) => {
                let left = || known::left(record, &path)?.facts.clone();
                (since.follow(Place::Tree(path.clone())), known.or_else(left))
            }
            Some(place) => (since.follow(place), known),
            None => (None, known),
        };
        let Some(place) = place else { return Ok(None) };
        let found = self.side(place)?;
        Ok(found.map(|found| Side { facts: known.unwrap_or(found.facts), ..found }))
    }

    fn side(&self, place: Place) -> Result<Option<Side>, UndoError> {
        let Some(base) = self.base(&place)? else { return Ok(None) };
        let path = place.path();
        let (parent, name) = path::split(path);
        let parent = match system::open_directory(base.as_fd(), parent) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            parent => parent.at("look at it", path)?,
        };
        let facts = Facts::of(parent, name).at("look at it", path)?;
        Ok(facts.map(|facts| Side { facts, place }))
    }

    /// The directory below which a place is, if it is there: looking makes none.
    fn base(&self, place: &Place) -> Result<Option<OwnedFd>, UndoError> {
        let open = |from, name: &[u8]| match system::open_directory(from, name) {
            Err(Errno::NOENT) => Ok(None),
            opened => opened.map(Some).at("open", name),
        };
        let folders = self.ground.existing()?;
        match (place, folders) {
            (Place::Tree(_), _) => open(self.ground.root(), b""),
            (Place::Pre(id, _), Some(folders)) => {
                open(folders.keeping()?[0].as_fd(), folder_name(*id).as_bytes())
            }
            (Place::Redo(id, _), Some(folders)) => {
                open(folders.keeping()?[1].as_fd(), folder_name(*id).as_bytes())
            }
            (Place::Appended { beginning, .. }, _) => self.base(beginning),
            (Place::Layer(name, _), _) => {
                Layer::held(&self.ground, name.as_ref())?.upper().map(Some)
            }
            (_, None) => Ok(None),
        }
    }

    /// Everything in a directory that is on one side only, or is another one on each.
    fn expand(
        &self,
        record: &Record,
        change: &Change,
        inside: &mut Changes,
    ) -> Result<(), UndoError> {
        let inode = |side: &Option<Side>| side.as_ref().map(|side| side.facts.inode);
        let is_directory =
            |side: &Option<Side>| side.as_ref().is_some_and(|side| side.facts.is_directory());
        let any = is_directory(&change.before) || is_directory(&change.after);
        if !any || inode(&change.before) == inode(&change.after) {
            return Ok(());
        }
        for (below, side) in self.inside(change.before.as_ref())? {
            at(inside, path::join(&change.path, &below)).before = Some(side);
        }
        // What others have put there is nothing the record has changed.
        let own = own_entries(record, change);
        for (below, side) in self.inside(change.after.as_ref())? {
            if own.as_ref().is_none_or(|own| own.contains(&below)) {
                at(inside, path::join(&change.path, &below)).after = Some(side);
            }
        }
        Ok(())
    }

    /// Everything in a directory, by path below it; nothing of anything else.
    fn inside(&self, side: Option<&Side>) -> Result<Vec<(BString, Side)>, UndoError> {
        let Some(side) = side.filter(|side| side.facts.is_directory()) else {
            return Ok(Vec::new());
        };
        let path = side.place.path();
        let Some(base) = self.base(&side.place)? else { return Ok(Vec::new()) };
        let top = system::open_directory(base.as_fd(), path).at("look into", path)?;
        let entries = tree::entries(top.as_fd()).at("look into", path)?;
        let side = |(below, facts): (BString, Facts)| {
            let place = side.place.below(&below);
            (below, Side { facts, place })
        };
        Ok(entries.into_iter().map(side).collect())
    }
}

fn at(changes: &mut Changes, path: BString) -> &mut Change {
    changes.entry(path.clone()).or_insert_with(|| Change::new(path))
}

/// What came with a directory that is in the tree: known of one that came whole out of a layer, and nothing of one that
/// was made, because what was made in it has steps of its own. `None` when all of it is the record's.
fn own_entries<'a>(record: &'a Record, change: &Change) -> Option<BTreeSet<&'a BString>> {
    if !matches!(change.after.as_ref()?.place, Place::Tree(_)) {
        return None;
    }
    let is_its = |one: &&Numbered| matches!(&one.step, Step::Create { path } | Step::Replace { path, .. } if *path == change.path);
    let number = record.steps.iter().find(is_its)?.number;
    let manifests = record.made.manifests.iter().filter(|(step, _)| *step == number);
    Some(manifests.flat_map(|(_, entries)| entries.iter().map(|(below, _)| below)).collect())
}

fn trash_of(record: &Record) -> Vec<&BString> {
    let mut trash = Vec::new();
    for Numbered { step, .. } in &record.steps {
        if let Step::Trash { to, .. } = step {
            trash.push(to);
        }
    }
    trash
}

/// A path that lost its object to another path is one change with it; what went to the trash was deleted.
fn join_moves(record: &Record, changes: &mut Changes) {
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

//! What others have changed since a record was left, found before anything is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

use bstr::BString;

use crate::error::{At, Conflict, ConflictKind, UndoError};
use crate::facts::Facts;
use crate::ground::Ground;
use crate::journal;
use crate::mirror::stands::Stands;
use crate::path;
use crate::record::{Numbered, Phase, Record, Step, ancestors};
use crate::system;
use crate::tree;
use crate::whereabouts::{self, Ways, Whereabouts};

#[derive(Default)]
pub(crate) struct Findings {
    pub conflicts: Vec<Conflict>,
    /// What is the same but for its number: it was put back from a copy. Nobody has changed it, but steps know it by that. The old
    /// number, and the new one.
    pub renewed: Vec<(u64, u64)>,
    /// Directories that the record made and that stay, because others have put something there.
    pub kept: Vec<BString>,
    /// Steps that are taken back in pieces for that reason, and what the pieces are.
    pub divided: Vec<(u32, Vec<(Numbered, u64)>)>,
    /// Asked for only where something has another number.
    stands: Option<Stands>,
}

/// Compares the record's paths with how it left them.
pub(crate) fn verify(ground: &Ground, record: &Record) -> Result<Findings, UndoError> {
    let mut findings = Findings::default();
    for left in &record.left {
        let now = match ground.facts(&left.path) {
            Err(error) if error.is_locked() => continue,
            now => now?,
        };
        findings.compare(ground, &left.path, left.facts.as_ref(), now.as_ref())?;
    }
    if record.phase == Phase::Applied {
        Inside::new(ground, record).look(&mut findings)?;
    } else {
        restored(ground, record, &mut findings)?;
    }
    Ok(findings)
}

impl Findings {
    fn compare(
        &mut self,
        ground: &Ground,
        path: &BString,
        left: Option<&Facts>,
        now: Option<&Facts>,
    ) -> Result<(), UndoError> {
        let Some(kind) = difference(left, now) else { return Ok(()) };
        let conflict = Conflict { path: path.clone(), kind };
        if let (Some(left), Some(now)) = (left, now)
            && left.is_unchanged(&Facts { inode: left.inode, ..now.clone() })
            && self.stands(ground)?.includes(now.inode, left.inode)
        {
            self.renewed.push((left.inode, now.inode));
        } else {
            self.conflicts.push(conflict);
        }
        Ok(())
    }

    fn stands(&mut self, ground: &Ground) -> Result<&Stands, UndoError> {
        if self.stands.is_none() {
            self.stands = Some(Stands::load(ground)?);
        }
        Ok(self.stands.get_or_insert_default())
    }
}

/// A file of which only the length was kept, and that somebody has changed since: there is nothing to put back, however
/// much it is wanted.
pub(crate) fn check_lengths(record: &Record, findings: &Findings) -> Result<(), UndoError> {
    let ways = Ways::new(&record.steps);
    for (index, Numbered { step, .. }) in record.steps.iter().enumerate() {
        let Step::Append { path, .. } = step else { continue };
        let place = if record.phase == Phase::Applied {
            match ways.after(index + 1, path) {
                Whereabouts::Tree(place) => Some(place),
                Whereabouts::Kept { .. } => None,
            }
        } else {
            whereabouts::before(record.steps.get(..index).unwrap_or_default(), path)
        };
        if let Some(place) =
            place.filter(|place| findings.conflicts.iter().any(|one| one.path == *place))
        {
            return Err(UndoError::OnlyLength { path: place });
        }
    }
    Ok(())
}

/// Directories that an undo has put back whole: whatever in them has a later change time is somebody else's change.
fn restored(ground: &Ground, record: &Record, findings: &mut Findings) -> Result<(), UndoError> {
    for Numbered { step, .. } in &record.steps {
        let (Step::Delete { path, before } | Step::Replace { path, before }) = step else {
            continue;
        };
        let now = match ground.facts(path) {
            Err(error) if error.is_locked() => continue,
            now => now?,
        };
        let is_same = |now: &Facts| now.inode == before.inode && now.is_directory();
        if !now.is_some_and(|now| is_same(&now) && !now.is_locked()) {
            continue;
        }
        let top = system::open_directory(ground.root(), path);
        let inside = top.and_then(|top| tree::entries(top.as_fd())).at("look into", path)?;
        let changed = inside.into_iter().filter(|(_, facts)| facts.changed > record.since);
        let changed: Vec<_> =
            changed.map(|(below, facts)| (path::join(path, &below), facts)).collect();
        if changed.is_empty() {
            continue;
        }
        let others = Others::since(ground, record)?;
        let kind = ConflictKind::Changed;
        let theirs = changed.into_iter().filter(|(path, facts)| !others.left(path, facts));
        findings.conflicts.extend(theirs.map(|(path, _)| Conflict { path, kind }));
    }
    Ok(())
}

/// Other records that were turned after one was: what they have changed is nobody else's change.
struct Others(Vec<Record>);

impl Others {
    fn since(ground: &Ground, record: &Record) -> Result<Self, UndoError> {
        let mut records = journal::settled(ground)?;
        records.retain(|other| other.since > record.since);
        Ok(Others(records))
    }

    /// Whether one of them has left this as it is.
    fn left(&self, path: &BString, now: &Facts) -> bool {
        self.0.iter().any(|other| {
            let times = other.made.times.iter().flat_map(|pair| [&pair.before, &pair.after]);
            let timed = |path: &BString| times.flatten().any(|(timed, _)| timed == path);
            let left = other.left.binary_search_by(|left| left.path.cmp(path)).is_ok();
            // Another name of a file that they have changed or moved.
            let left = left || other.objects().any(|inode| inode == now.inode);
            now.changed <= other.since && (left || (now.is_directory() && timed(path)))
        })
    }
}

fn difference(left: Option<&Facts>, now: Option<&Facts>) -> Option<ConflictKind> {
    match (left, now) {
        (None, None) => None,
        (None, Some(_)) => Some(ConflictKind::Appeared),
        (Some(_), None) => Some(ConflictKind::Deleted),
        (Some(left), Some(now)) if left.is_unchanged(now) => None,
        (Some(_), Some(_)) => Some(ConflictKind::Changed),
    }
}

/// Looks into the directories that the record made.
struct Inside<'a> {
    ground: &'a Ground,
    record: &'a Record,
    known: BTreeSet<&'a BString>,
    next_number: u32,
}

impl<'a> Inside<'a> {
    fn new(ground: &'a Ground, record: &'a Record) -> Self {
        let left = record.left.iter().filter(|left| left.facts.is_some());
        let known = left.map(|left| &left.path).collect();
        Inside { ground, record, known, next_number: record.next_number }
    }

    fn look(&mut self, findings: &mut Findings) -> Result<(), UndoError> {
        let ways = Ways::new(&self.record.steps);
        let mut made = Vec::new();
        let mut foreign = BTreeSet::new();
        for (index, numbered) in self.record.steps.iter().enumerate() {
            let (path, may_stay) = match &numbered.step {
                Step::Create { path } => (path, true),
                Step::Replace { path, .. } => (path, false),
                _ => continue,
            };
            let Whereabouts::Tree(place) = ways.after(index + 1, path) else { continue };
            let strangers = self.strangers(numbered.number, &place, findings)?;
            if !may_stay {
                let kind = ConflictKind::Appeared;
                findings
                    .conflicts
                    .extend(strangers.into_iter().map(|path| Conflict { path, kind }));
                continue;
            }
            foreign.extend(strangers);
            made.push((numbered.number, place));
        }
        self.divide(&made, &foreign, findings);
        Ok(())
    }

    /// Entries of a directory that the record made, but not they.
    fn strangers(
        &self,
        number: u32,
        place: &BString,
        findings: &mut Findings,
    ) -> Result<Vec<BString>, UndoError> {
        let facts = match self.ground.facts(place) {
            Err(error) if error.is_locked() => return Ok(Vec::new()),
            facts => facts?,
        };
        if !facts.is_some_and(|facts| facts.is_directory() && !facts.is_locked()) {
            return Ok(Vec::new());
        }
        if let Some(manifest) = self.manifest(number) {
            return self.compare(manifest, place, findings);
        }
        let listing = tree::listing(self.ground.root(), place);
        let names = listing.and_then(system::list).at("list the directory", place)?;
        let paths = names.iter().map(|name| path::join(place, name));
        Ok(paths.filter(|path| !self.known.contains(path)).collect())
    }

    fn manifest(&self, number: u32) -> Option<&'a [(BString, Facts)]> {
        let manifests = &self.record.made.manifests;
        let found = manifests.iter().find(|(of, _)| *of == number);
        found.map(|(_, manifest)| manifest.as_slice())
    }

    fn compare(
        &self,
        manifest: &[(BString, Facts)],
        place: &BString,
        findings: &mut Findings,
    ) -> Result<Vec<BString>, UndoError> {
        let top = system::open_directory(self.ground.root(), place);
        let now = top.and_then(|top| tree::entries(top.as_fd())).at("look into", place)?;
        let now: BTreeMap<BString, Facts> = now.into_iter().collect();
        let any = now.values().any(Facts::is_locked);
        let locked = |below: &BString| {
            let mut holders = ancestors(below).skip(1).map(BString::from);
            any && holders.any(|holder| now.get(&holder).is_some_and(Facts::is_locked))
        };
        for (below, left) in manifest.iter().filter(|(below, _)| !locked(below)) {
            let path = path::join(place, below);
            findings.compare(self.ground, &path, Some(left), now.get(below))?;
        }
        let manifest: BTreeSet<&BString> = manifest.iter().map(|(below, _)| below).collect();
        let strange = now.keys().filter(|below| !manifest.contains(below));
        Ok(strange.map(|below| path::join(place, below)).collect())
    }

    /// A directory with something foreign in it, at any depth, stays; what the record made around that goes.
    fn divide(
        &mut self,
        made: &[(u32, BString)],
        foreign: &BTreeSet<BString>,
        findings: &mut Findings,
    ) {
        let staying: BTreeSet<&[u8]> =
            foreign.iter().flat_map(|path| ancestors(path).skip(1)).collect();
        for (number, place) in made {
            if !staying.contains(place.as_slice()) {
                continue;
            }
            findings.kept.push(place.clone());
            let mut pieces = Vec::new();
            for (below, facts) in self.manifest(*number).unwrap_or_default() {
                let path = path::join(place, below);
                if staying.contains(path.as_slice()) {
                    findings.kept.push(path);
                } else if staying.contains(path::split(&path).0) {
                    let numbered =
                        Numbered { number: self.next_number, step: Step::Create { path } };
                    self.next_number += 1;
                    pieces.push((numbered, facts.inode));
                }
            }
            findings.divided.push((*number, pieces));
        }
    }
}

//! Reads a layer from outside and says which steps it is, what it must not bring, and what others have changed since
//! it was mounted. Changes nothing.
//!
//! How others' changes are told: nobody of ours writes to the tree while the layer lies over it, so whatever has not a
//! change time before the mount was changed by somebody else. That time cannot be set by anybody.

use std::os::fd::{AsFd, OwnedFd};

use bstr::{BString, ByteSlice};
use rustix::io::Errno;

use super::folder::Layer;
use super::inside;
use super::marks::{self, Marks};
use crate::content;
use crate::error::{At, Conflict, ConflictKind, Refusal, UndoError};
use crate::facts::{Attributes, Facts, Kind, Time};
use crate::ground::Ground;
use crate::path::{self, STATE};
use crate::record::Step;
use crate::system;
use crate::tree;

/// A million paths of ordinary length are a hundred megabytes.
const MOST_WRITTEN: usize = 256 << 20;
const LONGEST_SHOWN: usize = 200;

/// What a layer would do to the tree.
#[derive(Clone, Debug, Default)]
pub struct LayerPlan {
    pub steps: Vec<Planned>,
    /// Nothing can be applied while there are any.
    pub conflicts: Vec<Conflict>,
    /// Nothing can be applied while there are any.
    pub refusals: Vec<Refusal>,
    /// Entries that are left out: sockets, and what nobody may make.
    pub dropped: Vec<BString>,
    /// Files that lose their set-user and set-group bits or capabilities.
    pub stripped: Vec<BString>,
    /// Directories in which names change: before and after.
    pub(crate) times: Vec<(BString, Time, Time)>,
    /// Bytes that have to be copied.
    pub(crate) copied: u64,
}

/// One step of a layer.
#[derive(Clone, Debug)]
pub struct Planned {
    pub step: Step,
    /// What comes into the tree; nothing for a deletion.
    pub after: Option<Facts>,
    pub(crate) attributes: Attributes,
    /// Everything in a directory that comes whole.
    pub(crate) manifest: Option<Vec<(BString, Facts)>>,
}

impl LayerPlan {
    /// Every path that it changes, also in directories that come whole.
    pub fn paths(&self) -> impl Iterator<Item = BString> + '_ {
        self.steps.iter().flat_map(|planned| {
            let inside = planned.manifest.iter().flatten();
            let top = planned.step.paths().next().cloned().unwrap_or_default();
            let inside = inside.map(move |(path, _)| path::join(&top, path));
            planned.step.paths().cloned().chain(inside.collect::<Vec<_>>())
        })
    }

    /// What is where nothing was before.
    pub fn made(&self) -> impl Iterator<Item = &BString> {
        self.steps.iter().filter_map(|planned| match &planned.step {
            Step::Create { path } => Some(path),
            _ => None,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.refusals.is_empty() && self.conflicts.is_empty()
    }
}

impl Layer {
    /// What applying it would do. To be called when nobody writes to the overlay any more.
    pub fn plan(&self) -> Result<LayerPlan, UndoError> {
        plan(self)
    }
}

pub(crate) fn plan(layer: &Layer) -> Result<LayerPlan, UndoError> {
    let reading = Reading {
        ground: &layer.ground,
        upper: layer.upper()?,
        moment: layer.moment()?,
        plan: LayerPlan::default(),
        directories: Vec::new(),
        orphans: Vec::new(),
        vanishing: Vec::new(),
        written: 0,
    };
    reading.read()
}

pub(super) struct Reading<'a> {
    pub ground: &'a Ground,
    pub upper: OwnedFd,
    moment: Time,
    pub plan: LayerPlan,
    /// Directories that exist on both sides.
    directories: Vec<(BString, Facts, Facts)>,
    /// Copied from below, and there is nothing below where they are.
    orphans: Vec<(BString, Facts)>,
    /// What was below and will not be there any more.
    vanishing: Vec<Facts>,
    /// Bytes of all paths so far.
    written: usize,
}

/// An entry of the layer and what lies below it.
struct Entry<'a> {
    path: &'a BString,
    parent: &'a OwnedFd,
    name: &'a BString,
    facts: Facts,
    marks: Marks,
    lower: Option<Facts>,
}

impl Reading<'_> {
    fn read(mut self) -> Result<LayerPlan, UndoError> {
        let mut waiting = vec![BString::default()];
        while let Some(place) = waiting.pop() {
            let listing = self.listing(&place)?;
            self.directory(&place, &listing)?;
            let mut names = system::list(&listing).at("read the layer", &place)?;
            names.sort();
            for name in names {
                let path = path::join(&place, &name);
                self.spend(&path)?;
                if self.entry(&path, &listing, &name)? {
                    waiting.push(path);
                }
            }
        }
        self.directories()?;
        self.orphans();
        Ok(self.plan)
    }

    /// A directory of the layer, open for looking into it.
    pub(super) fn listing(&self, place: &BString) -> Result<OwnedFd, UndoError> {
        let open = || {
            let (parent, name) = path::split(place);
            let parent = system::open_directory(self.upper.as_fd(), parent)?;
            if let Some(facts) = Facts::of(&parent, name)?.filter(Facts::is_locked) {
                marks::unlock(&parent, name, facts.mode)?;
            }
            system::open_listing(&parent, name)
        };
        open().at("read the layer", place)
    }

    /// A layer is as large as a program makes it, and its paths are kept in memory: of directories a thousand deep they
    /// take more than there is.
    pub(super) fn spend(&mut self, path: &BString) -> Result<(), UndoError> {
        self.written = self.written.saturating_add(path.len());
        if self.written <= MOST_WRITTEN {
            return Ok(());
        }
        let mut path = path.clone();
        path.truncate(LONGEST_SHOWN);
        Err(UndoError::System {
            doing: "remember all paths of the layer",
            path,
            errno: Errno::TOOBIG,
        })
    }

    /// Remembers a directory of both sides.
    fn directory(&mut self, place: &BString, listing: &OwnedFd) -> Result<(), UndoError> {
        let mut upper = Facts::of(listing, b".").at("read the layer", place)?;
        let marks = Marks::of(listing, b".").at("read the layer", place)?;
        if let (Some(upper), Some(mode)) = (&mut upper, marks.locked) {
            upper.mode = mode;
        }
        let lower = self.ground.facts(place)?;
        if let (Some(upper), Some(lower)) = (upper, lower) {
            self.directories.push((place.clone(), lower, upper));
        }
        Ok(())
    }

    /// True for a directory that has to be looked into.
    fn entry(
        &mut self,
        path: &BString,
        parent: &OwnedFd,
        name: &BString,
    ) -> Result<bool, UndoError> {
        let facts = Facts::of(parent, name).at("read the layer", path)?;
        let Some(mut facts) = facts else { return Ok(false) };
        let marks = Marks::of(parent, name).at("read the layer", path)?;
        facts.mode = marks.locked.unwrap_or(facts.mode);
        if name.as_bytes() == STATE {
            // That it is not there was said when the layer was made.
            if !is_whiteout(&facts, &marks) {
                self.plan.dropped.push(path.clone());
            }
            return Ok(false);
        }
        let lower = self.ground.facts(path)?;
        let entry = Entry { path, parent, name, facts, marks, lower };
        if is_whiteout(&entry.facts, &entry.marks) {
            self.delete(&entry)?;
            return Ok(false);
        }
        if entry.marks.elsewhere {
            self.refuse(path, "the overlay keeps its content elsewhere");
            return Ok(false);
        }
        match entry.facts.kind {
            Kind::Socket => {
                self.plan.dropped.push(path.clone());
                self.delete(&entry)?;
            }
            Kind::CharacterDevice | Kind::BlockDevice | Kind::Unknown => {
                self.refuse(path, "it is a device");
            }
            Kind::Directory => return self.directory_entry(&entry),
            Kind::File | Kind::Symlink | Kind::Fifo => self.object(entry)?,
        }
        Ok(false)
    }

    pub(super) fn refuse(&mut self, path: &BString, why: &'static str) {
        self.plan.refusals.push(Refusal { path: path.clone(), why });
    }

    fn conflict(&mut self, path: BString, kind: ConflictKind) {
        self.plan.conflicts.push(Conflict { path, kind });
    }

    fn delete(&mut self, entry: &Entry<'_>) -> Result<(), UndoError> {
        let Some(lower) = &entry.lower else { return Ok(()) };
        self.find_changes(entry.path, lower)?;
        let step = Step::Delete { path: entry.path.clone(), before: lower.clone() };
        self.add(step, None, Attributes::default(), None);
        Ok(())
    }

    fn directory_entry(&mut self, entry: &Entry<'_>) -> Result<bool, UndoError> {
        let below = entry.lower.as_ref().is_some_and(Facts::is_directory);
        if below && !entry.marks.opaque {
            return Ok(true);
        }
        self.find_deleted(entry)?;
        let manifest = inside::manifest(self, entry.path)?;
        self.place(entry, Some(manifest))?;
        Ok(false)
    }

    /// A file, a link or a FIFO.
    fn object(&mut self, mut entry: Entry<'_>) -> Result<(), UndoError> {
        self.find_deleted(&entry)?;
        if self.is_same(&entry)? {
            return Ok(());
        }
        self.strip(&mut entry)?;
        let through = match &entry.lower {
            Some(lower) if lower.kind == Kind::File && entry.facts.kind == Kind::File => {
                lower.links > 1 && entry.marks.origin
            }
            _ => false,
        };
        if through { self.write(&entry) } else { self.place(&entry, None) }
    }

    /// Set-user and set-group bits must not come out of a jail.
    fn strip(&mut self, entry: &mut Entry<'_>) -> Result<(), UndoError> {
        let object =
            system::open_object(entry.parent, entry.name).at("read the layer", entry.path)?;
        let able = system::attribute(&object, b"security.capability").at("read", entry.path)?;
        if entry.facts.kind == Kind::File && (entry.facts.mode & 0o6000 != 0 || able.is_some()) {
            entry.facts.mode &= 0o1777;
            self.plan.stripped.push(entry.path.clone());
        }
        Ok(())
    }

    /// Create or replace, whole.
    fn place(
        &mut self,
        entry: &Entry<'_>,
        manifest: Option<Vec<(BString, Facts)>>,
    ) -> Result<(), UndoError> {
        let path = entry.path.clone();
        let step = match &entry.lower {
            Some(lower) => {
                self.find_changes(entry.path, lower)?;
                Step::Replace { path, before: lower.clone() }
            }
            None => Step::Create { path },
        };
        self.add(step, Some(entry.facts.clone()), Attributes::default(), manifest);
        Ok(())
    }

    /// Other names of the file in the tree have to see the change too.
    fn write(&mut self, entry: &Entry<'_>) -> Result<(), UndoError> {
        let Some(lower) = &entry.lower else { return Ok(()) };
        self.find_changes(entry.path, lower)?;
        self.plan.copied += lower.size + entry.facts.size;
        let before = self.attributes_below(entry.path)?;
        let after = attributes_at(entry.parent, entry.name, entry.path)?;
        let step =
            Step::Write { path: entry.path.clone(), before: lower.clone(), attributes: before };
        self.add(step, Some(entry.facts.clone()), after, None);
        Ok(())
    }

    fn attributes_below(&self, path: &BString) -> Result<Attributes, UndoError> {
        let missing =
            UndoError::System { doing: "look at it", path: path.clone(), errno: Errno::NOENT };
        let spot = self.ground.spot(path)?.ok_or(missing)?;
        attributes_at(&spot.directory, &spot.name, path)
    }

    fn add(
        &mut self,
        step: Step,
        after: Option<Facts>,
        attributes: Attributes,
        manifest: Option<Vec<(BString, Facts)>>,
    ) {
        self.plan.steps.push(Planned { step, after, attributes, manifest });
    }

    /// Whatever in the way of the layer was changed after the mount.
    fn find_changes(&mut self, path: &BString, lower: &Facts) -> Result<(), UndoError> {
        if !lower.is_directory() {
            if lower.changed >= self.moment {
                self.conflict(path.clone(), ConflictKind::Changed);
            }
            self.vanishing.push(lower.clone());
            return Ok(());
        }
        if lower.is_locked() {
            return Ok(());
        }
        let top = system::open_directory(self.ground.root(), path);
        let inside = top.and_then(|top| tree::entries(top.as_fd())).at("look into", path)?;
        for (below, facts) in inside {
            if facts.changed >= self.moment {
                self.conflict(path::join(path, &below), ConflictKind::Changed);
            }
            self.vanishing.push(facts);
        }
        Ok(())
    }

    /// Copied from below, and there is nothing below any more; or it was renamed, and was somewhere else below.
    fn find_deleted(&mut self, entry: &Entry<'_>) -> Result<(), UndoError> {
        if entry.lower.is_some() || !entry.marks.origin {
            return Ok(());
        }
        let parent = self.ground.facts(path::split(entry.path).0)?;
        if parent.is_some_and(|parent| parent.changed >= self.moment) {
            self.orphans.push((entry.path.clone(), entry.facts.clone()));
        }
        Ok(())
    }

    /// The overlay does not say from where something was renamed. What is exactly like something that is gone from another
    /// place was that; of anything else it has to be taken that somebody has deleted it.
    fn orphans(&mut self) {
        let like = |one: &Facts, other: &Facts| {
            let kept = |it: &Facts| (it.kind, it.mode, it.user, it.group, it.modified);
            let same = kept(one) == kept(other) && one.target == other.target;
            same && one.size == other.size && !one.is_directory()
        };
        for (path, facts) in std::mem::take(&mut self.orphans) {
            match self.vanishing.iter().position(|gone| like(gone, &facts)) {
                Some(at) => drop(self.vanishing.swap_remove(at)),
                None => self.conflict(path, ConflictKind::Deleted),
            }
        }
    }

    /// Opened for writing and not written, or written and put back.
    fn is_same(&self, entry: &Entry<'_>) -> Result<bool, UndoError> {
        let Some(lower) = &entry.lower else { return Ok(false) };
        // Another file with several names, which come together.
        if entry.facts.links > 1 && !entry.marks.origin {
            return Ok(false);
        }
        let mut comparable = entry.facts.clone();
        comparable.inode = lower.inode;
        let owner = (lower.user, lower.group) == (entry.facts.user, entry.facts.group);
        if !lower.is_unchanged(&comparable) || !owner || lower.links != entry.facts.links {
            return Ok(false);
        }
        let attributes = attributes_at(entry.parent, entry.name, entry.path)?;
        if attributes != self.attributes_below(entry.path)? {
            return Ok(false);
        }
        if lower.kind != Kind::File {
            return Ok(true);
        }
        let Some(spot) = self.ground.spot(entry.path)? else { return Ok(false) };
        let one = system::open_reading(entry.parent, entry.name);
        let other = system::open_reading(&spot.directory, &spot.name);
        match (one, other) {
            (Ok(one), Ok(other)) => content::is_same(one, other).at("compare it", entry.path),
            _ => Ok(false),
        }
    }

    /// Directories of both sides: their attributes as steps, and their times where names change in them.
    fn directories(&mut self) -> Result<(), UndoError> {
        let holders: std::collections::HashSet<BString> = self
            .plan
            .steps
            .iter()
            .flat_map(|planned| planned.step.paths())
            .map(|path| path::split(path).0.into())
            .collect();
        // The deepest first: what is above may forbid to go there.
        for (path, lower, upper) in std::mem::take(&mut self.directories).into_iter().rev() {
            if holders.contains(&path) {
                self.plan.times.push((path.clone(), lower.modified, upper.modified));
            }
            let mut upper = upper;
            upper.mode &= 0o3777 | (lower.mode & 0o4000);
            let before = self.attributes_below(&path)?;
            let after = attributes_at(&self.upper_directory(&path)?, &".".into(), &path)?;
            let same =
                (lower.mode, lower.user, lower.group) == (upper.mode, upper.user, upper.group);
            let times = holders.contains(&path) || lower.modified == upper.modified;
            // A time that differs because somebody has changed names there meanwhile is theirs.
            let theirs = lower.changed >= self.moment;
            if same && before == after && (times || theirs) {
                continue;
            }
            if theirs {
                self.conflict(path.clone(), ConflictKind::Changed);
            }
            let step = Step::Meta { path, before: lower, attributes: before };
            self.add(step, Some(upper), after, None);
        }
        Ok(())
    }

    fn upper_directory(&self, path: &BString) -> Result<OwnedFd, UndoError> {
        system::open_directory(self.upper.as_fd(), path).at("read the layer", path)
    }
}

pub(super) fn is_whiteout(facts: &Facts, marks: &Marks) -> bool {
    let device = facts.kind == Kind::CharacterDevice && facts.device_number == 0;
    device || (marks.whiteout && facts.kind == Kind::File && facts.size == 0)
}

fn attributes_at(parent: &OwnedFd, name: &BString, path: &[u8]) -> Result<Attributes, UndoError> {
    system::open_object(parent, name).and_then(Attributes::of).at("read its attributes", path)
}

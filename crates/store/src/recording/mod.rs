//! A request as it happens: each change is written down before it is made.
//!
//! The calls are for whoever writes to the tree directly. Each returns when it is safe to make the change; an error
//! means that it must not be made. They cost a few system calls and no waiting for the disk: the death of this process
//! loses nothing, a power cut may lose what can be undone of the last requests, but never the tree itself.

mod append;
mod ends;
mod known;
mod renew;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bstr::BString;

use crate::error::{At, UndoError};
use crate::facts::{Attributes, Facts, Kind};
use crate::ground::{Ground, Slots, Spot};
use crate::path;
use crate::record::file::RecordFile;
use crate::record::{About, Entry, Numbered, Outcome, RecordId, Step};
use crate::steps::Hand;
use crate::steps::write::keep_copy;
use crate::system;
use crate::whereabouts;

pub(crate) use ends::{finish, new_record, repair};
use known::{Covered, Open};

/// One request's changes. Used from any thread; nothing is on disk before the first change.
pub struct Recording {
    ground: Arc<Ground>,
    about: About,
    open: Mutex<Open>,
}

/// Names one announced change, to say that it did not happen after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "tell `Recording::failed` when the change could not be made"]
pub struct Announced(Option<u32>);

impl Recording {
    pub(crate) fn new(ground: Arc<Ground>, about: About) -> Self {
        Recording { ground, about, open: Mutex::default() }
    }

    /// Goes on with a record that exists.
    pub(crate) fn resume(ground: Arc<Ground>, file: RecordFile) -> Self {
        let about = file.record.about.clone();
        let open = Open { file: Some(file), ..Open::default() };
        Recording { ground, about, open: Mutex::new(open) }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something will be made where nothing is: a file, a directory, a link of either kind, a FIFO.
    ///
    /// When something is there already, nothing is recorded: making it must then fail, and opening it for writing is
    /// [`before_write`](Self::before_write).
    pub fn create(&self, path: &[u8]) -> Result<Announced, UndoError> {
        let path = path::check(path)?;
        if self.ground.facts(&path)?.is_some() {
            return Ok(Announced(None));
        }
        let mut open = self.open();
        let number = self.add(&mut open, Step::Create { path: path.clone() })?;
        open.covered.insert(path, Covered::Made);
        Ok(Announced(Some(number)))
    }

    /// Another name will be made for a file that exists.
    pub fn link(&self, existing: &[u8], path: &[u8]) -> Result<Announced, UndoError> {
        let (existing, path) = (path::check(existing)?, path::check(path)?);
        if self.ground.facts(&path)?.is_some() {
            return Ok(Announced(None));
        }
        let mut open = self.open();
        let Some((_, facts)) = self.look(&existing)? else { return Ok(Announced(None)) };
        let step = Step::Link { path: path.clone(), existing, inode: facts.inode };
        let number = self.add(&mut open, step)?;
        open.covered.insert(path, Covered::Made);
        Ok(Announced(Some(number)))
    }

    /// Whether writing to a file with so many names, or changing its attributes, needs no more keeping. Asks nobody.
    pub fn covers_write(&self, path: &[u8], names: u64) -> bool {
        match self.open().covered.get(path) {
            Some(Covered::Made) => names == 1,
            Some(Covered::Kept) => true,
            Some(Covered::Length | Covered::Attributes) | None => false,
        }
    }

    /// The same for writing at its end only.
    pub fn covers_append(&self, path: &[u8], names: u64) -> bool {
        let length = self.open().covered.get(path) == Some(&Covered::Length);
        length || self.covers_write(path, names)
    }

    /// The content of a regular file will change in place: by writing, appending or truncating. Its content and
    /// attributes are kept, once per request. Other kinds of files have no content to keep.
    pub fn before_write(&self, path: &[u8]) -> Result<(), UndoError> {
        let path = path::check(path)?;
        let mut open = self.open();
        let Some((spot, before)) = self.look(&path)? else { return Ok(()) };
        if before.kind != Kind::File || open.is_covered(&path, &before, Covered::Kept) {
            return Ok(());
        }
        let attributes = attributes_of(&spot, &path)?;
        let number = self.file(&mut open)?.record.next_number;
        let slots = self.slots(&mut open)?;
        keep_copy(&spot, &slots.pre, number, &self.ground.going)
            .map_err(|errno| UndoError::CannotKeep { path: path.clone(), errno })?;
        self.add(&mut open, Step::Write { path: path.clone(), before, attributes })?;
        open.covered.insert(path, Covered::Kept);
        Ok(())
    }

    /// Mode, owner, times or extended attributes will change.
    pub fn before_meta(&self, path: &[u8]) -> Result<(), UndoError> {
        let path = path::check(path)?;
        let mut open = self.open();
        let Some((spot, before)) = self.look(&path)? else { return Ok(()) };
        if open.is_covered(&path, &before, Covered::Attributes) {
            return Ok(());
        }
        let attributes = attributes_of(&spot, &path)?;
        self.add(&mut open, Step::Meta { path: path.clone(), before, attributes })?;
        open.covered.insert(path, Covered::Attributes);
        Ok(())
    }

    /// Deletes a file or a whole directory: it is moved to where the record keeps things. This makes the change.
    pub fn delete(&self, path: &[u8]) -> Result<(), UndoError> {
        let path = path::check(path)?;
        let mut open = self.open();
        let Some((_, before)) = self.look(&path)? else {
            return Err(rustix::io::Errno::NOENT).at("delete it", &path);
        };
        self.perform(&mut open, Step::Delete { path: path.clone(), before })?;
        open.forget(&path);
        Ok(())
    }

    /// A file or a whole directory will be renamed to a path of the trash, which must be free.
    pub fn trash(&self, path: &[u8], to: &[u8]) -> Result<Announced, UndoError> {
        let make = |path, to, inode| Step::Trash { path, to, inode };
        self.announce_move(path, to, make)
    }

    /// A file or a whole directory will be renamed to a path that must be free.
    pub fn moved(&self, from: &[u8], to: &[u8]) -> Result<Announced, UndoError> {
        self.announce_move(from, to, |from, to, inode| Step::Move { from, to, inode })
    }

    /// Renames over something that exists. This makes the change, and at no moment is nothing there: both change
    /// places, then what was replaced goes to where the record keeps things.
    pub fn replace(&self, from: &[u8], to: &[u8]) -> Result<(), UndoError> {
        let (from, to) = (path::check(from)?, path::check(to)?);
        let missing = |path: &BString| Err(rustix::io::Errno::NOENT).at("rename it", path);
        let mut open = self.open();
        let Some((source, moving)) = self.look(&from)? else { return missing(&from) };
        let Some((target, before)) = self.look(&to)? else { return missing(&to) };
        if moving.inode == before.inode {
            // Two names of one file: rename(2) does nothing.
            return Ok(());
        }
        let inode = moving.inode;
        let steps = [
            Step::Delete { path: to.clone(), before },
            Step::Move { from: from.clone(), to: to.clone(), inode },
        ];
        self.slots(&mut open)?;
        let number = self.add_all(&mut open, steps.to_vec())?;
        let done = Recording::exchange_and_keep(&open, number, (&source, &from), (&target, &to));
        if let Err(error) = done {
            Recording::settle_failed(&mut open, &[number, number + 1]);
            return Err(error);
        }
        open.forget(&to);
        open.rebase(&from, &to);
        Ok(())
    }

    /// A change that was announced was not made after all.
    pub fn failed(&self, announced: Announced) -> Result<(), UndoError> {
        let Announced(Some(number)) = announced else { return Ok(()) };
        let mut open = self.open();
        let Some(file) = open.file.as_mut() else { return Ok(()) };
        let step = file.record.steps.iter().find(|step| step.number == number);
        let Some(step) = step.map(|step| step.step.clone()) else { return Ok(()) };
        file.append(vec![Entry::Void { number }])?;
        match step {
            Step::Create { path } | Step::Link { path, .. } => open.forget(&path),
            Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                open.rebase(&to, &from);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether there is anything to take back.
    pub fn has_steps(&self) -> bool {
        self.open().file.as_ref().is_some_and(|file| !file.record.steps.is_empty())
    }

    /// Something of this request cannot be taken back; the record says so.
    pub fn mark_irreversible(&self, reason: &str) {
        let mut open = self.open();
        let reason = reason.to_owned();
        if !open.irreversible.contains(&reason) {
            open.irreversible.push(reason);
        }
    }

    /// The request has ended. `None` when it has changed nothing.
    pub fn finish(self, outcome: Outcome) -> Result<Option<RecordId>, UndoError> {
        let mut open = std::mem::take(&mut *self.open());
        if !open.irreversible.is_empty() {
            let reasons = std::mem::take(&mut open.irreversible);
            let entries = reasons.into_iter().map(|reason| Entry::Irreversible { reason });
            self.file(&mut open)?.append(entries.collect())?;
        }
        let Some(mut file) = open.file.take() else { return Ok(None) };
        finish(&self.ground, &mut file, open.slots.as_ref(), outcome)
    }

    pub(crate) fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }

    /// Everything at once, for what writes many steps.
    pub(crate) fn with_file<T>(
        &self,
        run: impl FnOnce(&mut RecordFile, &Slots) -> Result<T, UndoError>,
    ) -> Result<T, UndoError> {
        let mut open = self.open();
        self.file(&mut open)?;
        self.slots(&mut open)?;
        let Open { file: Some(file), slots: Some(slots), .. } = &mut *open else {
            return Err(UndoError::NothingToUndo);
        };
        run(file, slots)
    }

    fn look(&self, path: &BString) -> Result<Option<(Spot, Facts)>, UndoError> {
        let Some(spot) = self.ground.spot(path)? else { return Ok(None) };
        let facts = Facts::of(&spot.directory, &spot.name).at("look at it", path)?;
        Ok(facts.map(|facts| (spot, facts)))
    }

    fn announce_move(
        &self,
        from: &[u8],
        to: &[u8],
        make: impl FnOnce(BString, BString, u64) -> Step,
    ) -> Result<Announced, UndoError> {
        let (from, to) = (path::check(from)?, path::check(to)?);
        let mut open = self.open();
        let Some((_, facts)) = self.look(&from)? else { return Ok(Announced(None)) };
        if self.ground.facts(&to)?.is_some() {
            // It must fail, and what is known of the target stays known.
            return Ok(Announced(None));
        }
        let number = self.add(&mut open, make(from.clone(), to.clone(), facts.inode))?;
        open.rebase(&from, &to);
        Ok(Announced(Some(number)))
    }

    fn exchange_and_keep(
        open: &Open,
        number: u32,
        (source, from): (&Spot, &BString),
        (target, to): (&Spot, &BString),
    ) -> Result<(), UndoError> {
        let name = crate::ground::slot_name(number);
        let (Some(_), Some(slots)) = (&open.file, &open.slots) else { return Ok(()) };
        let exchanged =
            system::exchange(&source.directory, &source.name, &target.directory, &target.name);
        match exchanged {
            Ok(()) => system::rename(&source.directory, &source.name, &slots.pre, &name)
                .at("keep what was replaced", to),
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                system::rename(&target.directory, &target.name, &slots.pre, &name)
                    .at("keep what will be replaced", to)?;
                let renamed = system::rename(
                    &source.directory,
                    &source.name,
                    &target.directory,
                    &target.name,
                );
                if renamed.is_err() {
                    system::rename(&slots.pre, &name, &target.directory, &target.name)
                        .at("put back what was to be replaced", to)?;
                }
                renamed.at("rename it", from)
            }
            Err(errno) => Err(errno).at("rename it", from),
        }
    }

    /// Writes a step down and makes the change.
    fn perform(&self, open: &mut Open, step: Step) -> Result<(), UndoError> {
        self.slots(open)?;
        let number = self.add(open, step.clone())?;
        let Open { file: Some(file), slots: Some(slots), .. } = open else { return Ok(()) };
        let mut hand = Hand { ground: &self.ground, slots, file };
        let done = hand.redo_steps(&[Numbered { number, step }]);
        if done.is_err() {
            Recording::settle_failed(open, &[number]);
        }
        done
    }

    /// A change of ours could not be made. That is reported; that it could not even be written down is not worse: a
    /// step that did not happen is found out by looking.
    fn settle_failed(open: &mut Open, numbers: &[u32]) {
        if let Some(file) = open.file.as_mut() {
            let void = numbers.iter().map(|&number| Entry::Void { number });
            let _found_by_looking = file.append(void.collect());
        }
    }

    fn add(&self, open: &mut Open, step: Step) -> Result<u32, UndoError> {
        self.add_all(open, vec![step])
    }

    /// Gives the number of the first.
    fn add_all(&self, open: &mut Open, steps: Vec<Step>) -> Result<u32, UndoError> {
        let first = self.file(open)?.record.next_number;
        let mut entries = Vec::new();
        for step in &steps {
            for path in step.paths() {
                // The root is in no directory of the project, and attributes are in none at all.
                if !path.is_empty() && !is_about_itself(step) {
                    entries.extend(self.time(open, path::split(path).0)?);
                }
            }
        }
        let numbered = (first..).zip(steps).map(|(number, step)| Numbered { number, step });
        entries.extend(numbered.map(Entry::Step));
        self.file(open)?.append(entries)?;
        Ok(first)
    }

    /// The time of a directory in which a name is about to change, if it is not known yet.
    fn time(&self, open: &mut Open, directory: &[u8]) -> Result<Option<Entry>, UndoError> {
        if open.timed.contains(directory) {
            return Ok(None);
        }
        // What is no directory (any more) makes the change fail, and its own time is none of this.
        let now = self.ground.facts(directory)?.filter(Facts::is_directory);
        let Some(now) = now else { return Ok(None) };
        open.timed.insert(directory.into());
        if open.covered.get(directory) == Some(&Covered::Made) {
            return Ok(None);
        }
        let record = &self.file(open)?.record;
        let Some(path) = whereabouts::before(&record.steps, directory) else { return Ok(None) };
        if record.times.iter().any(|(known, _)| *known == path) {
            return Ok(None);
        }
        let set = record.time_set(Some(now.inode));
        Ok(Some(Entry::Time { path, modified: set.unwrap_or(now.modified) }))
    }

    fn file<'a>(&self, open: &'a mut Open) -> Result<&'a mut RecordFile, UndoError> {
        if open.file.is_none() {
            open.file = Some(new_record(&self.ground, &self.about)?);
        }
        open.file.as_mut().ok_or(UndoError::NothingToUndo)
    }

    fn slots<'a>(&self, open: &'a mut Open) -> Result<&'a Slots, UndoError> {
        if open.slots.is_none() {
            let id = self.file(open)?.record.id;
            open.slots = Some(self.ground.slots(id)?);
        }
        open.slots.as_ref().ok_or(UndoError::NothingToUndo)
    }
}

/// Whether the names in the directory that holds it stay.
fn is_about_itself(step: &Step) -> bool {
    matches!(step, Step::Meta { .. } | Step::Write { .. } | Step::Append { .. })
}

fn attributes_of(spot: &Spot, path: &[u8]) -> Result<Attributes, UndoError> {
    system::open_object(&spot.directory, &spot.name)
        .and_then(Attributes::of)
        .at("read its attributes", path)
}

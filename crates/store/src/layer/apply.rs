//! Brings a layer into the tree.
//!
//! First everything is taken out of the layer to where the record keeps what is to be redone (staging); then the
//! record is redone like any other. A crash before all is staged puts it back into the layer; a crash later goes on.

use std::os::fd::{AsFd, OwnedFd};

use bstr::BString;

use super::clean::clean;
use super::folder::Layer;
use super::plan::{LayerPlan, plan};
use crate::error::{At, UndoError};
use crate::facts::Facts;
use crate::ground::{Ground, Spot, slot_name};
use crate::path;
use crate::record::{DirectoryTime, Entry, LayerEntry, Made, Numbered, Phase, Record, Step};
use crate::recording::Recording;
use crate::settle;
use crate::steps::reach::End;
use crate::steps::{Direction, Hand};
use crate::system;

impl Recording {
    /// Brings a layer into the tree as part of this request: all of it, or nothing when somebody has changed one of its
    /// paths meanwhile. To be called when all programs are dead and the overlay is unmounted, as the last change of the
    /// request. The layer stays until it is discarded.
    pub fn apply(&self, layer: &Layer) -> Result<LayerPlan, UndoError> {
        let ground = self.ground();
        let _lock = ground.lock()?;
        let plan = plan(layer)?;
        check(ground, layer, &plan)?;
        if plan.steps.is_empty() {
            return Ok(plan);
        }
        self.with_file(|file, slots| {
            let mut hand = Hand { ground, slots, file };
            let phase = hand.file.record.phase;
            let entries = entries(&hand, layer, &plan)?;
            hand.file.append(entries)?;
            let done = hand.sync_record().and_then(|()| bring(&mut hand));
            if done.is_err() {
                take_back(&mut hand)?;
                hand.file.append(vec![Entry::Phase { phase, time: system::now() }])?;
            }
            done
        })?;
        Ok(plan)
    }
}

fn check(ground: &Ground, layer: &Layer, plan: &LayerPlan) -> Result<(), UndoError> {
    if !plan.refusals.is_empty() {
        return Err(UndoError::Refused(plan.refusals.clone()));
    }
    if !plan.conflicts.is_empty() {
        return Err(UndoError::Conflicts(plan.conflicts.clone()));
    }
    let device = |handle: &OwnedFd| system::stat_handle(handle).map(|stat| stat.st_dev);
    let upper = device(&layer.upper()?).at("look at the layer", b"")?;
    if system::stat_handle(ground.root()).map(|stat| stat.st_dev) != Ok(upper) {
        return Err(UndoError::OtherFileSystem);
    }
    let free = system::free_space(ground.root()).at("look at the file system", b"")?;
    if plan.copied > free {
        return Err(UndoError::NoRoom { needed: plan.copied, free });
    }
    Ok(())
}

/// Everything the record has to know before the first rename.
fn entries(hand: &Hand<'_>, layer: &Layer, plan: &LayerPlan) -> Result<Vec<Entry>, UndoError> {
    let record = &hand.file.record;
    let first = record.next_number;
    let mut made = settle::made(hand.ground, Some(hand.slots), record)?;
    let mut sources = Vec::new();
    let mut entries = Vec::new();
    for (number, planned) in (first..).zip(&plan.steps) {
        if let Some(after) = &planned.after {
            describe(&mut made, number, &planned.step, after);
            if let Step::Meta { .. } | Step::Write { .. } = planned.step {
                made.attributes.push((number, after.clone(), planned.attributes.clone()));
            }
            if !matches!(planned.step, Step::Meta { .. }) {
                sources.extend(planned.step.paths().map(|path| (number, path.clone())));
            }
        }
        if let Some(manifest) = &planned.manifest {
            made.manifests.push((number, manifest.clone()));
        }
        entries.push(Entry::Step(Numbered { number, step: planned.step.clone() }));
    }
    entries.extend(times(hand, plan, &mut made)?);
    let folder = layer.name.clone();
    entries.push(Entry::Layer(LayerEntry { folder, first, sources }));
    entries.push(Entry::Made(made));
    entries.push(Entry::Phase { phase: Phase::Staging, time: system::now() });
    Ok(entries)
}

fn describe(made: &mut Made, number: u32, step: &Step, after: &Facts) {
    if let Step::Create { .. } = step {
        made.objects.push((number, after.inode));
    }
}

/// Times of directories: what they were before the request, not only before the layer, and what programs saw.
fn times(hand: &Hand<'_>, plan: &LayerPlan, made: &mut Made) -> Result<Vec<Entry>, UndoError> {
    let record = &hand.file.record;
    let mut entries = Vec::new();
    for (path, lower, upper) in &plan.times {
        let after = Some((path.clone(), *upper));
        let known = made
            .times
            .iter_mut()
            .find(|pair| pair.after.as_ref().is_some_and(|(known, _)| known == path));
        if let Some(pair) = known {
            pair.after = after;
            continue;
        }
        if let Some(earlier) = crate::whereabouts::before(&record.steps, path) {
            let inode = hand.ground.facts(path)?.map(|facts| facts.inode);
            let modified = record.time_set(inode).unwrap_or(*lower);
            entries.push(Entry::Time { path: earlier.clone(), modified });
            made.times.push(DirectoryTime { before: Some((earlier, modified)), after });
        }
    }
    Ok(entries)
}

fn bring(hand: &mut Hand<'_>) -> Result<(), UndoError> {
    stage(hand)?;
    hand.file.append(vec![Entry::Phase { phase: Phase::Applying, time: system::now() }])?;
    hand.file.sync()?;
    go_on(hand)
}

/// Out of the layer, to where the steps find it.
fn stage(hand: &mut Hand<'_>) -> Result<(), UndoError> {
    let Some(layer) = hand.file.record.layer.clone() else { return Ok(()) };
    let upper = upper_of(hand.ground, &layer.folder)?;
    for (done, (number, source)) in layer.sources.iter().enumerate() {
        hand.ground.watch.tell(done, layer.sources.len());
        clean(upper.as_fd(), source).at("clean the layer", source)?;
        let (spot, name) = (spot_in(&upper, source)?, slot_name(*number));
        hand.rename(End::slot(&spot.directory, &spot.name), End::slot(&hand.slots.redo, &name))?;
    }
    Ok(())
}

/// All steps of the layer, as often as it takes, and to the disk.
pub(crate) fn go_on(hand: &mut Hand<'_>) -> Result<(), UndoError> {
    let steps = layer_steps(&hand.file.record);
    hand.redo_steps(&steps)?;
    hand.set_times(Direction::Redo)?;
    if let Some(layer) = &hand.file.record.layer {
        Layer::set_spent(hand.ground, &layer.folder)?;
    }
    hand.sync(&steps)
}

/// The tree as before, everything back in the layer, and the record without it.
pub(crate) fn take_back(hand: &mut Hand<'_>) -> Result<(), UndoError> {
    let steps = layer_steps(&hand.file.record);
    if hand.file.record.phase == Phase::Applying {
        hand.undo_steps(&steps)?;
    }
    let Some(layer) = hand.file.record.layer.clone() else { return Ok(()) };
    let upper = upper_of(hand.ground, &layer.folder)?;
    Layer::set_unspent(hand.ground, &layer.folder)?;
    for (number, source) in &layer.sources {
        let name = slot_name(*number);
        let staged = system::stat(&hand.slots.redo, &name).at("look at what is kept", source)?;
        if staged.is_none() {
            continue;
        }
        let spot = spot_in(&upper, source)?;
        hand.rename(End::slot(&hand.slots.redo, &name), End::slot(&spot.directory, &spot.name))?;
    }
    let before = times_before(&hand.file.record, &layer);
    for (path, modified) in before {
        if let Some(spot) = hand.ground.spot(&path)? {
            crate::facts::set_time(&spot.directory, &spot.name, modified)
                .at("set the time", &path)?;
        }
    }
    if hand.file.record.phase == Phase::Applying {
        Layer::set_moment(hand.ground, &layer.folder)?;
    }
    let void = steps.iter().map(|step| Entry::Void { number: step.number });
    let was_held = hand.file.record.outcome.is_some();
    let phase = if was_held { Phase::Held } else { Phase::Recording };
    let phase = Entry::Phase { phase, time: system::now() };
    hand.file.append(void.chain([phase]).collect())
}

/// Of the directories that only the layer has changed.
fn times_before(record: &Record, layer: &LayerEntry) -> Vec<(BString, crate::facts::Time)> {
    let direct = Record { steps: Vec::new(), ..record.clone() };
    let touched = |path: &BString| {
        record
            .steps
            .iter()
            .filter(|step| step.number < layer.first)
            .any(|step| step.step.paths().any(|one| path::split(one).0 == path.as_slice()))
    };
    direct.times.into_iter().filter(|(path, _)| !touched(path)).collect()
}

fn layer_steps(record: &Record) -> Vec<Numbered> {
    let first = record.layer.as_ref().map_or(u32::MAX, |layer| layer.first);
    record.steps.iter().filter(|step| step.number >= first).cloned().collect()
}

fn spot_in(upper: &OwnedFd, source: &BString) -> Result<Spot, UndoError> {
    let (parent, name) = path::split(source);
    let directory = system::open_directory(upper.as_fd(), parent).at("read the layer", source)?;
    Ok(Spot { directory, name: name.into() })
}

fn upper_of(ground: &Ground, folder: &BString) -> Result<OwnedFd, UndoError> {
    let path = path::join(folder, b"upper");
    system::open_directory(ground.folders()?.run.as_fd(), &path).at("open the layer", folder)
}

//! Stopped at every operation. After recovery the tree is what it was before or after, and nothing is lost.

use super::direct;
use super::layers;
use super::project::{LAST, PLAIN, Project, about};
use super::script::{Shape, run, shapes};
use super::tree::Tree;
use crate::faults::stopped_after;
use crate::{Outcome, Phase, UndoError};

const ENOUGH: u64 = 100_000;

/// Whoever is killed while he changes the tree directly: everything up to there can be undone.
#[test]
fn direct_changes_can_be_undone_wherever_they_stopped() {
    for shape in &shapes(direct::SHAPES) {
        let mut operations = 0;
        loop {
            let project = Project::in_memory();
            run(&project.root, shape.setup, None).unwrap();
            let before = project.tree();
            let (done, _) = stopped_after(operations, || record(&project, shape));
            let when = format!("{}: stopped after {operations}", shape.name);
            let journal = project.recovered();
            if journal.log().unwrap().is_empty() {
                project.assert(&before, &when);
            } else {
                journal.undo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
                project.assert(&before, &when);
            }
            if done.is_ok() {
                break;
            }
            operations += 1;
        }
    }
}

fn record(project: &Project, shape: &Shape) -> Result<(), UndoError> {
    let recording = project.try_journal()?.begin(about());
    run(&project.root, shape.change, Some(&recording))?;
    recording.finish(Outcome::default()).map(|_| ())
}

#[test]
fn undo_and_redo_of_direct_changes_are_whole_wherever_they_stopped() {
    for shape in &shapes(direct::SHAPES) {
        let project = Project::in_memory();
        run(&project.root, shape.setup, None).unwrap();
        let before = project.tree();
        record(&project, shape).unwrap();
        let after = project.tree();
        turned_at_every_operation(&project, shape.name, &before, &after);
    }
}

#[test]
fn undo_and_redo_of_layers_are_whole_wherever_they_stopped() {
    for shape in &shapes(layers::SHAPES) {
        let project = Project::in_memory();
        project.run(shape.setup);
        let before = project.tree();
        project.apply(shape.change);
        let after = project.tree();
        turned_at_every_operation(&project, shape.name, &before, &after);
    }
}

fn turned_at_every_operation(project: &Project, name: &str, before: &Tree, after: &Tree) {
    for undo in [true, false] {
        let (from, to) = if undo { (after, before) } else { (before, after) };
        let mut operations = 0;
        loop {
            let (done, _) = stopped_after(operations, || turn(project, undo));
            let when = format!("{name}: undo {undo}: stopped after {operations}");
            let journal = project.recovered();
            let record = journal.log().unwrap().into_iter().next();
            let record = record.unwrap_or_else(|| panic!("{when}: nothing is recorded"));
            let reached = match record.phase {
                Phase::Applied => !undo,
                Phase::Undone => undo,
                phase => panic!("{when}: {phase}"),
            };
            project.assert(if reached { to } else { from }, &when);
            if done.is_ok() {
                assert!(reached, "{when}");
                break;
            }
            if reached {
                // To where it was, for the next one.
                turn(project, !undo).unwrap_or_else(|error| panic!("{when}, then back: {error}"));
                project.assert(from, &format!("{when}, then back"));
            }
            operations += 1;
        }
    }
}

fn turn(project: &Project, undo: bool) -> Result<(), UndoError> {
    let journal = project.try_journal()?;
    if undo { journal.undo(&LAST, PLAIN) } else { journal.redo(&LAST, PLAIN) }.map(|_| ())
}

#[test]
fn layers_are_applied_whole_or_held_wherever_it_stopped() {
    for shape in &shapes(layers::SHAPES) {
        let template = layers::prepared(shape);
        let mut operations = 0;
        loop {
            let project = template.copy();
            layers::set_moment(&project);
            let before = project.tree();
            let (done, _) = stopped_after(operations, || layers::apply_prepared(&project));
            let when = format!("{}: stopped after {operations}", shape.name);
            settled(&project, &before, &when);
            if done.is_ok() {
                break;
            }
            operations += 1;
        }
    }
}

/// Applied, or held with the tree as before; then it can be brought in, and taken back.
fn settled(project: &Project, before: &Tree, when: &str) {
    let journal = project.recovered();
    let log = journal.log().unwrap();
    let phases: Vec<_> = log.iter().map(|record| (record.phase, record.steps.len())).collect();
    assert_eq!(log.len(), 1, "{when}: {phases:?}");
    let id = log[0].id;
    match log[0].phase {
        Phase::Applied => {}
        Phase::Held => {
            project.assert(before, when);
            journal.commit(id).unwrap_or_else(|error| panic!("{when}: {error}"));
        }
        phase => panic!("{when}: {phase}"),
    }
    let after = project.tree();
    journal.undo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
    project.assert(before, &format!("{when}, then undone"));
    journal.redo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
    project.assert(&after, &format!("{when}, then redone"));
}

#[test]
fn the_operations_are_counted() {
    let project = Project::in_memory();
    let shape = Shape { name: "one", setup: "", change: "file a x" };
    let (done, operations) = stopped_after(ENOUGH, || record(&project, &shape));
    assert!(done.is_ok() && operations > 3, "{operations}");
}

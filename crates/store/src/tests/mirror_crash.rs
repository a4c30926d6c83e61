//! Stopped at every operation of making the copy and of taking back. After recovery the project is as before, and what programs have
//! written is held, whole.

use super::mirrors::more_shapes;
use super::project::{LAST, PLAIN, Project, about};
use super::script::Shape;
use super::tree::{But, Tree};
use crate::faults::stopped_after;
use crate::{Budget, Phase, UndoError};

/// A copy is made or brought up to date, from wherever it was stopped before.
#[test]
fn the_copy_is_right_wherever_it_stopped() {
    for shape in &more_shapes() {
        let mut operations = 0;
        loop {
            let project = Project::in_memory();
            project.run(shape.setup);
            project.apply_mirrored("true");
            project.run(shape.change);
            let before = project.tree();
            let when = format!("{}: stopped after {operations}", shape.name);
            let (done, _) = stopped_after(operations, || refresh(&project));
            project.recovered();
            project.assert(&before, &when);
            // All of it has to come back from the copy.
            project.apply_mirrored(
                "chmod -R u+rwX -- * 2> /dev/null || true; rm -rf -- *; echo other > other",
            );
            project.journal().undo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
            project.assert(&before, &when);
            if done.is_ok() {
                break;
            }
            operations += 1;
        }
    }
}

fn refresh(project: &Project) -> Result<(), UndoError> {
    project.try_journal()?.mirror(&Budget::default(), &mut |_| {}).map(|_| ())
}

#[test]
fn what_programs_wrote_is_taken_back_wherever_it_stopped() {
    for shape in &more_shapes() {
        let mut operations = 0;
        loop {
            let project = Project::in_memory();
            project.run(shape.setup);
            let before = project.tree();
            let (done, seen) = taken_back(&project, shape, operations);
            let when = format!("{}: stopped after {operations}", shape.name);
            held(&project, &before, &seen, &when);
            if done.is_ok() {
                break;
            }
            operations += 1;
        }
    }
}

fn taken_back(project: &Project, shape: &Shape, operations: u64) -> (Result<(), UndoError>, Tree) {
    let journal = project.journal();
    let mut layer = journal.unstamped_layer(&about()).unwrap();
    let mirror = journal.mirror(&Budget::default(), &mut |_| {}).unwrap();
    layer.write_directly(&mirror).unwrap();
    project.run(shape.change);
    let seen = project.tree();
    (stopped_after(operations, || layer.take_back(&mirror)).0, seen)
}

/// The project as before, the layer held; then it can be brought in, and taken back.
fn held(project: &Project, before: &Tree, seen: &Tree, when: &str) {
    let journal = project.recovered();
    project.assert(before, when);
    let log = journal.log().unwrap();
    assert_eq!(log.len(), 1, "{when}");
    assert_eq!(log[0].phase, Phase::Held, "{when}");
    journal.commit(log[0].id).unwrap_or_else(|error| panic!("{when}: {error}"));
    let differences = seen.differences(&project.tree(), But::Nothing);
    assert!(differences.is_empty(), "{when}: committed:\n{}", differences.join("\n"));
    journal.undo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
    project.assert(before, &format!("{when}, then undone"));
}

/// Recovery itself is stopped, again and again.
#[test]
fn taking_back_goes_on_wherever_recovery_stopped() {
    for shape in &more_shapes() {
        let project = Project::in_memory();
        project.run(shape.setup);
        let before = project.tree();
        let (_, seen) = taken_back(&project, shape, 0);
        let mut operations = 0;
        loop {
            let (done, _) = stopped_after(operations, || project.try_journal().map(|_| ()));
            let unfinished = crate::layer::folder::has_unfinished(&project.journal_as_it_is());
            if done.is_ok() && !unfinished.unwrap() {
                break;
            }
            // A little further each time, from where the last one was.
            operations += 3;
        }
        held(&project, &before, &seen, shape.name);
    }
}

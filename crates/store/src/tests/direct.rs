//! Direct changes: recorded, undone, redone, undone again; each time the tree is exactly what it was.

use super::project::{Project, about};
use super::script::{Shape, run, shapes};
use crate::Outcome;

pub(super) const SHAPES: &str = include_str!("../../tests/shapes/direct.txt");

#[test]
fn every_shape_there_and_back() {
    let shapes = shapes(SHAPES);
    assert!(shapes.len() >= 80, "{}", shapes.len());
    for shape in &shapes {
        there_and_back(shape);
    }
}

fn there_and_back(shape: &Shape) {
    let project = Project::new();
    run(&project.root, shape.setup, None).unwrap();
    let before = project.tree();
    let journal = project.journal();
    let recording = journal.begin(about());
    run(&project.root, shape.change, Some(&recording)).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap();
    let after = project.tree();
    project.back_and_again(&journal, [&before, &after], shape.name);
}

/// What is recorded does what the same change without a recording does.
#[test]
fn recording_changes_nothing_else() {
    for shape in &shapes(SHAPES) {
        let (plain, recorded) = (Project::new(), Project::new());
        let recording = recorded.journal().begin(about());
        for (project, recording) in [(&plain, None), (&recorded, Some(&recording))] {
            run(&project.root, shape.setup, None).unwrap();
            run(&project.root, shape.change, recording).unwrap();
        }
        let differences = plain.tree().differences(&recorded.tree(), super::tree::But::Times);
        assert!(differences.is_empty(), "{}:\n{}", shape.name, differences.join("\n"));
    }
}

//! Layers: written by real programs on a real overlay, applied, undone, redone; and what a native run would have left.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use super::project::{Project, about};
use super::script::{Shape, shapes};
use super::tree::But;
use crate::ground::Ground;
use crate::recording::Recording;
use crate::{Layer, Outcome, UndoError, system};

pub(super) const SHAPES: &str = include_str!("../../tests/shapes/layer.txt");

#[test]
fn every_shape_there_and_back() {
    let shapes = shapes(SHAPES);
    assert!(shapes.len() >= 60, "{}", shapes.len());
    for shape in &shapes {
        there_and_back(shape);
    }
}

fn there_and_back(shape: &Shape) {
    let (project, native) = (Project::new(), Project::new());
    for project in [&project, &native] {
        project.run(shape.setup);
    }
    let before = project.tree();
    project.apply(shape.change).unwrap_or_else(|| panic!("{}: nothing was applied", shape.name));
    native.run(shape.change);
    let after = project.tree();
    let differences = project.seen().differences(&after, But::Overlay);
    assert!(differences.is_empty(), "{}: seen:\n{}", shape.name, differences.join("\n"));
    let differences = native.tree().differences(&after, But::Times);
    if !shape.name.ends_with("(not as a native run)") {
        assert!(differences.is_empty(), "{}: applied:\n{}", shape.name, differences.join("\n"));
    }
    let journal = project.journal();
    project.back_and_again(&journal, [&before, &after], shape.name);
}

/// A project with a layer that is written and not applied.
pub(super) fn prepared(shape: &Shape) -> Project {
    let project = Project::in_memory();
    project.run(shape.setup);
    let layer = project.journal().layer(&about()).unwrap();
    project.run_on(&layer, shape.change);
    // The kernel's own folder is closed to a copy that is not made by root.
    let work = project.root.join(".clada").join(layer.place().to_string()).join("work/work");
    fs::set_permissions(work, fs::Permissions::from_mode(0o700)).unwrap();
    project
}

/// A copy is newer than the mount.
pub(super) fn set_moment(project: &Project) {
    let run = project.root.join(".clada/undo/run");
    let moment = fs::read_dir(run).unwrap().next().unwrap().unwrap().path().join("moment");
    let time = || fs::metadata(&moment).unwrap().modified().unwrap();
    fs::write(&moment, "").unwrap();
    let before = time();
    while time() <= before {
        fs::write(&moment, "").unwrap();
    }
}

/// Applies the layer of a copy of that, as the request that wrote it would.
pub(super) fn apply_prepared(project: &Project) -> Result<(), UndoError> {
    let run = project.root.join(".clada/undo/run");
    let name = fs::read_dir(&run).unwrap().next().unwrap().unwrap().file_name();
    let root = fs::File::open(&project.root).unwrap();
    let state = fs::File::open(project.root.join(".clada")).unwrap();
    let ground = Arc::new(Ground::new(root.as_fd(), state.as_fd())?);
    let layer = Layer::held(&ground, name.as_encoded_bytes().into())?;
    assert!(system::try_lock(&layer.folder).unwrap());
    let recording = Recording::new(ground, about());
    recording.apply(&layer)?;
    recording.finish(Outcome::default())?;
    layer.discard()
}

/// What must not come into a project does not, and a device lets nothing come.
#[test]
fn what_may_not_come_out() {
    let project = Project::new();
    project.run("echo x > keep");
    let journal = project.journal();
    let layer = journal.layer(&about()).unwrap();
    let script =
        "mkdir -p d .clada/x; cp /bin/true d/su; chmod 6755 d/su; cp /bin/true su; chmod u+s su
        python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"d/sock\")
s = socket.socket(socket.AF_UNIX); s.bind(\"sock\")'
        mkfifo d/fifo; rm keep; mkdir new; touch new/.clada";
    project.run_on(&layer, script);
    let recording = journal.begin(about());
    let plan = recording.apply(&layer).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap();
    let (mut stripped, mut dropped) = (plan.stripped, plan.dropped);
    stripped.sort();
    dropped.sort();
    assert_eq!(stripped, ["d/su", "su"]);
    assert_eq!(dropped, [".clada", "d/sock", "new/.clada", "sock"]);
    let tree = project.tree().0;
    assert_eq!(tree[&b"d/su"[..]].mode, 0o755);
    assert_eq!(tree[&b"su"[..]].mode, 0o755);
    assert_eq!(tree[&b"d/fifo"[..]].kind, 'p');
    let names: Vec<&[u8]> = tree.keys().map(Vec::as_slice).collect();
    assert_eq!(names, [&b""[..], b"d", b"d/fifo", b"d/su", b"new", b"su"]);
    assert!(tree.values().all(|entry| entry.attributes.is_empty()), "{tree:?}");
}

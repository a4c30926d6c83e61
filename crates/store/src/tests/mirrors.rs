//! Requests where there is no overlay: programs write into the project, what they have changed is found by comparing, taken back,
//! applied, undone, redone. The shapes are those of the layers.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::layers::SHAPES;
use super::project::{LAST, PLAIN, Project, about};
use super::script::{Shape, shapes};
use super::tree::But;
use crate::{Budget, Extent, Limits, Outcome, Phase, UndoError, Which};

const MORE: &str = include_str!("../../tests/shapes/mirror.txt");

/// Nobody but root looks into what is closed to its owner, these tests neither.
pub(super) fn more_shapes() -> Vec<Shape> {
    let mut more = shapes(MORE);
    let closed = ["closed directories", "a file that its owner may not read"];
    more.retain(|shape| crate::system::user() == 0 || !closed.contains(&shape.name));
    assert!(more.len() >= 11, "{}", more.len());
    more
}

#[test]
fn every_shape_there_and_back() {
    let all: Vec<Shape> = shapes(SHAPES).into_iter().chain(more_shapes()).collect();
    assert!(all.len() >= 71, "{}", all.len());
    for shape in &all {
        there_and_back(shape);
    }
}

fn there_and_back(shape: &Shape) {
    let project = Project::new();
    project.run(shape.setup);
    let before = project.tree();
    let (id, seen) = project.apply_mirrored(shape.change);
    assert!(id.is_some(), "{}: nothing was applied", shape.name);
    let after = project.tree();
    let differences = seen.differences(&after, But::Nothing);
    assert!(differences.is_empty(), "{}: applied:\n{}", shape.name, differences.join("\n"));
    let journal = project.journal();
    project.back_and_again(&journal, [&before, &after], shape.name);
    // The copy follows what has happened, and a request that changes nothing finds nothing.
    let (id, _) = project.apply_mirrored("find . >/dev/null");
    assert_eq!(id, None, "{}", shape.name);
    project.assert(&after, &format!("{}: after a request that only reads", shape.name));
}

/// One request after the other on the same copy, then all of them back, one by one and together.
#[test]
fn a_chain_of_requests() {
    let project = Project::new();
    project.run("mkdir -p src old; for i in 1 2 3; do echo $i > src/$i; done; echo a > a; ln a b; echo x > old/x");
    let requests = [
        "echo more >> a; rm src/2; mkdir new; echo n > new/n",
        "mv src lib; echo again >> a; echo changed > new/n; sed -i s/1/one/ lib/1",
        "rm -rf old; mkdir old; echo other > old/x; mv new/n new/m; chmod 600 a",
        "rm -rf *; echo only > only",
    ];
    let mut trees = vec![project.tree()];
    for request in requests {
        project.apply_mirrored(request).0.unwrap();
        trees.push(project.tree());
    }
    let journal = project.journal();
    for tree in trees.iter().rev().skip(1) {
        journal.undo(&LAST, PLAIN).unwrap();
        project.assert(tree, "one by one");
    }
    for tree in trees.iter().skip(1) {
        journal.redo(&LAST, PLAIN).unwrap();
        project.assert(tree, "again");
    }
    journal.undo(&Which::Last(4), PLAIN).unwrap();
    project.assert(&trees[0], "together");
}

/// What was put back from the copy is another object: records of before still know it.
#[test]
fn records_of_before_are_undone_after_a_request_that_left_nothing() {
    let project = Project::new();
    project.run("mkdir d; echo a > a; echo b > d/b; echo c > c; ln c e");
    let before = project.tree();
    project.apply("echo more >> a; echo more >> d/b; echo new > d/new; mv c d/c; echo deep > d/x; chmod 600 e");
    let after = project.tree();
    let journal = project.journal();
    // A dry run that replaces everything.
    let (layer, _) =
        project.run_mirrored(&journal, "cp -a d q; rm -rf a d e; mkdir d; echo no > a");
    layer.discard().unwrap();
    project.assert(&after, "after a dry run");
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
    let (layer, _) = project.run_mirrored(&journal, "rm -rf a d c e");
    layer.discard().unwrap();
    journal.redo(&LAST, PLAIN).unwrap();
    project.assert(&after, "redone");
}

#[test]
fn direct_changes_of_before_too() {
    let project = Project::new();
    let setup = "file a one\nfile b two\ndir d\nfile d/f x\nsparse g 2000000\nhard b h";
    super::script::run(&project.root, setup, None).unwrap();
    let before = project.tree();
    let journal = project.journal();
    let recording = journal.begin(about());
    let change =
        "append a more\nmv b d/b\nfile n new\nmode d/f 600\nappend g tail\nhard a l\nrm d/f";
    super::script::run(&project.root, change, Some(&recording)).unwrap();
    recording.finish(Outcome::default()).unwrap();
    let after = project.tree();
    let (layer, _) = project.run_mirrored(&journal, "rm -rf a d n g h l");
    layer.discard().unwrap();
    project.assert(&after, "after a dry run");
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
    let (layer, _) = project.run_mirrored(&journal, "rm -rf a b d g h");
    layer.discard().unwrap();
    journal.redo(&LAST, PLAIN).unwrap();
    project.assert(&after, "redone");
}

#[test]
fn what_is_not_changed_is_not_copied_again() {
    let project = Project::new();
    project.run("mkdir d; for i in $(seq 200); do echo $i > d/$i; done");
    project.apply_mirrored("echo x > d/7");
    let numbers = || {
        let tree = project.root.join(".clada/undo/mirror/tree/d");
        let entries = fs::read_dir(tree).unwrap().map(Result::unwrap);
        let mut all: Vec<_> =
            entries.map(|it| (it.file_name(), it.metadata().unwrap().ino())).collect();
        all.sort();
        all
    };
    let before = numbers();
    project.apply_mirrored("true");
    let after = numbers();
    let same = after.iter().filter(|entry| before.contains(entry)).count();
    assert_eq!((before.len(), after.len(), same), (199, 200, 199));
}

/// Nothing of another project's state inside this one is touched, and none is lost.
#[test]
fn the_state_of_a_project_inside() {
    let project = Project::new();
    project.run("mkdir -p in/.clada out/.clada; echo 1 > in/.clada/db; echo 2 > out/.clada/db; echo f > in/f");
    let (id, _) = {
        let journal = project.journal();
        let (layer, seen) = project.run_mirrored(
            &journal,
            "echo theirs > in/.clada/db; echo more >> in/f; mv out other; echo n > other/n",
        );
        let read = |path: &str| fs::read_to_string(project.root.join(path)).unwrap();
        assert_eq!(read("in/.clada/db"), "theirs\n");
        assert_eq!(read("other/.clada/db"), "2\n");
        assert_eq!(read("in/f"), "f\n");
        let recording = journal.begin(about());
        recording.apply(&layer).unwrap();
        assert_eq!(read("in/f"), "f\nmore\n");
        assert_eq!(read("other/n"), "n\n");
        (recording.finish(Outcome::default()).unwrap(), seen)
    };
    assert!(id.is_some());
}

#[test]
fn many_files() {
    let project = Project::new();
    project.run("mkdir a; for i in $(seq 5000); do echo $i > a/$i; done");
    let before = project.tree();
    project.apply_mirrored("mkdir b; for i in $(seq 5000); do echo $i > b/$i; done; rm a/*");
    project.journal().undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
}

#[test]
fn over_the_budget_nothing_is_copied() {
    let project = Project::new();
    project.run("mkdir d; for i in 1 2 3 4 5; do echo $i > d/$i; done; truncate -s 100000 large");
    let journal = project.journal();
    for budget in [Budget { entries: 5, bytes: 1 << 30 }, Budget { entries: 100, bytes: 99_999 }] {
        assert!(!journal.can_mirror(&budget).unwrap());
        let refused = journal.mirror(&budget, &mut |_| panic!("nothing is made")).err();
        let said = refused.as_ref().unwrap().to_string();
        assert!(matches!(refused, Some(UndoError::OverBudget { .. })), "{said}");
        assert!(said.contains(&budget.entries.to_string()) && refused.unwrap().next().is_some());
    }
    let mut told = Vec::new();
    assert!(journal.can_mirror(&Budget::default()).unwrap());
    drop(journal.mirror(&Budget::default(), &mut |extent| told.push(extent)).unwrap());
    drop(journal.mirror(&Budget::default(), &mut |extent| told.push(extent)).unwrap());
    // Five, the large one, their directory and the root.
    assert_eq!(told, [Extent { entries: 8, bytes: 100_010 }]);
    assert!(journal.can_mirror(&Budget::default()).unwrap());
}

/// Whoever changes the copy takes the way back away: that is said, and nothing is touched.
#[test]
fn a_copy_that_somebody_has_changed() {
    let project = Project::new();
    project.run("echo one > a; echo two > b");
    let journal = project.journal();
    let mut layer = journal.unstamped_layer(&about()).unwrap();
    let mirror = journal.mirror(&Budget::default(), &mut |_| {}).unwrap();
    layer.write_directly(&mirror).unwrap();
    project.run("echo more >> a; echo forged > .clada/undo/mirror/tree/a");
    let seen = project.tree();
    let spoilt = layer.take_back(&mirror);
    assert!(matches!(spoilt, Err(UndoError::CopySpoilt { .. })), "{spoilt:?}");
    project.assert(&seen, "spoilt");
    drop((mirror, layer));
    let (id, _) = project.apply_mirrored("echo again >> a");
    assert!(id.is_some());
}

/// A layer that was dropped before a program ran takes nothing of what people have changed with it.
#[test]
fn what_was_dropped_takes_nothing_back() {
    let project = Project::new();
    project.run("echo one > a");
    let journal = project.journal();
    let mut layer = journal.unstamped_layer(&about()).unwrap();
    let mirror = journal.mirror(&Budget::default(), &mut |_| {}).unwrap();
    layer.write_directly(&mirror).unwrap();
    drop((layer.dismiss().unwrap(), mirror));
    project.run("echo theirs > a; echo b > b");
    let before = project.tree();
    drop(project.recovered());
    project.assert(&before, "dropped");
    project.apply_mirrored("echo two > c").0.unwrap();
}

#[test]
fn one_request_at_a_time() {
    let project = Project::new();
    project.run("echo one > a");
    let journal = project.journal();
    let mirror = journal.mirror(&Budget::default(), &mut |_| {}).unwrap();
    let other = project.journal();
    other.ask_while_recording(|| false);
    let waited = other.mirror(&Budget::default(), &mut |_| {}).err().unwrap();
    assert!(waited.to_string().contains("another request"), "{waited}");
    drop(mirror);
    drop(project.journal().mirror(&Budget::default(), &mut |_| {}).unwrap());
}

/// The copy goes when nobody has used it for long, and counts with what is kept.
#[test]
fn cleaning() {
    let project = Project::new();
    project.run("truncate -s 5000 a");
    project.apply_mirrored("echo more >> a");
    project.apply_mirrored("true");
    let journal = project.journal();
    let (copy, limits) = (project.root.join(".clada/undo/mirror"), Limits::default());
    let kept = journal.clean(limits).unwrap();
    assert!(kept.bytes >= 10_000 && copy.exists(), "{kept:?}");
    project.run("touch -d '8 days ago' .clada/undo/mirror/moment");
    let kept = journal.clean(limits).unwrap();
    assert!(kept.bytes < 10_000 && !copy.exists(), "{kept:?}");
    journal.undo(&LAST, PLAIN).unwrap();
}

/// What a request has recorded itself, before its programs changed the same things.
#[test]
fn direct_changes_of_the_same_request() {
    for keep in ["applied", "held", "died"] {
        let project = Project::new();
        let setup = "file a one\nfile b two\ndir d\nfile d/f x\nsparse g 2000000\nhard b h";
        super::script::run(&project.root, setup, None).unwrap();
        let before = project.tree();
        let journal = project.journal();
        let recording = journal.begin(about());
        let change = "append a more\nmv b d/b\nfile n new\nmode d/f 600\nappend g tail\nhard a l";
        super::script::run(&project.root, change, Some(&recording)).unwrap();
        let direct = project.tree();
        let script = "chmod 700 a; echo x > d/b; rm g; mv d e; echo n > n.new; mv n.new n";
        let mut layer = journal.unstamped_layer(&about()).unwrap();
        let mirror = journal.mirror(&Budget::default(), &mut |_| {}).unwrap();
        layer.write_directly(&mirror).unwrap();
        project.run(script);
        if keep == "died" {
            drop((recording, layer, mirror));
            let journal = project.recovered();
            project.assert(&direct, keep);
            assert_eq!(journal.held().unwrap().len(), 1);
            journal.undo(&LAST, PLAIN).unwrap();
            project.assert(&before, keep);
            continue;
        }
        layer.take_back(&mirror).unwrap();
        if keep == "held" {
            layer.hold(&about(), Outcome::default()).unwrap();
        } else {
            recording.apply(&layer).unwrap();
            layer.discard().unwrap();
        }
        recording.finish(Outcome::default()).unwrap();
        let after = project.tree();
        journal.undo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{keep}: {error}"));
        project.assert(&before, keep);
        journal.redo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{keep}: {error}"));
        project.assert(&after, keep);
    }
}

/// Held and committed, with somebody's own change in between.
#[test]
fn held() {
    let project = Project::new();
    project.run("echo one > a; mkdir d; echo x > d/x");
    let before = project.tree();
    let journal = project.journal();
    let (layer, seen) = project.run_mirrored(&journal, "echo two > a; rm -r d; mkfifo p");
    let id = layer.hold(&about(), Outcome::default()).unwrap();
    project.assert(&before, "held");
    assert_eq!(journal.record(id).unwrap().phase, Phase::Held);
    journal.commit(id).unwrap();
    project.assert(&seen, "committed");
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
    let (layer, _) = project.run_mirrored(&journal, "echo three > a");
    let id = layer.hold(&about(), Outcome::default()).unwrap();
    project.run("echo theirs > a");
    assert!(matches!(journal.commit(id), Err(UndoError::Conflicts(_))));
    journal.discard(id).unwrap();
}

/// Sockets are nobody's to copy or to take away.
#[test]
fn sockets_stay() {
    let project = Project::new();
    let socket = "python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])'";
    project.run(&format!("{socket} s; echo a > a"));
    let journal = project.journal();
    let (layer, _) = project.run_mirrored(&journal, &format!("{socket} t; echo b > b"));
    let names = |name: &str| project.root.join(name).symlink_metadata().is_ok();
    assert!(names("s") && names("t") && !names("b"));
    layer.discard().unwrap();
    let root = fs::File::open(&project.root).unwrap();
    assert!(crate::system::stat(root.as_fd(), b"s").unwrap().is_some());
    assert_eq!(
        fs::metadata(project.root.join(".clada/undo/mirror")).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

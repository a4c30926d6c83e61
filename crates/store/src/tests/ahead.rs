//! Layers that were made before a request uses them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::project::{LAST, PLAIN, Project, about};
use crate::{LayerAhead, Outcome};

fn run_folder(project: &Project) -> PathBuf {
    project.root.join(".clada/undo/run")
}

fn upper(project: &Project, ahead: &LayerAhead) -> PathBuf {
    run_folder(project).join(ahead.name().to_string()).join("upper")
}

fn count(project: &Project) -> usize {
    fs::read_dir(run_folder(project)).unwrap().count()
}

#[test]
fn what_changes_before_it_is_used_is_no_conflict_and_what_changes_after_is() {
    let project = Project::new();
    project.run("echo 1 > before; echo 1 > after");
    let journal = project.journal();
    let ahead = journal.layer_ahead().unwrap();
    project.run("echo 2 >> before; touch made");
    assert!(ahead.is_fit());
    let mut layer = ahead.begin(&about()).unwrap();
    layer.stamp().unwrap();
    project.run("echo mine >> after");
    project.run_on(&layer, "echo 3 >> before; echo 3 >> after");
    let conflicts: Vec<String> =
        layer.plan().unwrap().conflicts.iter().map(|conflict| conflict.path.to_string()).collect();
    assert_eq!(conflicts, ["after"]);
    layer.discard().unwrap();

    let ahead = journal.layer_ahead().unwrap();
    project.run("echo 2 >> before");
    let before = project.tree();
    assert!(ahead.is_fit());
    let mut layer = ahead.begin(&about()).unwrap();
    layer.stamp().unwrap();
    project.run_on(&layer, "echo 3 >> before; rm after");
    let recording = journal.begin(about());
    recording.apply(&layer).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap();
    layer.discard().unwrap();
    let after = project.tree();
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
    journal.redo(&LAST, PLAIN).unwrap();
    project.assert(&after, "redone");
}

#[test]
fn a_time_of_the_root_is_put_right() {
    let project = Project::new();
    let ahead = project.journal().layer_ahead().unwrap();
    let time = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    let root = fs::File::open(&project.root).unwrap();
    root.set_modified(SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 7)).unwrap();
    assert!(ahead.is_fit());
    assert_eq!(time(&upper(&project, &ahead)), time(&project.root));
    // And back again.
    let before = time(&project.root);
    project.run("touch made; rm made");
    assert!(ahead.is_fit());
    root.set_modified(before).unwrap();
    assert!(ahead.is_fit());
    assert_eq!(time(&upper(&project, &ahead)), before);
    ahead.dismiss().remove().unwrap();
    assert_eq!(count(&project), 0);
}

#[test]
fn another_root_makes_it_unfit() {
    let changes: [fn(&Project); 2] = [
        |project| {
            fs::set_permissions(&project.root, fs::Permissions::from_mode(0o711)).unwrap();
        },
        |project| {
            let value = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(&project.root, "user.some", b"value", value).unwrap();
        },
    ];
    for change in changes {
        let project = Project::new();
        let ahead = project.journal().layer_ahead().unwrap();
        assert!(ahead.is_fit());
        change(&project);
        assert!(!ahead.is_fit());
        ahead.dismiss().remove().unwrap();
        let again = project.journal().layer_ahead().unwrap();
        assert!(again.is_fit());
    }
}

#[test]
fn what_was_cleared_away_is_not_used() {
    let project = Project::new();
    let ahead = project.journal().layer_ahead().unwrap();
    fs::remove_file(upper(&project, &ahead).join(".clada")).unwrap();
    assert!(!ahead.is_fit(), "the state would be seen");
    drop(ahead);
    let ahead = project.journal().layer_ahead().unwrap();
    fs::remove_dir_all(project.root.join(".clada/undo")).unwrap();
    assert!(!ahead.is_fit());
    assert!(ahead.begin(&about()).is_err());
}

#[test]
fn what_is_written_is_noticed() {
    let changes: [fn(&PathBuf); 5] = [
        |upper| fs::write(upper.join("made"), "").unwrap(),
        |upper| {
            // Made, and gone again.
            fs::write(upper.join("made"), "").unwrap();
            fs::remove_file(upper.join("made")).unwrap();
        },
        |upper| fs::set_permissions(upper, fs::Permissions::from_mode(0o711)).unwrap(),
        |upper| {
            let value = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(upper, "user.some", b"value", value).unwrap();
        },
        |upper| {
            // Whatever it does to its times.
            let before = fs::metadata(upper).unwrap().modified().unwrap();
            fs::write(upper.join("made"), "").unwrap();
            fs::File::open(upper).unwrap().set_modified(before).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let project = Project::new();
        let mut layer = project.journal().unstamped_layer(&about()).unwrap();
        assert!(!layer.is_untouched(), "nobody knows");
        layer.stamp().unwrap();
        assert!(layer.is_untouched() && layer.plan().unwrap().is_empty());
        change(&run_folder(&project).join(layer.name().to_string()).join("upper"));
        assert!(!layer.is_untouched(), "{number}");
    }
}

/// Nothing was written to it, so there is nothing to decide about, whatever has happened to the root since.
#[test]
fn one_whose_process_died_goes() {
    let project = Project::new();
    let ahead = project.journal().layer_ahead().unwrap();
    let journal = project.journal();
    assert_eq!(count(&project), 1, "whoever opens the journal leaves it alone");
    fs::set_permissions(&project.root, fs::Permissions::from_mode(0o711)).unwrap();
    drop((ahead, journal));
    let journal = project.recovered();
    assert_eq!(count(&project), 0);
    assert!(journal.held().unwrap().is_empty());
}

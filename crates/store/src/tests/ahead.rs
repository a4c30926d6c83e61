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

/// What the spawner does with the folder of a layer that nobody has touched, when its jail is gone.
fn put_back(project: &Project, layer: crate::Layer) {
    let dismissed = layer.dismiss_unused().unwrap();
    let folder = run_folder(project).join(dismissed.whereabouts().unwrap().1.to_string());
    let reuse = dismissed.reuse().unwrap().expect("it can be used again");
    let emptied = folder.join(reuse.emptied.to_string());
    fs::remove_dir_all(&emptied).unwrap();
    fs::create_dir(&emptied).unwrap();
    fs::rename(&folder, spare(project)).unwrap();
    // Closing it is not enough here: a process that another test is about to start has it open too until it executes its program.
    let lock = dismissed.whereabouts().unwrap().2;
    rustix::fs::flock(lock, rustix::fs::FlockOperation::Unlock).unwrap();
}

fn spare(project: &Project) -> PathBuf {
    project.root.join(".clada/undo/spare")
}

fn untouched(project: &Project) -> crate::Layer {
    let mut layer = project.journal().unstamped_layer(&about()).unwrap();
    layer.stamp().unwrap();
    assert!(layer.is_untouched());
    layer
}

/// What it is known by.
fn inode(path: &std::path::Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap())
}

#[test]
fn a_folder_that_nobody_has_touched_is_used_again() {
    let project = Project::new();
    put_back(&project, untouched(&project));
    let kept = inode(&spare(&project));
    assert_eq!(count(&project), 0);
    // A change of the root that a new one would show too.
    project.run("echo 1 > before");
    let layer = untouched(&project);
    assert!(!spare(&project).exists(), "there is one at most");
    let folder = run_folder(&project).join(layer.name().to_string());
    assert_eq!(inode(&folder), kept);
    let time = |path: &std::path::Path| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(time(&folder.join("upper")), time(&project.root));
    // It is a layer like any other.
    let (journal, before) = (project.journal(), project.tree());
    project.run_on(&layer, "echo 2 > before; echo made > made");
    let recording = journal.begin(about());
    recording.apply(&layer).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap();
    layer.discard().unwrap();
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
    assert_eq!(count(&project), 0);
}

#[test]
fn a_folder_that_is_used_again_says_what_the_request_is_about() {
    let project = Project::new();
    let long = crate::About { command: "a longer one than the next".into(), ..about() };
    let mut layer = project.journal().unstamped_layer(&long).unwrap();
    layer.stamp().unwrap();
    put_back(&project, layer);
    let layer = untouched(&project);
    project.run_on(&layer, "echo made > made");
    // Its process dies, and whoever opens the journal next holds it.
    drop(layer);
    let held = project.recovered().log().unwrap();
    assert_eq!(held.last().map(|record| &record.about), Some(&about()));
}

#[test]
fn a_folder_that_is_not_as_it_would_be_made_is_not_used_again() {
    type Change = fn(&Project);
    let changes: [(&str, Change); 6] = [
        ("something is in it", |project| {
            fs::write(spare(project).join("upper/made"), "").unwrap();
        }),
        ("the kernel has left something", |project| {
            fs::create_dir(spare(project).join("work/incompat")).unwrap();
        }),
        ("the state would be seen", |project| {
            fs::remove_file(spare(project).join("upper/.clada")).unwrap();
        }),
        ("no moment is known", |project| {
            fs::remove_file(spare(project).join("moment")).unwrap();
        }),
        ("the root has another mode", |project| {
            fs::set_permissions(&project.root, fs::Permissions::from_mode(0o711)).unwrap();
        }),
        ("the root has another attribute", |project| {
            let value = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(&project.root, "user.some", b"value", value).unwrap();
        }),
    ];
    for (why, change) in changes {
        let project = Project::new();
        put_back(&project, untouched(&project));
        change(&project);
        let layer = untouched(&project);
        assert!(!spare(&project).exists(), "{why}: it goes");
        let upper = run_folder(&project).join(layer.name().to_string()).join("upper");
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&upper), mode(&project.root), "{why}");
        assert!(!upper.join("made").exists(), "{why}");
        layer.discard().unwrap();
    }
}

#[test]
fn a_folder_that_somebody_is_about_to_put_back_is_left_alone() {
    let project = Project::new();
    put_back(&project, untouched(&project));
    let held = fs::File::open(spare(&project)).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let layer = untouched(&project);
    assert!(spare(&project).exists());
    drop(held);
    layer.discard().unwrap();
}

/// Where ext4 is not what the tests are on, there is nothing to see.
#[test]
fn folders_of_layers_do_not_lie_beside_one_another() {
    let project = Project::new();
    drop(untouched(&project));
    let run = fs::File::open(run_folder(&project)).unwrap();
    let is_ext4 = rustix::fs::fstatfs(&run).unwrap().f_type == 0xEF53;
    let flags = rustix::fs::ioctl_getflags(&run).unwrap_or(rustix::fs::IFlags::empty());
    assert_eq!(flags.contains(rustix::fs::IFlags::TOPDIR), is_ext4);
}

//! What is shown of a record: both sides of every path, whatever others have done since, and how many there are.

use std::fs;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use super::project::{LAST, PLAIN, Project, about, started};
use super::script::run;
use crate::{Change, Journal, Outcome, RecordId, Side, Tally, UndoError, Watch, Which};

fn request(project: &Project, script: &str) -> RecordId {
    let recording = project.journal().begin(started());
    run(&project.root, script, Some(&recording)).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap()
}

fn shown(journal: &Journal, id: RecordId) -> Vec<String> {
    let side = |side: &Option<Side>| match side {
        None => "-".to_owned(),
        Some(side) => {
            let mut text = format!("{:o}", side.facts.mode);
            if let Some(file) = journal.content(side).unwrap() {
                text.push(':');
                let content = file.read(u64::MAX).unwrap();
                // Large ones are holes, but for their ends.
                let shown = content.len().saturating_sub(20);
                let shown = content.iter().skip(shown).skip_while(|byte| **byte == 0);
                text.extend(shown.map(|byte| char::from(*byte)));
                if content.len() > 20 {
                    text.push_str(&format!("({})", content.len()));
                }
            }
            text
        }
    };
    let line = |change: &Change| {
        let since = if change.changed_since { " changed since" } else { "" };
        format!("{} {} {}{since}", change.path, side(&change.before), side(&change.after))
    };
    journal.diff(id).unwrap().iter().map(line).collect()
}

/// Of large files that are only appended to, nothing is copied.
#[test]
fn pieces_of_contents_are_put_together() {
    let project = Project::new();
    run(&project.root, "sparse f 2000000\nat f 1999990 0123456789\nmode f 644", None).unwrap();
    let first = request(&project, "append f one\nmv f g");
    let second = request(&project, "append g two");
    let third = request(&project, "append g three\nat g 2000003 TWO");
    let journal = project.journal();
    let check = |when: &str| {
        let firsts = ["g 644:0123456789(2000000) 644:0123456789one(2000003)"];
        assert_eq!(shown(&journal, first), firsts, "{when}: first");
        let seconds = ["g 644:0123456789one(2000003) 644:0123456789onetwo(2000006)"];
        assert_eq!(shown(&journal, second), seconds, "{when}: second");
        let thirds = ["g 644:0123456789onetwo(2000006) 644:123456789oneTWOthree(2000011)"];
        assert_eq!(shown(&journal, third), thirds, "{when}: third");
    };
    check("applied");
    for when in ["third undone", "second undone", "first undone"] {
        journal.undo(&LAST, PLAIN).unwrap();
        check(when);
    }
    journal.redo(&Which::Last(3), PLAIN).unwrap();
    check("redone");
}

#[test]
fn what_later_records_did_is_not_shown() {
    let project = Project::new();
    run(&project.root, "file f 1\nmode f 644\nfile g 1\nmode g 644", None).unwrap();
    let first = request(&project, "append f 2\nmode g 600");
    let second = request(&project, "append f 3\nmode f 600\nmv g h");
    let third = request(&project, "mv f e\nappend h 2\nrm h");
    let journal = project.journal();
    let firsts = ["f 644:1 644:12", "g 644:1 600:1"];
    let seconds = ["f 644:12 600:123", "h 600:1 600:1"];
    let thirds = ["e 600:123 600:123", "h 600:1 -"];
    let check = |when: &str| {
        assert_eq!(shown(&journal, first), firsts, "{when}: first");
        assert_eq!(shown(&journal, second), seconds, "{when}: second");
        assert_eq!(shown(&journal, third), thirds, "{when}: third");
    };
    check("applied");
    for when in ["third undone", "second undone", "first undone"] {
        journal.undo(&LAST, PLAIN).unwrap();
        check(when);
    }
    journal.redo(&Which::Last(3), PLAIN).unwrap();
    check("redone");
}

#[test]
fn what_a_person_did_is_marked() {
    let project = Project::new();
    run(&project.root, "file f 1\nmode f 644\nfile g 1\nmode g 644", None).unwrap();
    let id = request(&project, "append f 2\ndir d\nmode d 755\nfile d/x x\nmode d/x 644\nrm g");
    sleep(Duration::from_millis(10));
    project.run("printf 3 >> f; echo mine > d/mine; echo mine > g");
    let lines = shown(&project.journal(), id);
    assert_eq!(lines, ["d - 755", "d/x - 644:x", "f 644:1 644:123 changed since", "g 644:1 -"]);
}

#[test]
fn looking_makes_nothing() {
    let project = Project::new();
    run(&project.root, "file f 1", None).unwrap();
    let id = request(&project, "append f 2\nfile g x");
    let journal = project.journal();
    let list = || {
        let folders = ["pre", "redo", "run", "log", "busy"].map(|name| {
            let folder = project.root.join(".clada/undo").join(name);
            fs::read_dir(folder).unwrap().count()
        });
        folders.to_vec()
    };
    let before = list();
    fs::remove_dir_all(project.root.join(".clada/undo/redo")).unwrap();
    fs::create_dir(project.root.join(".clada/undo/redo")).unwrap();
    journal.diff(id).unwrap();
    assert_eq!(list()[1], 0);
    assert_eq!(list()[0], before[0]);
}

#[test]
fn a_layer_that_waits() {
    let project = Project::new();
    let script =
        "umask 022; mkdir d e; printf 1 > d/a; printf 1 > d/b; printf 1 > e/x; printf 1 > f";
    project.run(script);
    let journal = project.journal();
    let layer = journal.layer(&about()).unwrap();
    let script = "umask 022; rm -r d; mkdir d; printf 2 > d/b; printf 2 > d/c; rm -r e; chmod 600 f
        mkdir n; printf 2 > n/y; chmod 711 .";
    project.run_on(&layer, script);
    let expected = [
        " 755 711",
        "d 755 755",
        "d/a 644:1 -",
        "d/b 644:1 644:2",
        "d/c - 644:2",
        "e 755 -",
        "e/x 644:1 -",
        "f 644:1 600:1",
        "n - 755",
        "n/y - 644:2",
    ];
    let paths: Vec<String> =
        journal.diff_layer(&layer).unwrap().iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths.len(), expected.len());
    let id = layer.hold(&about(), Outcome::default()).unwrap();
    fs::set_permissions(&project.root, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let held = shown(&journal, id);
    assert_eq!(held, expected);
    let counted = Tally { created: 4, modified: 3, deleted: 1, moved: 0 };
    assert_eq!(journal.held_plan(id).unwrap().tally(), counted);
}

#[test]
fn paths_are_counted() {
    let project = Project::new();
    run(&project.root, "file a 1\nfile b 1\nfile c 1\nfile e 1", None).unwrap();
    let script =
        "append a 2\nmode a 600\nrm b\nmv c d\nfile t x\nrm t\nfile n x\nfile u x\nreplace u e";
    let id = request(&project, script);
    let tally = project.journal().record(id).unwrap().tally();
    assert_eq!(tally, Tally { created: 1, modified: 2, deleted: 1, moved: 1 });
}

#[test]
fn a_record_that_cannot_be_read_is_not_skipped() {
    let project = Project::new();
    run(&project.root, "file a 1\nfile b 1", None).unwrap();
    let first = request(&project, "append a 2");
    let second = request(&project, "append b 2");
    fs::write(project.root.join(".clada/undo/log/000000002.rec"), "nonsense").unwrap();
    let journal = project.journal();
    let damaged = Err(UndoError::Damaged { id: second });
    assert_eq!(journal.undo(&LAST, PLAIN), damaged);
    assert_eq!(journal.undo(&Which::These(vec![second]), PLAIN), damaged);
    assert_eq!(journal.undo(&Which::These(vec![first]), PLAIN).unwrap().records, [first]);
}

#[test]
fn whoever_watches_is_told() {
    let project = Project::new();
    run(&project.root, "dir d", None).unwrap();
    request(&project, "many d 50");
    let (root, state) = project.handles();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let watch = Watch::new(move |done, total| {
        assert!(done < total && total == 50);
        count.fetch_add(1, Ordering::Relaxed);
    });
    let journal = Journal::open_watched(root.as_fd(), state.as_fd(), watch).unwrap();
    journal.undo(&LAST, PLAIN).unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 50);
}

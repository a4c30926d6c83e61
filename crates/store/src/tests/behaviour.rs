//! Conflicts, order, holding, cleaning, and who may be trusted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread::sleep;
use std::time::Duration;

use super::project::{FORCE, LAST, PLAIN, Project, about};
use super::script::run;
use crate::{ConflictKind, Limits, Options, Outcome, Phase, RecordId, UndoError, Which};

fn request(project: &Project, script: &str) -> RecordId {
    let recording = project.journal().begin(about());
    run(&project.root, script, Some(&recording)).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap()
}

fn read(project: &Project, path: &str) -> String {
    fs::read_to_string(project.root.join(path)).unwrap()
}

#[test]
fn a_request_that_changes_nothing_leaves_nothing() {
    let project = Project::new();
    let recording = project.journal().begin(about());
    assert_eq!(recording.finish(Outcome::default()), Ok(None));
    assert_eq!(fs::read_dir(project.root.join(".clada")).unwrap().count(), 0);
    let journal = project.journal();
    assert_eq!(journal.undo(&LAST, PLAIN), Err(UndoError::NothingToUndo));
    let recording = journal.begin(about());
    run(&project.root, "fail a", Some(&recording)).unwrap();
    assert_eq!(recording.finish(Outcome::default()), Ok(None));
    assert!(journal.log().unwrap().is_empty());
}

/// What a person did since, whether a plain undo refuses, and what a forced one leaves at `f`.
#[test]
fn what_a_person_changed_is_found() {
    type Case =
        (&'static str, &'static str, &'static str, Option<ConflictKind>, Option<&'static str>);
    let cases: &[Case] = &[
        ("file f old", "over f new", "echo mine > f", Some(ConflictKind::Changed), Some("old")),
        ("file f old", "over f new", "rm f", Some(ConflictKind::Deleted), Some("old")),
        ("file f old", "over f new", "mv f g; cp g f", Some(ConflictKind::Changed), Some("old")),
        ("file f old", "over f new", "chmod 600 f", Some(ConflictKind::Changed), Some("old")),
        ("file f old", "over f new", "rm f; mkdir f", Some(ConflictKind::Changed), None),
        ("", "file f new", "echo mine > f", Some(ConflictKind::Changed), None),
        ("", "file f new", "rm f", Some(ConflictKind::Deleted), None),
        ("file f old", "rm f", "echo mine > f", Some(ConflictKind::Appeared), Some("old")),
        ("file f old", "rm f", "mkdir f; echo x > f/g", Some(ConflictKind::Appeared), Some("old")),
        ("file f old", "mv f g", "echo more >> g", Some(ConflictKind::Changed), Some("oldmore\n")),
        ("file f old", "mv f g", "cp g h; mv h g", Some(ConflictKind::Changed), Some("old")),
        ("file f old", "mv f g", "echo mine > f", Some(ConflictKind::Appeared), Some("old")),
        ("file f old", "mode f 600", "chmod 640 f", Some(ConflictKind::Changed), Some("old")),
        ("file f old", "over f new", "echo x > other; mkdir d", None, Some("old")),
        ("file f old", "over f new", "touch -a f; cat f > /dev/null", None, Some("old")),
    ];
    for (setup, change, meanwhile, conflict, forced) in cases {
        let when = format!("{setup}; {change}; {meanwhile}");
        let project = Project::new();
        run(&project.root, setup, None).unwrap();
        request(&project, change);
        sleep(Duration::from_millis(10));
        project.run(meanwhile);
        let (changed, journal) = (project.tree(), project.journal());
        if let Some(kind) = conflict {
            match journal.undo(&LAST, PLAIN) {
                Err(UndoError::Conflicts(found)) => {
                    assert!(found.iter().any(|one| one.kind == *kind), "{when}: {found:?}");
                }
                other => panic!("{when}: {other:?}"),
            }
            project.assert(&changed, &format!("{when}: refused"));
            assert_eq!(journal.log().unwrap()[0].phase, Phase::Applied, "{when}");
        }
        // A file that became a directory cannot be written back: refused even then, and nothing is lost.
        let undone = journal.undo(&LAST, FORCE);
        if meanwhile.contains("rm f; mkdir f") {
            undone.unwrap_err();
            project.assert(&changed, &format!("{when}: refused"));
            continue;
        }
        undone.unwrap_or_else(|error| panic!("{when}: {error}"));
        match forced {
            Some(content) => assert_eq!(read(&project, "f"), *content, "{when}"),
            None => assert!(!project.root.join("f").exists(), "{when}"),
        }
        // The person's version is not lost: redo brings it back.
        journal.redo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
        if !meanwhile.contains("rm f") && !meanwhile.contains("chmod") {
            let differences = changed.differences(&project.tree(), super::tree::But::Times);
            assert!(differences.is_empty(), "{when}: redone: {differences:?}");
        }
    }
}

#[test]
fn a_directory_with_something_foreign_stays() {
    for layer in [false, true] {
        let project = Project::new();
        let made = "dir d\ndir d/e\nfile d/e/f x\nfile d/g y\ndir d/h\nfile d/h/i z";
        if layer {
            project
                .apply("mkdir -p d/e d/h; echo x > d/e/f; echo y > d/g; echo z > d/h/i")
                .unwrap();
        } else {
            request(&project, made);
        }
        let after = project.tree();
        project.run("echo mine > d/e/notes");
        let with_notes = project.tree();
        let journal = project.journal();
        let report = journal.undo(&LAST, PLAIN).unwrap();
        assert_eq!(report.kept, ["d", "d/e"], "layer {layer}");
        let left: Vec<Vec<u8>> = project.tree().0.into_keys().collect();
        assert_eq!(left, [&b""[..], b"d", b"d/e", b"d/e/notes"], "layer {layer}");
        assert_eq!(read(&project, "d/e/notes"), "mine\n");
        journal.redo(&LAST, PLAIN).unwrap();
        let differences = with_notes.differences(&project.tree(), super::tree::But::Times);
        assert!(differences.is_empty(), "layer {layer}: {differences:?}");
        project.run("rm d/e/notes");
        let differences = after.differences(&project.tree(), super::tree::But::Times);
        assert!(differences.is_empty(), "layer {layer}: {differences:?}");
    }
}

#[test]
fn what_a_person_changed_after_an_undo_is_found() {
    for (setup, change, meanwhile) in [
        ("dir d\nfile d/f x", "rm d", "echo mine >> d/f"),
        ("dir d\nfile d/f x", "rm d", "echo mine > d/g"),
        ("dir d\nfile d/f x", "rm d\nfile d x", "chmod 600 d/f"),
        ("", "file f x", "echo mine > f"),
        ("file f x", "append f y", "echo mine >> f"),
        ("file f x", "mv f g", "echo mine > g"),
    ] {
        let when = format!("{setup}; {change}; {meanwhile}");
        let project = Project::new();
        run(&project.root, setup, None).unwrap();
        request(&project, change);
        let journal = project.journal();
        journal.undo(&LAST, PLAIN).unwrap();
        sleep(Duration::from_millis(10));
        project.run(meanwhile);
        let changed = project.tree();
        let refused = journal.redo(&LAST, PLAIN);
        assert!(matches!(refused, Err(UndoError::Conflicts(_))), "{when}: {refused:?}");
        project.assert(&changed, &when);
        journal.redo(&LAST, FORCE).unwrap_or_else(|error| panic!("{when}: {error}"));
        journal.undo(&LAST, PLAIN).unwrap_or_else(|error| panic!("{when}: {error}"));
        let differences = changed.differences(&project.tree(), super::tree::But::Times);
        assert!(differences.is_empty(), "{when}: {differences:?}");
    }
}

#[test]
fn a_request_in_the_middle() {
    let project = Project::new();
    run(&project.root, "file a 1\nfile b 1\ndir d", None).unwrap();
    let first = request(&project, "append a 2\nfile d/f x");
    let second = request(&project, "append b 2");
    let third = request(&project, "append d/f y");
    let journal = project.journal();
    let these = |ids: &[RecordId]| Which::These(ids.to_vec());
    let refused = journal.undo(&these(&[first]), PLAIN);
    assert_eq!(refused, Err(UndoError::Later { id: first, later: vec![third] }));
    journal.undo(&these(&[second]), PLAIN).unwrap();
    assert_eq!(read(&project, "b"), "1");
    assert_eq!(read(&project, "a"), "12");
    let wrong = journal.undo(&these(&[second]), PLAIN).unwrap_err();
    assert!(matches!(wrong, UndoError::WrongPhase { .. }), "{wrong}");
    let report = journal.undo(&these(&[first, third]), PLAIN).unwrap();
    assert_eq!(report.records, [third, first]);
    assert_eq!(read(&project, "a"), "1");
    assert!(!project.root.join("d/f").exists());
    // Undone last, redone first.
    assert_eq!(journal.redo(&LAST, PLAIN).unwrap().records, [first]);
    assert_eq!(journal.redo(&Which::Last(9), PLAIN).unwrap().records, [third, second]);
    assert_eq!(read(&project, "d/f"), "xy");
    assert_eq!(
        journal.undo(&these(&[RecordId(99)]), PLAIN),
        Err(UndoError::NoSuchRecord(RecordId(99)))
    );
}

#[test]
fn all_or_none_of_several() {
    let project = Project::new();
    run(&project.root, "file a 1\nfile b 1", None).unwrap();
    let before = project.tree();
    request(&project, "append a 2");
    request(&project, "append b 2");
    request(&project, "append a 3\nmv b c");
    let after = project.tree();
    let journal = project.journal();
    journal.undo(&Which::Last(3), PLAIN).unwrap();
    project.assert(&before, "undone");
    journal.redo(&Which::Last(3), PLAIN).unwrap();
    project.assert(&after, "redone");
    project.run("echo mine >> a");
    let changed = project.tree();
    let dry = journal.undo(&Which::Last(3), Options { dry_run: true, force: false }).unwrap();
    assert_eq!(dry.conflicts.len(), 1);
    journal.undo(&Which::Last(3), PLAIN).unwrap_err();
    project.assert(&changed, "refused");
}

#[test]
fn a_person_meets_a_layer() {
    let cases = [
        ("echo 1 > f", "echo 2 >> f", "echo mine >> f"),
        ("echo 1 > f", "echo 2 >> f", "echo mine > t; mv t f"),
        ("echo 1 > f", "rm f", "echo mine >> f"),
        ("echo 1 > f", "echo 2 >> f", "rm f"),
        ("", "echo 2 > f", "echo mine > f"),
        ("mkdir d; echo 1 > d/f", "rm -rf d", "echo mine > d/new"),
        ("mkdir d; echo 1 > d/f", "rm -rf d; mkdir d", "echo mine >> d/f"),
        ("mkdir d; chmod 755 d", "chmod 700 d", "chmod 711 d"),
    ];
    for (setup, change, meanwhile) in cases {
        let when = format!("{setup}; {change}; {meanwhile}");
        let project = Project::new();
        project.run(setup);
        sleep(Duration::from_millis(10));
        let journal = project.journal();
        let layer = journal.layer(&about()).unwrap();
        project.run_on(&layer, change);
        sleep(Duration::from_millis(10));
        project.run(meanwhile);
        let changed = project.tree();
        let recording = journal.begin(about());
        match recording.apply(&layer) {
            Err(UndoError::Conflicts(conflicts)) => assert!(!conflicts.is_empty()),
            other => panic!("{when}: {other:?}"),
        }
        assert_eq!(recording.finish(Outcome::default()), Ok(None), "{when}");
        project.assert(&changed, &when);
        let id = layer.hold(&about(), Outcome::default()).unwrap();
        assert_eq!(project.journal().held().unwrap().len(), 1, "{when}");
        assert!(matches!(journal.commit(id), Err(UndoError::Conflicts(_))), "{when}");
        project.assert(&changed, &when);
        journal.discard(id).unwrap();
        assert_eq!(journal.record(id).unwrap().phase, Phase::Discarded, "{when}");
        assert_eq!(fs::read_dir(project.root.join(".clada/undo/run")).unwrap().count(), 0);
    }
}

#[test]
fn a_person_beside_a_layer_is_in_nobodys_way() {
    let project = Project::new();
    project.run("mkdir d; echo 1 > d/f; echo 1 > d/g");
    let journal = project.journal();
    let layer = journal.layer(&about()).unwrap();
    project.run_on(&layer, "echo 2 >> d/f; echo new > d/h");
    sleep(Duration::from_millis(10));
    project.run("echo mine >> d/g; echo mine > d/mine");
    let recording = journal.begin(about());
    recording.apply(&layer).unwrap();
    recording.finish(Outcome::default()).unwrap();
    for (path, content) in
        [("d/f", "1\n2\n"), ("d/g", "1\nmine\n"), ("d/h", "new\n"), ("d/mine", "mine\n")]
    {
        assert_eq!(read(&project, path), content);
    }
    journal.undo(&LAST, PLAIN).unwrap();
    for (path, content) in [("d/f", "1\n"), ("d/g", "1\nmine\n"), ("d/mine", "mine\n")] {
        assert_eq!(read(&project, path), content);
    }
}

#[test]
fn builtins_and_programs_in_one_record() {
    let project = Project::new();
    run(&project.root, "file a 1\ndir d\nfile d/f 1\ntime d 1000000000 3", None).unwrap();
    let before = project.tree();
    let journal = project.journal();
    let recording = journal.begin(about());
    run(&project.root, "append a 2\nfile d/g new\nmv d e\nfile x y", Some(&recording)).unwrap();
    let layer = journal.layer(&about()).unwrap();
    project.run_on(&layer, "echo 3 >> a; rm e/f; echo 4 >> e/g; echo 5 > e/h; mv x z");
    recording.apply(&layer).unwrap();
    recording.finish(Outcome { exit: 3, strategy: "restore".into() }).unwrap().unwrap();
    layer.discard().unwrap();
    let after = project.tree();
    assert_eq!(read(&project, "a"), "123\n");
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
    journal.redo(&LAST, PLAIN).unwrap();
    project.assert(&after, "redone");
    assert_eq!(journal.log().unwrap()[0].outcome.as_ref().unwrap().exit, 3);
}

#[test]
fn a_layer_whose_request_died_is_held() {
    let project = Project::new();
    project.run("echo 1 > f");
    let before = project.tree();
    let layer = project.journal().layer(&about()).unwrap();
    project.run_on(&layer, "echo 2 >> f; echo x > g");
    let unused = project.journal().layer(&about()).unwrap();
    drop((layer, unused));
    let journal = project.journal();
    project.assert(&before, "after the death");
    let held = journal.held().unwrap();
    assert_eq!(held.len(), 1);
    let changes = journal.diff(held[0].id).unwrap();
    let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["f", "g"]);
    journal.commit(held[0].id).unwrap();
    assert_eq!(read(&project, "f"), "1\n2\n");
    journal.undo(&LAST, PLAIN).unwrap();
    project.assert(&before, "undone");
}

#[test]
fn both_contents_of_a_change() {
    let project = Project::new();
    run(
        &project.root,
        "file w old\nfile d gone\nfile m same\nfile t trashed\ndir tree\nfile tree/a x",
        None,
    )
    .unwrap();
    let id =
        request(&project, "over w new\nrm d\nmv m n\ntrash t\nfile c made\nrm tree\nappend c more");
    let journal = project.journal();
    for round in ["applied", "undone"] {
        let mut lines = Vec::new();
        for change in journal.diff(id).unwrap() {
            let content = |side: &Option<crate::Side>| match side {
                None => "-".to_owned(),
                Some(side) => match journal.content(side).unwrap() {
                    Some(file) => {
                        let bytes = file.read(u64::MAX).unwrap();
                        String::from_utf8(bytes).unwrap()
                    }
                    None => "directory".to_owned(),
                },
            };
            let moved =
                change.moved_from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
            lines.push(format!(
                "{}{moved}: {} {}",
                change.path,
                content(&change.before),
                content(&change.after)
            ));
        }
        let expected = [
            ".trash: - directory",
            "c: - mademore",
            "d: gone -",
            "n from m: same same",
            "t: trashed -",
            "tree: directory -",
            "tree/a: x -",
            "w: old new",
        ];
        assert_eq!(lines, expected, "{round}");
        if round == "applied" {
            journal.undo(&LAST, PLAIN).unwrap();
        }
    }
}

#[test]
fn cleaning_takes_the_oldest() {
    let project = Project::new();
    run(&project.root, "file a 1", None).unwrap();
    let ids: Vec<RecordId> = (0..5)
        .map(|index| request(&project, &format!("append a {index}\nfile f{index} x")))
        .collect();
    let journal = project.journal();
    let nothing = journal.clean(Limits { age: Some(1000), count: Some(5), bytes: Some(1 << 20) });
    assert!(nothing.unwrap().forgotten.is_empty());
    let cleaned = journal.clean(Limits { count: Some(3), ..Limits::default() }).unwrap();
    assert_eq!(cleaned.forgotten, ids[..2]);
    assert_eq!(journal.record(ids[0]).unwrap_err(), UndoError::NoSuchRecord(ids[0]));
    journal.undo(&Which::Last(2), PLAIN).unwrap();
    assert_eq!(read(&project, "a"), "1012");
    let cleaned = journal.clean(Limits { bytes: Some(0), ..Limits::default() }).unwrap();
    assert_eq!(cleaned.forgotten, ids[2..]);
    let kept = project.root.join(".clada/undo/pre");
    assert_eq!(fs::read_dir(kept).unwrap().count(), 0);
    assert_eq!(request(&project, "file z x"), RecordId(6));
}

#[test]
fn a_journal_that_came_from_elsewhere_is_not_trusted() {
    let project = Project::new();
    run(&project.root, "file a 1", None).unwrap();
    let id = request(&project, "append a 2");
    let copy = project.copy();
    let refused = copy.journal().undo(&LAST, PLAIN);
    assert_eq!(refused, Err(UndoError::OtherTree { id }));
    let undo = copy.root.join(".clada/undo");
    fs::set_permissions(undo, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(copy.try_journal().err(), Some(UndoError::NotPrivate));
}

#[test]
fn a_damaged_record_is_not_undone() {
    let project = Project::new();
    run(&project.root, "file a 1", None).unwrap();
    request(&project, "append a 2");
    let after = project.tree();
    let record = project.root.join(".clada/undo/log/000000001.rec");
    let bytes = fs::read(&record).unwrap();
    for length in 0..bytes.len() {
        fs::write(&record, &bytes[..length]).unwrap();
        project.journal().undo(&LAST, PLAIN).unwrap_err();
        project.assert(&after, &format!("cut to {length}"));
    }
    for at in (0..bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        fs::write(&record, &flipped).unwrap();
        project.journal().undo(&LAST, PLAIN).unwrap_err();
        project.assert(&after, &format!("flipped at {at}"));
    }
    fs::write(&record, &bytes).unwrap();
    project.journal().undo(&LAST, PLAIN).unwrap();
}

#[test]
fn two_requests_at_once() {
    let project = Project::new();
    run(&project.root, "dir d", None).unwrap();
    let before = project.tree();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let project = &project;
            scope.spawn(move || {
                let journal = project.journal();
                for index in 0..10 {
                    let recording = journal.begin(about());
                    let script = format!("file d/{thread}-{index} x\nappend d/{thread}-{index} y");
                    run(&project.root, &script, Some(&recording)).unwrap();
                    recording.finish(Outcome::default()).unwrap().unwrap();
                }
            });
        }
    });
    let journal = project.journal();
    assert_eq!(journal.log().unwrap().len(), 40);
    journal.undo(&Which::Last(40), PLAIN).unwrap();
    let differences = before.differences(&project.tree(), super::tree::But::Times);
    assert!(differences.is_empty(), "{differences:?}");
}

#[test]
fn a_running_request_is_in_the_way_only_of_its_paths() {
    let project = Project::new();
    run(&project.root, "file a 1\nfile b 1", None).unwrap();
    let first = request(&project, "append a 2");
    let second = request(&project, "append b 2");
    let journal = project.journal();
    let running = journal.begin(about());
    run(&project.root, "append a 3", Some(&running)).unwrap();
    let refused = journal.undo(&Which::These(vec![first]), PLAIN).unwrap_err();
    assert!(matches!(refused, UndoError::Running { .. }), "{refused}");
    journal.undo(&Which::These(vec![second]), PLAIN).unwrap();
    running.finish(Outcome::default()).unwrap();
    journal.undo(&Which::Last(2), PLAIN).unwrap();
    assert_eq!(read(&project, "a"), "1");
}

/// What other records have changed in a directory that came back whole is nobody else's change.
#[test]
fn several_are_undone_and_redone_one_by_one() {
    let project = Project::new();
    run(&project.root, "dir d\nfile d/f 1\ndir d/e\nfile d/e/g 1", None).unwrap();
    let mut trees = vec![project.tree()];
    for script in ["append d/f 2\nover d/e/g 2", "rm d/f\nfile d/e/new x\nmode d/e 700", "rm d"] {
        request(&project, script);
        trees.push(project.tree());
    }
    let journal = project.journal();
    for tree in trees.iter().rev().skip(1) {
        journal.undo(&LAST, PLAIN).unwrap();
        project.assert(tree, "undone");
    }
    for tree in trees.iter().skip(1) {
        journal.redo(&LAST, PLAIN).unwrap();
        project.assert(tree, "redone");
    }
    // A person's change still is one.
    journal.undo(&LAST, PLAIN).unwrap();
    sleep(Duration::from_millis(20));
    run(&project.root, "over d/e/new theirs", None).unwrap();
    assert!(matches!(journal.redo(&LAST, PLAIN), Err(UndoError::Conflicts(_))));
}

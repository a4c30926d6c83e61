//! Large files that are only appended to, and copies that are given up.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::project::{FORCE, LAST, PLAIN, Project, about};
use super::script::run;
use crate::{Outcome, UndoError};

fn request(project: &Project, script: &str) {
    let recording = project.journal().begin(about());
    run(&project.root, script, Some(&recording)).unwrap();
    recording.finish(Outcome::default()).unwrap().unwrap();
}

/// A copy that a request waits for is given up when the request is.
#[test]
fn a_copy_can_be_given_up() {
    let project = Project::new();
    fs::write(project.root.join("f"), vec![b'x'; 3 << 20]).unwrap();
    let before = project.tree();
    let journal = project.journal();
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    journal.ask_while_recording(move || counted.fetch_add(1, Ordering::Relaxed) < 3);
    let recording = journal.begin(about());
    let refused = recording.before_write(b"f");
    let errno = rustix::io::Errno::INTR;
    assert_eq!(refused, Err(UndoError::CannotKeep { path: "f".into(), errno }));
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    assert_eq!(recording.finish(Outcome::default()).unwrap(), None);
    project.assert(&before, "nothing was changed");
    assert_eq!(fs::read_dir(project.root.join(".clada/undo/pre")).unwrap().count(), 0);
}

/// Where only the length was kept, there is nothing to put back under somebody else's change.
#[test]
fn a_changed_file_that_was_only_appended_to_is_not_forced() {
    for turn in ["undo", "redo"] {
        let project = Project::in_memory();
        run(&project.root, "sparse f 2000000\nat f 1999990 0123456789\nfile g x", None).unwrap();
        request(&project, "append f tail\nover g y");
        let journal = project.journal();
        if turn == "redo" {
            journal.undo(&LAST, PLAIN).unwrap();
        }
        run(&project.root, "at f 10 theirs", None).unwrap();
        let theirs = project.tree();
        let turned = |options| match turn {
            "undo" => journal.undo(&LAST, options),
            _ => journal.redo(&LAST, options),
        };
        assert!(matches!(turned(PLAIN), Err(UndoError::Conflicts(_))), "{turn}");
        let refused = turned(FORCE);
        assert_eq!(refused, Err(UndoError::OnlyLength { path: "f".into() }), "{turn}");
        project.assert(&theirs, turn);
    }
}

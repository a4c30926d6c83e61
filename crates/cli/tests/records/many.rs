//! A record of many paths: what is asked of it costs what it has, and not the square of it.

use std::fs;
use std::time::{Duration, Instant};

use super::project::Project;

#[test]
fn thousands_of_paths_take_seconds() {
    let project = Project::new();
    fs::create_dir(project.at("d")).expect("made");
    project.request("many", |recording| {
        for index in 0..3_000 {
            project.make(recording, format!("d/{index}"), format!("{index}\n"));
        }
    });
    for words in [&["diff"][..], &["undo", "--dry-run"], &["undo"], &["diff", "1"]] {
        let begun = Instant::now();
        assert_eq!(project.exacta(words).code, 0, "{words:?}");
        // A debug build on a machine with other work.
        assert!(begun.elapsed() < Duration::from_secs(10), "{words:?}: {:?}", begun.elapsed());
    }
}

//! Parts of a view that lie on the host as they would be made.
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "tests make what they need")]

mod support;

use std::fs;
use std::path::Path;

use exacta_jail::plan::{Access, Limits, Ready, ReadyPart, SyntheticFile, SyntheticLink, Tree};
use exacta_jail::{Ending, Plan};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use support::{Project, again_as_ordinary_user, spawner};

/// Hides three programs, and has two files and a link in `/etc`.
fn plan(project: &Project) -> Plan {
    let mut plan = project.plan(Limits::default());
    plan.view.trees[0].hidden = ["bin/id", "bin/env", "bin/nl"].map(Into::into).into();
    let file = |name: &str| SyntheticFile {
        target: Path::new("/etc").join(name),
        content: format!("made {name}\n").into(),
    };
    plan.view.files = ["one", "two", "deeper/three"].map(file).into();
    plan.view.links.push(SyntheticLink { target: "/etc/link".into(), text: "one".into() });
    plan
}

fn whiteout(path: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).expect("a whiteout");
}

fn run(project: &Project, plan: &Plan, script: &str) -> String {
    let spawner = spawner();
    let mut cell = spawner.build(plan).expect("a jail");
    let running = project.start(&mut cell, script);
    assert_eq!(running.wait().expect("an end"), Ending::Exited(0), "{}", project.output());
    project.output()
}

fn settings_with(trees: &[&str]) -> ReadyPart {
    ReadyPart::Settings { folder: "/etc".into(), trees: trees.iter().map(Into::into).collect() }
}

const LOOK: &str = "for name in id env nl; do test -e /usr/bin/$name && echo $name; done; \
                    ls /usr/bin | grep -xE 'id|env|nl'; cat /etc/one /etc/two /etc/link /etc/deeper/three; \
                    ls /etc; echo x 2>/dev/null > /etc/new || echo read-only; ls /usr/bin | wc -l";

#[test]
fn what_is_ready_is_used_as_if_it_had_been_made() {
    let (project, kept) = (Project::new(), Project::new());
    let mut plan = plan(&project);
    let made = run(&project, &plan, LOOK);
    let expected = "made one\nmade two\nmade one\nmade deeper/three\n";
    assert!(made.starts_with(expected), "{made}");
    assert!(made.contains("read-only\n"), "{made}");
    for name in ["id", "env", "nl"] {
        whiteout(&kept.0.join("mask/bin").join(name));
    }
    let settings = kept.0.join("settings");
    fs::create_dir_all(settings.join("deeper")).expect("folders");
    for name in ["one", "two", "deeper/three"] {
        fs::write(settings.join(name), format!("made {name}\n")).expect("a file");
    }
    std::os::unix::fs::symlink("one", settings.join("link")).expect("a link");
    plan.view.ready = vec![
        Ready { source: kept.0.join("mask"), part: ReadyPart::Mask("/usr".into()) },
        Ready { source: settings, part: settings_with(&[]) },
    ];
    assert_eq!(run(&project, &plan, LOOK), made);
    // It is this one that is used, and nothing inside reaches it.
    fs::write(kept.0.join("settings/two"), "other\n").expect("a file");
    let seen = run(&project, &plan, "cat /etc/two; ls /usr/bin/../.. | grep -c settings; true");
    assert_eq!(seen, "other\n0\n");
}

/// A file system that cannot hold whiteouts for an overlay, or somebody who has put something else there.
#[test]
fn a_mask_that_cannot_be_used_is_made() {
    let (project, kept) = (Project::new(), Project::new());
    let mut plan = plan(&project);
    let made = run(&project, &plan, LOOK);
    let file = kept.0.join("file");
    fs::write(&file, "").expect("a file");
    plan.view.ready = vec![Ready { source: file, part: ReadyPart::Mask("/usr".into()) }];
    assert_eq!(run(&project, &plan, LOOK), made);
}

/// The operator may have cleared it away while a session runs.
#[test]
fn what_is_no_longer_there_is_made() {
    let (project, kept) = (Project::new(), Project::new());
    let mut plan = plan(&project);
    let made = run(&project, &plan, LOOK);
    plan.view.ready = vec![
        Ready { source: kept.0.join("none"), part: ReadyPart::Mask("/usr".into()) },
        Ready { source: kept.0.join("none"), part: settings_with(&[]) },
    ];
    assert_eq!(run(&project, &plan, LOOK), made);
}

/// A tree that is in what is ready is not mounted, unless that is gone.
#[test]
fn a_tree_that_is_contained_is_mounted_where_what_is_ready_is_not_there() {
    let (project, kept) = (Project::new(), Project::new());
    let mut plan = plan(&project);
    let tree = kept.0.join("tree");
    for (folder, content) in [(&tree, "mounted"), (&kept.0.join("settings/some"), "contained")] {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("file"), content).expect("a file");
    }
    plan.view.trees.push(Tree {
        source: tree,
        target: "/etc/some".into(),
        access: Access::Read,
        hidden: Vec::new(),
    });
    for (source, expected) in [("settings", "contained"), ("none", "mounted")] {
        let part = settings_with(&["/etc/some"]);
        plan.view.ready = vec![Ready { source: kept.0.join(source), part }];
        assert_eq!(run(&project, &plan, "cat /etc/some/file"), expected);
    }
}

#[test]
fn the_same_for_an_ordinary_user() {
    again_as_ordinary_user();
}

//! Layers that requests write to: laid over the project of a standing jail, shared with whoever laid them, taken away.
#![expect(clippy::disallowed_methods, reason = "tests look at the host")]
#![expect(clippy::expect_used, reason = "a test that cannot go on says so")]

mod support;

use std::fs;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use exacta_jail::plan::{Access, Layers, Limits, Tree};
use exacta_jail::{Cell, Disguise, Ending, Plan};
use rustix::fs::{FileType, Mode, OFlags, mknodat, openat};

use support::{Project, again_as_ordinary_user, spawner};

/// Where folders of layers are.
const FOLDERS: &str = ".clada/run";

fn plan(project: &Project) -> Plan {
    fs::create_dir_all(project.0.join(FOLDERS)).expect("a state");
    let mut plan = project.plan(Limits::default());
    plan.view.layers =
        Some(Layers { source: project.0.join(FOLDERS), target: project.0.clone(), first: None });
    for tree in plan.view.trees.iter_mut().filter(|tree| tree.source == project.0) {
        tree.hidden.push(".clada".into());
    }
    plan
}

fn make_layer(project: &Project, name: &str) {
    let folder = project.0.join(FOLDERS).join(name);
    for part in ["upper", "work"] {
        fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    let upper = fs::File::open(folder.join("upper")).expect("the upper directory");
    mknodat(&upper, ".clada", FileType::CharacterDevice, Mode::empty(), 0).expect("a whiteout");
}

fn run(project: &Project, cell: &mut Cell, script: &str) -> String {
    let running = project.start(cell, script);
    assert_eq!(running.wait().expect("an end"), Ending::Exited(0), "{}", project.output());
    project.output()
}

fn read(layer: &OwnedFd, name: &str) -> Option<String> {
    let opened = openat(layer, name, OFlags::RDONLY, Mode::empty()).ok()?;
    let mut text = String::new();
    fs::File::from(opened).read_to_string(&mut text).ok()?;
    Some(text)
}

fn write(layer: impl AsFd, name: &str, text: &str) {
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let made = openat(&layer, name, flags, Mode::from_raw_mode(0o644)).or_else(|error| {
        assert_eq!(error, rustix::io::Errno::OVERFLOW, "{name}");
        let _as_the_person_inside = Disguise::put_on();
        openat(&layer, name, flags, Mode::from_raw_mode(0o644))
    });
    fs::File::from(made.expect(name)).write_all(text.as_bytes()).expect(name);
}

#[test]
fn what_is_written_goes_into_the_layer_and_is_seen_by_both_sides() {
    let (project, spawner) = (Project::new(), spawner());
    fs::write(project.0.join("old"), "old\n").expect("a file");
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    assert_eq!(run(&project, &mut cell, "cat old; ls .clada"), "old\n", "without a layer");
    make_layer(&project, "one");
    let layer = cell.lay(&project.0, "one".into()).expect("a layer");
    let said = run(
        &project,
        &mut cell,
        "ls -a; cat old; echo new > old; echo made > made; mkdir d; ls .clada 2>&1 || true",
    );
    assert_eq!(
        said,
        ".\n..\nold\nout\nold\nls: cannot access '.clada': No such file or directory\n"
    );
    assert_eq!(fs::read_to_string(project.0.join("old")).expect("it"), "old\n");
    assert!(!project.0.join("made").exists() && !project.0.join("d").exists());
    assert_eq!(read(&layer, "old").as_deref(), Some("new\n"));
    write(&layer, "d/from-outside", "hello\n");
    assert_eq!(
        run(&project, &mut cell, "cat d/from-outside; echo more >> d/from-outside"),
        "hello\n"
    );
    assert_eq!(read(&layer, "d/from-outside").as_deref(), Some("hello\nmore\n"));
    drop(layer);
    cell.lift(&project.0).expect("to take it away");
    assert_eq!(run(&project, &mut cell, "cat old; ls"), "old\nold\nout\n", "without a layer");
    let upper = project.0.join(FOLDERS).join("one/upper");
    assert_eq!(fs::read_to_string(upper.join("d/from-outside")).expect("it"), "hello\nmore\n");
    same_owner(&project.0, &upper.join("d/from-outside"));
}

fn same_owner(one: &Path, other: &Path) {
    use std::os::unix::fs::MetadataExt;
    let [one, other] = [one, other].map(|path| fs::symlink_metadata(path).expect("it"));
    assert_eq!((one.uid(), one.gid()), (other.uid(), other.gid()));
}

#[test]
fn each_request_has_its_own() {
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    for name in ["one", "two", "three"] {
        make_layer(&project, name);
        let layer = cell.lay(&project.0, name.into()).expect("a layer");
        let said = run(&project, &mut cell, &format!("ls; echo {name} > {name}; rm -f out"));
        assert_eq!(said, "out\n", "nothing of those before");
        cell.sweep().expect("an end");
        drop(layer);
        cell.lift(&project.0).expect("to take it away");
        assert!(project.0.join(FOLDERS).join(name).join("upper").join(name).exists());
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_changes_nothing() {
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    let failure = cell.lay(&project.0, "none".into()).expect_err("no layer");
    assert_eq!(failure.errno, libc::ENOENT);
    assert_eq!(run(&project, &mut cell, "echo direct > direct; cat direct"), "direct\n");
    assert!(project.0.join("direct").exists());
}

/// It lies there before anything can run, whether or not somebody has asked for it by then.
#[test]
fn the_first_comes_with_the_jail() {
    let (project, spawner) = (Project::new(), spawner());
    fs::write(project.0.join("old"), "old\n").expect("a file");
    let mut plan = plan(&project);
    make_layer(&project, "one");
    plan.view.layers.as_mut().expect("layers").first = Some("one".into());
    let mut cell = spawner.build(&plan).expect("a jail");
    let said = run(&project, &mut cell, "cat old; echo new > old; mkdir d; mv old d; ls -a");
    assert_eq!(said, "old\n.\n..\nd\nout\n");
    let layer = cell.lay(&project.0, "one".into()).expect("a layer");
    assert_eq!(read(&layer, "d/old").as_deref(), Some("new\n"), "it is that one");
    assert_eq!(fs::read_to_string(project.0.join("old")).expect("it"), "old\n");
    drop(layer);
    cell.lift(&project.0).expect("to take it away");
    assert_eq!(run(&project, &mut cell, "ls"), "old\nout\n", "without a layer");
    make_layer(&project, "two");
    let layer = cell.lay(&project.0, "two".into()).expect("another layer");
    assert_eq!(run(&project, &mut cell, "echo x > x; ls"), "old\nout\nx\n");
    assert_eq!(read(&layer, "x").as_deref(), Some("x\n"));
}

#[test]
fn a_first_one_that_nobody_asks_for_is_not_beneath_the_next() {
    let (project, spawner) = (Project::new(), spawner());
    let mut plan = plan(&project);
    make_layer(&project, "one");
    make_layer(&project, "two");
    plan.view.layers.as_mut().expect("layers").first = Some("one".into());
    let mut cell = spawner.build(&plan).expect("a jail");
    run(&project, &mut cell, "echo lost > lost");
    let layer = cell.lay(&project.0, "two".into()).expect("another layer");
    assert_eq!(run(&project, &mut cell, "echo x > x; ls"), "out\nx\n");
    drop(layer);
    cell.lift(&project.0).expect("to take it away");
    assert_eq!(run(&project, &mut cell, "ls"), "out\n", "there is none beneath it");
}

/// Whoever asks for it is told, and nothing has run until then that was not to.
#[test]
fn a_first_one_that_cannot_be_had_is_an_error_for_who_asks() {
    let (project, spawner) = (Project::new(), spawner());
    let mut plan = plan(&project);
    plan.view.layers.as_mut().expect("layers").first = Some("none".into());
    let mut cell = spawner.build(&plan).expect("a jail");
    let failure = cell.lay(&project.0, "none".into()).expect_err("no layer");
    assert_eq!(failure.errno, libc::ENOENT);
}

/// What is changed beneath it until somebody claims it is seen, also by renaming and removing.
#[test]
fn one_laid_ahead_is_for_whoever_claims_it() {
    let (project, spawner) = (Project::new(), spawner());
    for name in ["edited", "renamed", "removed"] {
        fs::write(project.0.join(name), "old\n").expect("a file");
    }
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    assert_eq!(run(&project, &mut cell, "cat edited"), "old\n", "without a layer");
    make_layer(&project, "one");
    cell.lay_ahead(&project.0, "one".into()).expect("it is asked for");
    fs::write(project.0.join("edited"), "new\n").expect("a file");
    fs::write(project.0.join("saved"), "new\n").expect("a file");
    fs::rename(project.0.join("saved"), project.0.join("renamed")).expect("an editor's way");
    fs::remove_file(project.0.join("removed")).expect("a removal");
    fs::create_dir(project.0.join("made")).expect("a directory");
    let layer = cell.claim("one".into()).expect("a view").expect("a layer");
    let said = run(&project, &mut cell, "ls; cat edited renamed; echo x > made/x");
    assert_eq!(said, "edited\nmade\nout\nrenamed\nnew\nnew\n");
    assert_eq!(read(&layer, "made/x").as_deref(), Some("x\n"));
    assert!(!project.0.join("made/x").exists(), "it is in the layer");
    assert!(cell.claim("one".into()).expect("a view").is_none(), "it was claimed");
    drop(layer);
    cell.lift(&project.0).expect("to take it away");
    assert_eq!(run(&project, &mut cell, "ls made"), "", "without a layer");
}

#[test]
fn one_laid_ahead_is_in_nobodys_way() {
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    make_layer(&project, "one");
    cell.lay_ahead(&project.0, "one".into()).expect("it is asked for");
    assert_eq!(run(&project, &mut cell, "echo direct > direct; ls"), "direct\nout\n");
    assert!(project.0.join("direct").exists(), "nobody has claimed it");
    for name in ["two", "three"] {
        make_layer(&project, name);
    }
    cell.lay_ahead(&project.0, "two".into()).expect("it is asked for");
    let layer = cell.lay(&project.0, "three".into()).expect("another one");
    run(&project, &mut cell, "echo x > x");
    assert_eq!(read(&layer, "x").as_deref(), Some("x\n"));
    drop(layer);
    cell.lift(&project.0).expect("to take it away");
    assert_eq!(run(&project, &mut cell, "ls"), "direct\nout\n", "there is none beneath it");
}

#[test]
fn one_that_cannot_be_laid_ahead_is_no_error() {
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    cell.lay_ahead(&project.0, "none".into()).expect("it is asked for");
    assert!(cell.claim("none".into()).expect("a view").is_none());
    cell.lay_ahead(&project.0, "none".into()).expect("it is asked for");
    assert_eq!(run(&project, &mut cell, "echo direct > direct; ls"), "direct\nout\n");
    make_layer(&project, "one");
    let layer = cell.lay(&project.0, "one".into()).expect("a layer");
    run(&project, &mut cell, "echo x > x");
    assert_eq!(read(&layer, "x").as_deref(), Some("x\n"));
}

#[test]
fn what_is_put_away_is_gone_when_the_spawner_is_and_nothing_else() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (project, spawner) = (Project::new(), spawner());
    let (folder, kept) = (project.0.join("folder"), project.0.join("kept"));
    fs::create_dir_all(folder.join("a/b/c")).expect("folders");
    fs::create_dir_all(&kept).expect("a folder");
    fs::write(kept.join("file"), "kept\n").expect("a file");
    fs::write(folder.join("a/b/file"), "gone\n").expect("a file");
    symlink(&kept, folder.join("a/link")).expect("a link");
    for (path, mode) in [("a/b/c", 0), ("a/b", 0o500)] {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.join(path), mode).expect("a mode");
    }
    let parent = fs::File::open(&project.0).expect("the project");
    let held = fs::File::open(&folder).expect("the folder");
    for name in ["folder/a", "..", "missing", "kept/"] {
        spawner.put_away(parent.as_fd(), name.into(), held.as_fd(), None).expect("it is told");
    }
    spawner.put_away(parent.as_fd(), "folder".into(), held.as_fd(), None).expect("it is told");
    drop(spawner);
    assert!(!folder.exists());
    assert_eq!(fs::read_to_string(kept.join("file")).expect("it"), "kept\n");
}

#[test]
fn what_is_put_away_to_be_used_again_is_emptied_and_moved_when_the_spawner_ends() {
    let (project, spawner) = (Project::new(), spawner());
    let (folder, elsewhere) = (project.0.join("folder"), project.0.join("elsewhere"));
    fs::create_dir_all(folder.join("work/work/deep")).expect("folders");
    fs::write(folder.join("kept"), "kept\n").expect("a file");
    fs::create_dir_all(&elsewhere).expect("a folder");
    let open = |path: &std::path::Path| fs::File::open(path).expect("a folder");
    let (parent, held, to) = (open(&project.0), open(&folder), open(&elsewhere));
    let reuse = |name| exacta_jail::Reuse {
        emptied: "work".into(),
        directory: to.as_fd(),
        name: bstr::BStr::new(name),
    };
    let put_away = |name: &str, held: &fs::File, new_name| {
        spawner.put_away(parent.as_fd(), name.into(), held.as_fd(), Some(reuse(new_name)))
    };
    put_away("folder", &held, "spare").expect("it is told");
    // There is one already, and names that lead elsewhere are none.
    for (name, new_name) in [("second", "spare"), ("third", "../third")] {
        fs::create_dir_all(project.0.join(name).join("work")).expect("folders");
        let held = open(&project.0.join(name));
        put_away(name, &held, new_name).expect("it is told");
    }
    drop(spawner);
    let spare = elsewhere.join("spare");
    assert!(!folder.exists() && spare.join("work").exists());
    assert!(fs::read_dir(spare.join("work")).expect("a folder").next().is_none());
    assert_eq!(fs::read_to_string(spare.join("kept")).expect("it"), "kept\n");
    assert!(!project.0.join("second").exists() && !project.0.join("third").exists());
}

/// A program can put something else at every directory on the way to the project, if those are its own. Then the layer is still
/// taken from where it lies, and the next one comes there, and nowhere else.
#[test]
fn whoever_moves_what_the_project_lies_in_moves_no_layer() {
    let (outer, guarded, spawner) = (Project::new(), Project::new(), spawner());
    let project = Project(outer.0.join("a/b"));
    fs::create_dir_all(&project.0).expect("a project");
    for name in ["secret", "shown"] {
        fs::write(guarded.0.join(name), "").expect("a file");
    }
    let mut plan = plan(&project);
    plan.view.trees.push(Tree {
        source: guarded.0.clone(),
        target: guarded.0.clone(),
        access: Access::Read,
        hidden: vec!["secret".into()],
    });
    let mut cell = spawner.build(&plan).expect("a jail");
    make_layer(&project, "one");
    let layer = cell.lay(&project.0, "one".into()).expect("a layer");
    let (way, guarded) = (outer.0.display(), guarded.0.display());
    let moved = format!(
        "echo one > one && mv {way}/a {way}/z && mkdir {way}/a && ln -s {guarded} {way}/a/b && ls {guarded}"
    );
    assert_eq!(run(&project, &mut cell, &moved), "shown\n");
    drop(layer);
    cell.lift(&project.0).expect("to take it away");
    make_layer(&project, "two");
    let _layer = cell.lay(&project.0, "two".into()).expect("another");
    let said = run(&project, &mut cell, &format!("ls {guarded}; echo two > {way}/z/b/two"));
    assert_eq!(said, "shown\n");
    let upper =
        |layer: &str, name: &str| project.0.join(FOLDERS).join(layer).join("upper").join(name);
    assert!(upper("one", "one").exists() && upper("two", "two").exists());
    assert!(!project.0.join("one").exists() && !project.0.join("two").exists());
}

/// What lies under the project in the view is for the warden alone.
#[test]
fn folders_of_layers_are_not_to_be_reached() {
    let (project, spawner) = (Project::new(), spawner());
    make_layer(&project, "one");
    let mut cell = spawner.build(&plan(&project)).expect("a jail");
    let said =
        run(&project, &mut cell, "find / -name upper -not -path '/proc/*' 2>/dev/null || true");
    assert_eq!(said, "");
    let _layer = cell.lay(&project.0, "one".into()).expect("a layer");
    let said =
        run(&project, &mut cell, "find / -name upper -not -path '/proc/*' 2>/dev/null || true");
    assert_eq!(said, "");
}

#[test]
fn the_same_without_power() {
    again_as_ordinary_user();
}

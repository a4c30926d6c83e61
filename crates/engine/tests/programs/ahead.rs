//! The layer of the next request, laid over the project while a session is idle: nothing shows that it is there.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use exacta::gate::Judgement;
use exacta::policy::rules::{RuleFile, RuleSet, Tier};
use exacta::policy::{Policy, Profile};
use exacta::{Request, Session};
use exacta_store::{Journal, Options, Which};
use libtest_mimic::{Failed, Trial};

use crate::scene::Scene;
use crate::there_and_back::Before;

const PATIENCE: Duration = Duration::from_secs(10);

pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), Failed>;
    let all: [(&str, Check); 13] = [
        ("the next request uses it", used),
        ("what changes before it is used is seen", seen),
        ("what changed before is no conflict, what changes after is", conflicts),
        ("the root as it is then", root),
        ("the shell's own commands write into the project", own_commands),
        ("a program that writes directly", directly),
        ("a journal that was cleared away", cleared),
        ("somebody undoes meanwhile", undone),
        ("a session that ends leaves nothing", leaves_nothing),
        ("a script has none", script),
        ("a request that leaves has none", leaving),
        ("after a jail was ended", ended),
        ("without a pause", without_a_pause),
    ];
    all.into_iter().map(|(name, check)| Trial::test(format!("ahead::{name}"), check)).collect()
}

fn expect(condition: bool, what: &str) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(what.into()) }
}

fn run(session: &mut Session, script: &str) -> Result<String, Failed> {
    let outcome = session.run(&Request::new(script));
    let errors = String::from_utf8_lossy(&outcome.stderr);
    expect(outcome.status.success(), &format!("{script}: {errors}"))?;
    Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
}

fn expect_said(session: &mut Session, script: &str, expected: &str) -> Result<(), Failed> {
    let said = run(session, script)?;
    expect(said == expected, &format!("{script}: {said:?} and not {expected:?}"))
}

/// Names of all folders of layers.
fn folders(project: &Path) -> Vec<String> {
    let listed = fs::read_dir(project.join(".clada/undo/run")).into_iter().flatten().flatten();
    listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits for the one that was made ahead, and for the end of the one before: that is removed by somebody else, and then only
/// one is left, which stays, knows nothing of a request and is mounted.
fn ahead(project: &Path) -> Result<String, Failed> {
    let lies_there = || {
        let [only] = <[String; 1]>::try_from(folders(project)).ok()?;
        let folder = project.join(".clada/undo/run").join(&only);
        let is_one = folder.join("work/work").exists() && folder.join("moment").exists();
        (is_one && !folder.join("about").exists()).then_some(only)
    };
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let first = lies_there();
        std::thread::sleep(Duration::from_millis(10));
        if let Some(folder) = first.filter(|first| lies_there().as_ref() == Some(first)) {
            return Ok(folder);
        }
    }
    Err(format!("none was laid: {:?}", folders(project)).into())
}

fn warm(scene: &Scene) -> Result<Session, Failed> {
    let mut session = Scene::session(scene.options());
    run(&mut session, "perl -e 1")?;
    ahead(&scene.project)?;
    Ok(session)
}

fn used() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = warm(&scene)?;
    let folder = ahead(&scene.project)?;
    expect(folder.starts_with(".new-"), "it says that nobody uses it")?;
    let held = session.run(&Request::new("perl -e 'open F, q(>made)'").held());
    expect(held.status.success(), &String::from_utf8_lossy(&held.stderr))?;
    let name = folder.trim_start_matches(".new-").to_owned();
    let all = folders(&scene.project);
    expect(all.contains(&name), &format!("another one than {name} was used: {all:?}"))?;
    expect(!scene.project.join("made").exists(), "it is in the layer")
}

fn seen() -> Result<(), Failed> {
    let scene = Scene::new();
    for name in ["edited", "renamed", "removed", "folder/inside"] {
        scene.write(name, "old\n");
    }
    let mut session = warm(&scene)?;
    // Not even by commands that look at the project meanwhile.
    expect_said(&mut session, "cat edited renamed; ls folder", "old\nold\ninside\n")?;
    scene.write("edited", "new\n");
    scene.write("saved", "saved\n");
    fs::rename(scene.project.join("saved"), scene.project.join("renamed"))?;
    fs::remove_file(scene.project.join("removed"))?;
    scene.write("made/inside", "made\n");
    fs::rename(scene.project.join("folder"), scene.project.join("elsewhere"))?;
    let look = "perl -e 'print join q( ), glob(q(* */*)); print qq(\\n); print for map { open F, $_; <F> } qw(edited renamed)'";
    let expected = "edited elsewhere made renamed elsewhere/inside made/inside\nnew\nsaved\n";
    expect_said(&mut session, look, expected)
}

fn conflicts() -> Result<(), Failed> {
    let scene = Scene::new();
    scene.write("file", "one\n");
    let mut session = warm(&scene)?;
    scene.write("file", "two\n");
    let append = "perl -e 'open F, q(>>file); print F qq(three\\n)'";
    run(&mut session, append)?;
    expect(fs::read_to_string(scene.project.join("file"))? == "two\nthree\n", "not applied")?;
    ahead(&scene.project)?;
    // While the program runs, somebody else changes the same file.
    let file = scene.project.join("file");
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        fs::write(file, "mine\n")
    });
    let wait = "perl -e 'open F, q(>>file); print F qq(four\\n); close F; sleep 1'";
    let outcome = session.run(&Request::new(wait));
    other.join().map_err(|_| "the other one")??;
    expect(outcome.status.0 == 125, "no conflict was found")?;
    expect(fs::read_to_string(scene.project.join("file"))? == "mine\n", "somebody's is gone")
}

fn root() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = warm(&scene)?;
    let look = "perl -e '@s = stat q(.); printf qq(%o %d\\n), $s[2] & 07777, $s[9]'";
    let folder = fs::File::open(&scene.project)?;
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    folder.set_modified(past)?;
    expect_said(&mut session, look, "755 1000000000\n")?;
    ahead(&scene.project)?;
    fs::set_permissions(&scene.project, fs::Permissions::from_mode(0o711))?;
    expect_said(&mut session, look, "711 1000000000\n")?;
    let ahead_of_attributes = ahead(&scene.project)?;
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&scene.project, "user.some", b"value", flags)?;
    expect_said(&mut session, look, "711 1000000000\n")?;
    expect(ahead(&scene.project)? != ahead_of_attributes, "it was used")?;
    // None of that was the request's doing.
    let metadata = fs::metadata(&scene.project)?;
    expect(metadata.permissions().mode() & 0o7777 == 0o711, "its mode has changed")?;
    expect(metadata.modified()? == past, "its time has changed")
}

fn own_commands() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = warm(&scene)?;
    run(&mut session, "echo one > file; mkdir folder")?;
    expect(fs::read_to_string(scene.project.join("file"))? == "one\n", "it is not there")?;
    let before = Before::of(&scene.project);
    let both = "echo two >> file; perl -e 'open F, q(>>file); print F qq(three\\n)'; echo four >> file; rm -r folder";
    let outcome = session.run(&Request::new(both));
    expect(fs::read_to_string(scene.project.join("file"))? == "one\ntwo\nthree\nfour\n", "mixed")?;
    before.there_and_back(&scene.project, outcome.undo.as_ref())?;
    Ok(())
}

fn directly() -> Result<(), Failed> {
    let scene = Scene::new();
    let rule = "[[rule]]\nid = \"ours\"\nverdict = \"allow\"\ncommand = [\"perl\"]\ndirect = true\nreason = \"it is a server\"\n";
    let file = RuleFile { name: "test.toml".into(), text: rule.into(), tier: Tier::User };
    let rules = RuleSet::load(&[file]).map_err(|_| "the rules of the test")?;
    let policy = Arc::new(Policy::new(rules, Profile::FullAuto));
    let mut options = scene.options();
    options.judgement = Some(Judgement { policy, ..Judgement::none() });
    let mut session = Scene::session(options);
    run(&mut session, "gzip --version")?;
    ahead(&scene.project)?;
    let outcome =
        session.run(&Request::new("perl -e 'open F, q(>made); print -e q(made) ? 1 : 0'"));
    let said = String::from_utf8_lossy(&outcome.stderr);
    expect(outcome.programs.is_some_and(|tally| tally.direct), &format!("with a layer: {said}"))?;
    expect(scene.project.join("made").exists(), "what it wrote is gone")?;
    expect_said(
        &mut session,
        "gzip -c made | wc -c | { read n; test $n -gt 10 && echo there; }",
        "there\n",
    )
}

fn cleared() -> Result<(), Failed> {
    let scene = Scene::new();
    scene.write("file", "one\n");
    let mut session = warm(&scene)?;
    fs::remove_dir_all(scene.project.join(".clada"))?;
    let before = Before::of(&scene.project);
    let outcome = session.run(&Request::new("perl -e 'open F, q(>>file); print F qq(two\\n)'"));
    expect(outcome.status.success(), &String::from_utf8_lossy(&outcome.stderr))?;
    before.there_and_back(&scene.project, outcome.undo.as_ref())?;
    // Only the folders of layers.
    ahead(&scene.project)?;
    for folder in folders(&scene.project) {
        fs::remove_dir_all(scene.project.join(".clada/undo/run").join(folder))?;
    }
    expect_said(&mut session, "perl -e 'print -e q(.clada) ? 1 : 0'", "0")
}

fn undone() -> Result<(), Failed> {
    let scene = Scene::new();
    scene.write("file", "one\n");
    let mut session = warm(&scene)?;
    run(&mut session, "perl -e 'open F, q(>>file); print F qq(two\\n); mkdir q(folder)'")?;
    let folder = ahead(&scene.project)?;
    let (root, state) =
        (fs::File::open(&scene.project)?, fs::File::open(scene.project.join(".clada"))?);
    let journal = Journal::open(root.as_fd(), state.as_fd()).map_err(|error| error.to_string())?;
    journal.undo(&Which::Last(1), Options::default()).map_err(|error| error.to_string())?;
    expect(folders(&scene.project) == [folder], "it was taken for one that was left behind")?;
    expect(journal.held().is_ok_and(|held| held.is_empty()), "it was held")?;
    expect_said(
        &mut session,
        "perl -e 'open F, q(file); print <F>, -e q(folder) ? 1 : 0'",
        "one\n0",
    )
}

fn leaves_nothing() -> Result<(), Failed> {
    let scene = Scene::new();
    // Also when it ends while one is laid.
    for wait in [true, false] {
        let mut session = Scene::session(scene.options());
        run(&mut session, "perl -e 1")?;
        if wait {
            ahead(&scene.project)?;
        }
        drop(session);
        let began = Instant::now();
        while !folders(&scene.project).is_empty() {
            let left = format!("left behind: {:?}", folders(&scene.project));
            expect(began.elapsed() < PATIENCE, &left)?;
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(())
}

/// None is made in a while in which one would be.
fn expect_none(scene: &Scene) -> Result<(), Failed> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(20));
    }
    expect(folders(&scene.project).is_empty(), "there is one")
}

fn script() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    expect(session.run_script(&Request::new("perl -e 1")).status.success(), "it failed")?;
    expect_none(&scene)
}

fn leaving() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    expect(session.run(&Request::new("perl -e 1; exit")).status.success(), "it failed")?;
    expect_none(&scene)?;
    // Nor has one that runs no programs.
    run(&mut session, "echo x > file")?;
    expect_none(&scene)
}

fn ended() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut options = scene.options();
    options.limits.wall_time = Some(Duration::from_secs(1));
    let mut session = Scene::session(options);
    run(&mut session, "perl -e 1")?;
    ahead(&scene.project)?;
    let stopped = session.run(&Request::new("perl -e 'open F, q(>made); close F; sleep 60'"));
    expect(stopped.stopped.is_some(), "nothing has ended it")?;
    expect(scene.project.join("made").exists(), "what it wrote is gone")?;
    expect_said(&mut session, "perl -e 'print -e q(made) ? 1 : 0'", "1")
}

/// Whoever is faster, what every command has written is there for the next one.
fn without_a_pause() -> Result<(), Failed> {
    let scene = Scene::new();
    scene.write("log", "");
    let mut session = Scene::session(scene.options());
    let mut expected = String::new();
    for round in 0..60 {
        let script = match round % 4 {
            0 => format!("perl -e 'open F, q(>>log); print F qq({round}\\n)'"),
            1 => format!("echo {round} >> log"),
            2 => format!("echo {round} >> log; touch new-{round}; perl -e 1"),
            _ => format!("perl -e 1; echo {round} >> log; rm new-*"),
        };
        expected.push_str(&format!("{round}\n"));
        run(&mut session, &script)?;
        let found = fs::read_to_string(scene.project.join("log"))?;
        expect(found == expected, &format!("after {round}: {found:?}"))?;
    }
    drop(session);
    Ok(())
}

//! Requests as transactions where it is awkward. That every ordinary change can be undone is checked by the harness of
//! each suite (`there_and_back`).

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the real tree from outside")]

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bstr::{BStr, ByteSlice};
use exacta::undo::Retention;
use exacta::{Outcome, Request, Session, SessionOptions, Storage};
use exacta_shell::filesystem::OpenOptions;
use exacta_store::{Journal, Options, RecordId, Which};

#[path = "there_and_back/mod.rs"]
mod there_and_back;

use there_and_back::Before;

exacta_world::tests! {
    two_sessions_at_once,
    a_descriptor_kept_over_two_requests,
    a_descriptor_of_a_file_that_has_moved,
    a_command_that_fails,
    a_request_that_is_cancelled,
    a_directory_that_may_not_be_written,
    names_of_any_bytes,
    hard_links,
    a_directory_replaced_by_a_file,
    only_a_mode,
    nothing_changed_leaves_nothing,
    a_journal_of_somebody_else_is_not_used,
    large_files_are_not_copied,
    what_is_only_appended_to_is_not_copied,
    between_the_project_and_the_private_tmp,
    links_lead_to_the_place_that_changes,
    what_git_is_told_is_undone_too,
    a_journal_that_was_cleared_away_is_made_again,
    another_file_system_in_the_project,
    old_records_are_forgotten,
    a_record_says_what_it_was,
}

struct Project {
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name =
            format!("exacta-undo-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).unwrap();
        Project { root: root.canonicalize().unwrap() }
    }

    fn options(&self) -> SessionOptions {
        let mut options = SessionOptions::new(&self.root);
        options.judgement = Some(exacta::gate::Judgement::none());
        options
    }

    fn session(&self) -> Session {
        Session::new(self.options()).unwrap()
    }

    /// Runs a text in a new session, undoes and redoes it, and gives what it gave.
    fn run(&self, text: &[u8]) -> Outcome {
        let before = Before::of(&self.root);
        let outcome = self.session().run(&Request::new(text));
        if let Err(problem) = before.there_and_back(&self.root, outcome.undo.as_ref()) {
            panic!("{}: {problem}", text.as_bstr());
        }
        outcome
    }

    /// The same for what must succeed and change something.
    fn change(&self, text: &[u8]) -> RecordId {
        let outcome = self.run(text);
        assert!(outcome.status.success(), "{}", outcome.stderr.as_bstr());
        outcome.undo.expect("it has changed something").id
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.root.join(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    fn journal(&self) -> Journal {
        let (root, state) =
            (File::open(&self.root).unwrap(), File::open(self.root.join(".clada")).unwrap());
        Journal::open(root.as_fd(), state.as_fd()).unwrap()
    }

    fn undo(&self, id: RecordId) {
        self.journal().undo(&Which::These(vec![id]), Options::default()).unwrap();
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_for_the_system = fs::remove_dir_all(&self.root);
    }
}

fn two_sessions_at_once() {
    let project = Project::new();
    let ids = std::thread::scope(|scope| {
        let start = |name: &'static str| {
            let mut session = project.session();
            let text = format!("mkdir {name}; for i in {{1..200}}; do echo $i > {name}/$i; done");
            scope.spawn(move || session.run(&Request::new(text)).undo.unwrap().id)
        };
        let (one, two) = (start("one"), start("two"));
        [one.join().unwrap(), two.join().unwrap()]
    });
    assert_ne!(ids[0], ids[1]);
    project.undo(ids[0]);
    assert!(!project.root.join("one").exists() && project.root.join("two/200").exists());
    project.undo(ids[1]);
    let left = fs::read_dir(&project.root).unwrap().count();
    assert_eq!(left, 1, "nothing but the state");
}

fn a_descriptor_kept_over_two_requests() {
    let project = Project::new();
    project.write("log", "0\n");
    let opened = exacta::filesystem::open(&project.root, Storage::Directory).unwrap();
    let (files, transactions) = (opened.files, opened.transactions.unwrap());
    let request = || transactions.begin(BStr::new("request"), files.root());
    request();
    let path = bstr::BString::from(project.root.join("log").as_os_str().as_encoded_bytes());
    let log = files.open(path.as_bstr(), OpenOptions::appending(0o644)).unwrap();
    log.write_all(b"1\n").unwrap();
    let first = transactions.finish(0).unwrap().unwrap().id;
    assert!(log.write_all(b"nobody\n").is_err(), "outside of a request nothing is written");
    request();
    log.write_all(b"2\n").unwrap();
    let second = transactions.finish(0).unwrap().unwrap().id;
    assert_eq!(project.read("log"), "0\n1\n2\n");
    project.undo(second);
    assert_eq!(project.read("log"), "0\n1\n");
    project.undo(first);
    assert_eq!(project.read("log"), "0\n");
}

fn a_descriptor_of_a_file_that_has_moved() {
    let project = Project::new();
    project.write("log", "0\n");
    let opened = exacta::filesystem::open(&project.root, Storage::Directory).unwrap();
    let (files, transactions) = (opened.files, opened.transactions.unwrap());
    transactions.begin(BStr::new("first"), files.root());
    let path =
        |name: &str| bstr::BString::from(project.root.join(name).as_os_str().as_encoded_bytes());
    let log = files.open(path("log").as_bstr(), OpenOptions::appending(0o644)).unwrap();
    transactions.finish(0).unwrap();
    transactions.begin(BStr::new("second"), files.root());
    files.rename(path("log").as_bstr(), path("moved").as_bstr(), true).unwrap();
    let error = log.write_all(b"1\n").unwrap_err();
    assert!(error.to_string().contains("has been moved"), "{error}");
    transactions.finish(0).unwrap();
    assert_eq!(project.read("moved"), "0\n");
}

fn a_command_that_fails() {
    let project = Project::new();
    let outcome = project.run(b"echo x > f; mkdir f; echo y > missing/f; false");
    assert_eq!(outcome.status.0, 1);
    let undo = outcome.undo.unwrap();
    let record = project.journal().record(undo.id).unwrap();
    assert_eq!(record.outcome.unwrap().exit, 1);
    assert_eq!(undo.strategy, "restore");
}

fn a_request_that_is_cancelled() {
    let project = Project::new();
    project.write("f", "before");
    let before = Before::of(&project.root);
    let mut session = project.session();
    let canceller = session.prepare();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while project.read("f") != "during\n" {
                std::thread::sleep(Duration::from_millis(1));
            }
            canceller.cancel();
        });
        session.run(&Request::new("echo during > f; while :; do echo x >> g; done"))
    });
    assert!(outcome.stopped.is_some());
    before.there_and_back(&project.root, outcome.undo.as_ref()).unwrap();
    assert_eq!(project.read("f"), "during\n");
    assert!(session.run(&Request::new("echo after > f")).undo.is_some(), "the session goes on");
}

fn a_directory_that_may_not_be_written() {
    let project = Project::new();
    project.change(b"mkdir d; echo x > d/f; chmod 555 d");
    project.change(b"chmod 755 d; rm d/f; echo y > d/g; chmod 500 d");
    project.change(b"chmod 755 d; rm -r d");
}

fn names_of_any_bytes() {
    let project = Project::new();
    project.change(
        b"echo x > $'a\\nb'; mkdir $'\\xff\\xfe'; echo y > $'\\xff\\xfe/ \\x01'; ln -s $'\\xff' l",
    );
    project.change(b"echo z >> $'a\\nb'; mv $'\\xff\\xfe' $'\\t'; rm $'\\t/ \\x01'");
}

fn hard_links() {
    let project = Project::new();
    project.change(b"echo x > a; ln a b; echo y > b");
    project.change(b"echo z >> a; rm b; ln a c; mv c d");
    project.change(b"ln -f d a; ln -sf d a; cp -l d e");
    project.change(b"seq 200000 > d");
    project.change(b"echo short > e");
}

fn a_directory_replaced_by_a_file() {
    let project = Project::new();
    project.change(b"mkdir -p d/e; echo x > d/e/f");
    project.change(b"rm -r d; echo file > d");
    project.change(b"rm d; mkdir d; mkdir e; mv -T e d; echo y > d/g");
    project.change(b"echo new > g; mv g d/g; rmdir missing; mkdir r; rmdir r");
}

fn only_a_mode() {
    let project = Project::new();
    project.write("f", "x");
    let id = project.change(b"chmod 600 f");
    let modified = fs::metadata(project.root.join("f")).unwrap().mtime_nsec();
    project.undo(id);
    let found = fs::metadata(project.root.join("f")).unwrap();
    assert_eq!((found.mode() & 0o777, found.mtime_nsec()), (0o644, modified));
    project.change(b"chmod 700 .; touch -d 2001-01-01 . f");
}

fn nothing_changed_leaves_nothing() {
    let project = Project::new();
    project.write("f", "x");
    let outcome =
        project.run(b"cat f; ls; find .; grep x f > /dev/null; test -w f; echo y > /tmp/z");
    assert_eq!(outcome.undo, None);
    assert!(!project.root.join(".clada/undo").exists());
    let outcome =
        project.run(b"mkdir .; ln f f; rm missing; rmdir f; mv missing f; chmod 600 missing");
    assert_eq!(outcome.undo, None, "{}", outcome.stderr.as_bstr());
    assert!(project.journal().ids().unwrap().is_empty());
}

fn a_journal_of_somebody_else_is_not_used() {
    let project = Project::new();
    project.write("f", "x");
    fs::create_dir_all(project.root.join(".clada/undo")).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.root.join(".clada/undo"), mode).unwrap();
    for (text, command) in [
        ("echo y > f", "bash: line 1: f"),
        ("touch new", "touch: cannot touch 'new'"),
        ("rm f", "rm: cannot remove 'f'"),
        ("mv f g", "mv: cannot move 'f' to 'g'"),
        ("mkdir d", "mkdir: cannot create directory ‘d’"),
        ("chmod 600 f", "chmod: changing permissions of 'f'"),
    ] {
        let outcome = project.run(text.as_bytes());
        let said = outcome.stderr.to_str_lossy().replace(['‘', '’'], "'");
        let wanted = format!(
            "{}: it cannot be recorded for undo: .clada/undo is not private to you",
            command.replace(['‘', '’'], "'")
        );
        assert!(said.starts_with(&wanted), "{text}: {said}");
        assert!(!outcome.status.success() && outcome.undo.is_none(), "{text}");
    }
    assert_eq!(project.read("f"), "x");
    let outcome = project.run(b"cat f");
    assert_eq!(outcome.stdout.as_bstr(), "x", "reading needs no journal");
}

fn large_files_are_not_copied() {
    let project = Project::new();
    project.change(b"seq 200000 > big");
    let inode = || fs::metadata(project.root.join("big")).unwrap().ino();
    let before = inode();
    let id = project.change(b"echo small > big");
    project.undo(id);
    assert_eq!(inode(), before, "the file itself was kept");
    project.change(
        b"seq 100000 > big; seq 200000 > big; mv big other; seq 150000 > other; echo > other",
    );
    project.change(b"chmod 600 other; seq 100000 >> other; ln other link; seq 200000 > link");
}

fn what_is_only_appended_to_is_not_copied() {
    let project = Project::new();
    project.change(b"seq 700000 > big");
    let kept = |id: RecordId| {
        let folder = project.root.join(format!(".clada/undo/pre/{:09}", id.0));
        let files = fs::read_dir(folder).map(Iterator::count);
        files.unwrap_or(0)
    };
    for text in [
        "echo x >> big; seq 1000 >> big",
        "yes | head -n 100000 | tee -a big > /dev/null",
        "exec 3>> big; echo 1 >&3; mv big other; echo 2 >&3; mv other big; echo 3 >> big",
    ] {
        let id = project.change(text.as_bytes());
        // On a file system that shares extents there is a copy, and it costs nothing.
        assert!(kept(id) == 0 || shares_extents(&project.root), "{text}: {}", kept(id));
    }
    // What follows is more than appending, in whatever order.
    for text in [
        "echo x >> big; printf y 1<> big; echo z >> big",
        "exec 3>> big; echo 1 >&3; seq 700000 > big; echo 2 >&3; echo 3 >> big",
        "exec 3>> big; echo 1 >&3; echo small > big; echo 2 >&3; seq 700000 > big",
        "echo x >> big; truncate -s 5 big 2> /dev/null || printf 12345 > big; seq 700000 >> big",
        "ln big link; echo x >> big; echo y >> link; printf z 1<> link; echo w >> big",
        "echo x >> big; rm big; seq 700000 > big; echo y >> big",
        "chmod 400 link; mkdir d; mv link d; chmod 600 d/link; seq 10 >> d/link; rm -r d",
        "echo x >> big; touch -d 2001-01-01 big",
    ] {
        project.change(text.as_bytes());
    }
}

fn shares_extents(folder: &Path) -> bool {
    let (one, other) = (folder.join("shared-1"), folder.join("shared-2"));
    fs::write(&one, "x").unwrap();
    let shared =
        rustix::fs::ioctl_ficlone(File::create(&other).unwrap(), File::open(&one).unwrap());
    fs::remove_file(one).and_then(|()| fs::remove_file(other)).unwrap();
    shared.is_ok()
}

fn between_the_project_and_the_private_tmp() {
    let project = Project::new();
    project.change(b"echo x > f; mkdir d; echo y > d/g");
    project.change(b"mv f d /tmp");
    let outcome = project.run(b"echo x > k; ln k /tmp/k");
    assert!(
        outcome.stderr.contains_str("Invalid cross-device link"),
        "{}",
        outcome.stderr.as_bstr()
    );
    assert!(!project.root.join("f").exists());
    project.change(b"mv /tmp/f /tmp/d .; cat f d/g");
    assert_eq!(project.read("d/g"), "y\n");
    let outcome = project.run(b"mkdir /tmp/a; mv /tmp/a /tmp/b; rm -r /tmp/b");
    assert_eq!(outcome.undo, None);
}

fn links_lead_to_the_place_that_changes() {
    let project = Project::new();
    project
        .change(b"mkdir -p a/b; echo x > a/b/f; ln -s a/b l; ln -s ../a/../l/f a/g; ln -s /tmp t");
    project.change(b"echo y > l/f; echo z >> a/g; echo n > l/../c; touch t/elsewhere");
    project.change(b"cd l; echo w > ../../l//./f; mkdir new; mv new ../n; rm f");
    project.change(format!("echo v > {}/l/absolute", project.root.display()).as_bytes());
}

fn what_git_is_told_is_undone_too() {
    let project = Project::new();
    fs::create_dir_all(project.root.join(".git")).unwrap();
    project.write("f", "x");
    project.change(b"rm f");
    assert_eq!(project.read(".git/info/exclude"), "/.trash/\n");
}

fn a_journal_that_was_cleared_away_is_made_again() {
    let project = Project::new();
    let mut session = project.session();
    for round in 0..3 {
        let outcome = session.run(&Request::new("echo x >> f"));
        assert!(outcome.undo.is_some(), "{}", outcome.stderr.as_bstr());
        match round {
            0 => fs::remove_dir_all(project.root.join(".clada")).unwrap(),
            _ => fs::remove_dir_all(project.root.join(".clada/undo")).unwrap(),
        }
    }
}

fn another_file_system_in_the_project() {
    let project = Project::new();
    let place = project.root.join("mounted");
    fs::create_dir(&place).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "tmpfs"])
        .arg(&place)
        .status()
        .unwrap();
    assert!(mounted.success());
    fs::write(place.join("f"), "x").unwrap();
    for text in ["echo y > mounted/f", "touch mounted/new", "rm mounted/f", "mkdir mounted/d"] {
        let outcome = project.session().run(&Request::new(text));
        let said = outcome.stderr.to_str_lossy().into_owned();
        assert!(
            said.contains("another file system is mounted in the project here"),
            "{text}: {said}"
        );
        assert!(!outcome.status.success(), "{text}");
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    assert_eq!(project.read("mounted/f"), "x");
    let unmounted = std::process::Command::new("umount").arg(&place).status().unwrap();
    assert!(unmounted.success());
}

fn old_records_are_forgotten() {
    let project = Project::new();
    let mut options = project.options();
    options.retention = Retention { records: 5, ..Retention::default() };
    let mut session = Session::new(options).unwrap();
    for _ in 0..50 {
        assert!(session.run(&Request::new("echo x >> f")).undo.is_some());
    }
    drop(session);
    let ids = project.journal().ids().unwrap();
    assert_eq!(ids.iter().map(|id| id.0).collect::<Vec<_>>(), [50, 49, 48, 47, 46]);
}

fn a_record_says_what_it_was() {
    let project = Project::new();
    let mut session = project.session();
    let one = session.run(&Request::new("mkdir d; cd d")).undo.unwrap().id;
    let two = session.run(&Request::new("echo x > f")).undo.unwrap().id;
    let (one, two) =
        (project.journal().record(one).unwrap(), project.journal().record(two).unwrap());
    assert_eq!(two.about.command, "echo x > f");
    assert_eq!(two.about.directory, project.root.join("d").as_os_str().as_encoded_bytes());
    assert_eq!(one.about.session, two.about.session);
    assert!(!one.about.session.is_empty() && two.about.time >= one.about.time);
}

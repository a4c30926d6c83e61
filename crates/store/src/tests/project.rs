//! A project in a temporary directory, gone with the value.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::tree::{self, But, Tree};
use crate::{About, Budget, Journal, Layer, Options, Outcome, Which};

pub(super) struct Project {
    folder: PathBuf,
    pub root: PathBuf,
}

impl Project {
    pub(super) fn new() -> Self {
        Project::below(&std::env::temp_dir())
    }

    /// Where waiting for the disk costs nothing: for thousands of runs.
    pub(super) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Project::below(memory) } else { Project::new() }
    }

    fn below(place: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = place.join(format!("exacta-store-{}-{count}", std::process::id()));
        let root = folder.join("project");
        fs::create_dir_all(root.join(".clada")).unwrap();
        fs::create_dir(folder.join("mount")).unwrap();
        fs::create_dir(folder.join("view")).unwrap();
        Project { folder, root }
    }

    pub(super) fn journal(&self) -> Journal {
        self.try_journal().unwrap()
    }

    /// The journal after a crash. A process that another test starts just now has our locks for a moment.
    pub(super) fn recovered(&self) -> Journal {
        for _ in 0..500 {
            let journal = self.journal();
            let busy = fs::read_dir(self.root.join(".clada/undo/busy"));
            let run = fs::read_dir(self.root.join(".clada/undo/run"));
            let waiting =
                |entry: std::io::Result<fs::DirEntry>| !entry.unwrap().path().join("held").exists();
            let is_busy = busy.is_ok_and(|mut entries| {
                entries.any(|entry| entry.unwrap().path().extension() == Some("rec".as_ref()))
            });
            if !is_busy && !run.is_ok_and(|mut entries| entries.any(waiting)) {
                return journal;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        panic!("something was not recovered: {:?}", self.journal().log());
    }

    pub(super) fn try_journal(&self) -> Result<Journal, crate::UndoError> {
        let (root, state) = self.handles();
        Journal::open(root.as_fd(), state.as_fd())
    }

    /// Its ground, without recovery.
    pub(super) fn journal_as_it_is(&self) -> crate::ground::Ground {
        let (root, state) = self.handles();
        crate::ground::Ground::new(root.as_fd(), state.as_fd()).unwrap()
    }

    pub(super) fn handles(&self) -> (File, File) {
        (File::open(&self.root).unwrap(), File::open(self.root.join(".clada")).unwrap())
    }

    /// What programs saw on their layer when they had ended.
    pub(super) fn seen(&self) -> Tree {
        tree::read(&self.folder.join("view"), &[".clada"])
    }

    /// The tree as a user sees it.
    pub(super) fn tree(&self) -> Tree {
        tree::read(&self.root, &[".clada"])
    }

    pub(super) fn assert(&self, expected: &Tree, when: &str) {
        let differences = expected.differences(&self.tree(), But::Nothing);
        assert!(differences.is_empty(), "{when}:\n{}", differences.join("\n"));
    }

    /// The last request undone and made again, twice: each time all is as it was.
    pub(super) fn back_and_again(&self, journal: &Journal, sides: [&Tree; 2], name: &str) {
        let [before, after] = sides;
        for round in ["first", "second"] {
            let undo = journal.undo(&LAST, PLAIN);
            undo.unwrap_or_else(|error| panic!("{name}: {round} undo: {error}"));
            self.assert(before, &format!("{name}: {round} undo"));
            let redo = journal.redo(&LAST, PLAIN);
            redo.unwrap_or_else(|error| panic!("{name}: {round} redo: {error}"));
            self.assert(after, &format!("{name}: {round} redo"));
        }
    }

    /// A shell script in the project itself.
    pub(super) fn run(&self, script: &str) {
        let status = Command::new("bash")
            .args(["-euc", script])
            .current_dir(&self.root)
            .env("LC_ALL", "C")
            .status()
            .unwrap();
        assert!(status.success(), "{script}");
    }

    /// A shell script on an overlay over the project, whose upper layer is this one.
    pub(super) fn run_on(&self, layer: &Layer, script: &str) {
        let folder = self.root.join(".clada").join(layer.place().to_string());
        let mount = format!(
            "mount -t overlay overlay -o lowerdir={},upperdir={folder}/upper,workdir={folder}/work,userxattr,index=on {} \
             && cd {} && bash -euc \"$SCRIPT\" && cp -a . {view}",
            self.root.display(),
            self.folder.join("mount").display(),
            self.folder.join("mount").display(),
            folder = folder.display(),
            view = self.folder.join("view").display(),
        );
        let status = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "bash", "-euc", &mount])
            .env("SCRIPT", script)
            .env("LC_ALL", "C")
            .status()
            .unwrap();
        assert!(status.success(), "an overlay in a user namespace is needed: {script}");
    }

    /// Runs a script on a layer and applies it as one request.
    pub(super) fn apply(&self, script: &str) -> Option<crate::RecordId> {
        let journal = self.journal();
        let layer = journal.layer(&about()).unwrap();
        self.run_on(&layer, script);
        let recording = journal.begin(about());
        recording.apply(&layer).unwrap();
        let id = recording.finish(Outcome::default()).unwrap();
        layer.discard().unwrap();
        id
    }

    /// Runs a script in the project itself, as programs do where there is no overlay, and takes back what it has changed.
    pub(super) fn run_mirrored(&self, journal: &Journal, script: &str) -> (Layer, Tree) {
        let mut layer = journal.unstamped_layer(&about()).unwrap();
        let mirror = journal.mirror(&Budget::default(), &mut |_| {}).unwrap();
        layer.write_directly(&mirror).unwrap();
        self.run(script);
        let seen = self.tree();
        layer.take_back(&mirror).unwrap();
        (layer, seen)
    }

    /// Runs a script so and applies it as one request. What programs saw.
    pub(super) fn apply_mirrored(&self, script: &str) -> (Option<crate::RecordId>, Tree) {
        let journal = self.journal();
        let before = self.tree();
        let (layer, seen) = self.run_mirrored(&journal, script);
        self.assert(&before, "taken back");
        let recording = journal.begin(about());
        recording.apply(&layer).unwrap();
        let id = recording.finish(Outcome::default()).unwrap();
        layer.discard().unwrap();
        (id, seen)
    }

    /// The same tree and the same state at another place; everything but inode numbers and change times.
    pub(super) fn copy(&self) -> Self {
        let copy = Project::in_memory();
        fs::remove_dir_all(&copy.root).unwrap();
        let status = Command::new("cp").arg("-a").args([&self.root, &copy.root]).status().unwrap();
        assert!(status.success());
        copy
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _left_behind =
            make_writable(&self.folder).and_then(|()| fs::remove_dir_all(&self.folder));
    }
}

fn make_writable(place: &Path) -> std::io::Result<()> {
    fs::set_permissions(place, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

pub(super) fn about() -> About {
    About { session: "test".into(), command: "test".into(), ..About::default() }
}

/// One that says when it began.
pub(super) fn started() -> About {
    About { time: crate::system::now(), ..about() }
}

pub(super) const PLAIN: Options = Options { force: false, dry_run: false };
pub(super) const FORCE: Options = Options { force: true, dry_run: false };
pub(super) const LAST: Which = Which::Last(1);

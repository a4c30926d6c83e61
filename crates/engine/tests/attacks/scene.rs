//! Where an attack takes place: a project, a canary beside it, and a secret in exacta's own directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exacta::gate::Judgement;
use exacta::{Outcome, Request, Session, SessionOptions};

/// Content of every file outside.
pub const CANARY: &str = "CANARY-d41c-do-not-read";

/// Content of every file of exacta's own.
pub const STATE: &str = "STATE-93be-do-not-read";

/// Directories of the state that exacta itself writes to while scripts run.
const WORKING: [&str; 4] = ["tmp", "trash", "preimages", "undo"];

pub struct Scene {
    base: PathBuf,
    /// The test process itself has the canary open: a script must not get hold of that descriptor.
    held: fs::File,
}

pub type Snapshot = BTreeMap<PathBuf, String>;

impl Scene {
    /// Not under `/tmp`: for a script that is another place than for us.
    pub fn new(links: &[(String, String)]) -> Self {
        Self::lay_out(links, false)
    }

    /// With a project inside the project: `n/.clada`.
    pub fn nested(links: &[(String, String)]) -> Self {
        Self::lay_out(links, true)
    }

    fn lay_out(links: &[(String, String)], nested: bool) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-attacks-{}-{number}", std::process::id());
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&base).expect("a temporary directory");
        let base = base.canonicalize().expect("a real path");
        lay_out_canary(&base.join("outside"));
        let held = fs::File::open(base.join("outside/secret")).expect("the canary");
        let scene = Scene { base, held };
        scene.lay_out_project(links);
        if nested {
            fs::create_dir_all(scene.root().join("n/.clada")).expect("a directory");
            let secret = scene.root().join("n/.clada/secret");
            fs::write(secret, format!("{STATE}\n")).expect("a file of the state");
        }
        scene
    }

    pub fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    /// Puts the scene's own paths in place of `ROOT`, `OUT`, `BASE` and `HELD`.
    pub fn fill(&self, text: &str) -> String {
        let base = self.base.to_str().expect("a path in UTF-8");
        text.replace("ROOT", &format!("{base}/root"))
            .replace("OUT", &format!("{base}/outside"))
            .replace("BASE", base)
            .replace("HELD", &self.held.as_raw_fd().to_string())
    }

    fn lay_out_project(&self, links: &[(String, String)]) {
        let root = self.root();
        for directory in ["d", ".clada"] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        for directory in WORKING {
            let path = root.join(".clada").join(directory);
            fs::create_dir(&path).expect("a directory of the state");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("its mode");
        }
        fs::write(root.join(".clada/secret"), format!("{STATE}\n")).expect("a file of the state");
        let decided = format!("{{\"allowed\": [\"{STATE}\"], \"blocked\": []}}\n");
        fs::write(root.join(".clada/commands.json"), decided).expect("a file of the state");
        fs::write(root.join(".clada/.gitignore"), "*\n").expect("a file");
        fs::write(root.join("inside"), "inside\n").expect("a file");
        fs::write(root.join("d/file"), "file\n").expect("a file");
        for (name, target) in links {
            let name = name
                .strip_prefix("/tmp/")
                .map_or_else(|| root.join(name), |name| root.join(".clada/tmp").join(name));
            symlink(self.fill(target), name).expect("a link");
        }
    }

    /// Everything a script must not change.
    pub fn forbidden(&self) -> Snapshot {
        let mut found = Snapshot::new();
        look(&self.base.join("outside"), &mut found);
        for entry in fs::read_dir(&self.base).expect("the base").flatten() {
            found.insert(entry.path(), "beside".into());
        }
        for state in [".clada", "n/.clada"] {
            let Ok(entries) = fs::read_dir(self.root().join(state)) else { continue };
            for entry in entries.flatten() {
                let working = WORKING.iter().any(|name| entry.file_name() == *name);
                if working {
                    found.insert(entry.path(), "working".into());
                } else {
                    look(&entry.path(), &mut found);
                }
            }
        }
        found
    }

    /// Everything a script may change.
    pub fn project(&self) -> Snapshot {
        let mut found = Snapshot::new();
        look(&self.root(), &mut found);
        found
    }

    pub fn run(&self, script: &str, stdin: &str) -> Outcome {
        let mut options = SessionOptions::new(self.root());
        options.limits.wall_time = Some(Duration::from_secs(20));
        // Enough for any attack, and little enough to notice one that fills the memory.
        options.limits.output_bytes = 4 << 20;
        // What the judge would stop is not the question: the wall must hold by itself.
        options.judgement = Some(Judgement::none());
        // Nothing but the script may touch the state: other files of it say whether one did.
        options.audit = None;
        let mut session = Session::new(options).expect("a session");
        session.run_script(&Request::new(script).with_stdin(stdin))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        make_removable(&self.base);
        let _left_for_the_system = fs::remove_dir_all(&self.base);
    }
}

fn lay_out_canary(outside: &Path) {
    fs::create_dir_all(outside.join("directory")).expect("a directory");
    for file in ["secret", "directory/secret", "directory/file"] {
        fs::write(outside.join(file), format!("{CANARY}\n")).expect("a canary");
    }
    let script = outside.join("directory/program");
    fs::write(&script, format!("#!/bin/sh\necho {CANARY}\n")).expect("a canary");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// Names, kinds, modes, links and times. The time of change is one that no script can set.
fn look(path: &Path, found: &mut Snapshot) {
    let Ok(stat) = fs::symlink_metadata(path) else { return };
    let text = format!(
        "inode {} mode {:o} size {} links {} changed {}.{:09}",
        stat.ino(),
        stat.mode(),
        stat.size(),
        stat.nlink(),
        stat.ctime(),
        stat.ctime_nsec()
    );
    if stat.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), found);
        }
    }
    found.insert(path.to_owned(), text);
}

fn make_removable(folder: &Path) {
    let _whatever_can_be_done = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_removable(&entry.path());
        }
    }
}

/// What must hold after every attack, whatever the script was: an empty text if it does.
pub fn wrong(before: &Snapshot, scene: &Scene, outcome: &Outcome) -> String {
    let mut wrong = String::new();
    let output = [&outcome.stdout[..], &outcome.stderr[..]].concat();
    let text = String::from_utf8_lossy(&output);
    for secret in secrets() {
        if text.contains(&secret) {
            wrong += &format!("shows {secret:?}\n");
        }
    }
    let lower = text.to_lowercase();
    for word in ["permission", "denied", "panicked"] {
        if lower.contains(word) {
            wrong += &format!("says {word:?}\n");
        }
    }
    if let Some(stop) = &outcome.stopped {
        wrong += &format!("was stopped: {stop:?}\n");
    }
    let after = scene.forbidden();
    for (path, state) in before {
        if after.get(path) != Some(state) {
            wrong += &format!("changed {}: {state} -> {:?}\n", path.display(), after.get(path));
        }
    }
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        wrong += &format!("made {}\n", path.display());
    }
    wrong
}

/// What no script may ever show: the canaries, and lines of the machine's own files.
fn secrets() -> Vec<String> {
    let mut secrets = vec![CANARY.to_owned(), STATE.to_owned()];
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    secrets.extend(accounts.lines().next().map(str::to_owned));
    secrets
}

pub fn show(outcome: &Outcome) -> String {
    format!(
        "status {}\nstdout: {}\nstderr: {}",
        outcome.status.0,
        shorten(&String::from_utf8_lossy(&outcome.stdout)),
        shorten(&String::from_utf8_lossy(&outcome.stderr)),
    )
}

fn shorten(text: &str) -> String {
    text.chars().take(1500).collect()
}

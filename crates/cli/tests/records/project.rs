//! A project with records in a temporary directory, gone with the value.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use exacta_store::{About, Journal, Outcome, Recording, Time};
use serde_json::Value;

pub struct Project {
    base: PathBuf,
    pub root: PathBuf,
}

/// What the binary said and how it ended.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub bytes: Vec<u8>,
    pub err: String,
}

impl Said {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect(&self.out)
    }
}

impl Project {
    /// With a state directory, as after the first request.
    pub fn new() -> Self {
        let project = Project::bare();
        fs::create_dir(project.root.join(".clada")).expect("the state");
        project
    }

    pub fn bare() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-records-{}-{count}", std::process::id());
        let base = std::env::temp_dir().join(name);
        for folder in ["project/.git", "mount", "home"] {
            fs::create_dir_all(base.join(folder)).expect("a temporary directory");
        }
        let base = base.canonicalize().expect("a real path");
        Project { root: base.join("project"), base }
    }

    pub fn at(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.at(path.as_ref()), content).expect("a file");
        self.mode(path, 0o644)
    }

    pub fn mode(&self, path: impl AsRef<[u8]>, mode: u32) -> &Self {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).expect("a mode");
        self
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    pub fn journal(&self) -> Journal {
        let root = File::open(&self.root).expect("the root");
        let state = File::open(self.root.join(".clada")).expect("the state");
        Journal::open(root.as_fd(), state.as_fd()).expect("a journal")
    }

    /// One request: its changes are announced to the recording before they are made.
    pub fn request(&self, command: &str, change: impl FnOnce(&Recording)) -> u64 {
        let recording = self.journal().begin(about(command));
        change(&recording);
        let outcome = Outcome { exit: 0, strategy: "restore".to_owned() };
        recording.finish(outcome).expect("a record").expect("a change").0
    }

    /// A request that writes one file, new or not.
    pub fn edit(&self, path: &str, content: &str) -> u64 {
        self.request(&format!("edit {path}"), |recording| {
            if self.at(path).exists() {
                recording.before_write(path.as_bytes()).expect("recorded");
                fs::write(self.at(path), content).expect("written");
            } else {
                self.make(recording, path, content);
            }
        })
    }

    pub fn make(&self, recording: &Recording, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let _announced = recording.create(path.as_ref()).expect("recorded");
        self.write(path, content);
    }

    /// A script on an overlay over the project; its layer is held.
    pub fn hold(&self, script: &str) -> u64 {
        let journal = self.journal();
        let layer = journal.layer(&about(script)).expect("a layer");
        let folder = self.root.join(".clada").join(layer.place().to_string());
        let mount = format!(
            "mount -t overlay overlay -o lowerdir={},upperdir={folder}/upper,workdir={folder}/work,userxattr {mount} \
             && cd {mount} && umask 022 && bash -euc \"$SCRIPT\"",
            self.root.display(),
            folder = folder.display(),
            mount = self.base.join("mount").display(),
        );
        let status = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "bash", "-euc", &mount])
            .env("SCRIPT", script)
            .status()
            .expect("unshare runs");
        assert!(status.success(), "an overlay in a user namespace is needed: {script}");
        let outcome = Outcome { exit: 0, strategy: "discard".to_owned() };
        layer.hold(&about(script), outcome).expect("held").0
    }

    /// Runs on a layer like [`hold`](Self::hold) and applies it.
    pub fn apply(&self, script: &str) -> u64 {
        let id = self.hold(script);
        self.journal().commit(exacta_store::RecordId(id)).expect("applied");
        id
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.base.join("home"))
            .env("TZ", "UTC")
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn exacta(&self, arguments: &[&str]) -> Said {
        let output = self.command(BINARY).args(arguments).output().expect("the binary runs");
        said(output)
    }

    /// On a terminal, standard error on it too.
    pub fn on_terminal(&self, line: &str, environment: &[(&str, &str)]) -> Said {
        let line = format!("stty cols 100; {BINARY} {line}");
        let mut command = self.command("script");
        command.args(["-qec", &line, "/dev/null"]).envs(environment.iter().copied());
        said(command.output().expect("script(1) runs"))
    }

    /// The diff as bytes, given to `git apply` in another tree.
    pub fn apply_patch(&self, patch: &[u8], arguments: &[&str]) -> Said {
        let mut git = self.command("git");
        git.arg("apply").args(arguments).stdin(Stdio::piped());
        let mut child = git.spawn().expect("git runs");
        child.stdin.take().expect("a pipe").write_all(patch).expect("a patch");
        said(child.wait_with_output().expect("git ends"))
    }

    /// Every file and link with its content or target, without the state.
    pub fn tree(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        walk(&self.root, &self.root, &mut found);
        found.sort();
        found
    }
}

pub const BINARY: &str = env!("CARGO_BIN_EXE_exacta");

impl Drop for Project {
    fn drop(&mut self) {
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(&self.base).status();
        let _ = fs::remove_dir_all(&self.base);
    }
}

fn said(output: Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        bytes: output.stdout,
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn about(command: &str) -> About {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    About {
        session: "test".to_owned(),
        command: command.into(),
        directory: ".".into(),
        time: Time { seconds: now.as_secs() as i64, nanos: now.subsec_nanos() },
    }
}

fn walk(root: &Path, place: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(place).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
        let metadata = fs::symlink_metadata(&path).expect("there");
        if name == ".clada" || name == ".git" {
            continue;
        }
        if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("a target");
            found.push((name, format!("-> {}", target.display())));
        } else if metadata.is_dir() {
            found.push((format!("{name}/"), String::new()));
            walk(root, &path, found);
        } else {
            let mode = metadata.permissions().mode() & 0o7777;
            let bytes = fs::read(&path).expect("a file");
            found.push((name, format!("{mode:o} {}", String::from_utf8_lossy(&bytes))));
        }
    }
}

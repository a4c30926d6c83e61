//! A case in a process of its own, watched by the test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use exacta::{Outcome, Request, Session, SessionOptions, Stop};
use exacta_world::World;
use libtest_mimic::Failed;
use rustix::process::{Resource, Rlimit};

use crate::case::{Case, Ends, Place, WALL_TIME};

const NAME: &str = "EXACTA_BAD_INPUT_NAME";
const PLACE: &str = "EXACTA_BAD_INPUT_PLACE";

/// What the machine must never be asked for, even by a bug.
const ADDRESS_SPACE: u64 = 8 << 30;
const LARGEST_FILE: u64 = 256 << 20;

pub fn asked_for() -> Option<String> {
    std::env::var(NAME).ok()
}

/// In the child: runs the scripts, prints the peak of memory; a failure is printed and is the status.
pub fn run(case: &Case) -> ExitCode {
    limit(Resource::As, ADDRESS_SPACE);
    limit(Resource::Fsize, LARGEST_FILE);
    let root = PathBuf::from(std::env::var_os(PLACE).expect("a place"));
    (case.prepare)(&root);
    for script in &case.scripts {
        let mut options = SessionOptions::new(&root);
        // The commands are the question, not what the judge would say of them.
        options.judgement = Some(exacta::gate::Judgement::none());
        options.limits = case.limits.clone();
        let mut session = Session::new(options).expect("a session");
        let request = Request::new(script.as_slice()).with_stdin(case.stdin.clone());
        let outcome = session.run_script(&request);
        if let Some(problem) = unexpected(case, &outcome) {
            let shown: Vec<u8> = script.iter().copied().take(200).collect();
            println!("{problem}\nscript: {}\n{}", shown.escape_ascii(), show(&outcome));
            return ExitCode::FAILURE;
        }
    }
    println!("peak {}", peak());
    ExitCode::SUCCESS
}

fn limit(resource: Resource, value: u64) {
    let limit = Rlimit { current: Some(value), maximum: Some(value) };
    rustix::process::setrlimit(resource, limit).expect("a lower limit");
}

fn unexpected(case: &Case, outcome: &Outcome) -> Option<String> {
    match (&outcome.stopped, case.ends) {
        (None, _) | (Some(Stop::Limit(..)), Ends::WithinLimits) | (Some(_), Ends::InAnyWay) => {}
        (Some(stop), _) => return Some(format!("was stopped: {stop:?}")),
    }
    if case.status.is_some_and(|status| status != outcome.status.0) {
        return Some(format!("status should be {:?}", case.status));
    }
    if case.stdout.as_ref().is_some_and(|stdout| *stdout != outcome.stdout) {
        return Some("standard output differs".into());
    }
    let errors = String::from_utf8_lossy(&outcome.stderr);
    let says = case.says.filter(|text| !errors.contains(text))?;
    Some(format!("does not say {says:?}"))
}

fn show(outcome: &Outcome) -> String {
    let text = |bytes: &[u8]| {
        let start: Vec<u8> = bytes.iter().copied().take(600).collect();
        format!("{} ({} bytes)", start.escape_ascii(), bytes.len())
    };
    let (stdout, stderr) = (text(&outcome.stdout), text(&outcome.stderr));
    format!("status {}\nstdout: {stdout}\nstderr: {stderr}", outcome.status.0)
}

/// The most memory this process ever had, in megabytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(u64::MAX) / 1024
}

/// In the test: starts the child and watches it.
pub fn start(case: &Case, world: &World) -> Result<(), Failed> {
    let place = Scratch::new(case.place);
    let mut command = place.command(case.place, world)?;
    command.env(NAME, &case.name).env(PLACE, place.root()).env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let patience = WALL_TIME * 3;
    if !ends_within(&mut child, patience)? {
        child.kill()?;
        child.wait()?;
        return Err(format!("still runs after {patience:?}").into());
    }
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || errors.contains("panicked") {
        return Err(format!("{}\n{text}{errors}", output.status).into());
    }
    let peak = text.trim().rsplit("peak ").next().and_then(|peak| peak.parse::<u64>().ok());
    match peak {
        Some(peak) if peak <= case.memory => Ok(()),
        _ => Err(format!("{text} MB of memory, {} allowed", case.memory).into()),
    }
}

fn ends_within(child: &mut Child, patience: Duration) -> Result<bool, Failed> {
    let deadline = Instant::now() + patience;
    // What a child prints is far less than a pipe holds, so it never waits for us.
    while Instant::now() < deadline {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(place: Place) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // A user without rights may not reach the build directory.
        let parent = match place {
            Place::Unprivileged => std::env::temp_dir(),
            _ => PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        let path = parent.join(format!("exacta-bad-input-{}-{number}", std::process::id()));
        fs::create_dir_all(path.join("root")).expect("a temporary directory");
        Scratch(path.canonicalize().expect("a real path"))
    }

    fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    fn command(&self, place: Place, world: &World) -> Result<Command, Failed> {
        let program = std::env::current_exe()?;
        match place {
            Place::Plain => {
                // Beyond the limit of a file's size a write shall fail, not end the process.
                let mut command = Command::new("sh");
                command.args(["-c", "trap '' XFSZ; exec \"$1\"", "sh"]).arg(program);
                Ok(command)
            }
            Place::SmallDisk => {
                let script = "mount -t tmpfs -o size=2m tmpfs \"$1\" && exec \"$2\"";
                let mut command = Command::new("unshare");
                command.args(["-rm", "sh", "-c", script, "sh"]).arg(self.root()).arg(program);
                Ok(command)
            }
            Place::Unprivileged => self.unprivileged(&program, world),
        }
    }

    fn unprivileged(&self, program: &Path, world: &World) -> Result<Command, Failed> {
        let copy = self.0.join("tests");
        fs::copy(program, &copy)?;
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755))?;
        let user = world.other_user().map(rustix::fs::Uid::from_raw);
        rustix::fs::chown(self.root(), user, None)?;
        let mut command = world.unprivileged(copy);
        command.current_dir("/");
        Ok(command)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        make_removable(&self.0);
        remove(&self.0);
    }
}

fn make_removable(folder: &Path) {
    let _whatever_can_be_done = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let mode = entry.metadata().map_or(0o700, |metadata| metadata.permissions().mode());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && mode & 0o700 != 0o700 {
            make_removable(&entry.path());
        }
    }
}

/// Trees that are deeper than the longest path are moved up piece by piece.
fn remove(folder: &Path) {
    for round in 0..1000 {
        if fs::remove_dir_all(folder).is_ok() || !cut_deep(folder, folder, 0, &mut 0, round) {
            return;
        }
    }
}

fn cut_deep(top: &Path, at: &Path, depth: u32, count: &mut u32, round: u32) -> bool {
    let mut cut = false;
    for entry in fs::read_dir(at).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if depth > 100 || entry.path().as_os_str().len() > 2500 {
            *count += 1;
            cut |= fs::rename(entry.path(), top.join(format!("piece-{round}-{count}"))).is_ok();
        } else {
            cut |= cut_deep(top, &entry.path(), depth + 1, count, round);
        }
    }
    cut
}

//! The first step: on the bare machine, where nothing hostile runs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::Here;
use crate::launch::{self, Identity};
use crate::layers;
use crate::mounts::{self, Mount};
use crate::passport::{Passport, Step};
use crate::refusal::{Refusal, While};

/// Directories that are there everywhere and that a mount of ours may cover, unseen by anybody else.
const STAGINGS: [&str; 7] = ["/mnt", "/media", "/srv", "/opt", "/var/tmp", "/tmp", "/home"];

pub fn start(here: &Here) -> Result<ExitCode, Refusal> {
    let missing: Vec<String> = ["unshare", "setpriv", "bash"]
        .iter()
        .filter(|tool| !is_in_path(tool))
        .map(|tool| format!("{tool} is not in PATH; it comes with util-linux or bash"))
        .collect();
    if !missing.is_empty() {
        return Err(Refusal::many(missing));
    }
    let program = env::current_exe().when(|| "finding the test binary".into())?;
    let staging = staging(&mounts::all()?, &layers::needed(here, &program)?)?;
    let passport = Passport::new(Step::Ground, staging, program)?;
    let identity = Identity::of_this_process();
    match identity {
        Identity::Nobody => lay_ground_first(&passport),
        Identity::Own { .. } => {
            launch::init(&passport, &passport.program, Stdio::piped(), identity)
        }
    }
}

/// The machine's root must lay the layers out itself: whom the world's root is, can read less.
fn lay_ground_first(passport: &Passport) -> Result<ExitCode, Refusal> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--"]);
    command.arg(&passport.program).args(env::args_os().skip(1)).stdin(Stdio::piped());
    passport.hand_to(&mut command, Step::Ground);
    let mut child = command.spawn().when(|| "starting unshare".into())?;
    // When this end is closed, even by our death, the world ends (see `init.rs`).
    let _lifeline = child.stdin.take();
    let status = child.wait().when(|| "waiting for the world".into())?;
    launch::ended(status)
}

fn is_in_path(tool: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

fn staging(mounts: &[Mount], needed: &[PathBuf]) -> Result<PathBuf, Refusal> {
    let free = |candidate: &&Path| {
        let holds = |path: &PathBuf| path.starts_with(candidate);
        let occupied = mounts.iter().any(|mount| holds(&mount.point)) || needed.iter().any(holds);
        candidate.is_dir() && !candidate.is_symlink() && !occupied
    };
    let found = STAGINGS.iter().map(Path::new).find(free).map(Path::to_owned);
    found.ok_or_else(|| {
        let places = STAGINGS.join(", ");
        Refusal::new(format!("one of {places} must be a directory without mounts"))
    })
}

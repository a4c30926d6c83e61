//! What a test can do in its world.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// In memory, so that layers can be put over it and kept in it.
pub const WORK: &str = "/tmp/work";
pub const HOME: &str = "/tmp/home";

/// Half of what the world has: the tests go on while a bomb is held by its limit.
const PROCESSES_OF_A_COMMAND: u64 = crate::limits::PROCESSES / 2;

const OTHER_USER: u32 = 65534;

/// The proof that this process is in a disposable world: only the inspection makes one.
#[derive(Clone, Debug)]
pub struct World {
    other_user: Option<u32>,
}

impl World {
    pub(crate) fn new() -> Self {
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let count = map.split_whitespace().nth(2).and_then(|count| count.parse::<u32>().ok());
        let has_other = count.is_some_and(|count| count > OTHER_USER);
        World { other_user: has_other.then_some(OTHER_USER) }
    }

    /// A directory for everything; it and all of `/tmp` are in memory.
    pub fn work(&self) -> &Path {
        Path::new(WORK)
    }

    /// A user beside the world's root. There is none where the tests are run by an ordinary user.
    pub fn other_user(&self) -> Option<u32> {
        self.other_user
    }

    /// Runs a script with bash, bare: as the world's root, with no wall but the world's. All its processes and mounts
    /// end with it, at the latest after the given time.
    pub fn run(&self, script: &str, time: Duration) -> io::Result<Output> {
        self.command(script, time).output()
    }

    /// The same, to be changed before it is run.
    pub fn command(&self, script: &str, time: Duration) -> Command {
        let seconds = format!("{:.3}", time.as_secs_f64());
        let limited = format!("ulimit -u {PROCESSES_OF_A_COMMAND}; exec bash -c \"$1\"");
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", &seconds, "unshare", "--mount", "--pid", "--mount-proc"]);
        command.args(["--fork", "--kill-child", "--", "bash", "-c", &limited, "bash", script]);
        command.current_dir(WORK).stdin(Stdio::null());
        command
    }

    /// The program without any powers, not even those of the world's root.
    pub fn unprivileged(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command;
        if let Some(user) = self.other_user {
            command = Command::new("setpriv");
            command.args([format!("--reuid={user}"), format!("--regid={user}")]);
            command.arg("--clear-groups");
        } else {
            command = Command::new("unshare");
            let user = OTHER_USER;
            command.args(["--user".into(), format!("--map-user={user}")]);
            command.args([format!("--map-group={user}"), "--".into()]);
        }
        command.arg(program);
        command
    }
}

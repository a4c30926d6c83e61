//! Into the namespaces: control group first, then a user namespace, and in it all the others.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{getegid, geteuid};

use crate::control_groups::ControlGroups;
use crate::namespaces;
use crate::passport::{Passport, Step};
use crate::refusal::{Refusal, While};

/// Whom the users of the world are on the machine: nobody's numbers, far above all that are given out.
pub const FIRST: u32 = 0x7000_0000;
const COUNT: u32 = 65536;

/// Whom the product's jails are when root makes them: nobody on the machine either. The world's root can make them like
/// that only if there is such a user in the world.
const JAILED: u32 = 1_750_000_000;

/// The groups to join come first, then `--`, what becomes of supplementary groups, and the program. The network
/// namespace is made only when the user namespace has its map: its files belong to whom the map names then.
const ENTER: &str = r#"
while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit 125; shift; done
shift
exec unshare --user --keep-caps bash -c '
    for ((i = 0; i < 10000; i++)); do [ -n "$(</proc/self/gid_map)" ] && break; done
    exec setpriv --reuid=0 --regid=0 "$@"' bash "$@"
"#;

const NAMESPACES: [&str; 9] = [
    "unshare",
    "--mount",
    "--pid",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
    "--fork",
    "--kill-child",
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// We are the machine's root: the world's users are nobody on it.
    Nobody,
    /// We are an ordinary user: so is the world's root, its only user.
    Own { user: u32, group: u32 },
}

impl Identity {
    pub fn of_this_process() -> Self {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        // Root of a namespace with a single user cannot become anybody else.
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let full = map.split_whitespace().nth(2).and_then(|count| count.parse::<u32>().ok());
        if user == 0 && full.is_some_and(|count| count > FIRST + COUNT) {
            Identity::Nobody
        } else {
            Identity::Own { user, group }
        }
    }

    fn owner(self) -> Option<u32> {
        (self == Identity::Nobody).then_some(FIRST)
    }
}

/// Starts process 1 of the world and waits for its end.
pub fn init(
    passport: &Passport,
    program: &Path,
    lifeline: Stdio,
    identity: Identity,
) -> Result<ExitCode, Refusal> {
    let groups = ControlGroups::make(&passport.token, identity.owner());
    let mut command = Command::new("bash");
    command.args(["-c", ENTER, "bash"]);
    command.args(groups.iter().flat_map(ControlGroups::inner));
    command.arg("--").arg(match identity {
        Identity::Nobody => "--clear-groups",
        Identity::Own { .. } => "--keep-groups",
    });
    command.args(NAMESPACES).arg("--").arg(program).args(env::args_os().skip(1));
    passport.hand_to(&mut command, Step::Init);
    command.stdin(lifeline);
    if groups.is_none() {
        command.env(crate::init::UNGROUPED, "1");
    }
    let mut child = command.spawn().when(|| "starting bash".into())?;
    // When this end is closed, even by our death, the world ends (see `init.rs`).
    let _lifeline = child.stdin.take();
    if let Err(refusal) = map_users(&mut child, identity) {
        let _it_may_have_ended = child.kill();
        let _reaped = child.wait();
        return Err(refusal);
    }
    let status = child.wait().when(|| "waiting for the world".into())?;
    ended(status)
}

fn map_users(child: &mut Child, identity: Identity) -> Result<(), Refusal> {
    let process = child.id().to_string();
    let ours = namespaces::of("self", "user")?;
    let deadline = Instant::now() + Duration::from_secs(10);
    while namespaces::of(&process, "user").map_or(true, |theirs| theirs == ours) {
        let ended = child.try_wait().when(|| "waiting for unshare".into())?;
        if ended.is_some() || Instant::now() > deadline {
            return Err(Refusal::new("unshare could not make a user namespace"));
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    let write = |name: &str, text: String| {
        let file = format!("/proc/{process}/{name}");
        fs::write(&file, &text).when(|| format!("writing {text:?} to {file}"))
    };
    let (users, groups) = match identity {
        Identity::Nobody => {
            let map = format!("0 {FIRST} {COUNT}\n{JAILED} {JAILED} 1\n");
            (map.clone(), map)
        }
        Identity::Own { user, group } => {
            // The price the kernel asks of those who may not give groups away.
            write("setgroups", "deny".into())?;
            (format!("0 {user} 1"), format!("0 {group} 1"))
        }
    };
    write("uid_map", users)?;
    write("gid_map", groups)
}

/// What the world ended with. Tests that fail end with 101; unshare and setpriv end with these when they fail.
pub fn ended(status: ExitStatus) -> Result<ExitCode, Refusal> {
    if matches!(status.code(), Some(1 | 126 | 127)) {
        return Err(Refusal::new("unshare or setpriv could not make the namespaces"));
    }
    Ok(crate::exit_code(status))
}

//! An attack is tried out: without the jail, and in it, as whoever there is.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use crate::record::Attack;
use crate::scene::{SECRET, Scene};

const ROLE: &str = "EXACTA_ATTACK_ROLE";
const ATTACK: &str = "EXACTA_ATTACK_NAME";
const WAY: &str = "EXACTA_ATTACK_WAY";
const USER: &str = "EXACTA_ATTACK_USER";
const BASE: &str = "EXACTA_ATTACK_BASE";

/// No attempt takes longer; most of them take a moment.
const SECONDS: &str = "60";

/// Worth a word: all of them together should not take long.
const SLOW: Duration = Duration::from_secs(4);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    Root,
    User,
}

impl Identity {
    pub fn number(self) -> u32 {
        match self {
            Identity::Root => 0,
            Identity::User => 1000,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Identity::Root => "root",
            Identity::User => "an ordinary user",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Bare,
    Jail,
}

/// Who this process is, if it is not the one that tries out.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// What the stage and its actor are told.
pub struct Task {
    pub attack: Attack,
    pub way: Way,
    pub identity: Identity,
    pub scene: Scene,
}

impl Task {
    pub fn of_this_process() -> Self {
        let text = |name: &str| env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
        let (name, all) = (text(ATTACK), crate::record::load_all(crate::folder()));
        let attack = all.into_iter().find(|attack| attack.full_name() == name);
        Task {
            attack: attack.unwrap_or_else(|| panic!("no attack {name}")),
            way: if text(WAY) == "jail" { Way::Jail } else { Way::Bare },
            identity: if text(USER) == "0" { Identity::Root } else { Identity::User },
            scene: Scene { base: text(BASE).into() },
        }
    }

    pub fn tell(&self, command: &mut Command, role: &str) {
        let way = if self.way == Way::Jail { "jail" } else { "bare" };
        command.env(ROLE, role).env(ATTACK, self.attack.full_name()).env(WAY, way);
        command.env(USER, self.identity.number().to_string()).env(BASE, &self.scene.base);
    }
}

/// What was seen of an attempt.
struct Seen {
    succeeded: bool,
    /// What is wrong whatever the attack is about.
    wrong: String,
    output: String,
}

pub fn try_out(attack: &Attack, identities: &[Identity]) -> Result<(), Failed> {
    let begun = Instant::now();
    let mut problems = Vec::new();
    for identity in identities.iter().copied() {
        let name = identity.name();
        let bare = seen(attack, identity, Way::Bare)?;
        let excuse = excuse(attack, identity);
        match (bare.succeeded, excuse) {
            (true, None) => {}
            (false, Some(reason)) => {
                println!("{} as {name}: not provable here: {reason}", attack.full_name());
            }
            (true, Some(_)) => {
                problems.push(format!("as {name} it can be proven after all\n{}", bare.output));
            }
            (false, None) => {
                problems
                    .push(format!("as {name} it proves nothing: it fails bare\n{}", bare.output));
            }
        }
        let jailed = seen(attack, identity, Way::Jail)?;
        if jailed.succeeded || !jailed.wrong.is_empty() {
            let (wrong, output) = (jailed.wrong, jailed.output);
            problems.push(format!("AS {name} IT SUCCEEDS IN THE JAIL {wrong}\n{output}"));
        }
    }
    if begun.elapsed() > SLOW {
        println!("{} took {:.1} s", attack.full_name(), begun.elapsed().as_secs_f64());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn excuse(attack: &Attack, identity: Identity) -> Option<&str> {
    let own = match identity {
        Identity::Root => attack.only_as_user.as_deref(),
        Identity::User => attack.only_as_root.as_deref(),
    };
    own.or(attack.not_provable.as_deref())
}

/// Its own network, processes, mounts, names and shared memory, with secrets in the machine's places that everybody may
/// read; then the stage, which is process 1 there. What it needs of this checkout is put back where a secret covered it.
const ENTER: &str = "ip link set lo up
mount -t tmpfs kept /mnt && mkdir /mnt/sources /mnt/built || exit 1
mount --rbind \"$2\" /mnt/sources && mount --rbind \"$3\" /mnt/built || exit 1
for place in /home /root /srv /opt /var/lib /run; do
    mount -t tmpfs -o mode=0755 secrets $place && echo $1 > $place/exacta-secret || exit 1
done
put_back() { [ -e \"$2\" ] || { mkdir -p \"$2\" && mount --rbind \"$1\" \"$2\"; }; }
put_back /mnt/sources \"$2\" && put_back /mnt/built \"$3\" && umount -l /mnt || exit 1
exec \"$0\"";

fn seen(attack: &Attack, identity: Identity, way: Way) -> Result<Seen, Failed> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scene-{number}"));
    fs::create_dir(&base).expect("a directory for the attempt");
    let task = Task { attack: attack.clone(), way, identity, scene: Scene { base } };
    let mut command = Command::new("timeout");
    command.args([
        "--signal=KILL",
        SECONDS,
        "unshare",
        "--mount",
        "--pid",
        "--net",
        "--ipc",
        "--uts",
    ]);
    command.args(["--mount-proc", "--fork", "--kill-child", "--", "sh", "-c", ENTER]);
    command.arg(env::current_exe().expect("this program")).arg(SECRET).stdin(Stdio::null());
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).arg(built);
    task.tell(&mut command, "stage");
    let done = command.output().expect("a stage");
    let _it_is_all_temporary = fs::remove_dir_all(&task.scene.base);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let errors = String::from_utf8_lossy(&done.stderr);
    let mut lines = text.splitn(3, '\n');
    match (lines.next(), lines.next(), lines.next()) {
        (Some(verdict @ ("succeeded" | "failed")), Some(wrong), Some(output)) => Ok(Seen {
            succeeded: verdict == "succeeded",
            wrong: wrong.to_owned(),
            output: output.to_owned(),
        }),
        _ => Err(format!("the stage fell down: {}\n{text}\n{errors}", done.status).into()),
    }
}

//! Process 1 of the world: furnishes it, moves into it, and stays as the parent of whoever has none.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, unmount};
use rustix::process::WaitOptions;

use crate::layers::{self, temporary};
use crate::limits;
use crate::mounts;
use crate::namespaces;
use crate::passport::{Passport, Step};
use crate::refusal::{Refusal, While};
use crate::world::{HOME, WORK};
use crate::{Here, NO_WORLD};

/// Set when no control group limits the world.
pub const UNGROUPED: &str = "EXACTA_WORLD_UNGROUPED";

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

pub fn run(passport: &Passport, here: &Here) -> Result<ExitCode, Refusal> {
    let shared = namespaces::shared_with(&passport.outside)?;
    if std::process::id() != 1 || !shared.is_empty() {
        return Err(Refusal::new("this step was not started by a test; unset EXACTA_WORLD"));
    }
    end_with_the_outside();
    // Away from the terminal: nothing in here types into the shell of whoever watches.
    let _leads_one_already = rustix::process::setsid();
    let directory = env::current_dir().when(|| "finding the current directory".into())?;
    let tree = passport.tree();
    if mounts::at(&mounts::all()?, &tree).is_none() {
        layers::lay(passport, here, None)?;
    }
    // What the machine's root has mounted is locked in place; a copy of it is not.
    mount_bind_recursive(&tree, &tree).when(|| "moving the tree".into())?;
    furnish(passport, &tree)?;
    move_into(&tree)?;
    set_up(passport, here)?;
    start(passport, &directory)
}

/// Our standard input is a pipe whose other end the first step holds, and says nothing until it is gone.
fn end_with_the_outside() {
    std::thread::spawn(|| {
        let mut nothing = [0; 1];
        let _closed = io::stdin().read(&mut nothing);
        std::process::exit(i32::from(NO_WORLD));
    });
}

fn furnish(passport: &Passport, tree: &Path) -> Result<(), Refusal> {
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    for (kind, point) in [("proc", "proc"), ("sysfs", "sys")] {
        mount(kind, tree.join(point), kind, quiet, None)
            .when(|| format!("mounting {kind} on /{point}"))?;
    }
    devices(&passport.mount_name(), &tree.join("dev"))?;
    if env::var_os(UNGROUPED).is_none() {
        control_groups(&passport.mount_name(), &tree.join("sys/fs/cgroup"))?;
    }
    Ok(())
}

fn devices(name: &str, folder: &Path) -> Result<(), Refusal> {
    temporary(name, folder, "mode=0755")?;
    for device in DEVICES {
        let (from, to) = (Path::new("/dev").join(device), folder.join(device));
        fs::write(&to, "")
            .and_then(|()| mount_bind(&from, &to).map_err(io::Error::from))
            .when(|| format!("showing {}", from.display()))?;
    }
    for (link, target) in LINKS {
        symlink(target, folder.join(link)).when(|| format!("linking /dev/{link}"))?;
    }
    for folder in [folder.join("pts"), folder.join("shm")] {
        fs::create_dir(&folder).when(|| format!("making {}", folder.display()))?;
    }
    temporary(name, &folder.join("shm"), "mode=1777")?;
    let options = Some(c"newinstance,ptmxmode=0666,mode=0620");
    mount("devpts", folder.join("pts"), "devpts", MountFlags::NOSUID, options)
        .when(|| "mounting devpts on /dev/pts".into())
}

/// The hierarchies with our limits, from the world's own group downwards.
fn control_groups(name: &str, folder: &Path) -> Result<(), Refusal> {
    let kinds = mounts::all()?;
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let old: Vec<&str> = ["pids", "memory"]
        .into_iter()
        .filter(|controller| {
            kinds.iter().any(|mount| {
                let has = mount.options.split(',').any(|option| option == *controller);
                mount.kind == "cgroup" && has
            })
        })
        .collect();
    if old.is_empty() {
        mount("cgroup2", folder, "cgroup2", quiet, None)
            .when(|| "mounting cgroup2 on /sys/fs/cgroup".into())?;
        // Groups with controllers beneath them hold no processes themselves.
        let own = folder.join("tests");
        return fs::create_dir(&own)
            .and_then(|()| fs::write(own.join("cgroup.procs"), "1"))
            .and_then(|()| fs::write(folder.join("cgroup.subtree_control"), "+pids +memory"))
            .when(|| "dividing the control group".into());
    }
    temporary(name, folder, "mode=0755")?;
    for controller in old {
        let (point, option) = (folder.join(controller), format!("{controller}\0"));
        let option = std::ffi::CStr::from_bytes_with_nul(option.as_bytes()).ok();
        fs::create_dir(&point)
            .and_then(|()| {
                mount("cgroup", &point, "cgroup", quiet, option).map_err(io::Error::from)
            })
            .when(|| format!("mounting the control groups of {controller}"))?;
    }
    Ok(())
}

/// The old tree is stacked beneath the new one and then let go of.
fn move_into(tree: &Path) -> Result<(), Refusal> {
    env::set_current_dir(tree).when(|| "entering the tree".into())?;
    rustix::process::pivot_root(".", ".").when(|| "making the tree the root".into())?;
    unmount(".", UnmountFlags::DETACH).when(|| "letting go of the old root".into())?;
    env::set_current_dir("/").when(|| "entering the root".into())
}

fn set_up(passport: &Passport, here: &Here) -> Result<(), Refusal> {
    rustix::system::sethostname(b"disposable").when(|| "naming the world".into())?;
    for folder in [HOME, WORK] {
        fs::create_dir_all(folder).when(|| format!("making {folder}"))?;
    }
    // What is mounted here belongs to the world's root altogether: it may also show files as somebody else's.
    for folder in [Path::new(WORK)].into_iter().chain(here.scratch.as_deref()) {
        temporary(&passport.mount_name(), folder, "mode=0755")?;
    }
    loopback().when(|| "starting the loopback network".into())?;
    limits::set(env::var_os(UNGROUPED).is_none())
}

/// Up and running is 9: `IFF_UP` and `IFF_LOOPBACK`.
fn loopback() -> io::Result<()> {
    if fs::write("/sys/class/net/lo/flags", "0x9").is_err() {
        Command::new("ip").args(["link", "set", "lo", "up"]).output()?;
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    TcpStream::connect_timeout(&listener.local_addr()?, Duration::from_secs(1)).map(drop)
}

fn start(passport: &Passport, directory: &Path) -> Result<ExitCode, Refusal> {
    let mut command = Command::new(&passport.program);
    command.args(env::args_os().skip(1)).current_dir(directory).stdin(Stdio::null());
    passport.hand_to(&mut command, Step::Inside);
    command.env_remove(UNGROUPED).env("HOME", HOME).env("TMPDIR", WORK);
    let child =
        command.spawn().when(|| format!("starting {} in the world", passport.program.display()))?;
    loop {
        let ended =
            rustix::process::wait(WaitOptions::empty()).when(|| "waiting for the tests".into())?;
        let Some((process, status)) = ended else { continue };
        if process.as_raw_nonzero().get().unsigned_abs() == child.id() {
            let code = status.exit_status().or_else(|| Some(128 + status.terminating_signal()?));
            let code = code.and_then(|code| u8::try_from(code).ok());
            return Ok(ExitCode::from(code.unwrap_or(NO_WORLD)));
        }
    }
}

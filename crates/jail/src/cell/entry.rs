//! Into the jail, in order. `docs/jail.md` is this list in prose.
//!
//! Two processes enter. The *warden* is the first in the new namespaces and keeps its power over them; it is not in
//! the jail's process namespace, so nothing inside can see or reach it. The *init* is process 1 inside: it gives up
//! everything before it takes its first order, so that a program needs nothing but to be copied and executed.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal, setsid,
};
use rustix::system::sethostname;
use rustix::thread::{Gid, UnshareFlags};
use serde::{Deserialize, Serialize};

use super::init::{self, Surroundings};
use super::view::Root;
use crate::ladder::{Missing, Wall};
use crate::limits::counted_by_jail;
use crate::network;
use crate::outcome::{AtStep, Failure, Walls};
use crate::plan::{Network, Person, Plan};
use crate::system::credentials;
use crate::system::process::{self, Fork};
use crate::timeline::{self, Part};
use crate::walls;
use crate::walls::landlock::Grants;
use crate::walls::seccomp::Sockets;
use crate::wire;

/// Of the warden. The process namespace is the init's: it must be its first process.
pub const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// Spawner to warden: the kernel knows who you are.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mapped;

/// To the spawner. With it come init's handle, and the listeners in the order of the fields.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    Entered(Entered),
    Failed(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Entered {
    pub walls: Walls,
    pub notifier: bool,
    pub proxy: bool,
    pub parts: Vec<Part>,
}

/// The first process in the namespaces. Never returns.
pub fn warden(plan: &Plan, mounts: Vec<Option<OwnedFd>>, orders: OwnedFd, spawner: OwnedFd) -> ! {
    if let Err(failure) = enter(plan, mounts, orders, &spawner) {
        let _nobody_left_to_tell = wire::send(&spawner, &Answer::Failed(failure), &[]);
    }
    process::exit(1)
}

/// The order matters; each step says why it stands where it does.
fn enter(
    plan: &Plan,
    mounts: Vec<Option<OwnedFd>>,
    orders: OwnedFd,
    spawner: &OwnedFd,
) -> Result<(), Failure> {
    wire::receive::<Mapped>(spawner)
        .at("wait for the spawner")?
        .ok_or(Errno::PIPE)
        .at("wait for the spawner")?;
    timeline::mark("namespaces");
    // Before anything is made: what is made belongs to whoever makes it.
    become_person(&plan.person)?;
    // At once after that, for the kernel forgets it when somebody becomes somebody else. A spawner that ended before is
    // noticed when it is answered.
    set_parent_process_death_signal(Some(Signal::KILL)).at("die with the spawner")?;
    // After the mapping, which the spawner writes through /proc, and which this would forbid.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("hide the warden's memory")?;
    setsid().at("leave the caller's session")?;
    let keyring = process::join_new_keyring().at("leave the caller's keys");
    // After the spawner has moved us into the control group: it becomes the root of what is seen of them.
    process::leave(UnshareFlags::NEWCGROUP).at("hide the control groups")?;
    sethostname(plan.person.host_name.as_bytes()).at("name the jail")?;
    network::raise_loopback().at("raise the loopback device")?;
    let proxy = match plan.network {
        Network::Off => None,
        Network::Proxy { port } => {
            Some(network::reserve(port).at("reserve a port for connections")?)
        }
    };
    timeline::mark("identity, keys, loopback");
    // The view is built beside the old root; init moves into it, for /proc shows the namespace of who mounts it.
    let mut root = Root::build(&plan.view, mounts)?;
    // The filter forbids all use of keys, so that this is the second wall; containers often forbid it.
    root.missing.extend(keyring.err().map(|failure| Missing::new(Wall::Keyring, failure)));
    let (ours, theirs) = wire::pair().at("make a socket for init")?;
    match process::fork(libc::CLONE_NEWPID, None).at("make a process namespace")? {
        Fork::Child => {
            // Neither the listener, which is the engine's alone, nor the way to the spawner.
            let kept = [orders.as_fd(), theirs.as_fd(), root.directory.as_fd()];
            let entered = process::keep_only(&kept)
                .at("close descriptors")
                .and_then(|()| become_init(plan, root, orders, &theirs));
            let Err(failure) = entered;
            let _nobody_left_to_tell = wire::send(&theirs, &Answer::Failed(failure), &[]);
            process::exit(1)
        }
        Fork::Parent { child, handle } => {
            drop((theirs, orders, root));
            let answer = wire::receive::<Answer>(&ours).at("wait for init")?;
            let (answer, descriptors) = answer.ok_or(Errno::CHILD).at("wait for init")?;
            let answer = match answer {
                Answer::Entered(entered) => {
                    Answer::Entered(Entered { proxy: proxy.is_some(), ..entered })
                }
                failed @ Answer::Failed(_) => failed,
            };
            let all: Vec<_> =
                [&handle].into_iter().chain(&descriptors).chain(&proxy).map(AsFd::as_fd).collect();
            wire::send(spawner, &answer, &all).at("answer the spawner")?;
            // Nobody but the engine may hold on to the questions: when it is gone, they are refused.
            drop((proxy, descriptors));
            // Init's end is the jail's end, and so is ours.
            process::wait_for(child);
            process::exit(0)
        }
    }
}

fn become_person(person: &Person) -> Result<(), Failure> {
    let step = "become the jail's user";
    // A caller without power may not leave its groups; they are nobody's inside.
    match rustix::thread::set_thread_groups(&[]) {
        Ok(()) | Err(Errno::PERM) => {}
        Err(error) => return Err(Failure::new(step, error)),
    }
    let group = Gid::from_raw(person.group_id);
    rustix::thread::set_thread_res_gid(group, group, group).at(step)?;
    let user = rustix::thread::Uid::from_raw(person.user_id);
    rustix::thread::set_thread_res_uid(user, user, user).at(step)
}

/// Process 1. Returns only when it could not become that.
fn become_init(
    plan: &Plan,
    mut root: Root,
    orders: OwnedFd,
    warden: &OwnedFd,
) -> Result<std::convert::Infallible, Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).at("die with the warden")?;
    // While the host's /proc is still in sight: without it the kernel refuses to mount another.
    timeline::mark("process namespace");
    root.mount_processes()?;
    timeline::mark("/proc");
    let mut missing = root.enter()?;
    timeline::mark("change of the root");
    setsid().at("make a session")?;
    walls::forbid_dumps().at("forbid core dumps")?;
    // Before the filters, which only the powerless may put up without further power.
    rustix::thread::set_no_new_privs(true).at("forbid new privileges")?;
    credentials::drop_all().at("drop all capabilities")?;
    timeline::mark("capabilities");
    // After the view was entered: the grants are about what is seen from here.
    let (landlock, grants) = match walls::landlock::version(walls::landlock::FIRST_USED) {
        Ok(version) => {
            walls::landlock::restrict(version).at("put up Landlock")?;
            (version, Grants::of(&plan.view, version)?)
        }
        Err(failure) => {
            missing.push(Missing::new(Wall::Landlock, failure));
            (0, Grants::none())
        }
    };
    timeline::mark("Landlock");
    // Last: it forbids most of what was done up to here.
    let standing = walls::seccomp::restrict(plan.debugging, Sockets::Own);
    let notifier = standing.at("put up the system call filter")?;
    let notifier =
        notifier.map_err(|failure| missing.push(Missing::new(Wall::Notification, failure)));
    let notifier = notifier.ok();
    timeline::mark("system call filter");
    let walls = Walls {
        namespaces: true,
        absence: true,
        landlock,
        system_calls: true,
        counted: notifier.is_some() && counted_by_jail(),
        missing,
        ..Walls::default()
    };
    let entered =
        Entered { walls, notifier: notifier.is_some(), proxy: false, parts: timeline::taken() };
    let given: Vec<_> = notifier.iter().map(AsFd::as_fd).collect();
    wire::send(warden, &Answer::Entered(entered), &given).at("answer the warden")?;
    drop(notifier);
    init::serve(orders, &grants, &Surroundings::Namespace)
}

//! Into the jail as process 1, in order: the second half of the list that [`entry`](super::entry) begins.

use std::convert::Infallible;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use rustix::thread::{UnshareFlags, set_name};

use super::init::{self, Renewal, Surroundings};
use super::masks;
use super::talk::{Answer, Begin, Complete, Entered, LetGo, next, next_soon};
use super::view::{Root, new_processes};
use crate::ladder::{Missing, Wall};
use crate::limits::counted_by_jail;
use crate::network;
use crate::outcome::{AtStep, Failure, Walls};
use crate::plan::{Network, Plan};
use crate::processors;
use crate::system::credentials;
use crate::system::process;
use crate::timeline;
use crate::walls;
use crate::walls::landlock::Grants;
use crate::walls::seccomp::Sockets;
use crate::wire;

/// All that process 1 can do before it knows anything of the jail. A /proc that shows the processes of it, or why there is none.
fn seclude() -> Result<Result<OwnedFd, Errno>, Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).at("die with the warden")?;
    // What the executable is called outside is nothing that anybody inside could know.
    set_name(c"init").at("take another name")?;
    timeline::mark("process namespace");
    process::leave(UnshareFlags::NEWNET).at("make a network namespace")?;
    network::raise_loopback().at("raise the loopback device")?;
    timeline::mark("network");
    // While the host's /proc is still in sight: without it the kernel refuses to mount another.
    let processes = new_processes();
    timeline::mark("/proc");
    // Only what could still be gained; what it has, it needs.
    credentials::drop_bounding().at("drop all capabilities")?;
    timeline::mark("capabilities");
    walls::seccomp::prepare().at("prepare the system call filter")?;
    timeline::mark("system call filter");
    Ok(processes)
}

/// What process 1 has when it has done its part of the view.
struct Inside {
    plan: Plan,
    orders: OwnedFd,
    root: Root,
    proxy: Option<OwnedFd>,
    missing: Option<Missing>,
}

/// Does that, beside the warden: what can be done before the plan is known, and then the rest.
fn furnish_inside(warden: &OwnedFd, root: Option<Root>) -> Result<Inside, Failure> {
    let processes = seclude()?;
    // What can be mounted there before the plan is known.
    let mut processes = Some(processes);
    let mut missing = None;
    if let Some(root) = &root {
        missing = processes.take().map(|it| root.add_processes(it)).transpose()?.flatten();
        timeline::mark("/proc");
    }
    let step = "wait for the warden";
    let (begin, descriptors) = next::<Begin>(warden, step)?;
    timeline::skip();
    let Begin { plan, masks } = begin;
    let mut descriptors = descriptors.into_iter();
    let mut taken = || descriptors.next().ok_or(Errno::BADF).at(step);
    let orders = taken()?;
    let root = root.map_or_else(|| taken().map(|directory| Root { directory }), Ok)?;
    // Before anything else: the warden will wait for it.
    if !masks.is_empty() {
        let refused = masks::make(&taken()?, &masks).err().map(Errno::raw_os_error);
        timeline::mark("programs hidden");
        wire::send(warden, &Answer::Masked { refused }, &[]).at("answer the warden")?;
    }
    root.add_own(&plan.view)?;
    timeline::mark("/etc");
    let proxy = match plan.network {
        Network::Off => None,
        Network::Proxy { port } => {
            Some(network::reserve(port).at("reserve a port for connections")?)
        }
    };
    timeline::mark("network");
    if let Some(processes) = processes {
        missing = root.add_processes(processes)?;
        timeline::mark("/proc");
    }
    Ok(Inside { plan, orders, root, proxy, missing })
}

/// Process 1. Returns only when it could not become that.
pub fn become_init(warden: &OwnedFd, root: Option<Root>) -> Result<Infallible, Failure> {
    let Inside { plan, orders, root, proxy, missing: more } = furnish_inside(warden, root)?;
    let step = "wait for the warden";
    let (Complete { mut missing }, rules) = next_soon(warden, step)?;
    timeline::skip();
    missing.extend(more);
    root.enter()?;
    wire::send(warden, &Answer::Inside, &[]).at("answer the warden")?;
    timeline::mark("change of the root");
    let (walls, grants, notifier) = put_up_walls(&plan, missing, rules.into_iter().next())?;
    let landlock = walls.landlock;
    let entered = Entered {
        walls,
        notifier: notifier.is_some(),
        proxy: proxy.is_some(),
        laid: false,
        init: None,
        parts: timeline::taken(),
    };
    let surroundings = Surroundings::Namespace { asks: notifier.is_some() };
    let given: Vec<_> = notifier.iter().chain(&proxy).map(AsFd::as_fd).collect();
    wire::send(warden, &Answer::Entered(entered), &given).at("answer the warden")?;
    drop((notifier, proxy));
    next_soon::<LetGo>(warden, step)?;
    let renewal = Renewal::new(&plan.view, (landlock > 0).then_some(landlock));
    init::serve(&orders, grants, &surroundings, renewal)
}

/// Gives up everything, and puts up what holds behind the view. Who is asked from outside, if anybody is.
fn put_up_walls(
    plan: &Plan,
    mut missing: Vec<Missing>,
    rules: Option<OwnedFd>,
) -> Result<(Walls, Grants, Option<OwnedFd>), Failure> {
    // What programs inherit of us they cannot change.
    if !processors::spread() {
        return Err(Failure::new("use all processors", Errno::INVAL));
    }
    setsid().at("make a session")?;
    walls::forbid_dumps().at("forbid core dumps")?;
    // Before the filters, which only the powerless may put up without further power.
    rustix::thread::set_no_new_privs(true).at("forbid new privileges")?;
    credentials::drop_held().at("drop all capabilities")?;
    timeline::mark("capabilities");
    // After the view was entered: the grants are about what is seen from here.
    let (landlock, grants) = match walls::landlock::version(walls::landlock::FIRST_USED) {
        Ok(version) => {
            walls::landlock::restrict(version).at("put up Landlock")?;
            let grants = match rules {
                Some(rules) => Grants::taken_over(rules, version)?,
                None => Grants::of(&plan.view, version)?,
            };
            (version, grants)
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
    Ok((walls, grants, notifier))
}

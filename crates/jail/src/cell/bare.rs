//! A jail without namespaces: the lower rungs of the ladder.
//!
//! The same two processes enter, and the same orders are obeyed, but there is no view, no network and no process
//! namespace of its own. The warden makes the end of init the end of everything: whatever loses its parent becomes the
//! child of init, or after its end of the warden, and is ended there.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use bstr::BString;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, kill_process, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal, setsid,
};

use super::init::{self, Renewal, Surroundings};
use super::outside::Outside;
use super::talk::{Answer, Entered, Mapped};
use crate::ladder::{Level, Missing, Wall};
use crate::limits;
use crate::outcome::{AtStep, Failure, Walls};
use crate::plan::{Access, Plan, Tree, View};
use crate::system::credentials;
use crate::system::process::{self, Fork, Patience};
use crate::walls;
use crate::walls::landlock::Grants;
use crate::walls::seccomp::Sockets;
use crate::wire;

/// Between two looks for what is left.
pub const PAUSE: Duration = Duration::from_micros(500);

/// Ends everything beneath it when init ends, or the spawner does. Never returns.
pub fn warden(plan: &Plan, way: Level, orders: OwnedFd, spawner: &OwnedFd) -> ! {
    if let Err(failure) = enter(plan, way, orders, spawner) {
        let _nobody_left_to_tell = wire::send(spawner, &Answer::Failed(failure), &[]);
    }
    process::exit(1)
}

/// The order matters; each step says why it stands where it does.
fn enter(plan: &Plan, way: Level, orders: OwnedFd, spawner: &OwnedFd) -> Result<(), Failure> {
    // By then the spawner has moved us into the control group.
    wire::receive::<Mapped>(spawner)
        .at("wait for the spawner")?
        .ok_or(Errno::PIPE)
        .at("wait for the spawner")?;
    // No death signal: who dies at once ends nobody. The end of the spawner is seen on the socket.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("hide the warden's memory")?;
    setsid().at("leave the caller's session")?;
    set_child_subreaper(Some(rustix::process::getpid())).at("take in orphans")?;
    let (ours, theirs) = wire::pair().at("make a socket for init")?;
    match process::fork(0, None).at("make a process")? {
        Fork::Child => {
            let entered = process::keep_only(&[orders.as_fd(), theirs.as_fd()])
                .at("close descriptors")
                .and_then(|()| become_init(plan, way, orders, &theirs));
            let Err(failure) = entered;
            let _nobody_left_to_tell = wire::send(&theirs, &Answer::Failed(failure), &[]);
            process::exit(1)
        }
        Fork::Parent { child: _, handle } => {
            drop((theirs, orders));
            let answer = wire::receive::<Answer>(&ours).at("wait for init")?;
            let (answer, descriptors) = answer.ok_or(Errno::CHILD).at("wait for init")?;
            let all: Vec<_> = [&handle].into_iter().chain(&descriptors).map(AsFd::as_fd).collect();
            wire::send(spawner, &answer, &all).at("answer the spawner")?;
            drop(descriptors);
            let mut watched = [&handle, spawner].map(|it| PollFd::new(it, PollFlags::IN));
            while matches!(poll(&mut watched, None), Err(Errno::INTR)) {}
            end_children();
            process::exit(0)
        }
    }
}

/// Ends all children, and theirs, which become ours when they lose their parents.
///
/// Only children are ended, never those beneath them: the number of a child is its own until we have buried it.
fn end_children() {
    while kill_children() {
        while process::bury(Patience::Look).is_some() {}
        sleep(PAUSE);
    }
}

/// Kills all children there are at this moment. `false`: there are none.
pub fn kill_children() -> bool {
    let children = limits::children(std::process::id());
    for child in children.iter().filter_map(|child| Pid::from_raw(i32::try_from(*child).ok()?)) {
        let _it_may_be_dead = kill_process(child, Signal::KILL);
    }
    !children.is_empty()
}

/// Returns only when it could not become that.
fn become_init(
    plan: &Plan,
    way: Level,
    orders: OwnedFd,
    warden: &OwnedFd,
) -> Result<std::convert::Infallible, Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).at("die with the warden")?;
    set_child_subreaper(Some(rustix::process::getpid())).at("take in orphans")?;
    setsid().at("make a session")?;
    let mut missing = Vec::new();
    if let Err(failure) = process::join_new_keyring().at("leave the caller's keys") {
        missing.push(Missing::new(Wall::Keyring, failure));
    }
    walls::forbid_dumps().at("forbid core dumps")?;
    // While we have the power to.
    missing.extend(Outside::become_owner(&plan.view)?);
    rustix::thread::set_no_new_privs(true).at("forbid new privileges")?;
    // Without the power to shrink the bounding set there is nothing in it to gain: new privileges are forbidden.
    let _it_may_not_have_the_power = credentials::drop_bounding();
    credentials::drop_held().at("drop all capabilities")?;
    // The kernel forgets it when somebody becomes somebody else.
    set_parent_process_death_signal(Some(Signal::KILL)).at("die with the warden")?;
    missing.extend(beyond_grants(&plan.view));
    let (landlock, grants) = put_up_landlock(plan, way, &mut missing)?;
    let notifier = put_up_filter(way, &mut missing)?;
    let walls =
        Walls { landlock, system_calls: way >= Level::Seccomp, missing, ..Walls::default() };
    let notified = notifier.is_some();
    let parts = Vec::new();
    let entered =
        Entered { walls, notifier: notified, proxy: false, laid: false, init: None, parts };
    let given: Vec<_> = notifier.iter().map(AsFd::as_fd).collect();
    wire::send(warden, &Answer::Entered(entered), &given).at("answer the warden")?;
    drop(notifier);
    // There is no view that could change.
    let renewal = Renewal::new(&plan.view, None);
    init::serve(&orders, grants, &Surroundings::Host(moved(&plan.view)), renewal)
}

/// Without a view it is the only wall around files, so that all that it must hold is asked of it.
fn put_up_landlock(
    plan: &Plan,
    way: Level,
    missing: &mut Vec<Missing>,
) -> Result<(u32, Grants), Failure> {
    if way < Level::Landlock {
        return Ok((0, Grants::none()));
    }
    let version = walls::landlock::version(walls::landlock::FIRST_ALONE)?;
    if version < walls::landlock::FIRST_WITH_SCOPES {
        let step = format!("keep signals in by Landlock of version {version}");
        missing.push(Missing::new(Wall::Signals, Failure::new(step, Errno::OPNOTSUPP)));
    }
    walls::landlock::restrict(version).at("put up Landlock")?;
    Ok((version, Grants::on_host(&plan.view, version)?))
}

fn put_up_filter(way: Level, missing: &mut Vec<Missing>) -> Result<Option<OwnedFd>, Failure> {
    if way < Level::Seccomp {
        return Ok(None);
    }
    // Other processes of the user are in reach: nobody debugs here.
    let standing = walls::seccomp::restrict(false, Sockets::None);
    let standing = standing.at("put up the system call filter")?;
    Ok(standing.map_err(|failure| missing.push(Missing::new(Wall::Notification, failure))).ok())
}

/// What only a view can do.
fn beyond_grants(view: &View) -> Vec<Missing> {
    let missing = |wall, step: &str| Missing::new(wall, Failure::new(step, Errno::OPNOTSUPP));
    let any = |wanted: fn(&Tree) -> bool| view.trees.iter().any(wanted);
    let hides = any(|tree| tree.access == Access::Write && !tree.hidden.is_empty());
    let layers = any(|tree| matches!(tree.access, Access::Layer(_)));
    let state = hides.then(|| missing(Wall::State, "hide what lies in a tree for writing"));
    let layers = layers.then(|| missing(Wall::Layers, "keep writes apart without a view"));
    state.into_iter().chain(layers).collect()
}

/// Where trees are on the host, the longest path first: one that is where it was may lie in one that is not.
fn moved(view: &View) -> Vec<(BString, BString)> {
    let text = |path: &Path| BString::from(path.as_os_str().as_encoded_bytes());
    let trees = view.trees.iter();
    let mut moved: Vec<_> = trees.map(|tree| (text(&tree.target), text(&tree.source))).collect();
    moved.sort_by_key(|(target, _)| std::cmp::Reverse(target.len()));
    moved
}

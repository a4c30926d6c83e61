//! The spawner itself: one thread, no environment, one socket.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal, setsid};

use super::NAME;
use crate::cell::bare;
use crate::cell::entry::{self, Entered};
use crate::cell::outside::Outside;
use crate::ladder::{self, Level, Missing, Wall};
use crate::limits::{Grounds, Group, Places};
use crate::messages::{Build, Built};
use crate::outcome::{AtStep, Failure, Tier, Walls};
use crate::plan::{Limits, Plan};
use crate::system::process::{self, Fork};
use crate::timeline;
use crate::walls;
use crate::wire;

// SAFETY: the loader calls each pointer in this section once before `main`, with the arguments of `main`; so glibc
// does it, and where a C library passes none, `divert` finds an argument count that is not 1 or a name that is not
// ours only by reading what it was not given. Therefore the crate is for glibc (checked in `lib.rs`).
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn(
    libc::c_int,
    *const *const libc::c_char,
    *const *const libc::c_char,
) = divert;

/// Takes over when this process was started to be the spawner; otherwise `main` follows as if nothing was.
extern "C" fn divert(
    count: libc::c_int,
    arguments: *const *const libc::c_char,
    _environment: *const *const libc::c_char,
) {
    if count != 1 || arguments.is_null() {
        return;
    }
    // SAFETY: `arguments` has `count` entries, so the first one is there to be read.
    let name = unsafe { *arguments };
    if name.is_null() {
        return;
    }
    // SAFETY: entries before the last are NUL-terminated strings that live as long as the process.
    let name = unsafe { CStr::from_ptr(name) };
    if name.to_bytes() == NAME.as_bytes() {
        let ended = serve();
        process::exit(i32::from(ended.is_err()));
    }
}

/// A jail for as long as it has processes, or the engine asks for its figures.
struct Made {
    warden: Pid,
    /// `None`: it was buried.
    warden_handle: Option<Warden>,
    /// Readable when the jail is empty: init's end is complete only when the kernel has ended all of its processes.
    init: OwnedFd,
    empty: bool,
    /// Removed when dropped, and only then: it must be empty.
    _group: Option<Group>,
    /// Readable when the engine wants no more of it. Closed last of all: that says that nothing is left.
    lease: OwnedFd,
    leased: bool,
}

impl Made {
    fn kill(&self) {
        let _it_may_be_gone = pidfd_send_signal(&self.init, Signal::KILL);
    }

    /// Waits until the warden has ended, and buries it.
    fn bury(&mut self) {
        if let Some(Warden { handle: _, socket }) = self.warden_handle.take() {
            drop(socket);
            process::wait_for(self.warden);
        }
    }

    fn is_over(&self) -> bool {
        !self.leased && self.empty && self.warden_handle.is_none()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.kill();
        self.bury();
        // A warden that was killed has not waited for it.
        let mut init = [PollFd::new(&self.init, PollFlags::IN)];
        while !self.empty && matches!(poll(&mut init, None), Err(Errno::INTR)) {}
    }
}

/// All jails there are. Their ends are made to happen side by side.
#[derive(Default)]
struct Jails(Vec<Made>);

impl Drop for Jails {
    fn drop(&mut self) {
        self.0.iter().for_each(Made::kill);
    }
}

/// Until the engine is gone. Dropping what was made ends it.
fn serve() -> io::Result<()> {
    process::close_from(3)?;
    process::reset_signals();
    // What is typed at a terminal is for the engine.
    setsid()?;
    // Once, for all jails: each finds the filter in its copy of our memory.
    walls::seccomp::prepare()?;
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let mut jails = Jails::default();
    let mut grounds = Grounds::find();
    loop {
        if !wait(&socket, &mut jails.0)? {
            continue;
        }
        let Some((asked, descriptors)) = wire::receive(&socket)? else { return Ok(()) };
        match build(&asked, descriptors, &mut grounds) {
            Ok((jail, built, descriptors)) => {
                jails.0.push(jail);
                let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                wire::send(&socket, &built, &descriptors)?;
            }
            Err(failure) => wire::send(&socket, &Built::Failed(failure), &[])?,
        }
    }
}

/// Waits until there is something to read, and forgets jails that are over. `false`: only the latter.
fn wait(socket: &OwnedFd, made: &mut Vec<Made>) -> io::Result<bool> {
    let wardens = made.iter().filter_map(|jail| Some(&jail.warden_handle.as_ref()?.handle));
    let inits = made.iter().filter(|jail| !jail.empty).map(|jail| &jail.init);
    let leases = made.iter().filter(|jail| jail.leased).map(|jail| &jail.lease);
    let all = [socket].into_iter().chain(wardens).chain(inits).chain(leases);
    let mut watched: Vec<_> = all.map(|it| PollFd::new(it, PollFlags::IN)).collect();
    match poll(&mut watched, None) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let mut ready =
        watched.iter().map(|it| !it.revents().is_empty()).collect::<Vec<_>>().into_iter();
    let asked = ready.next().unwrap_or(false);
    for jail in made.iter_mut().filter(|jail| jail.warden_handle.is_some()) {
        if ready.next().unwrap_or(false) {
            jail.bury();
        }
    }
    for jail in made.iter_mut().filter(|jail| !jail.empty) {
        jail.empty = ready.next().unwrap_or(false);
    }
    for jail in made.iter_mut().filter(|jail| jail.leased) {
        if ready.next().unwrap_or(false) {
            jail.leased = false;
            jail.kill();
        }
    }
    made.retain(|jail| !jail.is_over());
    Ok(asked)
}

/// What came of a way down the ladder. The descriptors are those that go with [`Built::Ready`].
struct Stood {
    warden: Pid,
    warden_handle: Warden,
    group: Option<Group>,
    entered: Entered,
    descriptors: Vec<OwnedFd>,
}

/// Makes the best jail that can be had, by trying. The descriptors are those that go with [`Built::Ready`].
fn build(
    Build { plan, least }: &Build,
    given: Vec<OwnedFd>,
    grounds: &mut Grounds,
) -> Result<(Made, Built, Vec<OwnedFd>), Failure> {
    let mut given = given.into_iter();
    let orders = given.next().ok_or(Errno::BADF).at("take the socket for orders")?;
    let lease = given.next().ok_or(Errno::BADF).at("take the lease")?;
    let mut missing: Vec<Missing> = Vec::new();
    for way in ladder::ways(*least) {
        match attempt(plan, way, &orders, grounds) {
            Ok(stood) => return finish(stood, way, *least, missing, lease, grounds),
            Err(failure) => missing.push(Missing::new(ladder::wall_of(way), failure)),
        }
    }
    // Why the best could not be had is what there is to mend.
    let first = missing.into_iter().next();
    Err(first.map_or_else(|| Failure::new("make a jail", Errno::INVAL), |first| first.failure))
}

/// Says what stands. What is weaker than asked for is ended when it is dropped here.
fn finish(
    stood: Stood,
    way: Level,
    least: Level,
    mut missing: Vec<Missing>,
    lease: OwnedFd,
    grounds: &Grounds,
) -> Result<(Made, Built, Vec<OwnedFd>), Failure> {
    let Stood { warden, warden_handle, group, entered, descriptors } = stood;
    let Entered { walls, notifier, proxy, parts } = entered;
    let places = group.as_ref().map(|group| group.places().clone());
    missing.extend(walls.missing);
    if group.is_none() {
        missing.push(Missing::new(Wall::ControlGroups, grounds.why_not()));
    }
    let complete = way == Level::Namespaces && missing.is_empty();
    let level = if complete { Level::Full } else { way };
    let first = missing.first().map(|missing| missing.failure.clone());
    let tier = places.as_ref().map_or(Tier::Sampled, Places::tier);
    let walls = Walls { level, limits: tier, missing, ..walls };
    let init = descriptors.first().ok_or(Errno::BADF).at("take over the jail")?;
    let made = Made {
        warden,
        warden_handle: Some(warden_handle),
        init: init.try_clone().at("take over the jail")?,
        empty: false,
        _group: group,
        lease,
        leased: true,
    };
    match first {
        Some(failure) if level < least => Err(failure),
        _ => Ok((made, Built::Ready { walls, notifier, proxy, places, parts }, descriptors)),
    }
}

fn attempt(
    plan: &Plan,
    way: Level,
    orders: &OwnedFd,
    grounds: &mut Grounds,
) -> Result<Stood, Failure> {
    let in_namespaces = way >= Level::Namespaces;
    timeline::begin();
    let outside = Outside::choose();
    let mut plan = plan.clone();
    let (mounts, missing) =
        if in_namespaces { outside.prepare(&mut plan.view)? } else { (Vec::new(), None) };
    timeline::mark("owners of writable trees");
    let orders = orders.try_clone().at("take the socket for orders")?;
    let (ours, theirs) = wire::pair().at("make a socket for the warden")?;
    let (namespaces, step) =
        if in_namespaces { (entry::NAMESPACES, "make namespaces") } else { (0, "make a process") };
    let (group, forked) = fork_into_group(namespaces, &plan.limits, grounds).at(step)?;
    match forked {
        Fork::Child => {
            timeline::mark("namespaces");
            if let Some(group) = &group {
                group.enter();
            }
            timeline::mark("control group");
            // Nothing of other jails, and not the engine's socket, which must be closed when the spawner ends.
            let kept = [&orders, &theirs].into_iter().chain(mounts.iter().flatten());
            if process::keep_only(&kept.map(AsFd::as_fd).collect::<Vec<_>>()).is_err() {
                process::exit(1);
            }
            if in_namespaces {
                entry::warden(&plan, mounts, orders, theirs)
            }
            bare::warden(&plan, way, orders, &theirs)
        }
        Fork::Parent { child, handle } => {
            drop((theirs, orders, mounts));
            let unborn = Unborn(child);
            if in_namespaces {
                outside.map(child, &plan.person)?;
            }
            wire::send(&ours, &entry::Mapped, &[]).at("start the warden")?;
            let answer = wire::receive(&ours).at("wait for the jail")?;
            let (answer, descriptors) = answer.ok_or(Errno::CHILD).at("enter the jail")?;
            let mut entered = match answer {
                entry::Answer::Entered(entered) => entered,
                entry::Answer::Failed(failure) => return Err(failure),
            };
            entered.walls.missing.extend(missing);
            // A group that takes nobody in is none, and the walls say so.
            let group = group.filter(|group| group.holds(child));
            std::mem::forget(unborn);
            // Without namespaces the warden ends with this socket.
            let handle = Warden { handle, socket: ours };
            Ok(Stood { warden: child, warden_handle: handle, group, entered, descriptors })
        }
    }
}

/// Copies this process into new namespaces, and into the first control group that takes it. Into one of the first
/// version the copy goes by itself.
fn fork_into_group(
    namespaces: libc::c_int,
    limits: &Limits,
    grounds: &mut Grounds,
) -> io::Result<(Option<Group>, Fork)> {
    for group in grounds.create(limits) {
        timeline::mark("control group");
        let Some(entrance) = group.entrance() else {
            return Ok((Some(group), process::fork(namespaces, None)?));
        };
        if let Ok(forked) = process::fork(namespaces, Some(entrance)) {
            return Ok((Some(group), forked));
        }
    }
    Ok((None, process::fork(namespaces, None)?))
}

/// What the spawner holds of a warden.
struct Warden {
    /// Readable when it has ended.
    handle: OwnedFd,
    /// Its way to know that the spawner has ended.
    socket: OwnedFd,
}

/// A warden that is not known to stand. It is ended when anything fails before that.
struct Unborn(Pid);

impl Drop for Unborn {
    fn drop(&mut self) {
        let _it_may_be_gone = kill_process(self.0, Signal::KILL);
        process::wait_for(self.0);
    }
}

//! Making one jail: down the ladder, by trying, and as far as possible before anybody asks.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal};

use crate::cell::bare;
use crate::cell::entry;
use crate::cell::outside::{Identity, Outside, Owners};
use crate::cell::talk::{self, Entered};
use crate::ladder::{self, Level, Missing, Wall};
use crate::limits::{Grounds, Group, Places};
use crate::messages::Built;
use crate::outcome::{AtStep, Failure, Tier, Walls};
use crate::plan::{Limits, Plan};
use crate::processors;
use crate::system::process::{self, Fork};
use crate::timeline;
use crate::walls;
use crate::wire;

/// A jail for as long as it has processes, or the engine asks for its figures.
pub struct Made {
    pub warden: Pid,
    /// `None`: it was buried.
    pub warden_handle: Option<Warden>,
    /// Readable when the jail is empty: init's end is complete only when the kernel has ended all of its processes.
    pub init: OwnedFd,
    pub empty: bool,
    /// Removed when dropped, and only then: it must be empty.
    _group: Option<Group>,
    /// The engine's ends of sockets into it: see [`Ask::Build`](crate::messages::Ask::Build).
    held: Vec<OwnedFd>,
    /// Readable when the engine wants no more of it. Closed last of all: that says that nothing is left.
    pub lease: OwnedFd,
    pub leased: bool,
}

impl Made {
    pub fn kill(&self) {
        let _it_may_be_gone = pidfd_send_signal(&self.init, Signal::KILL);
    }

    /// From now on it sees by itself when the engine ends: the spawner may have to wait for something.
    pub fn release(&mut self) {
        self.held.clear();
    }

    /// Waits until the warden has ended, and buries it.
    pub fn bury(&mut self) {
        if let Some(Warden { handle: _, socket }) = self.warden_handle.take() {
            drop(socket);
            process::wait_for(self.warden);
        }
    }

    pub fn is_over(&self) -> bool {
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

/// What the engine says goes into a jail.
struct Sockets {
    /// To init.
    orders: OwnedFd,
    /// To the warden.
    changes: OwnedFd,
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
pub fn build(
    plan: Plan,
    least: Level,
    given: Vec<OwnedFd>,
    workshop: &mut Workshop,
) -> Result<(Made, Built, Vec<OwnedFd>), Failure> {
    let mut given = given.into_iter();
    let orders = given.next().ok_or(Errno::BADF).at("take the socket for orders")?;
    let changes = given.next().ok_or(Errno::BADF).at("take the socket for changes")?;
    let sockets = Sockets { orders, changes };
    let lease = given.next().ok_or(Errno::BADF).at("take the lease")?;
    let held: Vec<OwnedFd> = given.collect();
    let mut missing: Vec<Missing> = Vec::new();
    // What was ready may be gone by now: then all of it is made.
    let whole = (!plan.view.ready.is_empty()).then(|| {
        let mut whole = plan.clone();
        whole.view.ready.clear();
        whole
    });
    let plan = Plan { view: plan.view.without_contained(), ..plan };
    for way in ladder::ways(least) {
        let attempted = attempt(&plan, way, &sockets, workshop).or_else(|failure| match &whole {
            Some(whole) => attempt(whole, way, &sockets, workshop),
            None => Err(failure),
        });
        match attempted {
            Ok(stood) => {
                return finish(stood, way, least, missing, (lease, held), &workshop.grounds);
            }
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
    (lease, held): (OwnedFd, Vec<OwnedFd>),
    grounds: &Grounds,
) -> Result<(Made, Built, Vec<OwnedFd>), Failure> {
    let Stood { warden, warden_handle, group, entered, descriptors } = stood;
    let Entered { walls, notifier, proxy, laid, init: number, parts } = entered;
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
        held,
        lease,
        leased: true,
    };
    match first {
        Some(failure) if level < least => Err(failure),
        _ => {
            let init = number;
            let ready = Built::Ready { walls, notifier, proxy, laid, init, places, parts };
            Ok((made, ready, descriptors))
        }
    }
}

fn attempt(
    plan: &Plan,
    way: Level,
    sockets: &Sockets,
    workshop: &mut Workshop,
) -> Result<Stood, Failure> {
    if way < Level::Namespaces {
        return bare(plan, way, &sockets.orders, &mut workshop.grounds);
    }
    let identity = Identity::from(&plan.person);
    if let Some(ahead) = workshop.ahead.take().filter(|ahead| ahead.identity == identity)
        && let Ok(stood) = ahead.furnish(plan, sockets, workshop)
    {
        return Ok(stood);
    }
    // If that one could not be completed, this one says why. What cannot be had is known before it is begun.
    let (mounts, changed) = workshop.outside.prepare(&plan.view, &mut workshop.owners)?;
    drop(mounts);
    let (plan, missing) = match changed {
        None => (Cow::Borrowed(plan), None),
        Some((view, missing)) => (Cow::Owned(Plan { view, ..plan.clone() }), Some(missing)),
    };
    let ahead = Ahead::make(identity, &plan.limits, workshop)?;
    let mut stood = ahead.furnish(&plan, sockets, workshop)?;
    stood.entered.walls.missing.extend(missing);
    Ok(stood)
}

/// What all jails are made with.
pub struct Workshop {
    grounds: Grounds,
    outside: Outside,
    owners: Owners,
    ahead: Option<Ahead>,
}

impl Workshop {
    pub fn open() -> Self {
        let (grounds, outside) = (Grounds::find(), Outside::choose());
        Workshop { grounds, outside, owners: Owners::default(), ahead: None }
    }

    pub fn tidy(&self) {
        self.grounds.tidy();
    }

    /// When nobody waits for anything.
    pub fn rest(&mut self) {
        self.owners.rest();
    }

    pub fn is_at_rest(&self) -> bool {
        self.owners.is_at_rest()
    }

    /// Does what can be done before the plan is known.
    pub fn expect(&mut self, identity: Identity) {
        // If it cannot be made now, it will be tried again and told why.
        self.ahead = Ahead::make(identity, &Limits::default(), self).ok();
        self.outside.expect_own(&mut self.owners);
    }
}

/// A jail that waits for its plan. Dropped, it is ended.
struct Ahead {
    identity: Identity,
    limits: Limits,
    // Before the group, which must be empty when it goes.
    warden: Unborn,
    handle: OwnedFd,
    socket: OwnedFd,
    group: Option<Group>,
}

impl Ahead {
    fn make(identity: Identity, limits: &Limits, workshop: &mut Workshop) -> Result<Self, Failure> {
        timeline::begin();
        let outside = workshop.outside;
        let (ours, theirs) = wire::pair().at("make a socket for the warden")?;
        let made = fork_into_group(entry::NAMESPACES, limits, &mut workshop.grounds);
        let (group, forked) = made.at("make namespaces")?;
        match forked {
            Fork::Child => {
                timeline::mark("namespaces");
                walls::seccomp::set_counted(group.as_ref().is_some_and(Group::enter));
                timeline::mark("control group");
                // Nothing of other jails, and not the engine's socket, which must be closed when the spawner ends.
                if process::keep_only(&[theirs.as_fd()]).is_err() {
                    process::exit(1);
                }
                entry::warden(identity, outside.taken(), theirs)
            }
            Fork::Parent { child, handle } => {
                drop(theirs);
                let warden = Unborn(child);
                outside.map(child, identity)?;
                wire::send(&ours, &talk::Mapped, &[]).at("start the warden")?;
                let limits = limits.clone();
                Ok(Ahead { identity, limits, warden, handle, socket: ours, group })
            }
        }
    }

    fn furnish(
        self,
        plan: &Plan,
        Sockets { orders, changes }: &Sockets,
        workshop: &mut Workshop,
    ) -> Result<Stood, Failure> {
        let Ahead { limits, warden, handle, socket, group, .. } = self;
        let step = "tell the warden";
        // Nobody has lent it to us: the plan was there first. So the warden, who has hardly begun, goes on there, beside us.
        if !processors::is_engines() {
            processors::lend_to(warden.0);
        }
        let (mounts, changed) = workshop.outside.prepare(&plan.view, &mut workshop.owners)?;
        if let Some((_, missing)) = changed {
            return Err(missing.failure);
        }
        // While it waits: to move one that runs would stop it. Init may still be busy on the other one.
        processors::lend_to(warden.0);
        let furnish = talk::Furnish { plan: Cow::Borrowed(plan), mounts: mounts.len() };
        let (first, more) = mounts.split_at(mounts.len().min(MOST_MOUNTS));
        let sockets = [orders, changes].into_iter();
        let given: Vec<_> = sockets.chain(first).map(AsFd::as_fd).collect();
        let told = || -> io::Result<()> {
            wire::send(&socket, &furnish, &given)?;
            for some in more.chunks(MOST_MOUNTS) {
                let given: Vec<_> = some.iter().map(AsFd::as_fd).collect();
                wire::send(&socket, &talk::More, &given)?;
            }
            Ok(())
        };
        if let Err(error) = told() {
            // One that could not even begin has ended, and has said why. Any other still waits, and would say nothing.
            let has_ended = error.raw_os_error() == Some(libc::EPIPE);
            let why = has_ended.then(|| answered(warden, Warden { handle, socket }, group));
            return match why {
                Some(Err(failure)) if failure.errno != libc::ECHILD => Err(failure),
                _ => Err(Failure::new(step, error)),
            };
        }
        drop(mounts);
        // The warden has this one now, at once; what is left is done when it waits. Not on init's: it would be held up there,
        // and later once more by the answer.
        std::thread::yield_now();
        // Before anything runs in it, which is when the answer has been passed on.
        if let Some(group) = group.as_ref().filter(|_| limits != plan.limits) {
            let is_unlimited = limits == Limits::default();
            let set = if is_unlimited { Group::begin } else { Group::set };
            set(group, &plan.limits).at("limit the jail")?;
        }
        answered(warden, Warden { handle, socket }, group)
    }
}

/// At one time; there is a limit to what can be sent.
const MOST_MOUNTS: usize = 100;

/// A jail without namespaces.
fn bare(
    plan: &Plan,
    way: Level,
    orders: &OwnedFd,
    grounds: &mut Grounds,
) -> Result<Stood, Failure> {
    timeline::begin();
    let orders = orders.try_clone().at("take the socket for orders")?;
    let (ours, theirs) = wire::pair().at("make a socket for the warden")?;
    let (group, forked) = fork_into_group(0, &plan.limits, grounds).at("make a process")?;
    match forked {
        Fork::Child => {
            walls::seccomp::set_counted(group.as_ref().is_some_and(Group::enter));
            timeline::mark("control group");
            // Nothing of other jails, and not the engine's socket, which must be closed when the spawner ends.
            if process::keep_only(&[orders.as_fd(), theirs.as_fd()]).is_err() {
                process::exit(1);
            }
            bare::warden(plan, way, orders, &theirs)
        }
        Fork::Parent { child, handle } => {
            drop((theirs, orders));
            let unborn = Unborn(child);
            wire::send(&ours, &talk::Mapped, &[]).at("start the warden")?;
            // Without namespaces the warden ends with this socket.
            answered(unborn, Warden { handle, socket: ours }, group)
        }
    }
}

/// Waits until the jail stands, or does not.
fn answered(unborn: Unborn, warden_handle: Warden, group: Option<Group>) -> Result<Stood, Failure> {
    // Usually it is there by now, and we have nothing else to do than to look.
    let held = group.as_ref().is_some_and(|group| group.holds(unborn.0));
    let answer = wire::receive(&warden_handle.socket).at("wait for the jail")?;
    let (answer, descriptors) = answer.ok_or(Errno::CHILD).at("enter the jail")?;
    let entered = match answer {
        talk::Answer::Entered(entered) => entered,
        talk::Answer::Failed(failure) => return Err(failure),
        talk::Answer::Masked { .. } | talk::Answer::Inside => {
            return Err(Failure::new("enter the jail", Errno::PROTO));
        }
    };
    // A group that takes nobody in is none, and the walls say so.
    let group = group.filter(|group| held || group.holds(unborn.0));
    let warden = unborn.0;
    std::mem::forget(unborn);
    Ok(Stood { warden, warden_handle, group, entered, descriptors })
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
pub struct Warden {
    /// Readable when it has ended.
    pub handle: OwnedFd,
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

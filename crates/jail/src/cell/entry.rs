//! Into the jail, in order. `docs/jail.md` is this list in prose.
//!
//! Two processes enter. The *warden* is the first in the new namespaces and keeps its power over them; it is not in
//! the jail's process namespace, so nothing inside can see or reach it. The *init* is process 1 inside: it gives up
//! everything before it takes its first order, so that a program needs nothing but to be copied and executed.

use std::borrow::Cow;
use std::convert::Infallible;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, set_dumpable_behavior, set_parent_process_death_signal, setsid,
};
use rustix::system::sethostname;
use rustix::thread::{UnshareFlags, set_name};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::init::{self, Renewal, Surroundings};
use super::layers;
use super::masks::{self, Mask};
use super::outside::{Identity, Taken};
use super::trees::{Added, Mounts};
use super::view::{Root, let_go, new_processes, take};
use super::workshop::Workshop;
use crate::ladder::{Missing, Wall};
use crate::limits::counted_by_jail;
use crate::network;
use crate::outcome::{AtStep, Failure, Walls};
use crate::plan::{Access, Network, Plan, ReadyPart, Tree, View};
use crate::processors;
use crate::system::credentials;
use crate::system::process::{self, Fork};
use crate::timeline::{self, Part};
use crate::walls;
use crate::walls::landlock::{Grants, Handles};
use crate::walls::seccomp::Sockets;
use crate::wire;

/// Of the warden. The process namespace is the init's: it must be its first process; and so is the network, which only
/// programs need and which takes the kernel as long as a part of the view.
pub const NAMESPACES: libc::c_int =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// Spawner to warden: the kernel knows who you are.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mapped;

/// Spawner to warden: what the jail is to be. With it come the sockets for orders and for changes, and that many mounts, some
/// of them with as many of [`More`] as it takes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Furnish<'a> {
    pub plan: Cow<'a, Plan>,
    pub mounts: usize,
}

/// Mounts come with it.
#[derive(Debug, Serialize, Deserialize)]
pub struct More;

/// Warden to init: what it does of the view. With it come the socket for orders, the root, unless it is known, where masks are to
/// be made, if there are some.
#[derive(Debug, Serialize, Deserialize)]
struct Begin {
    plan: Plan,
    /// The warden waits for them.
    masks: Vec<Mask>,
}

/// Warden to init: the view is complete, but for this. With it come the rules of Landlock, if there are some.
#[derive(Debug, Serialize, Deserialize)]
struct Complete {
    missing: Vec<Missing>,
}

/// Warden to init: the old root is gone, and something may be started.
#[derive(Debug, Serialize, Deserialize)]
struct LetGo;

/// To the spawner. With it come init's handle, the listeners in the order of the fields, and the first layer.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Init to warden only: the masks are made, unless the kernel has refused them.
    Masked {
        refused: Option<i32>,
    },
    /// Init to warden only: the view is the root, and the old one may go.
    Inside,
    Entered(Entered),
    Failed(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Entered {
    pub walls: Walls,
    pub notifier: bool,
    pub proxy: bool,
    pub laid: bool,
    /// Init, as it is seen from outside, if the warden has said so.
    pub init: Option<u32>,
    pub parts: Vec<Part>,
}

/// What the warden keeps, to change the view when it is asked to.
#[derive(Default)]
struct Furnished {
    /// The engine's socket for changes.
    changes: Option<OwnedFd>,
    /// Where layers are laid.
    ground: Option<layers::Ground>,
    /// The one that lies over its tree from the beginning.
    layer: Option<OwnedFd>,
}

/// The first process in the namespaces. Never returns.
///
/// It comes as far as it can before it is told what the jail is to be, so that it can be made while that is decided.
pub fn warden(identity: Identity, taken: Taken, spawner: OwnedFd) -> ! {
    if let Err(failure) = enter(identity, taken, &spawner) {
        let _nobody_left_to_tell = wire::send(&spawner, &Answer::Failed(failure), &[]);
    }
    process::exit(1)
}

/// The order matters; each step says why it stands where it does.
fn enter(identity: Identity, taken: Taken, spawner: &OwnedFd) -> Result<(), Failure> {
    next::<Mapped>(spawner, "wait for the spawner")?;
    timeline::mark("namespaces");
    // Before anything is made: what is made belongs to whoever makes it.
    identity.assume()?;
    // At once after that, for the kernel forgets it when somebody becomes somebody else. A spawner that ended before is
    // noticed when it is answered.
    set_parent_process_death_signal(Some(Signal::KILL)).at("die with the spawner")?;
    // After the mapping, which the spawner writes through /proc, and which this would forbid.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("hide the warden's memory")?;
    // The spawner has left the caller's session; the keys are still the same.
    let keyring = process::join_new_keyring().at("leave the caller's keys");
    // After the spawner has moved us into the control group: it becomes the root of what is seen of them.
    process::leave(UnshareFlags::NEWCGROUP).at("hide the control groups")?;
    timeline::mark("identity, keys");
    // As soon as nothing of the host has to be found by its path any more. So init has one to begin with.
    let begun = (taken == Taken::BySpawner).then(Begun::make).transpose()?;
    let (ours, theirs) = wire::pair().at("make a socket for init")?;
    match process::fork(libc::CLONE_NEWPID, None).at("make a process namespace")? {
        Fork::Child => {
            let root = begun.map(|begun| begun.root);
            // Neither the listener, which is the engine's alone, nor the way to the spawner.
            let directory = root.as_ref().map(|root| root.directory.as_fd());
            let kept: Vec<_> = directory.into_iter().chain([theirs.as_fd()]).collect();
            let entered = process::keep_only(&kept)
                .at("close descriptors")
                .and_then(|()| become_init(&theirs, root));
            let Err(failure) = entered;
            let _nobody_left_to_tell = wire::send(&theirs, &Answer::Failed(failure), &[]);
            process::exit(1)
        }
        Fork::Parent { child, handle } => {
            // Beside us, wherever we are.
            if processors::is_engines() {
                processors::send_away(child);
            }
            drop(theirs);
            // The filter forbids all use of keys, so that this is the second wall; containers often forbid it.
            let missing = keyring.err().map(|failure| Missing::new(Wall::Keyring, failure));
            let told = furnish(begun, missing, spawner, &ours);
            stand(told, spawner, ours, (child, &handle))
        }
    }
}

/// Waits until init has put up its walls, answers the spawner, and stays for as long as the jail does.
fn stand(
    told: Result<Furnished, Failure>,
    spawner: &OwnedFd,
    init: OwnedFd,
    (process, handle): (Pid, &OwnedFd),
) -> Result<(), Failure> {
    // Only init's own end is told by itself.
    if let Err(failure) = told.as_ref().map_err(Failure::clone)
        && failure.errno != libc::EPIPE
    {
        return Err(failure);
    }
    // An init that could not begin has said why.
    let (mut answer, mut descriptors) = heard(&init)?;
    if matches!(answer, Answer::Inside) {
        // The kernel waits until nobody can be looking at it, and init goes on meanwhile. Before it is gone nobody is
        // answered, and init starts nothing: from below it `..` leads there.
        let_go()?;
        // An init that has ended has said why.
        let _it_is_heard_next = wire::send(&init, &LetGo, &[]);
        (answer, descriptors) = heard(&init)?;
    }
    let mut furnished = Furnished::default();
    let answer = match answer {
        Answer::Entered(entered) => {
            furnished = told?;
            let parts = timeline::joined(entered.parts);
            let laid = furnished.layer.is_some();
            let init = Some(process.as_raw_nonzero().get().unsigned_abs());
            Answer::Entered(Entered { laid, init, parts, ..entered })
        }
        other => other,
    };
    let Furnished { changes, ground, layer } = furnished;
    let all = [handle].into_iter().chain(&descriptors).chain(&layer).map(AsFd::as_fd);
    wire::send(spawner, &answer, &all.collect::<Vec<_>>()).at("answer the spawner")?;
    // The spawner waits for that on this processor, and the engine for the spawner.
    std::thread::yield_now();
    // Nobody but the engine may hold on to the questions: when it is gone, they are refused.
    drop((descriptors, layer, init));
    let _where_we_are_is_good_too = processors::spread();
    layers::attend(process, handle, changes.as_ref(), ground)
}

/// What every view has, beside the old root.
struct Begun {
    grants: Handles,
    root: Root,
    workshop: Workshop,
}

impl Begun {
    fn make() -> Result<Self, Failure> {
        let grants = Handles::new();
        let (root, workshop) = (Root::begin(&grants)?, Workshop::open()?);
        Ok(Begun { grants, root, workshop })
    }
}

/// Waits for the plan, and builds the view beside the old root; init moves into it, for /proc shows the namespace of who
/// mounts it. What lies in the view without being a tree is init's part, meanwhile.
fn furnish(
    begun: Option<Begun>,
    missing: Option<Missing>,
    spawner: &OwnedFd,
    init: &OwnedFd,
) -> Result<Furnished, Failure> {
    let step = "wait for the plan";
    let (Furnish { plan, mounts: expected }, given) = told(spawner, step)?;
    timeline::skip();
    let plan = plan.into_owned();
    let mut given = given.into_iter();
    let mut socket = || given.next().ok_or(Errno::BADF).at(step);
    let (orders, changes) = (socket()?, socket()?);
    let is_known = begun.is_some();
    let (Begun { grants, root, workshop }, mut trees) = match begun {
        Some(begun) => (begun, given.collect()),
        // They have still to be found by their paths, so nothing of the host is covered before.
        None => {
            let trees = take(&plan.view)?;
            (Begun::make()?, trees)
        }
    };
    let workshop = Some(workshop).filter(|_| Workshop::is_needed(&plan.view));
    while trees.len() < expected {
        let (More, more) = told(spawner, step)?;
        trees.extend(more);
    }
    let host_name = plan.person.host_name.clone();
    let (view, begin) = divided(plan);
    let mounts = Mounts::of(&view, trees);
    let is_awaited = !begin.masks.is_empty();
    let memory = workshop.as_ref().filter(|_| is_awaited);
    let memory = memory.map(|workshop| workshop.memory.as_fd());
    let directory = (!is_known).then(|| root.directory.as_fd());
    let given = [orders.as_fd()].into_iter().chain(directory).chain(memory);
    wire::send(init, &begin, &given.collect::<Vec<_>>()).at("tell init")?;
    drop(orders);
    sethostname(host_name.as_bytes()).at("name the jail")?;
    root.add_scratch(&view, &grants)?;
    let mut layer = None;
    let masked = |added: &Added| {
        layer = first_layer(&view, added);
        timeline::mark("first layer");
        if is_awaited { masks_made(init) } else { Ok(None) }
    };
    let added = root.add_trees(&view, mounts, workshop, masked, &grants)?;
    let layer = layer.or_else(|| first_layer(&view, &added));
    let (folders, layer) = complete((added, layer), missing, &view, (&root, grants), init)?;
    let ground = folders.zip(view.layers.as_ref());
    let ground = ground.and_then(|(it, layers)| layers::Ground::new(it, layers, layer.is_some()));
    Ok(Furnished { changes: Some(changes), ground, layer })
}

/// The layer that is to lie there from the beginning, if what it covers is in the view.
fn first_layer(view: &View, added: &Added) -> Option<OwnedFd> {
    added.covered.as_ref()?;
    layers::make_first(view.layers.as_ref()?, added.layers.as_ref()?)
}

/// Lays the first layer over everything else, and tells init. Where layers are found, and that one.
fn complete(
    (Added { mut missing, layers: folders, covered }, layer): (Added, Option<OwnedFd>),
    more: Option<Missing>,
    view: &View,
    (root, grants): (&Root, Handles),
    init: &OwnedFd,
) -> Result<(Option<OwnedFd>, Option<OwnedFd>), Failure> {
    missing.extend(more);
    let lay = |layer: &OwnedFd| layers::lay_first(root, view.layers.as_ref()?, layer).ok();
    let layer = layer.filter(|layer| lay(layer).is_some());
    // What is seen there now, and not what it covers.
    if let Some(seen) = layer.as_ref().or(covered.as_ref()).filter(|_| covered.is_some()) {
        grants.tree(&Access::Write, seen.as_fd())?;
    }
    timeline::mark("first layer");
    let rules = grants.into_rules();
    let rules: Vec<_> = rules.iter().map(AsFd::as_fd).collect();
    wire::send(init, &Complete { missing }, &rules).at("tell init")?;
    Ok((folders, layer))
}

/// Waits until init has made the masks. Why there are none, if so.
fn masks_made(init: &OwnedFd) -> Result<Option<Errno>, Failure> {
    let step = "wait for init";
    match next_soon::<Answer>(init, step)?.0 {
        Answer::Masked { refused } => Ok(refused.map(Errno::from_raw_os_error)),
        Answer::Failed(failure) => Err(failure),
        Answer::Entered(_) | Answer::Inside => Err(Failure::new(step, Errno::PROTO)),
    }
}

/// What init answers next.
fn heard(init: &OwnedFd) -> Result<(Answer, Vec<OwnedFd>), Failure> {
    let step = "wait for init";
    wire::receive_soon(init).at(step)?.ok_or(Errno::CHILD).at(step)
}

/// What the warden makes of a plan, and what init does. Of trees, init wants to know where they are.
fn divided(plan: Plan) -> (View, Begin) {
    let Plan { mut view, person, limits, network, debugging } = plan;
    let masks = masks::of(&view);
    let bare = |tree: &Tree| Tree { hidden: Vec::new(), ..tree.clone() };
    let is_ready = |path: &Path| {
        view.ready.iter().any(
            |ready| matches!(&ready.part, ReadyPart::Settings { folder, .. } if path.starts_with(folder)),
        )
    };
    view.files.retain(|file| !is_ready(&file.target));
    view.copies.retain(|path| !is_ready(path));
    view.links.retain(|link| !is_ready(&link.target));
    let theirs = View {
        trees: view.trees.iter().map(bare).collect(),
        files: std::mem::take(&mut view.files),
        copies: std::mem::take(&mut view.copies),
        links: std::mem::take(&mut view.links),
        scratch: view.scratch.clone(),
        layers: None,
        ready: Vec::new(),
    };
    let plan = Plan { view: theirs, person, limits, network, debugging };
    (view, Begin { plan, masks })
}

/// The next thing that somebody says. Nothing is an error: whoever should say it is gone.
fn next<T: DeserializeOwned>(from: &OwnedFd, step: &str) -> Result<(T, Vec<OwnedFd>), Failure> {
    wire::receive::<T>(from).at(step)?.ok_or(Errno::PIPE).at(step)
}

/// The same where it is about to be said.
fn next_soon<T: DeserializeOwned>(
    from: &OwnedFd,
    step: &str,
) -> Result<(T, Vec<OwnedFd>), Failure> {
    wire::receive_soon::<T>(from).at(step)?.ok_or(Errno::PIPE).at(step)
}

/// The next thing that the spawner says. Its end is not to be taken for init's.
fn told<T: DeserializeOwned>(by: &OwnedFd, step: &str) -> Result<(T, Vec<OwnedFd>), Failure> {
    let of_spawner = |failure: Failure| match failure.errno {
        libc::EPIPE => Failure { errno: libc::ESRCH, ..failure },
        _ => failure,
    };
    next(by, step).map_err(of_spawner)
}

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
fn become_init(warden: &OwnedFd, root: Option<Root>) -> Result<Infallible, Failure> {
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

//! Into the jail, in order. `docs/jail.md` is this list in prose.
//!
//! Two processes enter. The *warden* is the first in the new namespaces and keeps its power over them; it is not in
//! the jail's process namespace, so nothing inside can see or reach it. The *init* is process 1 inside: it gives up
//! everything before it takes its first order, so that a program needs nothing but to be copied and executed. What it does
//! itself is in [`inside`](super::inside), what they say to one another in [`talk`](super::talk).

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::system::sethostname;
use rustix::thread::UnshareFlags;
use serde::de::DeserializeOwned;

use super::inside::become_init;
use super::layers;
use super::masks;
use super::outside::{Identity, Taken};
use super::talk::{
    Answer, Begin, Complete, Entered, Furnish, LetGo, Mapped, More, next, next_soon,
};
use super::trees::{Added, Mounts};
use super::view::{Root, let_go, take};
use super::workshop::Workshop;
use crate::ladder::{Missing, Wall};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, Plan, ReadyPart, Tree, View};
use crate::processors;
use crate::system::process::{self, Fork};
use crate::timeline;
use crate::walls::landlock::Handles;
use crate::wire;

/// Of the warden. The process namespace is the init's: it must be its first process; and so is the network, which only
/// programs need and which takes the kernel as long as a part of the view.
pub const NAMESPACES: libc::c_int =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

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

/// The next thing that the spawner says. Its end is not to be taken for init's.
fn told<T: DeserializeOwned>(by: &OwnedFd, step: &str) -> Result<(T, Vec<OwnedFd>), Failure> {
    let of_spawner = |failure: Failure| match failure.errno {
        libc::EPIPE => Failure { errno: libc::ESRCH, ..failure },
        _ => failure,
    };
    next(by, step).map_err(of_spawner)
}

//! The spawner itself: one thread, no environment, one socket.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal, setsid};

use super::NAME;
use crate::cell::entry;
use crate::cell::outside::Outside;
use crate::limits::Group;
use crate::messages::{Build, Built};
use crate::outcome::{AtStep, Failure, Tier, Walls};
use crate::plan::Plan;
use crate::system::process::{self, Fork};
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

/// A jail for as long as it has processes.
struct Made {
    warden: Pid,
    /// Readable when the warden has ended, and it ends when the jail is empty.
    warden_handle: OwnedFd,
    init: OwnedFd,
    /// Removed when dropped, and only then: it must be empty.
    _group: Option<Group>,
}

impl Drop for Made {
    fn drop(&mut self) {
        // Init's end is complete only when the kernel has ended all processes of the jail.
        let _it_may_be_gone = pidfd_send_signal(&self.init, Signal::KILL);
        process::wait_for(self.warden);
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
    let mut made: Vec<Made> = Vec::new();
    loop {
        let asked = wait(&socket, &mut made)?;
        if !asked {
            continue;
        }
        let Some((Build { plan }, descriptors)) = wire::receive(&socket)? else { return Ok(()) };
        match build(&plan, descriptors) {
            Ok((jail, built, descriptors)) => {
                made.push(jail);
                let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                wire::send(&socket, &built, &descriptors)?;
            }
            Err(failure) => wire::send(&socket, &Built::Failed(failure), &[])?,
        }
    }
}

/// Waits until there is something to read, and forgets jails that have ended. `false`: only the latter.
fn wait(socket: &OwnedFd, made: &mut Vec<Made>) -> io::Result<bool> {
    let handles = made.iter().map(|jail| &jail.warden_handle);
    let mut watched: Vec<_> =
        [socket].into_iter().chain(handles).map(|it| PollFd::new(it, PollFlags::IN)).collect();
    match poll(&mut watched, None) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let mut ready =
        watched.iter().map(|it| !it.revents().is_empty()).collect::<Vec<_>>().into_iter();
    let asked = ready.next().unwrap_or(false);
    made.retain(|_| !ready.next().unwrap_or(false));
    Ok(asked)
}

/// Makes a jail. The descriptors are those that go with [`Built::Ready`].
fn build(plan: &Plan, given: Vec<OwnedFd>) -> Result<(Made, Built, Vec<OwnedFd>), Failure> {
    let orders = given.into_iter().next().ok_or(Errno::BADF).at("take the socket for orders")?;
    let outside = Outside::choose();
    let group = Group::create(&plan.limits);
    let mounts = outside.prepare(&plan.view)?;
    let (ours, theirs) = wire::pair().at("make a socket for the warden")?;
    match process::fork(entry::NAMESPACES).at("make namespaces")? {
        Fork::Child => {
            drop(ours);
            entry::warden(plan, mounts, orders, theirs)
        }
        Fork::Parent { child, handle } => {
            drop((theirs, orders, mounts));
            let unborn = Unborn(child);
            outside.map(child, &plan.person)?;
            if let Some(group) = &group {
                group.add(child)?;
            }
            wire::send(&ours, &entry::Mapped, &[]).at("start the warden")?;
            let answer = wire::receive(&ours).at("wait for the jail")?;
            let (answer, descriptors) = answer.ok_or(Errno::CHILD).at("enter the jail")?;
            let entry::Entered { walls, notifier, proxy } = match answer {
                entry::Answer::Entered(entered) => entered,
                entry::Answer::Failed(failure) => return Err(failure),
            };
            let init = descriptors.first().ok_or(Errno::BADF).at("take over the jail")?;
            let init = init.try_clone().at("take over the jail")?;
            std::mem::forget(unborn);
            let tier = group.as_ref().map_or(Tier::Sampled, Group::tier);
            let walls = Walls { limits: tier, ..walls };
            let made = Made { warden: child, warden_handle: handle, init, _group: group };
            Ok((made, Built::Ready { walls, notifier, proxy }, descriptors))
        }
    }
}

/// A warden that is not known to stand. It is ended when anything fails before that.
struct Unborn(Pid);

impl Drop for Unborn {
    fn drop(&mut self) {
        let _it_may_be_gone = kill_process(self.0, Signal::KILL);
        process::wait_for(self.0);
    }
}

//! A spawner that is a copy of this process, made before there is anything in it to be careful about.
//!
//! To start the executable once more takes longer than to make a jail. A copy costs a fraction of that, but has all that
//! the process has: so it is made first of all, before there are threads, configuration or secrets, and only by who says
//! that this is so. The variables of the environment, which are there from the beginning, are overwritten in it. Where the
//! executable can do that, its very first instructions have made it already ([`start`]).
#![expect(clippy::disallowed_methods, reason = "what this process is, and nowhere to write to")]

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, open, statat};
use rustix::process::{Pid, WaitOptions, chdir, waitpid};

use super::{Begun, NAME, serve};
use crate::cell::outside::Identity;
use crate::processors;
use crate::system::start::{self, Side};
use crate::system::{process, words};
use crate::wire;

/// The one that was made, until somebody wants it.
static MADE: Mutex<Option<(Identity, Begun)>> = Mutex::new(None);

/// What the first instructions have made, until it is known whether it is wanted. It knows that by itself.
static COPIED: Mutex<Option<(OwnedFd, Pid)>> = Mutex::new(None);

/// To be called first of all in `main`. If this is a copy that the first instructions have made, it becomes the spawner for
/// the person that `wanted` tells, or ends if that is nobody: it is never anything else.
pub fn settle(wanted: impl FnOnce() -> Option<(u32, u32)>) {
    let Some(started) = start::taken() else { return };
    let (engine, all) = started.processors();
    processors::divided_on(engine, all);
    match started.side() {
        Some(Side::Copy { socket }) => match wanted() {
            Some((user, group)) => become_spawner(socket, Identity { user, group }),
            None => process::exit(0),
        },
        Some(Side::Copied { process, socket, other }) => {
            // SAFETY: the first instructions have opened both for this process, and nobody else knows of them.
            let socket = unsafe { OwnedFd::from_raw_fd(socket) };
            // SAFETY: as above.
            drop(unsafe { OwnedFd::from_raw_fd(other) });
            let Some(process) = Pid::from_raw(process) else { return };
            *COPIED.lock().unwrap_or_else(PoisonError::into_inner) = Some((socket, process));
        }
        None => {}
    }
}

/// Makes it, and lets it begin with a jail for a person of these numbers. To be called at the start of `main`: before
/// this process has a second thread, secrets in its memory, or references to its arguments. If it cannot be had, nothing
/// is lost but time.
pub fn make(user: u32, group: u32) {
    let identity = Identity { user, group };
    let copied = COPIED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((socket, process)) = copied {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        *made = Some((identity, Begun { socket, process, shares: true }));
        return;
    }
    // What could not hide what it was started with is not made.
    if !is_alone() || !words::have_room_for(NAME) {
        return;
    }
    let Ok((socket, theirs)) = wire::pair() else { return };
    processors::divide();
    // Both will ask, and in a virtual machine the answer takes longer than many calls of the kernel.
    #[cfg(target_arch = "x86_64")]
    let _known_to_both = std::arch::is_x86_feature_detected!("avx2");
    let Ok(child) = process::copy() else { return };
    let Some(process) = child else { become_spawner(theirs.as_raw_fd(), identity) };
    // At once: until it has run, that takes nothing from anybody.
    processors::send_away(process);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    *made = Some((identity, Begun { socket, process, shares: true }));
}

/// The one that was made, if it is for this person and still there.
pub(super) fn take(identity: Identity) -> Option<Begun> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, begun) = made.take_if(|(known, _)| *known == identity)?;
    // Somebody may have ended it; then there will be another.
    let runs = waitpid(Some(begun.process), WaitOptions::NOHANG).is_ok_and(|ended| ended.is_none());
    runs.then_some(begun)
}

/// Whether this process has one thread. What cannot be found out is not so.
fn is_alone() -> bool {
    // The kernel counts threads among the links of this directory, beside its own name and the one in it.
    statat(CWD, "/proc/self/task", AtFlags::empty()).is_ok_and(|found| found.st_nlink == 3)
}

fn become_spawner(socket: RawFd, identity: Identity) -> ! {
    // What could not hide what it was started with is none.
    let ended = stripped(socket).and_then(|()| serve::serve(Some(identity)));
    process::exit(i32::from(ended.is_err()));
}

/// Leaves everything of the process that this is a copy of. Descriptors from 3 on are closed by who goes on.
fn stripped(socket: RawFd) -> std::io::Result<()> {
    // SAFETY: this process has one thread, and nothing of what it was before runs in it any more.
    if !unsafe { words::replace(NAME) } {
        return Err(std::io::Error::from_raw_os_error(libc::ENOSPC));
    }
    chdir("/")?;
    let nowhere = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    // SAFETY: the caller has it open, and this process does nothing else with it.
    process::place(unsafe { BorrowedFd::borrow_raw(socket) }, 0)?;
    process::place(nowhere.as_fd(), 1)?;
    process::place(nowhere.as_fd(), 2)
}

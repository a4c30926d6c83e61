//! A spawner that is a copy of this process, made before there is anything in it to be careful about.
//!
//! To start the executable once more takes longer than to make a jail. A copy costs a fraction of that, but has all that
//! the process has: so it is made first of all, before there are threads, configuration or secrets, and only by who says
//! that this is so. The variables of the environment, which are there from the beginning, are overwritten in it.
#![expect(clippy::disallowed_methods, reason = "what this process is, and nowhere to write to")]

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, open, statat};
use rustix::process::{WaitOptions, chdir, waitpid};

use super::{Begun, NAME, serve};
use crate::cell::outside::Identity;
use crate::processors;
use crate::system::{process, words};
use crate::wire;

/// The one that was made, until somebody wants it.
static MADE: Mutex<Option<(Identity, Begun)>> = Mutex::new(None);

/// Makes it, and lets it begin with a jail for a person of these numbers. To be called at the start of `main`: before
/// this process has a second thread, secrets in its memory, or references to its arguments. If it cannot be had, nothing
/// is lost but time.
pub fn make(user: u32, group: u32) {
    let identity = Identity { user, group };
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
    let Some(process) = child else { become_spawner(&theirs, identity) };
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

fn become_spawner(socket: &OwnedFd, identity: Identity) -> ! {
    let ended = stripped(socket).and_then(|()| serve::serve(Some(identity)));
    process::exit(i32::from(ended.is_err()));
}

/// Leaves everything of the process that this is a copy of. Descriptors from 3 on are closed by who goes on.
fn stripped(socket: &OwnedFd) -> std::io::Result<()> {
    // SAFETY: this process has one thread, and nothing of what it was before runs in it any more.
    if !unsafe { words::replace(NAME) } {
        return Err(std::io::Error::from_raw_os_error(libc::ENOSPC));
    }
    chdir("/")?;
    let nowhere = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    process::place(socket.as_fd(), 0)?;
    process::place(nowhere.as_fd(), 1)?;
    process::place(nowhere.as_fd(), 2)
}

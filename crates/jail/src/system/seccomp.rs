//! The kernel's filter of system calls, and the talk with those who wait for an answer about one.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Calls may be asked about through a descriptor.
pub const LISTENER: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
/// Once somebody has heard the question, only death interrupts the wait: a call is not asked about twice.
pub const WAIT_KILLABLE: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

/// Wakes whoever asks, or is asked, on the same processor, as one of the two always waits.
const SYNCHRONOUS_WAKE_UP: u64 = 1;

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`, as wide as it is sent.
const CONTINUE: u32 = 1;

/// An instruction of the filter machine that does not jump.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the library's codes are wider than the machine's"
)]
pub fn instruction(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

/// Puts up a filter for this thread and all that come of it. Returns the listener if one is asked for.
pub fn install(program: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<Option<OwnedFd>> {
    let length =
        u16::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: `program` points to as many instructions as it says, they live through the call, and the kernel only
    // reads them, in spite of the pointer's type.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            std::ptr::from_ref(&program),
        )
    };
    match i32::try_from(result) {
        Ok(-1) | Err(_) => Err(io::Error::last_os_error()),
        Ok(listener) if flags & LISTENER != 0 => {
            // SAFETY: the call succeeded and was asked for a listener, so this is a new descriptor that nobody owns.
            Ok(Some(unsafe { OwnedFd::from_raw_fd(listener) }))
        }
        Ok(_) => Ok(None),
    }
}

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub id: u64,
    /// The thread, in our own numbers; 0 when it cannot be seen from here.
    pub thread: u32,
    pub call: libc::c_long,
    pub arguments: [u64; 6],
}

/// With room behind it, should a later kernel have more to say.
#[repr(C)]
struct Notification {
    known: libc::seccomp_notif,
    more: [u64; 24],
}

/// Takes the next question. Waits if there is none.
pub fn receive(listener: BorrowedFd<'_>) -> io::Result<Question> {
    // SAFETY: plain integers, for which all zeros are valid; and the kernel wants them to be zero.
    let mut notification: Notification = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes a `seccomp_notif`, and there is room for that and more; it lives through the call.
    let result = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            std::ptr::from_mut(&mut notification),
        )
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    let Notification { known, .. } = notification;
    Ok(Question {
        id: known.id,
        thread: known.pid,
        call: libc::c_long::from(known.data.nr),
        arguments: known.data.args,
    })
}

/// Whether whoever asked still waits. If not, its number may be somebody else's by now.
pub fn still_asked(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one integer, which lives through the call.
    let result = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_ID_VALID,
            std::ptr::from_ref(&id),
        )
    };
    result == 0
}

/// Lets the call go on, as if nobody had asked.
pub fn let_through(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    answer(listener, libc::seccomp_notif_resp { id, val: 0, error: 0, flags: CONTINUE })
}

/// The call fails with this error and was never made.
pub fn refuse(listener: BorrowedFd<'_>, id: u64, errno: i32) -> io::Result<()> {
    answer(listener, libc::seccomp_notif_resp { id, val: 0, error: -errno, flags: 0 })
}

fn answer(listener: BorrowedFd<'_>, mut response: libc::seccomp_notif_resp) -> io::Result<()> {
    // SAFETY: the kernel reads a `seccomp_notif_resp`, which lives through the call.
    let result = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            std::ptr::from_mut(&mut response),
        )
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Faster, where the kernel can do it.
pub fn wake_synchronously(listener: BorrowedFd<'_>) {
    // SAFETY: the flags are passed by value; older kernels do not know the request and refuse it.
    let _only_faster = unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNCHRONOUS_WAKE_UP)
    };
}

//! The one call of the mount interface that no safe crate offers.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

pub const READ_ONLY: u64 = 0x1;
pub const NO_SET_USER: u64 = 0x2;
pub const NO_DEVICES: u64 = 0x4;
const IDENTITY_MAP: u64 = 0x0010_0000;
const RECURSIVE: libc::c_int = 0x8000;

/// On most systems what is mounted in one place is mounted wherever else the same is seen, and a copy of a mount is one more such
/// place: what a jail lays over its copy would lie over the host's own. So no mount is ever touched here without being taken
/// out of that, both ways.
const ALONE: u64 = libc::MS_PRIVATE;

/// Adds flags to a mount and all that is mounted below it, none of which shares anything with the host afterwards.
pub fn set_flags(mount: BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    set(mount, flags, None, RECURSIVE)
}

/// Adds flags to one mount.
pub fn set_own_flags(mount: BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    set(mount, flags, None, 0)
}

/// Shows the owners of files as the user namespace maps them. Needs power over the file system itself.
pub fn map_owners(mount: BorrowedFd<'_>, user_namespace: BorrowedFd<'_>) -> io::Result<()> {
    set(mount, IDENTITY_MAP, Some(user_namespace), RECURSIVE)
}

fn set(
    mount: BorrowedFd<'_>,
    flags: u64,
    user_namespace: Option<BorrowedFd<'_>>,
    depth: libc::c_int,
) -> io::Result<()> {
    let number = user_namespace.map_or(0, |it| u64::try_from(it.as_raw_fd()).unwrap_or(u64::MAX));
    let attributes =
        MountAttributes { set: flags, clear: 0, propagation: ALONE, user_namespace: number };
    // SAFETY: the path is empty and means the descriptor itself; `attributes` has the layout of `mount_attr` in its
    // first version, is of the size given, and is only read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | depth,
            std::ptr::from_ref(&attributes),
            size_of::<MountAttributes>(),
        )
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

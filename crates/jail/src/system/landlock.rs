//! The three calls of Landlock.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What a set of rules is about: accesses that are refused unless a rule grants them, and what is cut off from the
/// outside altogether.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Subject {
    pub files: u64,
    pub network: u64,
    pub scopes: u64,
}

#[repr(C, packed)]
struct Beneath {
    granted: u64,
    place: libc::c_int,
}

const BENEATH: libc::c_int = 1;
const ASK_FOR_VERSION: libc::c_uint = 1;

/// The version of Landlock in this kernel. An error: it has none, it is switched off, or somebody around us forbids it.
pub fn version() -> io::Result<u32> {
    // SAFETY: with a null pointer, no size, and this flag, the call returns a number and touches no memory.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<Subject>(),
            0_usize,
            ASK_FOR_VERSION,
        )
    };
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// An empty set of rules. Kernels take a shorter subject if what they do not know is zero.
pub fn create(subject: &Subject) -> io::Result<OwnedFd> {
    // SAFETY: `subject` is of the size given, begins like the kernel's structure of any version, and is only read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(subject),
            size_of::<Subject>(),
            0,
        )
    };
    match i32::try_from(result) {
        // SAFETY: the call succeeded, so this is a new descriptor that nobody owns.
        Ok(rules) if rules >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(rules) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Grants accesses to a place and all that lies beneath it.
pub fn grant(rules: BorrowedFd<'_>, place: BorrowedFd<'_>, granted: u64) -> io::Result<()> {
    let rule = Beneath { granted, place: place.as_raw_fd() };
    // SAFETY: `rule` has the kernel's layout for rules of this kind, packed, and is only read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_raw_fd(),
            BENEATH,
            std::ptr::from_ref(&rule),
            0,
        )
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Binds this thread, and all that come of it, to the rules.
pub fn bind(rules: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes a descriptor and a flag, and touches no memory.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

//! The walls behind the view: they hold what a hole in the view would let through.

pub mod landlock;
pub mod seccomp;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};

/// No dump of a program's memory, neither as a file nor to the program of the host that may be set up to take dumps, and
/// runs outside with all its powers. To that one a limit of 0 means nothing; 1 is what the kernel knows it by not to be
/// started. Where the caller itself is held to 0, that is all there is.
pub fn forbid_dumps() -> Result<(), Errno> {
    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match setrlimit(Resource::Core, limit(1)) {
        Err(Errno::PERM) => setrlimit(Resource::Core, limit(0)),
        set => set,
    }
}

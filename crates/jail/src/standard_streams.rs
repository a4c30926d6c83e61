//! Which of descriptors 0, 1 and 2 were closed when the process began.
//!
//! `/dev/null` is opened in their place first of all, by Rust's runtime or by [`start`](crate::start), and rightly so: the
//! next file opened would otherwise become standard output. A shell must know nevertheless, since `echo` to a closed descriptor fails.
//! So they are looked at before the runtime starts, when the loader runs the program's initializers.

use std::sync::atomic::{AtomicU8, Ordering};

/// Bit n: descriptor n was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

const STANDARD: [libc::c_int; 3] = [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO];

// SAFETY: the loader calls each pointer in this section once, with the C calling convention, before `main`. The
// section holds pointers of this very type, and the function needs nothing of Rust's runtime: see `look`.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

/// Runs while there is one thread and no runtime: no allocation, no panic, nothing but system calls and one atomic.
extern "C" fn look() {
    for descriptor in STANDARD {
        // SAFETY: `F_GETFD` takes no further argument, reads and writes no memory of ours, and changes nothing;
        // for a number that is no open descriptor it fails with EBADF, which is its only error.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
        if flags == -1 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}

/// Those of descriptors 0, 1 and 2 that were closed when the process began, whatever is open there now.
pub fn closed_at_start() -> impl Iterator<Item = u32> {
    let closed = CLOSED.load(Ordering::Relaxed);
    (0..3).filter(move |descriptor| closed & (1 << descriptor) != 0)
}

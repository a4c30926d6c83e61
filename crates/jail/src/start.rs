//! The start of a program that does not go through the standard library's.
//!
//! That reads `/proc/self/maps` to recognise an overflow of the stack by its address, and gets a stack for the handler that says
//! so: a fiftieth of all that a cold program in a jail takes, while nothing can be done beside it. Without it an overflow is
//! the end of the process by SIGSEGV. All else that it does is done here.
#![expect(clippy::disallowed_methods, reason = "where a process begins and ends")]

use std::os::fd::IntoRawFd;
use std::panic::{UnwindSafe, catch_unwind};

use rustix::fs::{Mode, OFlags, open};

use crate::standard_streams::closed_at_start;
use crate::system::process;

/// What a program ends with that has panicked, as the standard library has it.
const PANICKED: i32 = 101;

/// Makes a function `fn() -> u8` the program's `main`. The crate needs `#![no_main]`.
#[macro_export]
macro_rules! main {
    ($begin:path) => {
        // SAFETY: nothing else has this name, for the crate has no other `main`; the C library calls it with these types.
        #[unsafe(no_mangle)]
        pub extern "C" fn main(
            _count: ::core::ffi::c_int,
            _arguments: *const *const ::core::ffi::c_char,
        ) -> ::core::ffi::c_int {
            $crate::start::run($begin)
        }
    };
}

/// All that a program does. To be called by `main` and nobody else, before there is a second thread.
pub fn run(begin: impl FnOnce() -> u8 + UnwindSafe) -> ! {
    if !has_streams() {
        std::process::abort();
    }
    // Who reads our output may be gone; then a write fails, and nobody dies of it.
    process::ignore_broken_pipes();
    let status = catch_unwind(begin).map_or(PANICKED, i32::from);
    // This writes what still waits to be written.
    std::process::exit(status)
}

/// Opens `/dev/null` in place of what was closed: the next file would otherwise become standard output.
fn has_streams() -> bool {
    closed_at_start().all(|descriptor| {
        // The lowest free number is given, and those below are in use.
        let opened = open("/dev/null", OFlags::RDWR, Mode::empty()).map(IntoRawFd::into_raw_fd);
        opened.is_ok_and(|opened| u32::try_from(opened) == Ok(descriptor))
    })
}

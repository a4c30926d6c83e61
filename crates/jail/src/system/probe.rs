//! Calls that are made only to see what the kernel answers.

use std::io;

/// Makes a call with these numbers. Returns the error, or 0 if there was none.
///
/// Only with arguments for which the call, were it allowed, reads and writes nothing here and changes nothing but this
/// process: addresses are null, descriptors are -1.
pub fn answer(call: libc::c_long, arguments: [libc::c_long; 5]) -> i32 {
    let [one, two, three, four, five] = arguments;
    // SAFETY: the callers pass no address but null, which the kernel refuses to read or write.
    let result = unsafe { libc::syscall(call, one, two, three, four, five) };
    if result == -1 { io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 }
}

/// Whether a descriptor of this number is open.
pub fn is_open(number: i32) -> bool {
    // SAFETY: takes numbers only and changes nothing.
    unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
}

/// Asks a terminal to take a letter as if it were typed. Returns the error, or 0.
pub fn type_a_letter(number: i32) -> i32 {
    let letter = b' ';
    // SAFETY: TIOCSTI reads one byte at the address, which lives through the call.
    let result = unsafe { libc::ioctl(number, libc::TIOCSTI, std::ptr::from_ref(&letter)) };
    if result == -1 { io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 }
}

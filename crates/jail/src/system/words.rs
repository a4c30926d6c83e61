//! The words and variables that this process was started with, where the kernel shows them to others.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Where they begin, and how many bytes they are: words, and right behind them variables.
static START: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Remembers where they are.
///
/// # Safety
///
/// Both are null, or lists of pointers to strings that end in NUL, ended by a null pointer, as the loader has them before
/// anything else has run; and the strings stay for as long as the process does.
pub unsafe fn remember(
    arguments: *const *const libc::c_char,
    environment: *const *const libc::c_char,
) {
    let mut end: *const libc::c_char = std::ptr::null();
    for list in [arguments, environment] {
        let mut at = list;
        // SAFETY: the caller says that a list that is there ends in a null pointer, and we stop at that.
        while !at.is_null() && !unsafe { *at }.is_null() {
            // SAFETY: the entry was just found not to be the last.
            let text = unsafe { *at };
            if end.is_null() {
                START.store(text.cast_mut().cast(), Ordering::Relaxed);
                end = text;
            }
            // The kernel puts one right behind the other. Whatever lies elsewhere is not shown.
            if text == end {
                // SAFETY: it ends in NUL, as the caller says.
                let length = unsafe { CStr::from_ptr(text) }.count_bytes() + 1;
                LENGTH.fetch_add(length, Ordering::Relaxed);
                end = text.wrapping_add(length);
            }
            at = at.wrapping_add(1);
        }
    }
}

/// Whether there is room for a name in place of all of them.
pub fn have_room_for(name: &str) -> bool {
    !START.load(Ordering::Relaxed).is_null() && LENGTH.load(Ordering::Relaxed) > name.len()
}

/// Puts a name in place of all of them. `false`: there is no room for it, and nothing has changed.
///
/// The kernel goes on into the variables where the words do not end in NUL, so that a name may be longer than they were.
///
/// # Safety
///
/// Nobody reads or writes them at the same time, and nobody has a reference to them: not the standard library, whose
/// `args` and `vars` copy them, and not the caller.
pub unsafe fn replace(name: &str) -> bool {
    if !have_room_for(name) {
        return false;
    }
    let (start, length) = (START.load(Ordering::Relaxed), LENGTH.load(Ordering::Relaxed));
    // SAFETY: `length` bytes from `start` on are strings of this process's own stack, one right behind the other, which
    // the kernel made writable; the caller says that nobody else uses them.
    let all = unsafe { std::slice::from_raw_parts_mut(start, length) };
    all.fill(0);
    for (place, byte) in all.iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    true
}

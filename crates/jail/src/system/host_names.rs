//! How the C library looks up names of hosts in an executable that has the whole of it.
//!
//! It would load libraries of the machine for that, as the machine is set up. An executable without a loader gets them with a
//! second C library, perhaps of another version; what comes of that nobody has promised. What it has itself is enough: the
//! machine's own files, and DNS.

use std::ffi::CStr;
use std::sync::Once;

const DATABASE: &CStr = c"hosts";
const WAYS: &CStr = c"files dns";

unsafe extern "C" {
    fn __nss_configure_lookup(
        database: *const libc::c_char,
        ways: *const libc::c_char,
    ) -> libc::c_int;
}

/// To be called before a name is looked up. Where there is a loader, it stays as the machine is set up.
pub fn look_up_plainly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if is_whole() {
            // SAFETY: both are strings that end in NUL and live as long as the process, and the library copies what it needs. It
            // takes its own lock.
            let _as_it_is_set_up =
                unsafe { __nss_configure_lookup(DATABASE.as_ptr(), WAYS.as_ptr()) };
        }
    });
}

/// Whether the kernel has started this executable without a loader.
pub fn is_whole() -> bool {
    // SAFETY: it reads what the kernel has left for this process, and answers 0 to what is not there.
    unsafe { libc::getauxval(libc::AT_BASE) == 0 }
}

//! Giving up every power this process has.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets};

/// No capability left in any set, and no way to get one back.
pub fn drop_all() -> io::Result<()> {
    // The bounding set first: dropping from it needs a capability itself.
    for capability in 0..64 {
        // SAFETY: PR_CAPBSET_DROP takes integers only.
        let result = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        if result == -1 {
            let error = io::Error::last_os_error();
            // The kernel knows no capability of this number: that was the last one.
            if error.raw_os_error() == Some(libc::EINVAL) && capability > 0 {
                break;
            }
            return Err(error);
        }
    }
    drop_held()
}

/// No capability left, and with no new privileges no way to get one back. For who has not the power to shrink the bounding
/// set: that is shrunk where it can be.
pub fn drop_held() -> io::Result<()> {
    for capability in 0..64 {
        // SAFETY: PR_CAPBSET_DROP takes integers only. Without the power to, or beyond the last, nothing happens.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?;
    Ok(())
}

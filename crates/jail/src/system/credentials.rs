//! Giving up every power this process has.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets};

/// No capability can be gained any more. Those held stay, and are needed for this.
pub fn drop_bounding() -> io::Result<()> {
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
    Ok(())
}

/// No capability left in any set but the bounding one.
pub fn drop_held() -> io::Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?;
    Ok(())
}

//! Making files in a layer from outside, as the person inside.
//!
//! A layer belongs to the jail's user namespace. When root has made the jail, the person inside is somebody without any
//! power, and root does not exist there: the kernel answers `EOVERFLOW` to root who wants to make a file in a layer. Files
//! are then made under the name of that person, by the one thread that makes them.

use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::cell::outside::Outside;

/// Until it is dropped, this thread is somebody else for whatever it makes in file systems.
#[must_use = "it is taken off again when it is dropped"]
pub struct Disguise {
    user: u32,
    group: u32,
    /// It belongs to this thread.
    _here: PhantomData<*const ()>,
}

/// Who the owner of a writable tree is inside layers, if somebody else than outside.
pub fn owner_in_layers() -> Option<(u32, u32)> {
    static OWNER: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    *OWNER.get_or_init(|| Outside::choose().other_than_caller())
}

impl Disguise {
    /// `None`: there is no need for one.
    pub fn put_on() -> Option<Self> {
        let (user, group) = owner_in_layers()?;
        // The group first: without being root one cannot change it.
        let group = set_group(group);
        let user = set_user(user);
        Some(Disguise { user, group, _here: PhantomData })
    }
}

impl Drop for Disguise {
    fn drop(&mut self) {
        set_user(self.user);
        set_group(self.group);
    }
}

/// Returns who it was.
fn set_user(user: u32) -> u32 {
    // SAFETY: takes and returns a number, and concerns this thread only; glibc calls the kernel directly.
    unsafe { libc::setfsuid(user) }.cast_unsigned()
}

fn set_group(group: u32) -> u32 {
    // SAFETY: as above.
    unsafe { libc::setfsgid(group) }.cast_unsigned()
}

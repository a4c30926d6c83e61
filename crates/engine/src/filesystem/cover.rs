//! What lies over the project while the programs of a request run: a layer that takes what is written, by them and by the
//! shell's own commands alike.
//!
//! A layer is mounted in the jail, and this process has it as a handle: where the project's own directory was opened, the
//! layer is, and both sides see at once what the other has written.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use exacta_jail::{Disguise, owner_in_layers};
use exacta_shell::errno;

use super::Handle;

/// The kernel's answer to somebody whom a layer does not know.
const EOVERFLOW: i32 = 75;

/// Shared by the file system of a session and its programs.
#[derive(Default)]
pub(crate) struct Cover {
    /// Most requests have none, and should not pay for asking.
    is_on: AtomicBool,
    layer: RwLock<Option<Handle>>,
}

impl Cover {
    /// The owner is the project's own.
    pub(crate) fn put_on(&self, layer: Handle, (user, group): (u32, u32)) {
        OWNER.store(u64::from(user) << 32 | u64::from(group), Ordering::Relaxed);
        *self.layer.write().unwrap_or_else(PoisonError::into_inner) = Some(layer);
        self.is_on.store(true, Ordering::Release);
    }

    pub(crate) fn take_off(&self) {
        self.is_on.store(false, Ordering::Release);
        *self.layer.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The layer, while there is one.
    pub(crate) fn handle(&self) -> Option<Handle> {
        if !self.is_on.load(Ordering::Acquire) {
            return None;
        }
        self.layer.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Who owned the project over which the last layer was laid. Two sessions over projects of different owners at the same time
/// would be told of the wrong one, and of nothing worse.
static OWNER: AtomicU64 = AtomicU64::new(0);

/// The owner of a file as the script knows it: in a layer that root has made, files of the project's owner belong to
/// somebody else.
pub(crate) fn owner_outside(user: u32, group: u32) -> (u32, u32) {
    let Some((inside, group_inside)) = owner_in_layers() else { return (user, group) };
    let owner = OWNER.load(Ordering::Relaxed);
    let (owner, owning_group) = ((owner >> 32) as u32, owner as u32);
    (
        if user == inside { owner } else { user },
        if group == group_inside { owning_group } else { group },
    )
}

/// The other way around.
fn owner_inside(user: Option<u32>, group: Option<u32>) -> (Option<u32>, Option<u32>) {
    let Some((inside, group_inside)) = owner_in_layers() else { return (user, group) };
    let owner = OWNER.load(Ordering::Relaxed);
    let (owner, owning_group) = ((owner >> 32) as u32, owner as u32);
    (
        user.map(|user| if user == owner { inside } else { user }),
        group.map(|group| if group == owning_group { group_inside } else { group }),
    )
}

/// Makes something, in a layer as the person whom it knows. `make` has done nothing if it fails.
pub(crate) fn making<T>(make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match make() {
        Err(error) if errno::is(&error, EOVERFLOW) => {
            let _until_it_is_made = Disguise::put_on();
            make()
        }
        made => made,
    }
}

/// Gives something to somebody, in a layer under the names it knows.
pub(crate) fn giving(
    (user, group): (Option<u32>, Option<u32>),
    give: impl Fn(Option<u32>, Option<u32>) -> io::Result<()>,
) -> io::Result<()> {
    match give(user, group) {
        Err(error) if errno::is(&error, EOVERFLOW) || errno::is(&error, errno::EINVAL) => {
            let (user, group) = owner_inside(user, group);
            give(user, group)
        }
        given => given,
    }
}

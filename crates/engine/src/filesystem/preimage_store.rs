//! `.clada/preimages`: where old contents are kept while new ones are written.
//!
//! Each file system object has a directory of its own there, and a lock on it for as long as it or one of its
//! preimages lives. The kernel gives the lock up when a process dies, however it dies; what is in a directory that
//! nobody has locked was left by a crash and is cleared away when the next session begins. A lock holds across
//! process namespaces, where the number of a process says nothing.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::rand::GetRandomFlags;

use super::state::{self, State};

const NAME: &str = "preimages";

/// A state directory may have come with the repository: no more than this is looked at when a session begins.
const MOST: usize = 1_000;

/// Made when it is first needed.
#[derive(Default)]
pub(crate) struct PreimageStore {
    own: Mutex<Option<Arc<OwnDirectory>>>,
}

/// Locked; removed with this value.
pub(crate) struct OwnDirectory {
    all: OwnedFd,
    name: String,
    pub(crate) handle: OwnedFd,
}

impl PreimageStore {
    /// Our own directory: made anew when somebody outside has deleted it (`git clean -fdx`).
    pub(crate) fn directory(&self, state: &State) -> io::Result<Arc<OwnDirectory>> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = own.as_ref().filter(|own| exists(&own.handle)) {
            return Ok(Arc::clone(own));
        }
        let made = Arc::new(OwnDirectory::make(state)?);
        *own = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl OwnDirectory {
    fn make(state: &State) -> io::Result<Self> {
        let all = state.subdirectory(NAME)?;
        loop {
            let name = random_name()?;
            let (handle, made) = state::ensure(&all, &name)?;
            // Between these two a session that begins may take it for a leftover and remove it: then another.
            if made && lock(&handle).is_ok() && exists(&handle) {
                return Ok(OwnDirectory { all, name, handle });
            }
        }
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // Left behind, it is an empty directory that the next session takes away.
        let _space = rustix::fs::unlinkat(&self.all, &*self.name, AtFlags::REMOVEDIR);
    }
}

/// Removes what crashed processes have left. That it fails is nobody's concern: it is only space.
pub(crate) fn clear(state: &State) {
    let Ok(all) = state.existing_subdirectory(NAME) else { return };
    for name in names_in(&all) {
        let Ok(handle) = state::open_existing(&all, &name) else { continue };
        if lock(&handle).is_err() {
            continue;
        }
        for file in names_in(&handle) {
            let _space = rustix::fs::unlinkat(&handle, &*file, AtFlags::empty());
        }
        let _space = rustix::fs::unlinkat(&all, &*name, AtFlags::REMOVEDIR);
    }
}

fn names_in(directory: &OwnedFd) -> Vec<String> {
    let Ok(entries) = Dir::read_from(directory) else { return Vec::new() };
    let names =
        entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    names.filter(|name| name != "." && name != "..").take(MOST).collect()
}

fn lock(directory: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive)
}

fn exists(directory: &OwnedFd) -> bool {
    rustix::fs::fstat(directory).is_ok_and(|stat| stat.st_nlink > 0)
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

/// A file without a name in our directory: it is gone when it is closed, whatever happens to this process.
pub(crate) fn unnamed(directory: &OwnDirectory) -> io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&directory.handle, ".", flags, Mode::RUSR | Mode::WUSR)?)
}

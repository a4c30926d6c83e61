//! Where a project's journal is.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own directories: opened once, by handle, before anything is asked of them"
)]

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use exacta_store::{Journal, UndoError, Watch};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::project;

/// `None` where there is no state: nothing was ever recorded.
pub(super) fn open(root: &Path, watch: Watch) -> Result<Option<Journal>, UndoError> {
    let state_path = project::state_path(root).map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::NOENT);
        failed("find the state", root, errno)
    })?;
    let root = directory(root).map_err(|errno| failed("open the project", root, errno))?;
    let state = match directory(&state_path) {
        Err(Errno::NOENT) => return Ok(None),
        state => state.map_err(|errno| failed("open the state", &state_path, errno))?,
    };
    Journal::open_watched(root.as_fd(), state.as_fd(), watch).map(Some)
}

/// Never through a link in the last place: the state may have come with the repository.
fn directory(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn failed(doing: &'static str, path: &Path, errno: Errno) -> UndoError {
    UndoError::System { doing, path: path.as_os_str().as_bytes().into(), errno }
}

//! Layers that a request writes to, put over a tree of a standing jail and taken away again.
//!
//! A layer lives for one request, a jail for many. So the warden, which keeps its power over the view, mounts an overlay
//! when a request wants one. It finds the layer's folder through a mount that lies *under* the tree in the view: in the
//! kernel's eyes it is mounted, so that an overlay can be made of it, and nothing inside can reach what is covered.
//!
//! The lower directory is the tree itself as it lies in the view, the upper and the kernel's own are in the folder. What is
//! not to be seen of the tree is for whoever makes the folder to white out in the upper one.

use std::convert::Infallible;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, unmount,
};
use rustix::process::{Pid, chdir, fchdir};

use super::view::attach;
use super::workshop::escaped;
use crate::messages::{Change, Changed};
use crate::outcome::{AtStep, Failure};
use crate::system::process;
use crate::wire;

/// Does what the engine asks for until init has ended, and ends with it.
pub fn attend(
    init: Pid,
    handle: &OwnedFd,
    asked: Option<&OwnedFd>,
    folders: Option<&OwnedFd>,
) -> ! {
    if let (Some(asked), Some(folders)) = (asked, folders) {
        // Whatever ends this, a view that nobody changes any more is left.
        let _nobody_asks = serve(handle, asked, folders);
    }
    // Init's end is the jail's end, and so is ours.
    process::wait_for(init);
    process::exit(0)
}

fn serve(handle: &OwnedFd, asked: &OwnedFd, folders: &OwnedFd) -> Result<Infallible, Errno> {
    loop {
        let mut watched = [handle, asked].map(|it| PollFd::new(it, PollFlags::IN));
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        }
        let [ended, asking] = watched.map(|it| !it.revents().is_empty());
        if ended || !asking {
            return Err(Errno::CHILD);
        }
        let Ok(Some((change, _))) = wire::receive::<Change>(asked) else {
            return Err(Errno::PIPE);
        };
        let (answer, layer) = match perform(&change, folders) {
            Ok(layer) => (Changed::Done, layer),
            Err(failure) => (Changed::Failed(failure), None),
        };
        let given: Vec<_> = layer.iter().map(AsFd::as_fd).collect();
        wire::send(asked, &answer, &given).map_err(|_| Errno::PIPE)?;
    }
}

fn perform(change: &Change, folders: &OwnedFd) -> Result<Option<OwnedFd>, Failure> {
    match change {
        Change::Lay { target, folder } => {
            let step = format!("lay a layer over {}", target.display());
            let layer = overlay(folders, target, folder.as_slice()).at(&step)?;
            attach(&layer, CWD, target).at(&step)?;
            Ok(Some(layer))
        }
        Change::Lift { target } => {
            let step = format!("take the layer off {}", target.display());
            unmount(target, UnmountFlags::DETACH).at(&step)?;
            Ok(None)
        }
    }
}

fn overlay(folders: &OwnedFd, target: &Path, folder: &[u8]) -> Result<OwnedFd, Errno> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // Where they are is seen from their folder only.
    fchdir(folders)?;
    let made = configure(&context, target, folder);
    chdir("/")?;
    made?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn configure(context: &OwnedFd, target: &Path, folder: &[u8]) -> Result<(), Errno> {
    let inside = |name: &str| {
        let path = [folder, b"/", name.as_bytes()].concat();
        escaped(Path::new(std::ffi::OsStr::from_bytes(&path)))
    };
    fsconfig_set_string(context, "lowerdir", escaped(target))?;
    fsconfig_set_string(context, "upperdir", inside("upper"))?;
    fsconfig_set_string(context, "workdir", inside("work"))?;
    fsconfig_set_flag(context, "userxattr")?;
    // Whoever applies the layer waits for the disk where that matters; an end of the mount must not.
    fsconfig_set_flag(context, "volatile")?;
    fsconfig_create(context)
}

//! Layers that a request writes to, put over a tree of a standing jail and taken away again.
//!
//! A layer lives for one request, a jail for many. So the warden, which keeps its power over the view, mounts an overlay
//! when a request wants one. It finds the layer's folder through a mount that lies *under* the tree in the view: in the
//! kernel's eyes it is mounted, so that an overlay can be made of it, and nothing inside can reach what is covered.
//!
//! The lower directory is the tree itself as it lies in the view, the upper and the kernel's own are in the folder. What is
//! not to be seen of the tree is for whoever makes the folder to white out in the upper one.
//!
//! Programs may have run by then, and a tree may lie in another that they write to: they can put something else at every
//! directory on the way to it, but not in the place of what is mounted there. So the way is never walked from the root, but
//! up from that covered mount: its parent is where the tree is, wherever that was moved to, and there the tree has its name.

#![expect(
    clippy::disallowed_methods,
    reason = "prepares, inside the jail's own view, what an overlay writes to"
)]

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags, chmodat, getxattr, listxattr,
    mkdirat, mknodat, setxattr, statat, utimensat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, unmount,
};
use rustix::process::{Pid, chdir, fchdir};

use super::view::{PLACE, Root, attach, inside, mount_memory};
use super::workshop::escaped;
use crate::messages::{Change, Changed};
use crate::outcome::{AtStep, Failure};
use crate::plan::Layers;
use crate::system::process;
use crate::wire;

/// Where layers are found, and the tree that they are laid over.
pub struct Ground {
    folders: OwnedFd,
    /// Of the tree, in the directory that it lies in.
    name: OsString,
    /// How many lie there: what is below them is not to be taken away.
    laid: usize,
}

impl Ground {
    pub fn new(folders: OwnedFd, layers: &Layers, laid: bool) -> Option<Self> {
        let name = layers.target.file_name()?.to_owned();
        Some(Ground { folders, name, laid: usize::from(laid) })
    }

    /// The tree, as seen from the folders.
    fn tree(&self) -> PathBuf {
        Path::new("..").join(&self.name)
    }

    /// From the folders, for as long as that takes.
    fn inside<T>(&self, act: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
        fchdir(&self.folders)?;
        let done = act();
        chdir("/")?;
        done
    }

    fn perform(&mut self, change: &Change) -> Result<Vec<OwnedFd>, Failure> {
        match change {
            Change::Lay { target, folder } => {
                let step = format!("lay a layer over {}", target.display());
                let layer = self.inside(|| overlay(&self.tree(), folder.as_slice())).at(&step)?;
                self.lay(&layer).at(&step)?;
                Ok(vec![layer])
            }
            Change::LayAside { target, folder, most } => {
                let step = format!("lay a layer in memory over {}", target.display());
                let made = self.inside(|| {
                    let store = memory(&self.tree(), folder.as_slice(), *most)?;
                    let layer = overlay(&self.tree(), folder.as_slice());
                    // The overlay has hold of it now, or nobody needs it.
                    unmount(Path::new(OsStr::from_bytes(folder)), UnmountFlags::DETACH)?;
                    Ok((layer?, store))
                });
                let (layer, store) = made.at(&step)?;
                self.lay(&layer).at(&step)?;
                Ok(vec![layer, store])
            }
            Change::Lift { target } => {
                let step = format!("take the layer off {}", target.display());
                self.lift().at(&step)?;
                Ok(Vec::new())
            }
        }
    }

    fn lay(&mut self, layer: &OwnedFd) -> Result<(), Errno> {
        self.inside(|| attach(layer, CWD, &self.tree()))?;
        self.laid += 1;
        Ok(())
    }

    fn lift(&mut self) -> Result<(), Errno> {
        let below = self.laid.checked_sub(1).ok_or(Errno::INVAL)?;
        let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
        self.inside(|| unmount(self.tree(), flags))?;
        self.laid = below;
        Ok(())
    }
}

/// Does what the engine asks for until init has ended, and ends with it.
pub fn attend(init: Pid, handle: &OwnedFd, asked: Option<&OwnedFd>, ground: Option<Ground>) -> ! {
    if let (Some(asked), Some(ground)) = (asked, ground) {
        // Whatever ends this, a view that nobody changes any more is left.
        let _nobody_asks = serve(handle, asked, ground);
    }
    // Init's end is the jail's end, and so is ours.
    process::wait_for(init);
    // All that ran has ended; the kernel takes the view apart, for which nobody waits.
    process::give_way();
    process::exit(0)
}

fn serve(handle: &OwnedFd, asked: &OwnedFd, mut ground: Ground) -> Result<Infallible, Errno> {
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
        let (answer, given) = match ground.perform(&change) {
            Ok(given) => (Changed::Done, given),
            Err(failure) => (Changed::Failed(failure), Vec::new()),
        };
        let given: Vec<_> = given.iter().map(AsFd::as_fd).collect();
        wire::send(asked, &answer, &given).map_err(|_| Errno::PIPE)?;
    }
}

/// A file system in memory over a layer's folder, with what is in such a folder: the attributes of the tree's root, and that
/// exacta's state is not there. From where the folders are.
fn memory(tree: &Path, folder: &[u8], most: u64) -> Result<OwnedFd, Errno> {
    let store = mount_memory(&format!("mode=0700,size={most}"))?;
    let folder = Path::new(OsStr::from_bytes(folder));
    attach(&store, CWD, folder)?;
    mkdirat(&store, "work", Mode::RWXU)?;
    mkdirat(&store, "upper", Mode::RWXU)?;
    mknodat(&store, "upper/.clada", FileType::CharacterDevice, Mode::empty(), 0)?;
    let root = statat(CWD, tree, AtFlags::empty())?;
    for name in attributes(tree)? {
        let mut value = vec![0; 64 << 10];
        let length = getxattr(tree, name.as_slice(), &mut value[..])?;
        let value = value.get(..length).unwrap_or_default();
        setxattr(folder.join("upper"), name.as_slice(), value, XattrFlags::empty())?;
    }
    chmodat(&store, "upper", Mode::from_raw_mode(root.st_mode), AtFlags::empty())?;
    let times = Timestamps {
        last_access: Timespec { tv_sec: root.st_atime, tv_nsec: root.st_atime_nsec as _ },
        last_modification: Timespec { tv_sec: root.st_mtime, tv_nsec: root.st_mtime_nsec as _ },
    };
    utimensat(&store, "upper", &times, AtFlags::empty())?;
    Ok(store)
}

/// The names of a person's own attributes.
fn attributes(target: &Path) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = vec![0; 64 << 10];
    let length = match listxattr(target, &mut names[..]) {
        Err(Errno::OPNOTSUPP) => 0,
        length => length?,
    };
    let names = names.get(..length).unwrap_or_default().split(|&byte| byte == 0);
    Ok(names.filter(|name| name.starts_with(b"user.")).map(<[u8]>::to_vec).collect())
}

/// The layer that is going to lie over a tree from the beginning, when that is in the view. Where it cannot be had, whoever wants it
/// will ask, and be told why.
pub fn make_first(layers: &Layers, folders: &OwnedFd) -> Option<OwnedFd> {
    let folder = layers.first.as_ref()?;
    let place = Path::new(PLACE).join(inside(&layers.target));
    fchdir(folders).ok()?;
    let layer = overlay(&place, folder);
    chdir("/").ok()?;
    layer.ok()
}

/// Over everything else that is there.
pub fn lay_first(root: &Root, layers: &Layers, layer: &OwnedFd) -> Result<(), Errno> {
    attach(layer, &root.directory, inside(&layers.target))
}

/// To be called where the folders are: where its parts are is seen from there only.
fn overlay(tree: &Path, folder: &[u8]) -> Result<OwnedFd, Errno> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    configure(&context, tree, folder)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn configure(context: &OwnedFd, target: &Path, folder: &[u8]) -> Result<(), Errno> {
    let part = |name: &str| {
        let path = [folder, b"/", name.as_bytes()].concat();
        escaped(Path::new(OsStr::from_bytes(&path)))
    };
    fsconfig_set_string(context, "lowerdir", escaped(target))?;
    fsconfig_set_string(context, "upperdir", part("upper"))?;
    fsconfig_set_string(context, "workdir", part("work"))?;
    fsconfig_set_flag(context, "userxattr")?;
    // Whoever applies the layer waits for the disk where that matters; an end of the mount must not.
    fsconfig_set_flag(context, "volatile")?;
    fsconfig_create(context)
}

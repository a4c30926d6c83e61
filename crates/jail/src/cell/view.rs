//! The file system of a jail, built from nothing beside the old one, then entered.
//!
//! Trees of the host are taken hold of before the first thing is covered, so that it does not matter what the
//! covering hides. The mounts are made through descriptors: no path is looked up twice.
#![expect(clippy::disallowed_methods, reason = "the view is made of the host itself")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, statat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use super::folders::Folders;
use super::masks::{self, is_masked};
use super::outside::{Source, detached, sources};
use super::trees::{Added, Adding, Mounts};
use super::workshop::{Laid, Workshop};
use crate::ladder::{Missing, Wall};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, ReadyPart, Scratch, Tree, View};
use crate::system::mount::{NO_DEVICES, NO_SET_USER, READ_ONLY, set_flags, set_own_flags};
use crate::timeline;
use crate::walls::landlock::Handles;

/// Where the new root stands until it is entered. It hides what the host has there, after everything was taken.
pub const PLACE: &str = "/tmp";
/// Devices that everybody may have.
pub const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// Files of /proc that tell of the host, or reach it, and that nobody needs.
const COVERED: [&str; 12] = [
    "cmdline",
    "modules",
    "partitions",
    "diskstats",
    "interrupts",
    "kcore",
    "keys",
    "key-users",
    "locks",
    "mdstat",
    "swaps",
    "sysrq-trigger",
];
/// Directories of it: disks, devices and how they are set up.
const EMPTIED: [&str; 7] = ["acpi", "asound", "bus", "driver", "fs", "irq", "scsi"];
/// Files of /proc by which programs find out what machine they are on, for a jail that can have no /proc.
const FACTS: [&str; 5] = ["cpuinfo", "meminfo", "stat", "filesystems", "version"];

/// What is larger is no setting, and would fill the jail's root.
const LARGEST_COPY: u64 = 4 << 20;

/// A root, mounted at [`PLACE`].
pub struct Root {
    pub directory: OwnedFd,
}

impl Root {
    /// With what every jail has, and what lies on it afterwards to be added.
    pub fn begin(grants: &Handles) -> Result<Self, Failure> {
        let devices = take_devices()?;
        let directory =
            mount_memory("mode=0755,size=16m,nr_inodes=16k").at("mount the jail's root")?;
        attach(&directory, CWD, Path::new(PLACE)).at("mount the jail's root")?;
        let root = Root { directory };
        grants.root(root.directory.as_fd())?;
        timeline::mark("root of the view");
        root.add_devices(devices, grants)?;
        timeline::mark("/dev");
        Ok(root)
    }

    pub fn folders(&self) -> Folders<'_> {
        Folders::of(self.directory.as_fd())
    }

    /// What exists only inside.
    pub fn add_own(&self, view: &View) -> Result<(), Failure> {
        let mut folders = Folders::of(self.directory.as_fd());
        let mode = Mode::from_raw_mode(0o644);
        for link in &view.links {
            let step = || format!("make the link {}", link.target.display());
            let made = folders.link(&link.text, &link.target);
            made.map_err(|error| Failure::new(step(), error))?;
        }
        for file in &view.files {
            let step = || format!("make the file {}", file.target.display());
            let made = folders.file(&file.target, mode).map_err(io::Error::from);
            let made = made.and_then(|mut made| io::Write::write_all(&mut made, &file.content));
            made.map_err(|error| Failure::new(step(), error))?;
        }
        for path in &view.copies {
            let step = || format!("copy the file {}", path.display());
            let is_small =
                |found: std::fs::Metadata| found.is_file() && found.len() <= LARGEST_COPY;
            if !std::fs::metadata(path).is_ok_and(is_small) {
                continue;
            }
            // What the person inside may not read is not for it.
            let Ok(from) = std::fs::File::open(path) else { continue };
            let made = folders.file(path, mode).map_err(io::Error::from);
            let made = made.and_then(|to| copy(&from, &to));
            made.map_err(|error| Failure::new(step(), error))?;
        }
        Ok(())
    }

    /// A /proc of the caller's process namespace, with what tells of the host covered. Where the host's own has something
    /// mounted over it, as containers do, the kernel refuses to show one without: then there are copies of a few files.
    pub fn add_processes(
        &self,
        processes: Result<OwnedFd, Errno>,
    ) -> Result<Option<Missing>, Failure> {
        let step = "mount /proc";
        match processes {
            Ok(processes) => self.attach_processes(&processes).map(|()| None),
            Err(refused @ (Errno::PERM | Errno::ACCESS)) => {
                self.copy_facts().at("copy files of /proc")?;
                Ok(Some(Missing::new(Wall::Processes, Failure::new(step, refused))))
            }
            Err(error) => Err(Failure::new(step, error)),
        }
    }

    fn copy_facts(&self) -> io::Result<()> {
        let paths = FACTS.map(|name| Path::new("/proc").join(name));
        let mut folders = self.folders();
        for path in &paths {
            let Ok(content) = std::fs::read(path) else { continue };
            let mut made = folders.file(path, Mode::from_raw_mode(0o444))?;
            io::Write::write_all(&mut made, &content)?;
        }
        Ok(())
    }

    fn attach_processes(&self, processes: &OwnedFd) -> Result<(), Failure> {
        let step = "cover the host's facts in /proc";
        // One for each that is there: one too many would have to be put away again, for which the kernel waits until nobody can
        // be looking at it.
        let is_there = |name: &&str| {
            let found = statat(processes, *name, AtFlags::SYMLINK_NOFOLLOW);
            found.err() != Some(Errno::NOENT)
        };
        // Before something lies on it: it has nothing in it.
        let empty = |name: &'static str| {
            let empty = clone(&self.directory, Path::new("proc"), false).at(step)?;
            set_flags(empty.as_fd(), READ_ONLY | NO_SET_USER | NO_DEVICES).at(step)?;
            Ok((name, empty))
        };
        let emptied = EMPTIED.into_iter().filter(is_there).map(empty);
        let mut covers = emptied.collect::<Result<Vec<_>, Failure>>()?;
        attach(processes, &self.directory, Path::new("proc")).at("mount /proc")?;
        for name in COVERED.into_iter().filter(is_there) {
            covers.push((name, clone(&self.directory, Path::new("dev/null"), false).at(step)?));
        }
        for (name, nothing) in covers {
            match attach(&nothing, processes, Path::new(name)) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(Failure::new(step, error)),
            }
        }
        let settings = clone(processes, Path::new("sys"), true).at(step)?;
        set_flags(settings.as_fd(), READ_ONLY).at(step)?;
        attach(&settings, processes, Path::new("sys")).at(step)
    }

    /// Makes it the root of every process here. The old one lies on top of it, and is to be [let go](let_go).
    pub fn enter(self) -> Result<(), Failure> {
        let step = "enter the jail's root";
        set_own_flags(self.directory.as_fd(), READ_ONLY | NO_SET_USER | NO_DEVICES).at(step)?;
        fchdir(&self.directory).at(step)?;
        pivot_root(".", ".").at(step)?;
        chdir("/").at(step)
    }

    fn add_devices(&self, devices: Vec<OwnedFd>, grants: &Handles) -> Result<(), Failure> {
        let step = "make /dev";
        let all = DEVICES.map(|name| Path::new("/dev").join(name));
        let links = DEVICE_LINKS.map(|(name, text)| (Path::new("/dev").join(name), text));
        let mut folders = self.folders();
        for (path, device) in all.iter().zip(devices) {
            folders.mount_file(&device, path).at(step)?;
        }
        for (path, text) in &links {
            folders.link(Path::new(text), path).at(step)?;
        }
        grants.devices(folders.folder(Path::new("/dev")).at(step)?)?;
        folders.folder(Path::new("/proc")).at("make /proc")?;
        Ok(())
    }

    pub fn add_scratch(&self, view: &View, grants: &Handles) -> Result<(), Failure> {
        let mut folders = self.folders();
        for Scratch { target, bytes } in &view.scratch {
            let step = format!("make {}", target.display());
            let memory = mount_memory(&format!("mode=1777,size={bytes}")).at(&step)?;
            folders.mount(&memory, target).at(&step)?;
            grants.scratch(memory.as_fd())?;
        }
        timeline::mark("/dev");
        Ok(())
    }

    /// Trees in which nothing is hidden come first, unless they lie in one of the others: meanwhile init makes masks, and `masked`
    /// waits for that, when it has done with these what it can.
    pub fn add_trees(
        &self,
        view: &View,
        Mounts { trees, written, ready, layers }: Mounts,
        mut workshop: Option<Workshop>,
        masked: impl FnOnce(&Added) -> Result<Option<Errno>, Failure>,
        grants: &Handles,
    ) -> Result<Added, Failure> {
        let mut written = written.into_iter();
        let trees = view.trees.iter().enumerate().zip(trees);
        let (later, sooner): (Vec<_>, Vec<_>) =
            trees.partition(|((_, tree), _)| is_later(view, tree));
        let mut adding = Adding::new(view, layers, self.folders(), grants);
        for (part, mount) in view.ready.iter().zip(&ready) {
            if let ReadyPart::Settings { folder, .. } = &part.part {
                adding.mount_settings(folder, mount)?;
            }
        }
        for ((_, tree), mount) in sooner {
            adding.mount(tree, &mount)?;
            // Here nothing can be missing: what is written to directly is covered.
            if let Some(workshop) = &workshop {
                workshop.cover_written(tree, &mount, self)?;
            }
            adding.grant(tree, mount)?;
        }
        timeline::mark("trees of the view");
        let refused = masked(&adding.added)?;
        if let Some(workshop) = &mut workshop {
            workshop.refused = refused;
        }
        timeline::skip();
        for ((number, tree), mount) in later {
            adding.mount(tree, &mount)?;
            let layer = if matches!(tree.access, Access::Layer(_)) { written.next() } else { None };
            let mask = masks::ready(view, tree).and_then(|place| ready.get(place));
            let laid = Laid { layer, mask };
            let (over, missing) = match &workshop {
                Some(workshop) => workshop.finish(tree, &mount, laid, number, self)?,
                None => (None, None),
            };
            adding.added.missing.extend(missing);
            let seen = over.map_or(Ok(mount), |over| adding.mount_over(tree, over))?;
            adding.grant(tree, seen)?;
        }
        timeline::mark("overlays of the view");
        // Once is enough.
        adding.added.missing.truncate(1);
        Ok(adding.added)
    }
}

/// Whether a tree has something laid over it, or lies in one that has.
pub fn is_later(view: &View, tree: &Tree) -> bool {
    let mut above = view.trees.iter().filter(|above| has_overlay(above));
    above.any(|above| tree.target.starts_with(&above.target))
}

/// Takes the old root away, for every process here: it lies on top of the new one, which the caller has as its root.
pub fn let_go() -> Result<(), Failure> {
    let step = "let go of the host's root";
    chdir("/").at(step)?;
    unmount(".", UnmountFlags::DETACH).at(step)
}

/// Whether something is laid over a tree of the view itself.
fn has_overlay(tree: &Tree) -> bool {
    is_masked(tree) || matches!(tree.access, Access::Layer(_))
}

/// The whole of a file, in the kernel.
fn copy(from: &std::fs::File, to: &std::fs::File) -> io::Result<()> {
    const PIECE: usize = 1 << 20;
    // It stops before that at the end only.
    while rustix::fs::sendfile(to, from, None, PIECE)? == PIECE {}
    Ok(())
}

/// Takes hold of every tree, as the caller could.
pub fn take(view: &View) -> Result<Vec<OwnedFd>, Failure> {
    let take = |source: Source<'_>| {
        detached(&source).at(&format!("take {} into the jail", source.path.display()))
    };
    sources(view).map(take).collect()
}

/// Of the caller's process namespace, attached nowhere yet.
pub fn new_processes() -> Result<OwnedFd, Errno> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn take_devices() -> Result<Vec<OwnedFd>, Failure> {
    DEVICES
        .iter()
        .map(|name| {
            clone(CWD, &Path::new("/dev").join(name), false).at("take the devices into the jail")
        })
        .collect()
}

pub fn clone(at: impl AsFd, path: &Path, deep: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    if deep {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    open_tree(at, path, flags)
}

pub fn attach(mount: &OwnedFd, at: impl AsFd, path: &Path) -> Result<(), Errno> {
    move_mount(mount, "", at, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// A file system in memory, not attached to anything yet.
pub fn mount_memory(options: &str) -> Result<OwnedFd, Errno> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for option in options.split(',') {
        if let Some((key, value)) = option.split_once('=') {
            fsconfig_set_string(&context, key, value)?;
        }
    }
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// The path relative to the root it lies in.
pub fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

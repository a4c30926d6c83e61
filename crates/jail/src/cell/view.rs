//! The file system of a jail, built from nothing beside the old one, then entered.
//!
//! Trees of the host are taken hold of before the first thing is covered, so that it does not matter what the
//! covering hides. The mounts are made through descriptors: no path is looked up twice.
#![expect(clippy::disallowed_methods, reason = "the view is made of the host itself")]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, statat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use super::masks::is_masked;
use super::outside::{Source, detached, sources};
use super::workshop::Workshop;
use crate::ladder::{Missing, Wall};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, Scratch, Tree, View};
use crate::system::mount::{NO_DEVICES, NO_SET_USER, READ_ONLY, set_flags, set_own_flags};
use crate::timeline;

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
/// Files of /proc that tell of the host and that nobody needs.
const COVERED: [&str; 8] =
    ["cmdline", "modules", "partitions", "diskstats", "kcore", "keys", "key-users", "locks"];
/// Files of /proc by which programs find out what machine they are on, for a jail that can have no /proc.
const FACTS: [&str; 5] = ["cpuinfo", "meminfo", "stat", "filesystems", "version"];

/// Names in /proc, and what is put over each.
pub type Covers = Vec<(&'static str, OwnedFd)>;

/// A root, mounted at [`PLACE`].
pub struct Root {
    pub directory: OwnedFd,
}

impl Root {
    /// With what every jail has, and what lies on it afterwards to be added.
    pub fn begin() -> Result<Self, Failure> {
        let devices = take_devices()?;
        let directory =
            mount_memory("mode=0755,size=16m,nr_inodes=16k").at("mount the jail's root")?;
        attach(&directory, CWD, Path::new(PLACE)).at("mount the jail's root")?;
        let root = Root { directory };
        timeline::mark("root of the view");
        root.add_devices(devices)?;
        root.directory(Path::new("/proc")).at("make /proc")?;
        timeline::mark("/dev");
        Ok(root)
    }

    /// What exists only inside.
    pub fn add_own(&self, view: &View) -> Result<(), Failure> {
        let mut parents = Parents { root: self, last: None };
        for link in &view.links {
            let step = || format!("make the link {}", link.target.display());
            let made = parents.of(&link.target);
            let made = made.and_then(|(parent, name)| symlinkat(&link.text, parent, name));
            made.map_err(|error| Failure::new(step(), error))?;
        }
        for file in &view.files {
            let step = || format!("make the file {}", file.target.display());
            let made = parents.make(&file.target).map_err(io::Error::from);
            let made = made.and_then(|mut made| io::Write::write_all(&mut made, &file.content));
            made.map_err(|error| Failure::new(step(), error))?;
        }
        for path in &view.copies {
            let step = || format!("copy the file {}", path.display());
            // What the person inside may not read is not for it.
            let Ok(from) = std::fs::File::open(path) else { continue };
            let made = parents.make(path).map_err(io::Error::from);
            let made = made.and_then(|to| copy(&from, &to));
            made.map_err(|error| Failure::new(step(), error))?;
        }
        Ok(())
    }

    /// What is put over files of /proc that tell of the host: one for each that is there. One too many would have to be
    /// put away again, for which the kernel waits until nobody can be looking at it.
    pub fn covers(&self, processes: &Result<OwnedFd, Errno>) -> Result<Covers, Failure> {
        let Ok(processes) = processes else { return Ok(Covers::new()) };
        let is_there = |name: &&str| {
            let found = statat(processes, *name, AtFlags::SYMLINK_NOFOLLOW);
            found.err() != Some(Errno::NOENT)
        };
        let cover =
            |name| clone(&self.directory, Path::new("dev/null"), false).map(|cover| (name, cover));
        let all = COVERED.into_iter().filter(is_there).map(cover);
        all.collect::<Result<_, _>>().at("cover the host's facts in /proc")
    }

    /// A /proc of the caller's process namespace, with what tells of the host covered. Where the host's own has something
    /// mounted over it, as containers do, the kernel refuses to show one without: then there are copies of a few files.
    pub fn add_processes(
        &self,
        processes: Result<OwnedFd, Errno>,
        covers: Covers,
    ) -> Result<Option<Missing>, Failure> {
        let step = "mount /proc";
        match processes {
            Ok(processes) => self.attach_processes(&processes, covers).map(|()| None),
            Err(refused @ (Errno::PERM | Errno::ACCESS)) => {
                self.copy_facts().at("copy files of /proc")?;
                Ok(Some(Missing::new(Wall::Processes, Failure::new(step, refused))))
            }
            Err(error) => Err(Failure::new(step, error)),
        }
    }

    fn copy_facts(&self) -> io::Result<()> {
        for name in FACTS {
            let path = Path::new("/proc").join(name);
            let Ok(content) = std::fs::read(&path) else { continue };
            let (parent, name) = self.parent(&path)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let made = openat(&parent, name, flags, Mode::from_raw_mode(0o444))?;
            io::Write::write_all(&mut std::fs::File::from(made), &content)?;
        }
        Ok(())
    }

    fn attach_processes(&self, processes: &OwnedFd, covers: Covers) -> Result<(), Failure> {
        attach(processes, &self.directory, Path::new("proc")).at("mount /proc")?;
        let step = "cover the host's facts in /proc";
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

    /// Makes it the root of every process here, and lets go of the old one.
    pub fn enter(self) -> Result<(), Failure> {
        let step = "enter the jail's root";
        set_own_flags(self.directory.as_fd(), READ_ONLY | NO_SET_USER | NO_DEVICES).at(step)?;
        fchdir(&self.directory).at(step)?;
        // The old root goes on top of the new one, and from there away.
        pivot_root(".", ".").at(step)?;
        unmount(".", UnmountFlags::DETACH).at("let go of the host's root")?;
        chdir("/").at(step)
    }

    fn add_devices(&self, devices: Vec<OwnedFd>) -> Result<(), Failure> {
        let step = "make /dev";
        let folder = self.directory(Path::new("/dev")).at(step)?;
        for (name, device) in DEVICES.into_iter().zip(devices) {
            make_file(folder.as_fd(), Path::new(name)).at(step)?;
            attach(&device, &folder, Path::new(name)).at(step)?;
        }
        for (name, text) in DEVICE_LINKS {
            symlinkat(text, &folder, name).at(step)?;
        }
        Ok(())
    }

    pub fn add_scratch(&self, view: &View) -> Result<(), Failure> {
        for Scratch { target, bytes } in &view.scratch {
            let step = format!("make {}", target.display());
            let memory = mount_memory(&format!("mode=1777,size={bytes}")).at(&step)?;
            self.directory(target).at(&step)?;
            attach(&memory, &self.directory, inside(target)).at(&step)?;
        }
        timeline::mark("/dev");
        Ok(())
    }

    /// What is missing is told. With it comes where layers for requests are found.
    ///
    /// Trees in which nothing is hidden come first, unless they lie in one of the others: meanwhile masks are made, and `masked`
    /// waits for them.
    pub fn add_trees(
        &self,
        view: &View,
        mut mounts: Vec<OwnedFd>,
        mut workshop: Option<Workshop<'_>>,
        masked: impl FnOnce() -> Result<Option<Errno>, Failure>,
    ) -> Result<(Vec<Missing>, Option<OwnedFd>), Failure> {
        let folders = if view.layers.is_some() { mounts.pop() } else { None };
        let mut mounts = mounts.into_iter();
        let trees = view.trees.iter().enumerate().zip(mounts.by_ref()).collect::<Vec<_>>();
        let is_later = |tree: &Tree| {
            let mut above = view.trees.iter().filter(|above| has_overlay(above));
            above.any(|above| tree.target.starts_with(&above.target))
        };
        let (later, sooner): (Vec<_>, Vec<_>) =
            trees.into_iter().partition(|((_, tree), _)| is_later(tree));
        for ((number, tree), mount) in sooner {
            self.add_tree(tree, &mount, view, folders.as_ref())?;
            // Here nothing can be missing: what is written to directly is covered.
            if let Some(workshop) = &workshop {
                workshop.finish(tree, &mount, None, number)?;
            }
        }
        timeline::mark("trees of the view");
        if let Some(workshop) = &mut workshop {
            workshop.refused = masked()?;
        }
        timeline::skip();
        let mut missing = Vec::new();
        for ((number, tree), mount) in later {
            self.add_tree(tree, &mount, view, folders.as_ref())?;
            let layer = if matches!(tree.access, Access::Layer(_)) { mounts.next() } else { None };
            if let Some(workshop) = &workshop {
                missing.extend(workshop.finish(tree, &mount, layer, number)?);
            }
        }
        timeline::mark("overlays of the view");
        // Once is enough.
        missing.truncate(1);
        Ok((missing, folders))
    }

    /// Where a tree is going to cover it.
    fn add_folders(&self, target: &Path, folders: &OwnedFd) -> Result<(), Failure> {
        let step = "make layers possible";
        set_flags(folders.as_fd(), NO_SET_USER | NO_DEVICES).at(step)?;
        self.directory(target).at(step)?;
        attach(folders, &self.directory, inside(target)).at(step)
    }

    fn add_tree(
        &self,
        tree: &Tree,
        mount: &OwnedFd,
        view: &View,
        folders: Option<&OwnedFd>,
    ) -> Result<(), Failure> {
        let layers = view.layers.as_ref().filter(|layers| layers.target == tree.target);
        if let (Some(layers), Some(folders)) = (layers, folders) {
            self.add_folders(&layers.target, folders)?;
        }
        let step = format!("mount {}", tree.target.display());
        let read_only = if tree.access == Access::Write { 0 } else { READ_ONLY };
        set_flags(mount.as_fd(), read_only | NO_SET_USER | NO_DEVICES).at(&step)?;
        let found = statat(mount, "", AtFlags::EMPTY_PATH).at(&step)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            self.directory(&tree.target).at(&step)?;
        } else {
            let (parent, name) = self.parent(&tree.target).at(&step)?;
            make_file(parent.as_fd(), name).at(&step)?;
        }
        attach(mount, &self.directory, inside(&tree.target)).at(&step)
    }

    /// Opens a directory of the new root, and makes it and those above it where they are missing.
    pub fn directory(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(&self.directory, ".", flags, Mode::empty())?;
        for component in inside(path).components() {
            let Component::Normal(name) = component else { return Err(Errno::INVAL) };
            match mkdirat(&directory, name, Mode::from_raw_mode(0o755)) {
                // In a tree that is read-only it is there or it is not.
                Ok(()) | Err(Errno::EXIST | Errno::ROFS | Errno::ACCESS) => {}
                Err(error) => return Err(error),
            }
            directory = openat(&directory, name, flags, Mode::empty())?;
        }
        Ok(directory)
    }

    fn parent<'a>(&self, path: &'a Path) -> Result<(OwnedFd, &'a Path), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().ok_or(Errno::INVAL)?;
        Ok((self.directory(parent)?, Path::new(name)))
    }
}

/// Whether something is laid over a tree of the view itself.
fn has_overlay(tree: &Tree) -> bool {
    is_masked(tree) || matches!(tree.access, Access::Layer(_))
}

/// Directories of the root in which something is made: many things lie in one, one after the other.
struct Parents<'a> {
    root: &'a Root,
    last: Option<(&'a Path, OwnedFd)>,
}

impl<'a> Parents<'a> {
    fn of(&mut self, path: &'a Path) -> Result<(BorrowedFd<'_>, &'a Path), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().ok_or(Errno::INVAL)?;
        let folder = match self.last.take() {
            Some((known, folder)) if known == parent => folder,
            _ => self.root.directory(parent)?,
        };
        let (_, folder) = &*self.last.insert((parent, folder));
        Ok((folder.as_fd(), Path::new(name)))
    }

    /// A new file.
    fn make(&mut self, path: &'a Path) -> Result<std::fs::File, Errno> {
        let (parent, name) = self.of(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(openat(parent, name, flags, Mode::from_raw_mode(0o644))?.into())
    }
}

/// The whole of a file, in the kernel.
fn copy(from: &std::fs::File, to: &std::fs::File) -> io::Result<()> {
    const PIECE: usize = 1 << 20;
    while rustix::fs::sendfile(to, from, None, PIECE)? > 0 {}
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

fn make_file(parent: BorrowedFd<'_>, name: &Path) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match openat(parent, name, flags, Mode::from_raw_mode(0o644)) {
        Ok(_) | Err(Errno::ROFS) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The path relative to the root it lies in.
pub fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

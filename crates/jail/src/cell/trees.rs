//! Trees of the host on their way into the view: mounted, and granted as they are seen there.
#![expect(clippy::disallowed_methods, reason = "the view is made of the host itself")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, statat};

use super::folders::Folders;
use crate::ladder::Missing;
use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, Tree, View};
use crate::system::mount::{NO_DEVICES, NO_SET_USER, READ_ONLY, set_flags};
use crate::walls::landlock::Handles;

/// Handles on all sources of a view, in their order.
pub struct Mounts {
    pub trees: Vec<OwnedFd>,
    /// For each tree with a layer to write to.
    pub written: Vec<OwnedFd>,
    pub ready: Vec<OwnedFd>,
    /// Where layers of requests are found.
    pub layers: Option<OwnedFd>,
}

impl Mounts {
    /// In the order of [`sources`](super::outside::sources).
    pub fn of(view: &View, mut trees: Vec<OwnedFd>) -> Self {
        let layers = if view.layers.is_some() { trees.pop() } else { None };
        let ready = trees.split_off(trees.len().saturating_sub(view.ready.len()));
        let written = trees.split_off(trees.len().min(view.trees.len()));
        Mounts { trees, written, ready, layers }
    }
}

/// What came of adding trees.
pub struct Added {
    pub missing: Vec<Missing>,
    /// Where layers for requests are found.
    pub layers: Option<OwnedFd>,
    /// The tree that the first layer is going to cover: what is seen there is not granted yet.
    pub covered: Option<OwnedFd>,
}

/// Adds one after the other.
pub struct Adding<'a> {
    view: &'a View,
    folders: Folders<'a>,
    grants: &'a Handles,
    pub added: Added,
}

impl<'a> Adding<'a> {
    pub fn new(
        view: &'a View,
        layers: Option<OwnedFd>,
        folders: Folders<'a>,
        grants: &'a Handles,
    ) -> Self {
        let added = Added { missing: Vec::new(), layers, covered: None };
        Adding { view, folders, grants, added }
    }

    /// With where layers for requests are, if they are laid over this tree: behind it, where it covers them.
    pub fn mount(&mut self, tree: &'a Tree, mount: &OwnedFd) -> Result<(), Failure> {
        let is_layered = self.view.layers.as_ref().is_some_and(|it| it.target == tree.target);
        if let Some(layers) = self.added.layers.as_ref().filter(|_| is_layered) {
            let step = "make layers possible";
            set_flags(layers.as_fd(), NO_SET_USER | NO_DEVICES).at(step)?;
            self.folders.mount(layers, &tree.target).at(step)?;
        }
        self.attach(tree, mount)
            .map_err(|error| Failure::new(format!("mount {}", tree.target.display()), error))
    }

    /// Settings that are ready, at their place in the view.
    pub fn mount_settings(&mut self, target: &'a Path, mount: &OwnedFd) -> Result<(), Failure> {
        let step = || format!("mount {}", target.display());
        let mounted = set_flags(mount.as_fd(), READ_ONLY | NO_SET_USER | NO_DEVICES)
            .and_then(|()| Ok(self.folders.mount(mount, target)?));
        mounted.map_err(|error| Failure::new(step(), error))
    }

    fn attach(&mut self, tree: &'a Tree, mount: &OwnedFd) -> io::Result<()> {
        let read_only = if tree.access == Access::Write { 0 } else { READ_ONLY };
        set_flags(mount.as_fd(), read_only | NO_SET_USER | NO_DEVICES)?;
        let found = statat(mount, "", AtFlags::EMPTY_PATH)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            self.folders.mount(mount, &tree.target)?;
        } else {
            self.folders.mount_file(mount, &tree.target)?;
        }
        Ok(())
    }

    /// Mounts over a tree what is seen in its place.
    pub fn mount_over(&mut self, tree: &'a Tree, over: OwnedFd) -> Result<OwnedFd, Failure> {
        let step = || format!("lay over {}", tree.target.display());
        let mounted = self.folders.mount_over(&over, &tree.target);
        mounted.map_err(|error| Failure::new(step(), error))?;
        Ok(over)
    }

    /// Where a layer is going to lie, that will be granted, and never what it covers.
    pub fn grant(&mut self, tree: &Tree, seen: OwnedFd) -> Result<(), Failure> {
        let first = self.view.layers.as_ref().filter(|layers| layers.first.is_some());
        if first.is_some_and(|layers| layers.target == tree.target) {
            self.added.covered = Some(seen);
            return Ok(());
        }
        self.grants.tree(&tree.access, seen.as_fd())
    }
}

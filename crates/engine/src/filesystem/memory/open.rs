//! Opening a file of a tree in memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{Access, OpenFile, OpenOptions};
use rustix::io::Errno;

use super::content::{Blob, Content};
use super::file::{DirectoryFile, MemoryFile, Undo};
use super::node::{Body, Node};
use super::tree::Tree;
use crate::filesystem::device::DeviceFile;
use crate::filesystem::walk::{self, Arrival, Ending, Walked};

pub(super) struct Opening<'a> {
    pub tree: &'a Arc<Tree>,
    pub path: &'a BStr,
    pub options: OpenOptions,
}

impl Opening<'_> {
    pub(super) fn open(&self) -> io::Result<Arc<dyn OpenFile>> {
        let options = self.options;
        let _alone = self.tree.structure.write().unwrap_or_else(PoisonError::into_inner);
        if options.create && self.path.ends_with(b"/") {
            walk::walk(&**self.tree, self.path, Ending::Keep)?;
            return Err(errno::error(errno::EISDIR));
        }
        let keep = options.no_follow || (options.create && options.exclusive);
        let ending = if keep { Ending::KeepLink } else { Ending::Follow };
        let arrival = match walk::walk(&**self.tree, self.path, ending)? {
            Walked::Device(device) => return Ok(Arc::new(DeviceFile::open(device, options)?)),
            Walked::At(arrival) => arrival,
        };
        match self.tree.arrive(&arrival)? {
            Some(_) if options.create && options.exclusive => Err(errno::error(errno::EEXIST)),
            Some(node) => open_node(self, node, None),
            None if options.create => self.create(arrival),
            None => Err(crate::filesystem::missing()),
        }
    }

    pub(super) fn writes(&self) -> bool {
        self.options.write || self.options.append
    }

    fn create(&self, arrival: Arrival<Arc<Node>>) -> io::Result<Arc<dyn OpenFile>> {
        let directory = arrival.place()?;
        let name = arrival.last.ok_or_else(crate::filesystem::missing)?;
        self.tree.check(&directory, Access::Write)?;
        let body = Body::File(Mutex::new(Content::Here(Blob::new(&self.tree.budget))));
        let node = self.tree.make(body, self.options.mode, 1);
        self.tree.insert(&directory, name, &node)?;
        open_node(self, node, Some(self.path.to_owned()))
    }
}

/// `created` is the path of a file that this opening has made: it may be used whatever its mode is.
pub(super) fn open_node(
    opening: &Opening<'_>,
    node: Arc<Node>,
    created: Option<BString>,
) -> io::Result<Arc<dyn OpenFile>> {
    let (tree, options) = (opening.tree, opening.options);
    if created.is_none() && options.read {
        tree.check(&node, Access::Read)?;
    }
    match &node.body {
        Body::Symlink(_) => Err(errno::error(errno::ELOOP)),
        Body::Directory(_) if opening.writes() => Err(errno::error(errno::EISDIR)),
        Body::Directory(_) => Ok(Arc::new(DirectoryFile::new(tree, node))),
        // What is written into a FIFO below would leave the overlay.
        Body::Other(_) if opening.writes() => Err(Errno::NXIO.into()),
        Body::Other(_) => tree.open_lower(&node),
        Body::File(_) => {
            if created.is_none() && opening.writes() {
                tree.check(&node, Access::Write)?;
            }
            let undo = prepare(opening, &node, created)?;
            Ok(Arc::new(MemoryFile::new(tree, node, options, undo)))
        }
    }
}

/// Truncates if that is wanted, and keeps what a failed write has to bring back.
fn prepare(opening: &Opening<'_>, node: &Node, created: Option<BString>) -> io::Result<Undo> {
    if let Some(path) = created {
        return Ok(Undo::Created(path));
    }
    if !opening.writes() {
        return Ok(Undo::Nothing);
    }
    if !opening.options.truncate {
        return Ok(Undo::Length(opening.tree.metadata(node)?.size));
    }
    let empty = Content::Here(Blob::new(&opening.tree.budget));
    let old = std::mem::replace(&mut *node.content()?, empty);
    opening.tree.touch(node)?;
    Ok(Undo::Content(old))
}

impl Undo {
    /// Removes a file that this opening had made, if it is still there under its name.
    pub(super) fn remove_created(tree: &Tree, node: &Arc<Node>, path: &BString) {
        let _alone = tree.structure.write().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Walked::At(arrival)) = walk::walk(tree, path.as_bstr(), Ending::Follow)
            && let (Ok(directory), Some(name)) = (arrival.place(), arrival.last)
            && let Ok(Some(found)) = tree.lookup(&directory, name.as_bstr())
            && Arc::ptr_eq(&found, node)
        {
            let _nobody_to_tell = tree.detach(&directory, &name);
        }
    }
}

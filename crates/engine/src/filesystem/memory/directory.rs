//! A directory handle on a tree in memory.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{
    Access, Directory, DirectoryEntry, Follow, Metadata, OpenFile, OpenOptions,
};

use super::node::Node;
use super::open::{Opening, open_node};
use super::tree::{Object, Tree};
use crate::filesystem::device::DeviceFile;
use crate::filesystem::path;

pub(super) struct MemoryDirectory {
    tree: Arc<Tree>,
    node: Arc<Node>,
    /// As the script would name it: only symbolic links are resolved by it.
    path: BString,
}

impl MemoryDirectory {
    pub(super) fn open(tree: &Arc<Tree>, node: Arc<Node>, path: BString) -> io::Result<Self> {
        if !node.is_directory() {
            return Err(errno::error(errno::ENOTDIR));
        }
        tree.check(&node, Access::Read)?;
        Ok(MemoryDirectory { tree: Arc::clone(tree), node, path })
    }

    fn find(&self, name: &BStr) -> io::Result<Arc<Node>> {
        if !path::is_single_name(name) || path::is_hidden(name) {
            return Err(crate::filesystem::missing());
        }
        self.tree.check(&self.node, Access::Execute)?;
        if name == "." {
            return Ok(Arc::clone(&self.node));
        }
        self.tree.lookup(&self.node, name)?.ok_or_else(crate::filesystem::missing)
    }

    /// Through a symbolic link if it is one and that is wanted.
    fn object(&self, name: &BStr, follow: Follow) -> io::Result<Object> {
        let node = self.find(name)?;
        if follow == Follow::Yes && node.link().is_ok() {
            return self.tree.object(path::child(self.path.as_bstr(), name).as_bstr(), follow);
        }
        Ok(Object::Node(node))
    }
}

impl Directory for MemoryDirectory {
    fn entries(&self) -> io::Result<Vec<DirectoryEntry>> {
        self.tree.entries(&self.node)
    }

    fn metadata(&self, name: &BStr, follow: Follow) -> io::Result<Metadata> {
        match self.object(name, follow)? {
            Object::Node(node) => self.tree.metadata(&node),
            Object::Device(device) => Ok(device.metadata()),
        }
    }

    fn own_metadata(&self) -> io::Result<Metadata> {
        self.tree.metadata(&self.node)
    }

    fn open_file(&self, name: &BStr, follow: Follow) -> io::Result<Arc<dyn OpenFile>> {
        let options = OpenOptions::reading();
        match self.object(name, follow)? {
            Object::Node(node) if node.link().is_ok() => Err(errno::error(errno::ELOOP)),
            Object::Node(node) => {
                let path = path::child(self.path.as_bstr(), name);
                let opening = Opening { tree: &self.tree, path: path.as_bstr(), options };
                open_node(&opening, node, None)
            }
            Object::Device(device) => Ok(Arc::new(DeviceFile::open(device, options)?)),
        }
    }

    fn open_directory(&self, name: &BStr, follow: Follow) -> io::Result<Arc<dyn Directory>> {
        match self.object(name, follow)? {
            Object::Node(node) => {
                let path = path::child(self.path.as_bstr(), name);
                Ok(Arc::new(MemoryDirectory::open(&self.tree, node, path)?))
            }
            Object::Device(_) => Err(errno::error(errno::ENOTDIR)),
        }
    }

    fn read_link(&self, name: &BStr) -> io::Result<BString> {
        self.find(name)?.link().map(ToOwned::to_owned)
    }
}

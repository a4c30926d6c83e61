//! A tree in memory: for tests, for library users without a directory, and as the upper half of an overlay.
//!
//! It answers as the real directory does, error for error; the tests run one battery against both. What it does not
//! have: FIFOs (`EOPNOTSUPP`) and descriptors for programs. How much it holds is limited; beyond that a write fails
//! with `ENOSPC` and the old content stays.

mod change;
mod content;
mod directory;
mod file;
mod lower;
mod node;
mod open;
mod tree;

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::control::Control;
use exacta_shell::errno;
use exacta_shell::filesystem::{
    Access, Directory, FileSystem, Follow, MayMiss, Metadata, OpenFile, OpenOptions,
};

use self::directory::MemoryDirectory;
use self::node::Node;
use self::open::Opening;
use self::tree::{Object, Tree};
use super::device::Device;
use super::walk;

/// Enough for any script's files, too little to take the machine down.
const CAPACITY: u64 = 1 << 30;

/// See the module.
pub struct Memory {
    tree: Arc<Tree>,
}

impl Memory {
    /// An empty tree with its root at `root`, an absolute path.
    pub fn new(root: impl Into<BString>) -> Self {
        Self::with_capacity(root, CAPACITY)
    }

    pub fn with_capacity(root: impl Into<BString>, bytes: u64) -> Self {
        Memory { tree: Arc::new(Tree::empty(root.into(), bytes)) }
    }

    pub(super) fn from_lower(lower: Arc<dyn FileSystem>) -> io::Result<Self> {
        Ok(Memory { tree: Arc::new(Tree::over(lower, CAPACITY)?) })
    }

    fn object(&self, path: &BStr, follow: Follow) -> io::Result<Option<Arc<Node>>> {
        match self.tree.object(path, follow)? {
            Object::Node(node) => Ok(Some(node)),
            Object::Device(_) => Ok(None),
        }
    }

    /// What a path names, to be changed in place. Devices are not ours to change.
    fn changeable(&self, path: &BStr, follow: Follow) -> io::Result<Arc<Node>> {
        self.object(path, follow)?.ok_or_else(|| errno::error(errno::EPERM))
    }
}

impl FileSystem for Memory {
    fn open(&self, path: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>> {
        Opening { tree: &self.tree, path, options }.open()
    }

    fn open_directory(&self, path: &BStr, follow: Follow) -> io::Result<Arc<dyn Directory>> {
        let not_a_directory = || errno::error(errno::ENOTDIR);
        let node = self.object(path, follow)?.ok_or_else(not_a_directory)?;
        Ok(Arc::new(MemoryDirectory::open(&self.tree, node, path.to_owned())?))
    }

    fn metadata(&self, path: &BStr, follow: Follow) -> io::Result<Metadata> {
        match self.tree.object(path, follow)? {
            Object::Node(node) => self.tree.metadata(&node),
            Object::Device(device) => Ok(device.metadata()),
        }
    }

    fn read_link(&self, path: &BStr) -> io::Result<BString> {
        match self.object(path, Follow::No)? {
            Some(node) => node.link().map(ToOwned::to_owned),
            None => Err(errno::error(errno::EINVAL)),
        }
    }

    fn canonicalize(&self, path: &BStr, missing: MayMiss) -> io::Result<BString> {
        walk::canonicalize(&*self.tree, path, missing)
    }

    fn access(&self, path: &BStr, wanted: Access) -> io::Result<()> {
        match self.tree.object(path, Follow::Yes)? {
            Object::Node(node) => self.tree.check(&node, wanted),
            Object::Device(_) => Device::access(wanted),
        }
    }

    fn create_directory(&self, path: &BStr, mode: u32) -> io::Result<()> {
        self.tree.create_directory(path, mode)
    }

    fn create_symlink(&self, target: &BStr, path: &BStr) -> io::Result<()> {
        self.tree.create_symlink(target, path)
    }

    fn create_hard_link(&self, existing: &BStr, path: &BStr) -> io::Result<()> {
        self.tree.create_hard_link(existing, path)
    }

    fn create_fifo(&self, path: &BStr, _mode: u32) -> io::Result<()> {
        self.tree.refuse_fifo(path)
    }

    fn remove_directory(&self, path: &BStr) -> io::Result<()> {
        self.tree.remove_directory(path)
    }

    fn trash(&self, path: &BStr) -> io::Result<()> {
        self.tree.trash(path)
    }

    fn rename(&self, from: &BStr, to: &BStr, replace: bool) -> io::Result<()> {
        self.tree.rename(from, to, replace)
    }

    fn set_mode(&self, path: &BStr, mode: u32, follow: Follow) -> io::Result<()> {
        let node = self.changeable(path, follow)?;
        if node.link().is_ok() {
            return Err(errno::error(errno::EOPNOTSUPP));
        }
        self.tree.change(&node, |attributes| attributes.permissions = mode & 0o7777)
    }

    fn set_owner(
        &self,
        path: &BStr,
        user: Option<u32>,
        group: Option<u32>,
        follow: Follow,
    ) -> io::Result<()> {
        let node = self.changeable(path, follow)?;
        self.tree.change(&node, |attributes| {
            attributes.user = user.unwrap_or(attributes.user);
            attributes.group = group.unwrap_or(attributes.group);
        })
    }

    fn set_times(
        &self,
        path: &BStr,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
        follow: Follow,
    ) -> io::Result<()> {
        // A device of everybody's may be touched, and nothing happens.
        let Some(node) = self.object(path, follow)? else { return Ok(()) };
        self.tree.change(&node, |attributes| {
            attributes.accessed = accessed.unwrap_or(attributes.accessed);
            attributes.modified = modified.unwrap_or(attributes.modified);
        })
    }

    fn root(&self) -> &BStr {
        self.tree.root.as_bstr()
    }

    fn begin_request(&self, control: &Arc<Control>) {
        if let Some(lower) = &self.tree.lower {
            lower.begin_request(control);
        }
    }
}

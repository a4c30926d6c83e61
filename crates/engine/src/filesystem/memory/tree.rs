//! Finding and describing nodes.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{Access, DirectoryEntry, FileKind, FileSystem, Follow, Metadata};

use super::content::{Budget, Content};
use super::node::{Attributes, Body, Node, Slot};
use crate::filesystem::device::Device;
use crate::filesystem::mounts::TEMPORARY;
use crate::filesystem::points::Points;
use crate::filesystem::walk::{self, Arrival, Ending, Ground, Step, Walked};

/// Numbers of new nodes start here, out of reach of any real file system's.
const FIRST_INODE: u64 = 1 << 62;

/// The device of a tree that has no lower one.
const DEVICE: u64 = 0xe0_00;

const DIRECTORY_SIZE: u64 = 4096;

pub(super) struct Tree {
    pub root: BString,
    points: Points,
    /// The root of each mount, in the order of `points`.
    bases: Vec<Arc<Node>>,
    pub lower: Option<Arc<dyn FileSystem>>,
    /// Files of the lower tree with several names: all of them are one node.
    pub linked: Mutex<HashMap<(u64, u64), Arc<Node>>>,
    pub budget: Arc<Budget>,
    /// Held for writing while names change, so that a rename is one step for everybody.
    pub structure: RwLock<()>,
    device: u64,
    next_inode: AtomicU64,
    pub user: u32,
    pub group: u32,
}

pub(super) enum Object {
    Node(Arc<Node>),
    Device(Device),
}

/// The name a change is about: a directory, and one name in it.
pub(super) struct Place {
    pub directory: Arc<Node>,
    pub name: BString,
    pub slash: bool,
}

pub(super) struct Kept {
    directory: Arc<Node>,
    name: Option<BString>,
    slash: bool,
}

impl Kept {
    pub(super) fn named(self, otherwise: i32) -> io::Result<Place> {
        let name = self.name.ok_or_else(|| errno::error(otherwise))?;
        if name.len() > 255 {
            return Err(errno::error(errno::ENAMETOOLONG));
        }
        Ok(Place { directory: self.directory, name, slash: self.slash })
    }
}

impl Tree {
    pub(super) fn empty(root: BString, capacity: u64) -> Self {
        Self::build(root, None, DEVICE, capacity)
    }

    pub(super) fn over(lower: Arc<dyn FileSystem>, capacity: u64) -> io::Result<Self> {
        let root = lower.root().to_owned();
        let device = lower.metadata(root.as_bstr(), Follow::Yes)?.device;
        let mut tree = Self::build(root, Some(lower), device, capacity);
        tree.mount_lower()?;
        Ok(tree)
    }

    fn build(
        root: BString,
        lower: Option<Arc<dyn FileSystem>>,
        device: u64,
        capacity: u64,
    ) -> Self {
        let root = crate::filesystem::path::normalize(BStr::new("/"), &root);
        let granted = root != "/" && root != TEMPORARY;
        let root = if granted { root } else { TEMPORARY.into() };
        let mut tree = Tree {
            points: Points::of(&root, granted),
            root,
            bases: Vec::new(),
            lower,
            linked: Mutex::default(),
            budget: Arc::new(Budget::new(capacity)),
            structure: RwLock::default(),
            device,
            next_inode: AtomicU64::new(FIRST_INODE),
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        };
        for mount in 0..=usize::from(granted) {
            let mode = if tree.points.get(mount) == TEMPORARY { 0o700 } else { 0o755 };
            let base = tree.make(Body::Directory(Mutex::default()), mode, 2);
            tree.bases.push(base);
        }
        tree
    }

    /// Puts the mounts of the lower tree in the place of the empty ones, as far as they exist.
    fn mount_lower(&mut self) -> io::Result<()> {
        for mount in 0..self.bases.len() {
            let point = self.points.get(mount).to_owned();
            if let Some(node) = self.node_of_lower(point)?
                && let Some(base) = self.bases.get_mut(mount)
            {
                *base = node;
            }
        }
        Ok(())
    }

    pub(super) fn make(&self, body: Body, permissions: u32, links: u64) -> Arc<Node> {
        let inode = self.next_inode.fetch_add(1, Ordering::Relaxed);
        let attributes = Attributes::new(permissions & 0o7777, self.user, self.group, links);
        Arc::new(Node::new(self.device, inode, body, attributes))
    }

    pub(super) fn is_project(&self, mount: usize) -> bool {
        self.points.get(mount) == self.root && self.root != TEMPORARY
    }

    pub(super) fn project(&self) -> Option<Arc<Node>> {
        let mount = self.points.position(self.root.as_bstr())?;
        self.bases.get(mount).cloned()
    }

    /// What a path names. `ENOENT` if there is nothing.
    pub(super) fn object(&self, path: &BStr, follow: Follow) -> io::Result<Object> {
        let _still = self.structure.read().unwrap_or_else(PoisonError::into_inner);
        match walk::walk(self, path, Ending::of(follow))? {
            Walked::Device(device) => Ok(Object::Device(device)),
            Walked::At(arrival) => {
                self.arrive(&arrival)?.map(Object::Node).ok_or_else(crate::filesystem::missing)
            }
        }
    }

    /// The node at the end of a walk, if there is one.
    pub(super) fn arrive(&self, arrival: &Arrival<Arc<Node>>) -> io::Result<Option<Arc<Node>>> {
        let place = arrival.place()?;
        match &arrival.last {
            None => Ok(Some(place)),
            Some(name) => self.lookup(&place, name.as_bstr()),
        }
    }

    /// The name to make, or the error for a device and for a path that ends in `.` or `..`.
    pub(super) fn place(&self, path: &BStr, at_device: i32, at_end: i32) -> io::Result<Place> {
        self.keep(path, at_device)?.named(at_end)
    }

    /// As [`Tree::place`], before it is known whether there is a name.
    pub(super) fn keep(&self, path: &BStr, at_device: i32) -> io::Result<Kept> {
        let Walked::At(arrival) = walk::walk(self, path, Ending::Keep)? else {
            return Err(errno::error(at_device));
        };
        let directory = arrival.place()?;
        self.check(&directory, Access::Execute)?;
        Ok(Kept { directory, name: arrival.last, slash: arrival.slash })
    }

    /// One name in one directory; a name of the lower tree becomes a node on first sight.
    pub(super) fn lookup(
        &self,
        directory: &Arc<Node>,
        name: &BStr,
    ) -> io::Result<Option<Arc<Node>>> {
        if name.len() > 255 {
            return Err(errno::error(errno::ENAMETOOLONG));
        }
        let mut listing = directory.listing()?;
        match listing.names.get(name) {
            Some(Slot::Node(node)) => return Ok(Some(Arc::clone(node))),
            Some(Slot::Gone) => return Ok(None),
            None => {}
        }
        let Some(lower) = &directory.lower else { return Ok(None) };
        let path = crate::filesystem::path::child(lower.as_bstr(), name);
        let found = self.node_of_lower(path)?;
        if let Some(node) = &found {
            if let Ok(mut child) = node.listing() {
                child.parent = Arc::downgrade(directory);
            }
            listing.names.insert(name.to_owned(), Slot::Node(Arc::clone(node)));
        }
        Ok(found)
    }

    pub(super) fn entries(&self, directory: &Node) -> io::Result<Vec<DirectoryEntry>> {
        let listing = directory.listing()?;
        let mut entries: Vec<_> = listing
            .names
            .iter()
            .filter_map(|(name, slot)| match slot {
                Slot::Gone => None,
                Slot::Node(node) => Some(DirectoryEntry {
                    name: name.clone(),
                    kind: node.kind(),
                    inode: node.inode,
                }),
            })
            .collect();
        if let (Some(lower), Some(path)) = (&self.lower, &directory.lower) {
            let below = lower.open_directory(path.as_bstr(), Follow::No)?.entries()?;
            entries
                .extend(below.into_iter().filter(|entry| !listing.names.contains_key(&entry.name)));
        }
        Ok(entries)
    }

    pub(super) fn metadata(&self, node: &Node) -> io::Result<Metadata> {
        let below = match (&self.lower, &node.lower) {
            (Some(lower), Some(path)) if !node.is_all_here() => {
                lower.metadata(path.as_bstr(), Follow::No).ok()
            }
            _ => None,
        };
        let attributes = node.attributes().clone();
        let attributes = attributes.or_else(|| below.as_ref().map(Attributes::of));
        let attributes = attributes.ok_or_else(crate::filesystem::missing)?;
        let size = match &node.body {
            Body::File(_) => match &*node.content()? {
                Content::Here(blob) => blob.len(),
                Content::Lower => below.as_ref().map_or(0, |below| below.size),
            },
            Body::Directory(_) => below.as_ref().map_or(DIRECTORY_SIZE, |below| below.size),
            Body::Symlink(text) => text.len() as u64,
            Body::Other(_) => 0,
        };
        Ok(describe(node, &attributes, size))
    }

    /// Changes what stat shows; the change itself counts as one.
    pub(super) fn change(
        &self,
        node: &Node,
        change: impl FnOnce(&mut Attributes),
    ) -> io::Result<()> {
        let mut slot = self.own(node)?;
        if let Some(attributes) = slot.as_mut() {
            change(attributes);
            attributes.changed = SystemTime::now();
        }
        Ok(())
    }

    /// The attributes, taken over from the lower tree if they are still there.
    fn own<'a>(&self, node: &'a Node) -> io::Result<MutexGuard<'a, Option<Attributes>>> {
        let slot = node.attributes();
        if slot.is_some() {
            return Ok(slot);
        }
        drop(slot);
        let attributes = Attributes::of(&self.metadata(node)?);
        let mut slot = node.attributes();
        slot.get_or_insert(attributes);
        Ok(slot)
    }

    /// As access(2), for the user the tree belongs to.
    pub(super) fn check(&self, node: &Node, wanted: Access) -> io::Result<()> {
        if self.user == 0 && (wanted != Access::Execute || node.is_directory()) {
            return Ok(());
        }
        let metadata = self.metadata(node)?;
        let bit = match wanted {
            Access::Read => 4,
            Access::Write => 2,
            Access::Execute => 1,
        };
        let permissions = metadata.permissions;
        let granted = if self.user == 0 {
            permissions | permissions >> 3 | permissions >> 6
        } else if metadata.user == self.user {
            permissions >> 6
        } else if metadata.group == self.group {
            permissions >> 3
        } else {
            permissions
        };
        if granted & bit != 0 { Ok(()) } else { Err(errno::error(errno::EACCES)) }
    }
}

fn describe(node: &Node, attributes: &Attributes, size: u64) -> Metadata {
    Metadata {
        kind: node.kind(),
        permissions: attributes.permissions,
        size,
        links: attributes.links,
        user: attributes.user,
        group: attributes.group,
        device: node.device,
        inode: node.inode,
        blocks: if node.kind() == FileKind::File { size.div_ceil(4096) * 8 } else { 0 },
        block_size: 4096,
        device_number: 0,
        accessed: attributes.accessed,
        modified: attributes.modified,
        changed: attributes.changed,
        created: attributes.created,
    }
}

impl Ground for Tree {
    type Place = Arc<Node>;

    fn points(&self) -> &Points {
        &self.points
    }

    fn base(&self, mount: usize) -> io::Result<Arc<Node>> {
        self.bases.get(mount).cloned().ok_or_else(crate::filesystem::missing)
    }

    fn step(&self, place: &Arc<Node>, name: &BStr) -> io::Result<Step<Arc<Node>>> {
        self.check(place, Access::Execute)?;
        let Some(node) = self.lookup(place, name)? else { return Ok(Step::Missing) };
        Ok(match &node.body {
            Body::Directory(_) => Step::Directory(node),
            Body::Symlink(text) => Step::Link(text.clone()),
            Body::File(_) | Body::Other(_) => Step::Other,
        })
    }
}

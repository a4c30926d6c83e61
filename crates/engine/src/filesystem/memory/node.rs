//! What a tree is made of.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, Metadata};

use super::content::Content;

pub(super) struct Node {
    pub device: u64,
    pub inode: u64,
    /// Where it came from in the lower tree, whatever it is called now.
    pub lower: Option<BString>,
    pub body: Body,
    /// None: as they are in the lower tree.
    attributes: Mutex<Option<Attributes>>,
}

pub(super) enum Body {
    File(Mutex<Content>),
    Directory(Mutex<Listing>),
    Symlink(BString),
    /// A FIFO or socket of the lower tree.
    Other(FileKind),
}

#[derive(Default)]
pub(super) struct Listing {
    pub names: BTreeMap<BString, Slot>,
    /// For `mv a a/b`, which must fail.
    pub parent: Weak<Node>,
}

pub(super) enum Slot {
    Node(Arc<Node>),
    /// The lower tree has this name, and it is deleted here.
    Gone,
}

#[derive(Clone)]
pub(super) struct Attributes {
    pub permissions: u32,
    pub user: u32,
    pub group: u32,
    pub links: u64,
    pub accessed: SystemTime,
    pub modified: SystemTime,
    pub changed: SystemTime,
    pub created: Option<SystemTime>,
}

impl Attributes {
    pub(super) fn new(permissions: u32, user: u32, group: u32, links: u64) -> Self {
        let now = SystemTime::now();
        let created = Some(now);
        let (accessed, modified, changed) = (now, now, now);
        Attributes { permissions, user, group, links, accessed, modified, changed, created }
    }

    pub(super) fn of(metadata: &Metadata) -> Self {
        Attributes {
            permissions: metadata.permissions,
            user: metadata.user,
            group: metadata.group,
            links: metadata.links,
            accessed: metadata.accessed,
            modified: metadata.modified,
            changed: metadata.changed,
            created: metadata.created,
        }
    }
}

impl Node {
    pub(super) fn new(device: u64, inode: u64, body: Body, attributes: Attributes) -> Self {
        Node { device, inode, lower: None, body, attributes: Mutex::new(Some(attributes)) }
    }

    pub(super) fn from_lower(path: BString, metadata: &Metadata, body: Body) -> Self {
        let (device, inode) = (metadata.device, metadata.inode);
        Node { device, inode, lower: Some(path), body, attributes: Mutex::new(None) }
    }

    pub(super) fn attributes(&self) -> MutexGuard<'_, Option<Attributes>> {
        self.attributes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }

    pub(super) fn listing(&self) -> io::Result<MutexGuard<'_, Listing>> {
        match &self.body {
            Body::Directory(listing) => Ok(listing.lock().unwrap_or_else(PoisonError::into_inner)),
            _ => Err(errno::error(errno::ENOTDIR)),
        }
    }

    pub(super) fn content(&self) -> io::Result<MutexGuard<'_, Content>> {
        match &self.body {
            Body::File(content) => Ok(content.lock().unwrap_or_else(PoisonError::into_inner)),
            _ => Err(errno::error(errno::EINVAL)),
        }
    }

    /// Nothing of it is left to ask the lower tree for.
    pub(super) fn is_all_here(&self) -> bool {
        let changed = match &self.body {
            Body::File(_) => matches!(self.content().as_deref(), Ok(Content::Here(_))),
            Body::Symlink(_) => true,
            Body::Directory(_) | Body::Other(_) => false,
        };
        changed && self.attributes().is_some()
    }

    pub(super) fn link(&self) -> io::Result<&BStr> {
        match &self.body {
            Body::Symlink(text) => Ok(text.as_bstr()),
            _ => Err(errno::error(errno::EINVAL)),
        }
    }

    pub(super) fn kind(&self) -> FileKind {
        match &self.body {
            Body::File(_) => FileKind::File,
            Body::Directory(_) => FileKind::Directory,
            Body::Symlink(_) => FileKind::Symlink,
            Body::Other(kind) => *kind,
        }
    }
}

/// A chain of directories is as deep as a script likes: it is taken apart in a loop, not by recursion.
impl Drop for Node {
    fn drop(&mut self) {
        let mut rest = take_children(self);
        while let Some(node) = rest.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                rest.append(&mut take_children(&mut node));
            }
        }
    }
}

fn take_children(node: &mut Node) -> Vec<Arc<Node>> {
    let Body::Directory(listing) = &mut node.body else { return Vec::new() };
    let listing = listing.get_mut().unwrap_or_else(PoisonError::into_inner);
    let slots = std::mem::take(&mut listing.names).into_values();
    slots
        .filter_map(|slot| match slot {
            Slot::Node(node) => Some(node),
            Slot::Gone => None,
        })
        .collect()
}

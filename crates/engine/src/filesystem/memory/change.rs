//! Changing the names of a tree in memory. The order of the checks is the kernel's, so that the errors are too.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLockWriteGuard};
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::Access;

use super::node::{Body, Node, Slot};
use super::tree::{Place, Tree};
use crate::filesystem::trash::{self, TRASH, timestamp, trash_name};
use crate::filesystem::walk::{self, Ending, Walked};

impl Tree {
    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.structure.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Content or names have changed.
    pub(super) fn touch(&self, node: &Node) -> io::Result<()> {
        self.change(node, |attributes| attributes.modified = SystemTime::now())
    }

    /// Gives a node a name. The caller has checked that the name is free or may be replaced.
    pub(super) fn insert(
        &self,
        directory: &Arc<Node>,
        name: BString,
        node: &Arc<Node>,
    ) -> io::Result<()> {
        if let Body::Directory(_) = node.body {
            node.listing()?.parent = Arc::downgrade(directory);
            self.change(directory, |attributes| attributes.links += 1)?;
        }
        directory.listing()?.names.insert(name, Slot::Node(Arc::clone(node)));
        self.touch(directory)
    }

    /// Takes a name away. What it named lives on under other names and where it is open.
    pub(super) fn detach(&self, directory: &Arc<Node>, name: &BString) -> io::Result<()> {
        let mut listing = directory.listing()?;
        let removed = match directory.lower {
            Some(_) => listing.names.insert(name.clone(), Slot::Gone),
            None => listing.names.remove(name),
        };
        drop(listing);
        if let Some(Slot::Node(node)) = removed
            && node.is_directory()
        {
            self.change(directory, |attributes| {
                attributes.links = attributes.links.saturating_sub(1);
            })?;
        }
        self.touch(directory)
    }

    fn unlink(&self, node: &Node) -> io::Result<()> {
        self.change(node, |attributes| attributes.links = attributes.links.saturating_sub(1))
    }

    /// A name for something new: `EEXIST` if it is taken.
    fn free(&self, path: &BStr, wants_directory: bool) -> io::Result<Place> {
        let place = self.place(path, errno::EEXIST, errno::EEXIST)?;
        if self.lookup(&place.directory, place.name.as_bstr())?.is_some() {
            return Err(errno::error(errno::EEXIST));
        }
        if place.slash && !wants_directory {
            return Err(crate::filesystem::missing());
        }
        Ok(place)
    }

    pub(super) fn create_directory(&self, path: &BStr, mode: u32) -> io::Result<()> {
        let _alone = self.alone();
        let place = self.free(path, true)?;
        self.check(&place.directory, Access::Write)?;
        let node = self.make(Body::Directory(Mutex::default()), mode, 2);
        self.insert(&place.directory, place.name, &node)
    }

    pub(super) fn create_symlink(&self, target: &BStr, path: &BStr) -> io::Result<()> {
        if target.is_empty() || target.contains(&0) {
            return Err(crate::filesystem::missing());
        }
        let _alone = self.alone();
        let place = self.free(path, false)?;
        self.check(&place.directory, Access::Write)?;
        let node = self.make(Body::Symlink(target.to_owned()), 0o777, 1);
        self.insert(&place.directory, place.name, &node)
    }

    pub(super) fn create_hard_link(&self, existing: &BStr, path: &BStr) -> io::Result<()> {
        let _alone = self.alone();
        let node = match walk::walk(self, existing, Ending::KeepLink)? {
            Walked::Device(_) => return Err(errno::error(errno::EPERM)),
            Walked::At(arrival) => self.arrive(&arrival)?.ok_or_else(crate::filesystem::missing)?,
        };
        let place = self.free(path, false)?;
        self.check(&place.directory, Access::Write)?;
        if node.is_directory() {
            return Err(errno::error(errno::EPERM));
        }
        self.change(&node, |attributes| attributes.links += 1)?;
        self.insert(&place.directory, place.name, &node)
    }

    /// Where a FIFO could be made, there are none.
    pub(super) fn refuse_fifo(&self, path: &BStr) -> io::Result<()> {
        let _alone = self.alone();
        self.free(path, false)?;
        Err(errno::error(errno::EOPNOTSUPP))
    }

    pub(super) fn remove_directory(&self, path: &BStr) -> io::Result<()> {
        let _alone = self.alone();
        let place = self.removable(path)?;
        let node = self.lookup(&place.directory, place.name.as_bstr())?;
        let node = node.ok_or_else(crate::filesystem::missing)?;
        self.check(&place.directory, Access::Write)?;
        if !node.is_directory() {
            return Err(errno::error(errno::ENOTDIR));
        }
        if !self.entries(&node)?.is_empty() {
            return Err(errno::error(errno::ENOTEMPTY));
        }
        self.detach(&place.directory, &place.name)
    }

    fn removable(&self, path: &BStr) -> io::Result<Place> {
        let Walked::At(arrival) = walk::walk(self, path, Ending::Keep)? else {
            return Err(errno::error(errno::ENOTDIR));
        };
        let name = trash::deletable(&arrival)?.to_owned();
        Ok(Place { directory: arrival.place()?, name, slash: arrival.slash })
    }

    pub(super) fn trash(&self, path: &BStr) -> io::Result<()> {
        let _alone = self.alone();
        let Walked::At(arrival) = walk::walk(self, path, Ending::Keep)? else {
            return Err(errno::error(errno::EPERM));
        };
        let name = trash::deletable(&arrival)?.to_owned();
        let directory = arrival.place()?;
        let node = self.lookup(&directory, name.as_bstr())?;
        let node = node.ok_or_else(crate::filesystem::missing)?;
        if arrival.slash && !node.is_directory() {
            return Err(errno::error(errno::ENOTDIR));
        }
        if !self.is_project(arrival.mount) {
            self.check(&directory, Access::Write)?;
            self.unlink_tree(&node)?;
            return self.detach(&directory, &name);
        }
        if trash::is_trash(&arrival) {
            return Err(errno::error(errno::EPERM));
        }
        self.check(&directory, Access::Write)?;
        let (bin, new_name) = self.trash_place(name.as_bstr())?;
        self.detach(&directory, &name)?;
        self.insert(&bin, new_name, &node)
    }

    fn trash_place(&self, name: &BStr) -> io::Result<(Arc<Node>, BString)> {
        let root = self.project().ok_or_else(crate::filesystem::missing)?;
        let bin = if let Some(bin) = self.lookup(&root, BStr::new(TRASH))? {
            bin
        } else {
            let bin = self.make(Body::Directory(Mutex::default()), 0o700, 2);
            self.insert(&root, TRASH.into(), &bin)?;
            bin
        };
        loop {
            let new_name = BString::from(trash_name(&timestamp(SystemTime::now()), name));
            if self.lookup(&bin, new_name.as_bstr())?.is_none() {
                return Ok((bin, new_name));
            }
        }
    }

    /// Files below may have names elsewhere, and those count one less now.
    fn unlink_tree(&self, node: &Arc<Node>) -> io::Result<()> {
        let mut rest = vec![Arc::clone(node)];
        while let Some(node) = rest.pop() {
            if !node.is_directory() {
                self.unlink(&node)?;
                continue;
            }
            for entry in self.entries(&node)? {
                rest.extend(self.lookup(&node, entry.name.as_bstr())?);
            }
        }
        Ok(())
    }

    pub(super) fn rename(&self, from: &BStr, to: &BStr, replace: bool) -> io::Result<()> {
        let _alone = self.alone();
        let taken = |otherwise| if replace { otherwise } else { errno::EEXIST };
        let (from, to) = (self.keep(from, errno::EPERM)?, self.keep(to, taken(errno::EPERM))?);
        let (from, to) = (from.named(errno::EBUSY)?, to.named(taken(errno::EBUSY))?);
        let node = self.lookup(&from.directory, from.name.as_bstr())?;
        let node = node.ok_or_else(crate::filesystem::missing)?;
        let target = self.lookup(&to.directory, to.name.as_bstr())?;
        if target.is_some() && !replace {
            return Err(errno::error(errno::EEXIST));
        }
        if (from.slash || to.slash) && !node.is_directory() {
            return Err(errno::error(errno::ENOTDIR));
        }
        if node.is_directory() && is_within(&to.directory, &node) {
            return Err(errno::error(errno::EINVAL));
        }
        if let Some(target) = target {
            if Arc::ptr_eq(&node, &target) {
                return Ok(());
            }
            self.replaceable(&node, &target, &from.directory)?;
            self.check_both(&from, &to)?;
            self.unlink(&target)?;
            self.detach(&to.directory, &to.name)?;
        } else {
            self.check_both(&from, &to)?;
        }
        self.detach(&from.directory, &from.name)?;
        self.insert(&to.directory, to.name, &node)?;
        self.change(&node, |_| {})
    }

    fn check_both(&self, from: &Place, to: &Place) -> io::Result<()> {
        self.check(&from.directory, Access::Write)?;
        self.check(&to.directory, Access::Write)
    }

    fn replaceable(
        &self,
        node: &Arc<Node>,
        target: &Arc<Node>,
        from: &Arc<Node>,
    ) -> io::Result<()> {
        if target.is_directory() && is_within(from, target) {
            return Err(errno::error(errno::ENOTEMPTY));
        }
        match (node.is_directory(), target.is_directory()) {
            (true, false) => Err(errno::error(errno::ENOTDIR)),
            (false, true) => Err(errno::error(errno::EISDIR)),
            (true, true) if !self.entries(target)?.is_empty() => {
                Err(errno::error(errno::ENOTEMPTY))
            }
            _ => Ok(()),
        }
    }
}

/// Whether `node` is `ancestor` or lies below it.
fn is_within(node: &Arc<Node>, ancestor: &Arc<Node>) -> bool {
    let mut current = Some(Arc::clone(node));
    while let Some(node) = current {
        if Arc::ptr_eq(&node, ancestor) {
            return true;
        }
        current = node.listing().ok().and_then(|listing| listing.parent.upgrade());
    }
    false
}

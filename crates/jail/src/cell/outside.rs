//! Who a jail's processes are outside, and what only the caller's own power can prepare.
#![expect(clippy::disallowed_methods, reason = "what only the host itself can tell and be told")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use bstr::ByteSlice;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::process::{Gid, Pid, Uid, getegid, geteuid};

use crate::ladder::{Missing, Wall};
use crate::limits::files;
use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, Person, Tree, View};
use crate::system::mount;
use crate::system::process;

/// Host numbers that own nothing and belong to nobody, for jails made by root. Far above what login, service and
/// container managers hand out.
const NOBODY_AT_ALL: u32 = 1_750_000_000;

/// The tables of owners that views need: of all their trees, one or two.
#[derive(Default)]
pub struct Owners {
    tables: HashMap<(u32, u32), OwnedFd>,
    /// Who was needed to make them. To wait for their end takes longer than to make them, where others want the processor.
    holders: Vec<process::Holder>,
}

impl Owners {
    /// Ends whoever was needed to make them.
    pub fn rest(&mut self) {
        self.holders.clear();
    }

    pub fn is_at_rest(&self) -> bool {
        self.holders.is_empty()
    }

    /// A user namespace that is only a table: this owner on disk is that user outside.
    fn table(&mut self, (user, group): (u32, u32), outside: Outside) -> io::Result<&OwnedFd> {
        let free = match self.tables.entry((user, group)) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(free) => free,
        };
        let holder = process::Holder::make(libc::CLONE_NEWUSER)?;
        let folder = format!("/proc/{}", holder.process().as_raw_nonzero());
        self.holders.push(holder);
        fs::write(format!("{folder}/uid_map"), format!("{user} {} 1\n", outside.user))?;
        fs::write(format!("{folder}/gid_map"), format!("{group} {} 1\n", outside.group))?;
        let table = fs::File::open(format!("{folder}/ns/user"))?;
        Ok(free.insert(table.into()))
    }
}

/// In the order of [`sources`]; none at all when the warden finds them by itself, as the caller would.
pub type Mounts = Vec<OwnedFd>;

/// The numbers of the person inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub user: u32,
    pub group: u32,
}

impl From<&Person> for Identity {
    fn from(person: &Person) -> Self {
        Identity { user: person.user_id, group: person.group_id }
    }
}

impl Identity {
    /// Becomes that person, in a user namespace in which there is nobody else.
    pub fn assume(self) -> Result<(), Failure> {
        let step = "become the jail's user";
        // A caller without power may not leave its groups; they are nobody's inside.
        match rustix::thread::set_thread_groups(&[]) {
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(Failure::new(step, error)),
        }
        let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
        rustix::thread::set_thread_res_gid(group, group, group).at(step)?;
        rustix::thread::set_thread_res_uid(user, user, user).at(step)
    }
}

/// Who takes hold of the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    BySpawner,
    ByWarden,
}

/// A directory of the host that a view needs.
pub struct Source<'a> {
    pub path: &'a Path,
    /// Its owner must be the person inside.
    pub owned: bool,
    /// What is written inside is written there.
    pub written: bool,
}

/// Every one of them: trees, the layers over them, what is ready, and where layers of requests are.
pub fn sources(view: &View) -> impl Iterator<Item = Source<'_>> {
    let trees = view.trees.iter().map(|tree| Source {
        path: &tree.source,
        owned: tree.access != Access::Read,
        written: tree.access == Access::Write,
    });
    let layers = view.trees.iter().filter_map(|tree| match &tree.access {
        Access::Layer(folder) => Some(Source { path: folder, owned: true, written: true }),
        Access::Read | Access::Write => None,
    });
    let requests = view.layers.iter().map(|layers| Source {
        path: &layers.source,
        owned: true,
        written: true,
    });
    let ready =
        view.ready.iter().map(|ready| Source { path: &ready.source, owned: false, written: false });
    trees.chain(layers).chain(ready).chain(requests)
}

/// A directory or file of the host, with all that is mounted there, as a mount that is attached nowhere.
///
/// What is written to is where it is said to be: its path leads through no links, which somebody could have put there who
/// may write a part of it.
pub fn detached(source: &Source<'_>) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    if !source.written {
        return Ok(open_tree(CWD, source.path, flags)?);
    }
    let (path, real) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::NO_SYMLINKS);
    let found = openat2(CWD, source.path, path, Mode::empty(), real)?;
    Ok(open_tree(&found, "", flags | OpenTreeFlags::AT_EMPTY_PATH)?)
}

/// Whether this map of a user namespace has a place for [`NOBODY_AT_ALL`]. One that cannot be read is taken to be full:
/// then nobody can become root by mistake.
fn has_everybody(map: &str) -> bool {
    let Ok(text) = files::read(map) else { return true };
    text.lines().any(|line| {
        let mut numbers =
            files::words(line).filter_map(|word| word.to_str().ok()?.parse::<u64>().ok());
        let (first, _, count) = (numbers.next(), numbers.next(), numbers.next());
        let (first, nobody) = (first.unwrap_or(u64::MAX), u64::from(NOBODY_AT_ALL));
        first <= nobody && nobody - first < count.unwrap_or(0)
    })
}

/// The user and group on the host that a jail's processes are.
#[derive(Debug, Clone, Copy)]
pub struct Outside {
    user: u32,
    group: u32,
    /// The caller is root: then the jail is somebody else, and owners of files are shown accordingly.
    by_root: bool,
}

impl Outside {
    pub fn choose() -> Self {
        static CHOSEN: OnceLock<(u32, u32, Outside)> = OnceLock::new();
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        // The maps of a namespace that has processes do not change any more.
        let (known_user, known_group, chosen) =
            *CHOSEN.get_or_init(|| (user, group, Self::of(user, group)));
        if (known_user, known_group) == (user, group) { chosen } else { Self::of(user, group) }
    }

    fn of(user: u32, group: u32) -> Self {
        // The root of a container with users of its own is an ordinary user of the host, and cannot be anybody else.
        if user == 0 && has_everybody("/proc/self/uid_map") && has_everybody("/proc/self/gid_map") {
            Outside { user: NOBODY_AT_ALL, group: NOBODY_AT_ALL, by_root: true }
        } else {
            Outside { user, group, by_root: false }
        }
    }

    /// Tells the kernel who the processes of the new user namespace are.
    pub fn map(self, process: Pid, identity: Identity) -> Result<(), Failure> {
        let folder = format!("/proc/{}", process.as_raw_nonzero());
        let write = |name: &str, text: String| {
            fs::write(format!("{folder}/{name}"), text).at("map the user into the jail")
        };
        if !self.by_root {
            // The kernel wants this of callers without power: a group that forbids must not be dropped.
            write("setgroups", "deny".to_owned())?;
        }
        write("uid_map", format!("{} {} 1\n", identity.user, self.user))?;
        write("gid_map", format!("{} {} 1\n", identity.group, self.group))
    }

    /// User and group, where that is not who asks.
    pub fn other_than_caller(self) -> Option<(u32, u32)> {
        self.by_root.then_some((self.user, self.group))
    }

    pub fn taken(self) -> Taken {
        if self.by_root { Taken::BySpawner } else { Taken::ByWarden }
    }

    /// The host's directories as mounts that are attached nowhere yet.
    ///
    /// Root's jails are nobody, and nobody may enter `/root` or write root's files. So for them the mounts are made
    /// here, and writable ones show the tree's owner as the person inside: what is written belongs to that owner.
    ///
    /// Not every file system can show its owners as others, and layers cannot be put over one that cannot: then those
    /// trees are only read, in another view that is returned, and so is what is missing.
    pub fn prepare(
        self,
        view: &View,
        owners: &mut Owners,
    ) -> Result<(Mounts, Option<(View, Missing)>), Failure> {
        let failure = match self.take_all(view, owners) {
            Ok(mounts) => return Ok((mounts, None)),
            Err(failure) => failure,
        };
        let mut view = view.clone();
        let layered = |tree: &&mut Tree| matches!(tree.access, Access::Layer(_));
        let mut layers = view.trees.iter_mut().filter(layered).peekable();
        let unable = [libc::EINVAL, libc::EOPNOTSUPP, libc::EPERM].contains(&failure.errno);
        if !unable || layers.peek().is_none() {
            return Err(failure);
        }
        layers.for_each(|tree| tree.access = Access::Read);
        // What is to be written must be the jail's own, so the same failure there is final.
        let mounts = self.take_all(&view, owners)?;
        Ok((mounts, Some((view, Missing::new(Wall::Layers, failure)))))
    }

    fn take_all(self, view: &View, owners: &mut Owners) -> Result<Mounts, Failure> {
        if !self.by_root {
            return Ok(Vec::new());
        }
        sources(view).map(|source| self.take(&source, owners)).collect()
    }

    /// Most trees are the caller's own: makes that table before anybody asks for it.
    pub fn expect_own(self, owners: &mut Owners) {
        if self.by_root {
            let own = (geteuid().as_raw(), getegid().as_raw());
            let _it_will_be_tried_again = owners.table(own, self);
        }
    }

    fn take(self, source: &Source<'_>, owners: &mut Owners) -> Result<OwnedFd, Failure> {
        let step = format!("take {} into the jail", source.path.display());
        let taken = detached(source).at(&step)?;
        if source.owned {
            let found = fstat(&taken).at(&step)?;
            let owner = (found.st_uid, found.st_gid);
            let table = owners.table(owner, self).at(&step)?;
            mount::map_owners(taken.as_fd(), table.as_fd()).at(&step)?;
        }
        Ok(taken)
    }

    /// For jails without namespaces that are made by root: becomes the owner of the first tree for writing that is not
    /// root's. If all are, root it stays, and that is told; what it could do without its capabilities is for other walls
    /// to hold.
    pub fn become_owner(view: &View) -> Result<Option<Missing>, Failure> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let step = "become the owner of the project";
        let trees = view.trees.iter().filter(|tree| tree.access == Access::Write);
        let owners = trees.map(|tree| fs::metadata(&tree.source).at(step));
        let owners = owners.collect::<Result<Vec<_>, _>>()?;
        let Some(owner) = owners.into_iter().find(|owner| owner.uid() != 0) else {
            let failure = Failure::new(step, Errno::OPNOTSUPP);
            return Ok(Some(Missing::new(Wall::Ordinary, failure)));
        };
        rustix::thread::set_thread_groups(&[]).at(step)?;
        let group = Gid::from_raw(owner.gid());
        rustix::thread::set_thread_res_gid(group, group, group).at(step)?;
        let user = Uid::from_raw(owner.uid());
        rustix::thread::set_thread_res_uid(user, user, user).at(step)?;
        Ok(None)
    }

    /// Makes a pipe the jail's own, so that programs can open it by the name `/dev/stdout` too: a pipe belongs to whoever
    /// made it. Anything else stays as it is, also a pipe that has a name on disk.
    pub fn give(self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        const PIPES: i64 = 0x5049_5045;
        if self.by_root && rustix::fs::fstatfs(descriptor)?.f_type == PIPES {
            let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
            rustix::fs::fchown(descriptor, Some(user), Some(group))?;
        }
        Ok(())
    }
}

//! What is known of an object in the tree, and whether it is still the same.

use std::os::fd::AsFd;

use bstr::BString;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::system;

/// A moment as the file system keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Time {
    pub seconds: i64,
    pub nanos: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    CharacterDevice,
    BlockDevice,
    Unknown,
}

/// An object as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub kind: Kind,
    /// Permission bits with set-user, set-group and sticky.
    pub mode: u32,
    pub user: u32,
    pub group: u32,
    pub size: u64,
    pub modified: Time,
    pub changed: Time,
    pub inode: u64,
    pub device: u64,
    pub links: u64,
    /// Of device nodes.
    pub device_number: u64,
    /// Of symbolic links.
    pub target: Option<BString>,
}

/// Extended attributes that a person would miss: their own, capabilities, access lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes(pub Vec<(BString, BString)>);

impl Facts {
    pub(crate) fn of(parent: impl AsFd, name: &[u8]) -> Result<Option<Self>, Errno> {
        let Some(stat) = system::stat(&parent, name)? else { return Ok(None) };
        let mut facts = Facts::from_stat(&stat);
        if facts.kind == Kind::Symlink {
            facts.target = Some(system::read_link(&parent, name)?);
        }
        Ok(Some(facts))
    }

    pub(crate) fn from_stat(stat: &Stat) -> Self {
        Facts {
            kind: Kind::from_stat(stat),
            mode: stat.st_mode & 0o7777,
            user: stat.st_uid,
            group: stat.st_gid,
            size: stat.st_size as u64,
            modified: Time::modified(stat),
            changed: Time { seconds: stat.st_ctime, nanos: stat.st_ctime_nsec as u32 },
            inode: stat.st_ino,
            device: stat.st_dev,
            links: u64::from(stat.st_nlink as u32),
            device_number: stat.st_rdev,
            target: None,
        }
    }

    /// Whether nobody has changed it since. A directory's own size and time say nothing: its entries are compared one
    /// by one.
    pub fn is_unchanged(&self, now: &Facts) -> bool {
        let same = self.kind == now.kind && self.inode == now.inode && self.mode == now.mode;
        let content = self.size == now.size && self.modified == now.modified;
        same && self.target == now.target && (self.kind == Kind::Directory || content)
    }

    /// A directory of ours into which we may not look. Nobody else has changed anything in there either, without changing this.
    pub(crate) fn is_locked(&self) -> bool {
        let own = self.user == system::user() && self.user != 0;
        self.is_directory() && own && self.mode & 0o500 != 0o500
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }
}

impl Kind {
    /// For people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Symlink => "symlink",
            Kind::Fifo => "fifo",
            Kind::Socket => "socket",
            Kind::CharacterDevice | Kind::BlockDevice => "device",
            Kind::Unknown => "unknown",
        }
    }

    pub(crate) fn from_stat(stat: &Stat) -> Self {
        match system::kind(stat) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice => Kind::CharacterDevice,
            FileType::BlockDevice => Kind::BlockDevice,
            FileType::Unknown => Kind::Unknown,
        }
    }
}

impl Time {
    pub(crate) fn modified(stat: &Stat) -> Self {
        Time { seconds: stat.st_mtime, nanos: stat.st_mtime_nsec as u32 }
    }
}

impl Attributes {
    pub(crate) fn of(object: impl AsFd) -> Result<Self, Errno> {
        let mut found = Vec::new();
        for name in system::attribute_names(&object)? {
            if is_kept(&name)
                && let Some(value) = system::attribute(&object, &name)?
            {
                found.push((name, value));
            }
        }
        found.sort();
        Ok(Attributes(found))
    }

    /// Makes an object have exactly these.
    pub(crate) fn set(&self, object: impl AsFd) -> Result<(), Errno> {
        let present = Attributes::of(&object)?;
        for (name, _) in &present.0 {
            if !self.0.iter().any(|(kept, _)| kept == name) {
                system::remove_attribute(&object, name)?;
            }
        }
        for pair in &self.0 {
            if !present.0.contains(pair) {
                system::set_attribute(&object, &pair.0, &pair.1)?;
            }
        }
        Ok(())
    }
}

/// The overlay's own marks are never anybody's.
fn is_kept(name: &[u8]) -> bool {
    (name.starts_with(b"user.") && !name.starts_with(b"user.overlay."))
        || matches!(
            name,
            b"security.capability" | b"system.posix_acl_access" | b"system.posix_acl_default"
        )
}

/// Makes an object have a mode, an owner, attributes and a time again. Only what differs is set, in the order in which
/// one does not undo the other: an owner takes capabilities and set-user bits away, attributes change the mode.
pub(crate) fn put_back(
    parent: impl AsFd,
    name: &[u8],
    facts: &Facts,
    attributes: &Attributes,
) -> Result<(), Errno> {
    put_back_but_time(system::open_object(&parent, name)?, facts, attributes)?;
    set_time(&parent, name, facts.modified)
}

/// The same for what is open, and its time is somebody else's business.
pub(crate) fn put_back_but_time(
    object: impl AsFd,
    facts: &Facts,
    attributes: &Attributes,
) -> Result<(), Errno> {
    let mut now = Facts::from_stat(&system::stat_handle(&object)?);
    let mut changed = false;
    if (now.user, now.group) != (facts.user, facts.group) {
        system::set_owner(&object, facts.user, facts.group)?;
        changed = true;
    }
    if Attributes::of(&object)? != *attributes {
        if facts.kind != Kind::Symlink && now.mode & 0o200 == 0 {
            // Those of a read-only file cannot be set. Its mode follows.
            system::set_mode(&object, now.mode | 0o200)?;
        }
        attributes.set(&object)?;
        changed = true;
    }
    if facts.kind == Kind::Symlink {
        return Ok(());
    }
    if changed {
        now = Facts::from_stat(&system::stat_handle(&object)?);
    }
    if now.mode == facts.mode { Ok(()) } else { system::set_mode(&object, facts.mode) }
}

pub(crate) fn set_time(parent: impl AsFd, name: &[u8], modified: Time) -> Result<(), Errno> {
    match system::stat(&parent, name)? {
        Some(stat) if Time::modified(&stat) == modified => Ok(()),
        _ => system::set_time(parent, name, modified),
    }
}

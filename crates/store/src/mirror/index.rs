//! What is known of each entry of the project and of its copy, as it was when that was made. Written as a whole, beside the old
//! one, which it then replaces.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use bstr::BString;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::facts::{Attributes, Facts, Kind, Time};
use crate::record::checksum;
use crate::system;

const NAME: &[u8] = b"index";
const NEW: &[u8] = b"index.new";
/// Another number for another form.
const MAGIC: &[u8; 8] = b"mirror01";
/// The magic, the checksum, and the two totals that it is asked for most.
const HEAD: usize = 8 + 4 + 8 + 8;

/// An entry of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    pub project: Facts,
    /// Of directories: those of all else are with the copy.
    pub attributes: Option<Attributes>,
    /// Of what is copied. Directories only exist on both sides, and of sockets and devices there is no copy.
    pub copy: Option<Identity>,
}

/// Nobody can make one object look like another, nor change one without a trace here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub inode: u64,
    pub changed: Time,
}

/// By path. What holds something comes before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    pub items: BTreeMap<BString, Item>,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub entries: u64,
    pub bytes: u64,
}

impl Identity {
    pub(super) fn of(facts: &Facts) -> Self {
        Identity { inode: facts.inode, changed: facts.changed }
    }
}

impl Item {
    /// Whether nobody has touched it since. Numbers of devices are given anew when something is mounted.
    pub(super) fn is_untouched(&self, now: &Facts) -> bool {
        // Most are told by this alone, and need not be copied to be compared.
        self.project.changed == now.changed
            && self.project == Facts { device: self.project.device, ..now.clone() }
    }

    /// It comes back when it is gone.
    pub(super) fn is_copied(&self) -> bool {
        self.copy.is_some() || self.project.is_directory()
    }
}

/// Sockets belong to whoever listens, and devices to root.
pub(super) fn is_copied(kind: Kind) -> bool {
    matches!(kind, Kind::File | Kind::Directory | Kind::Symlink | Kind::Fifo)
}

impl Index {
    /// `None` when there is none, or it cannot be read: then nothing is known, and everything is copied.
    pub(super) fn load(folder: BorrowedFd<'_>) -> Result<Option<Self>, Errno> {
        let bytes = match system::open_reading(folder, NAME) {
            Err(Errno::NOENT) => return Ok(None),
            file => system::read_whole(file?)?,
        };
        Ok(decode(&bytes))
    }

    /// On the disk when this returns.
    pub(super) fn store(&self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        let bytes = self.encode().ok_or(Errno::FBIG)?;
        match system::unlink(folder, NEW) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        let file = system::create_file(folder, NEW)?;
        system::append(&file, &bytes)?;
        system::sync_data(&file)?;
        system::rename_over(folder, NEW, NAME)?;
        system::sync_directory(folder)
    }

    fn encode(&self) -> Option<Vec<u8>> {
        let Extent { entries, bytes } = self.extent();
        let mut body = [entries.to_le_bytes(), bytes.to_le_bytes()].concat();
        body.extend(postcard::to_stdvec(self).ok()?);
        let mut encoded = MAGIC.to_vec();
        encoded.extend(checksum(&body).to_le_bytes());
        encoded.extend(body);
        Some(encoded)
    }

    pub(super) fn extent(&self) -> Extent {
        let entries = self.items.len() as u64;
        Extent { entries, bytes: self.items.values().map(|item| size(&item.project)).sum() }
    }

    /// A directory and all that is in it.
    pub(super) fn below<'a>(
        &'a self,
        path: &'a BString,
    ) -> impl Iterator<Item = (&'a BString, &'a Item)> {
        let inside = [path.as_slice(), b"/"].concat();
        let from = BString::from(inside.clone());
        let own = self.items.get_key_value(path);
        let inside =
            self.items.range(from..).take_while(move |(other, _)| other.starts_with(&inside));
        own.into_iter().chain(inside)
    }
}

/// What it says of itself, without reading all of it.
pub(super) fn extent(folder: BorrowedFd<'_>) -> Option<Extent> {
    let file = system::open_reading(folder, NAME).ok()?;
    let mut head = [0; HEAD];
    (system::read_at(file, &mut head, 0).ok()? == HEAD && head.starts_with(MAGIC)).then_some(())?;
    let number = |at: usize| head.get(at..)?.first_chunk().copied().map(u64::from_le_bytes);
    Some(Extent { entries: number(12)?, bytes: number(20)? })
}

fn decode(bytes: &[u8]) -> Option<Index> {
    let body = bytes.strip_prefix(MAGIC)?;
    let sum = u32::from_le_bytes(body.first_chunk().copied()?);
    let body = body.get(4..)?;
    (checksum(body) == sum).then_some(())?;
    postcard::from_bytes(body.get(HEAD - 12..)?).ok()
}

/// What a copy of it takes.
pub(super) fn size(facts: &Facts) -> u64 {
    if facts.kind == Kind::File { facts.size } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_torn_or_flipped_is_no_index() {
        let facts = Facts {
            kind: Kind::File,
            mode: 0o644,
            user: 1,
            group: 2,
            size: 77,
            modified: Time { seconds: -1, nanos: 5 },
            changed: Time { seconds: 9, nanos: 0 },
            inode: 3,
            device: 4,
            links: 1,
            device_number: 0,
            target: None,
        };
        let item = Item { copy: Some(Identity::of(&facts)), project: facts, attributes: None };
        let index = Index { items: [(BString::from(b"a\n\xff/b"), item)].into() };
        let bytes = index.encode().unwrap();
        assert_eq!(decode(&bytes), Some(index.clone()));
        assert_eq!(index.extent(), Extent { entries: 1, bytes: 77 });
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None);
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert_eq!(decode(&flipped), None, "{at}");
        }
    }
}

//! A directory handle for walks. Speed is a promise here: one call per question, and no allocation but the names.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{
    Directory, DirectoryEntry, FileKind, Follow, Metadata, OpenFile, OpenOptions,
};
use rustix::fs::{FileType, Mode, OFlags, RawDir, RawDirEntry};
use rustix::io::Errno;

use super::confined::Inner;
use super::metadata;
use super::open::open_found;
use super::path;

/// Enough for some thousand names per call.
const BUFFER: usize = 64 << 10;

pub(crate) const READING: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

pub(crate) struct ConfinedDirectory {
    inner: Arc<Inner>,
    handle: OwnedFd,
    /// As the script would name it: only symbolic links are resolved by it, and those stay confined.
    path: BString,
    /// The kernel's position is no longer at the start.
    read_before: AtomicBool,
}

impl ConfinedDirectory {
    pub(crate) fn new(inner: Arc<Inner>, handle: OwnedFd, path: BString) -> Self {
        ConfinedDirectory { inner, handle, path, read_before: AtomicBool::new(false) }
    }

    fn is_link(&self, name: &BStr) -> bool {
        let mut one = [0_u8; 1];
        rustix::fs::readlinkat_raw(&self.handle, &**name, &mut one[..]).is_ok()
    }

    fn entry(&self, raw: &RawDirEntry<'_>) -> Option<DirectoryEntry> {
        let name = raw.file_name().to_bytes();
        if matches!(name, b"." | b"..") || path::is_hidden(name) {
            return None;
        }
        let kind = match raw.file_type() {
            FileType::Unknown => metadata::of_entry(&self.handle, name.as_bstr()).ok()?.kind,
            known => metadata::kind_of(known),
        };
        Some(DirectoryEntry { name: name.into(), kind, inode: raw.ino() })
    }
}

/// A name that may exist at all.
fn check(name: &BStr) -> io::Result<()> {
    if path::is_single_name(name) && !path::is_hidden(name) {
        Ok(())
    } else {
        Err(super::missing())
    }
}

impl Directory for ConfinedDirectory {
    fn entries(&self) -> io::Result<Vec<DirectoryEntry>> {
        if self.read_before.swap(true, Ordering::Relaxed) {
            rustix::fs::seek(&self.handle, rustix::fs::SeekFrom::Start(0))?;
        }
        let mut buffer = Vec::with_capacity(BUFFER);
        let mut raw = RawDir::new(&self.handle, buffer.spare_capacity_mut());
        let mut entries = Vec::new();
        while let Some(entry) = raw.next() {
            entries.extend(self.entry(&entry?));
        }
        Ok(entries)
    }

    fn metadata(&self, name: &BStr, follow: Follow) -> io::Result<Metadata> {
        check(name)?;
        let found = metadata::of_entry(&self.handle, name)?;
        if follow == Follow::Yes && found.kind == FileKind::Symlink {
            return self.inner.metadata(path::child(self.path.as_bstr(), name).as_bstr(), follow);
        }
        Ok(found)
    }

    fn own_metadata(&self) -> io::Result<Metadata> {
        Ok(metadata::of_handle(&self.handle)?)
    }

    fn open_file(&self, name: &BStr, follow: Follow) -> io::Result<Arc<dyn OpenFile>> {
        check(name)?;
        match open_found(&self.handle, name, &self.inner.request) {
            Err(error) if follow == Follow::Yes && errno::is(&error, errno::ELOOP) => {
                let path = path::child(self.path.as_bstr(), name);
                self.inner.open(path.as_bstr(), OpenOptions::reading())
            }
            result => result,
        }
    }

    fn open_directory(&self, name: &BStr, follow: Follow) -> io::Result<Arc<dyn Directory>> {
        check(name)?;
        match rustix::fs::openat(&self.handle, &**name, READING, Mode::empty()) {
            Ok(handle) => {
                let path = path::child(self.path.as_bstr(), name);
                Ok(Arc::new(ConfinedDirectory::new(Arc::clone(&self.inner), handle, path)))
            }
            Err(Errno::NOTDIR | Errno::LOOP) if follow == Follow::Yes && self.is_link(name) => {
                let path = path::child(self.path.as_bstr(), name);
                self.inner.open_directory(path.as_bstr(), follow)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn read_link(&self, name: &BStr) -> io::Result<BString> {
        check(name)?;
        let text = rustix::fs::readlinkat(&self.handle, &**name, Vec::new())?;
        Ok(text.into_bytes().into())
    }
}

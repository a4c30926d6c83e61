//! What the shell knows of files: traits only. The backends live with whoever hosts the shell.
//!
//! Paths are absolute, as the script sees them, not normalised: `..` and symbolic links are resolved by the
//! backend, which confines them. What is not visible does not exist: every operation on it answers `ENOENT`.

use std::io::{self, SeekFrom};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bstr::{BStr, BString};

use crate::control::Control;

/// A tree of files with a root of its own. Every method is one step that cannot be raced out of that root.
pub trait FileSystem: Send + Sync {
    fn open(&self, path: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>>;
    /// A handle for walking: what is reached through it stays beneath the directory that was opened.
    fn open_directory(&self, path: &BStr, follow: Follow) -> io::Result<Arc<dyn Directory>>;
    fn metadata(&self, path: &BStr, follow: Follow) -> io::Result<Metadata>;
    fn read_link(&self, path: &BStr) -> io::Result<BString>;
    /// The path without symbolic links, `.` and `..`. `missing` says how many components may be absent.
    fn canonicalize(&self, path: &BStr, missing: MayMiss) -> io::Result<BString>;
    /// As access(2): may the user do this?
    fn access(&self, path: &BStr, wanted: Access) -> io::Result<()>;
    fn create_directory(&self, path: &BStr, mode: u32) -> io::Result<()>;
    fn create_symlink(&self, target: &BStr, path: &BStr) -> io::Result<()>;
    fn create_hard_link(&self, existing: &BStr, path: &BStr) -> io::Result<()>;
    /// `mkfifo`; a backend without them answers `EOPNOTSUPP`.
    fn create_fifo(&self, path: &BStr, mode: u32) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &BStr) -> io::Result<()>;
    /// Takes a file or a whole directory out of sight so that it can be brought back: into `.trash/` inside
    /// the project, for good in the private `/tmp`. The root, `.trash` and what is in it are refused.
    fn trash(&self, path: &BStr) -> io::Result<()>;
    /// As rename(2); `replace: false` fails with `EEXIST` if the target exists.
    fn rename(&self, from: &BStr, to: &BStr, replace: bool) -> io::Result<()>;
    fn set_mode(&self, path: &BStr, mode: u32, follow: Follow) -> io::Result<()>;
    fn set_owner(
        &self,
        path: &BStr,
        user: Option<u32>,
        group: Option<u32>,
        follow: Follow,
    ) -> io::Result<()>;
    /// `None` leaves a time as it is.
    fn set_times(
        &self,
        path: &BStr,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
        follow: Follow,
    ) -> io::Result<()>;
    /// Where the tree begins for the script: `~`, the first working directory.
    fn root(&self) -> &BStr;
    /// What blocks from now on (opening or reading a FIFO) belongs to this request and ends with it.
    fn begin_request(&self, control: &Arc<Control>) {
        let _ = control;
    }
    /// What `find -fstype`, `df` and the like need is not here on purpose.
    fn is_root(&self, path: &BStr) -> bool {
        match (self.metadata(path, Follow::Yes), self.metadata(self.root(), Follow::Yes)) {
            (Ok(one), Ok(root)) => one.device == root.device && one.inode == root.inode,
            _ => false,
        }
    }
}

/// An open directory. Names are single components; nothing here follows a symbolic link unless it says so.
pub trait Directory: Send + Sync {
    /// Every entry but `.` and `..`, unsorted, in the order of the file system.
    fn entries(&self) -> io::Result<Vec<DirectoryEntry>>;
    fn metadata(&self, name: &BStr, follow: Follow) -> io::Result<Metadata>;
    fn own_metadata(&self) -> io::Result<Metadata>;
    /// Opens a regular file for reading, never through a symbolic link unless `follow` says so.
    fn open_file(&self, name: &BStr, follow: Follow) -> io::Result<Arc<dyn OpenFile>>;
    fn open_directory(&self, name: &BStr, follow: Follow) -> io::Result<Arc<dyn Directory>>;
    fn read_link(&self, name: &BStr) -> io::Result<BString>;
}

#[derive(Debug, Clone)]
pub struct DirectoryEntry {
    pub name: BString,
    pub kind: FileKind,
    pub inode: u64,
}

/// An open file description: shared by every descriptor that was duplicated from it, offset included.
pub trait OpenFile: Send + Sync {
    /// `Ok(0)` is the end. Blocks; a cancelled request answers `EINTR`.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    fn write(&self, data: &[u8]) -> io::Result<usize>;
    fn seek(&self, _position: SeekFrom) -> io::Result<u64> {
        Err(crate::errno::error(crate::errno::ESPIPE))
    }
    fn metadata(&self) -> io::Result<Metadata>;
    /// How long a regular file was when a walk found it. Who has read as much from its beginning need not ask for its end.
    fn length_when_found(&self) -> Option<u64> {
        None
    }
    fn truncate(&self, _length: u64) -> io::Result<()> {
        Err(crate::errno::error(crate::errno::EINVAL))
    }
    /// Waits until a read would not block: `Ok(false)` when the time is over (`read -t`).
    fn wait_readable(&self, _timeout: Duration) -> io::Result<bool> {
        Ok(true)
    }
    fn is_terminal(&self) -> bool {
        false
    }
    /// The real descriptor beneath, where there is one: for `poll`, and for handing it to a program.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    /// What a program gets when it is given this file. Something that exists only in this process may become real by
    /// being asked: what is read and written here from then on goes the same way as what the program does.
    fn real(&self, _maker: &dyn RealFiles) -> io::Result<Real> {
        Ok(if self.descriptor().is_some() { Real::Itself } else { Real::No })
    }
    /// Made to be read: where it is not real, a program gets its bytes, instead of writing some.
    fn is_source(&self) -> bool {
        false
    }
    /// Reports an error that only closing shows (a full disk); called once, when the shell closes the last use.
    fn finish(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A file as a program can have it.
pub enum Real {
    /// [`OpenFile::descriptor`] is what it gets.
    Itself,
    Other(Arc<dyn OpenFile>),
    /// Only this process can use it: bytes must be carried.
    No,
}

/// Makes files that the kernel knows.
pub trait RealFiles {
    /// The ends of a new pipe to read from and to write to, with these bytes in it.
    fn pipe(&self, bytes: &[u8]) -> io::Result<(Arc<dyn OpenFile>, Arc<dyn OpenFile>)>;
    /// Reads these bytes, and then the end.
    fn holding(&self, bytes: &[u8]) -> io::Result<Arc<dyn OpenFile>>;
}

impl dyn OpenFile {
    pub fn write_all(&self, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            match self.write(data)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => data = data.get(written..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    /// All of it, however much that is: for files whose size is known to be small. See [`Self::read_within`].
    pub fn read_to_end(&self, into: &mut Vec<u8>) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match self.read(&mut buffer)? {
                0 => return Ok(()),
                count => into.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            }
        }
    }

    /// All of it, as far as the request allows: a script may name `/dev/zero`.
    pub fn read_within(&self, control: &Control, into: &mut Vec<u8>) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            control.may_hold(into.len())?;
            match self.read(&mut buffer)? {
                0 => return Ok(()),
                count => into.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub truncate: bool,
    pub create: bool,
    /// With `create`: fail if it exists.
    pub exclusive: bool,
    /// Permissions of a file that is made, already masked with the umask.
    pub mode: u32,
    /// Fail with `ELOOP` if the last component is a symbolic link.
    pub no_follow: bool,
}

impl OpenOptions {
    pub fn reading() -> Self {
        OpenOptions { read: true, ..OpenOptions::default() }
    }

    /// `> file`
    pub fn writing(mode: u32) -> Self {
        OpenOptions { write: true, create: true, truncate: true, mode, ..OpenOptions::default() }
    }

    /// `>> file`
    pub fn appending(mode: u32) -> Self {
        OpenOptions { write: true, create: true, append: true, mode, ..OpenOptions::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayMiss {
    Nothing,
    LastComponent,
    Everything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Execute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    BlockDevice,
    CharacterDevice,
}

/// stat(2).
#[derive(Debug, Clone, Copy)]
pub struct Metadata {
    pub kind: FileKind,
    /// Permission bits, with setuid, setgid and sticky: `mode & 0o7777`.
    pub permissions: u32,
    pub size: u64,
    pub links: u64,
    pub user: u32,
    pub group: u32,
    pub device: u64,
    pub inode: u64,
    /// In units of 512 bytes.
    pub blocks: u64,
    pub block_size: u64,
    /// For a device node: its number.
    pub device_number: u64,
    pub accessed: SystemTime,
    pub modified: SystemTime,
    pub changed: SystemTime,
    pub created: Option<SystemTime>,
}

impl Metadata {
    pub fn is_directory(&self) -> bool {
        self.kind == FileKind::Directory
    }

    pub fn is_symlink(&self) -> bool {
        self.kind == FileKind::Symlink
    }

    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }
}

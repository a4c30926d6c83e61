//! What /proc says about the processes of a jail, seen from outside.
//!
//! Read through a handle on the process's own directory, which goes stale when the process ends: a number that is
//! given to another process meanwhile is never mistaken for it.
#![expect(clippy::disallowed_methods, reason = "the host's /proc, which no view of files shows")]

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use bstr::{BString, ByteSlice};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat, statat};

use crate::system::process::read_memory;

/// More than any of the small files read here has.
const SMALL: usize = 4096;

/// A process or thread of a jail.
pub struct Visible {
    folder: OwnedFd,
}

/// Who a process is, inside its jail and outside.
pub struct Standing {
    pub inside: u32,
    pub parent: u32,
}

/// Two files with the same are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    file: u64,
}

impl Visible {
    pub fn new(number: u32) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Visible { folder: openat(CWD, format!("/proc/{number}"), flags, Mode::empty())? })
    }

    fn open(&self, name: &str) -> io::Result<File> {
        Ok(openat(&self.folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    pub fn standing(&self) -> io::Result<Standing> {
        let mut text = [0; SMALL];
        let length = self.open("status")?.read(&mut text)?;
        let text = text.get(..length).unwrap_or_default();
        // The innermost namespace comes last.
        let last = |name: &[u8]| number(words(field(text, name)?).last()?);
        match (last(b"NStgid:"), last(b"PPid:")) {
            (Some(inside), Some(parent)) => Ok(Standing { inside, parent }),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    /// What a link of the directory says: `cwd`, or a descriptor.
    pub fn link(&self, name: &str) -> io::Result<BString> {
        Ok(readlinkat(&self.folder, name, Vec::new())?.into_bytes().into())
    }

    /// The file that is being executed.
    pub fn executed(&self) -> io::Result<Identity> {
        let found = statat(&self.folder, "exe", AtFlags::empty())?;
        Ok(Identity { device: found.st_dev, file: found.st_ino })
    }

    /// A file by its path as this process would find it. Only looked at, never opened.
    pub fn find(&self, path: &[u8]) -> io::Result<Found> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let root = openat(&self.folder, "root", flags | OFlags::DIRECTORY, Mode::empty())?;
        let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        Ok(Found(openat2(root, path, flags, Mode::empty(), within)?))
    }

    /// Whether there is still anything of it.
    pub fn is_there(&self) -> bool {
        statat(&self.folder, "stat", AtFlags::empty()).is_ok()
    }

    /// Whether it is more than a record of its end that nobody has asked for yet.
    pub fn lives(&self) -> io::Result<bool> {
        let mut text = [0; 1024];
        let length = self.open("stat")?.read(&mut text)?;
        let text = text.get(..length).unwrap_or_default();
        // The name stands in brackets, and may itself contain some.
        let after = text.rfind_byte(b')').and_then(|end| text.get(end + 1..)).unwrap_or_default();
        let mut fields = words(after);
        let dead = matches!(fields.next(), Some(b"Z" | b"X"));
        // A process whose first thread has ended shows that one.
        let threads = fields.nth(16).and_then(number);
        Ok(!dead || threads.is_none_or(|threads| threads > 1))
    }

    /// The children of all its threads, and how many threads those are. Its own number is that of its first thread.
    pub fn children(&self, number: u32) -> io::Result<(Vec<u32>, u64)> {
        // A directory has a link for each directory in it, and two more: so with one thread there is nothing to list.
        let threads = statat(&self.folder, "task", AtFlags::empty())?.st_nlink.saturating_sub(2);
        #[expect(clippy::useless_conversion, reason = "narrower on some architectures")]
        let count = u64::from(threads);
        if count == 1 {
            return Ok((self.children_of(number)?, count));
        }
        let mut children = Vec::new();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let threads = openat(&self.folder, "task", flags, Mode::empty())?;
        for thread in rustix::fs::Dir::read_from(&threads)? {
            let thread = thread?;
            let Ok(thread) = thread.file_name().to_str().unwrap_or_default().parse() else {
                continue;
            };
            match self.children_of(thread) {
                Ok(found) => children.extend(found),
                // Ended meanwhile; its children are another's now.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((children, count))
    }

    fn children_of(&self, thread: u32) -> io::Result<Vec<u32>> {
        let mut text = Vec::with_capacity(SMALL);
        self.open(&format!("task/{thread}/children"))?.read_to_end(&mut text)?;
        Ok(words(&text).filter_map(number).collect())
    }
}

/// Ended, or never there.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

/// A file that was looked up, and not opened.
pub struct Found(OwnedFd);

impl Found {
    pub fn identity(&self) -> io::Result<Identity> {
        let found = statat(&self.0, "", AtFlags::EMPTY_PATH)?;
        Ok(Identity { device: found.st_dev, file: found.st_ino })
    }

    /// The first bytes of an ordinary file. Others might wait for somebody, or do something.
    pub fn beginning(&self) -> io::Result<Vec<u8>> {
        let found = statat(&self.0, "", AtFlags::EMPTY_PATH)?;
        if rustix::fs::FileType::from_raw_mode(found.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        let path = format!("/proc/self/fd/{}", self.0.as_fd().as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file: File = openat(CWD, path, flags, Mode::empty())?.into();
        let mut bytes = vec![0; 256];
        let length = file.read_at(&mut bytes, 0)?;
        bytes.truncate(length);
        Ok(bytes)
    }
}

/// The memory of a process that waits for our answer: whoever reads it makes sure afterwards that it still waited, for
/// otherwise the number may have been another's.
pub struct Memory(pub u32);

impl Memory {
    /// A string of at most this many bytes; what is longer is cut.
    pub fn string(&self, address: u64, most: usize) -> io::Result<BString> {
        let mut text = Vec::new();
        let mut chunk = [0; 256];
        while text.len() < most {
            let at = address.saturating_add(text.len() as u64);
            let length = self.read(at, &mut chunk)?;
            let chunk = chunk.get(..length).unwrap_or_default();
            if let Some(end) = chunk.find_byte(0) {
                text.extend_from_slice(chunk.get(..end).unwrap_or_default());
                break;
            }
            text.extend_from_slice(chunk);
        }
        text.truncate(most);
        Ok(text.into())
    }

    /// The strings of a list that ends with a null address: at most so many, and so many bytes together.
    pub fn strings(&self, address: u64, most: usize, most_bytes: usize) -> Vec<BString> {
        let mut strings = Vec::new();
        let mut left = most_bytes;
        for address in self.addresses(address, most).unwrap_or_default() {
            let Ok(text) = self.string(address, left) else { break };
            left -= text.len();
            strings.push(text);
        }
        strings
    }

    fn addresses(&self, address: u64, most: usize) -> io::Result<Vec<u64>> {
        let mut found = Vec::new();
        let mut chunk = [0; 256];
        while address != 0 && found.len() < most {
            let at = address.saturating_add(found.len() as u64 * 8);
            let length = self.read(at, &mut chunk)?;
            let before = found.len();
            for word in chunk.get(..length).unwrap_or_default().chunks_exact(8) {
                let word = word.try_into().map_or(0, u64::from_ne_bytes);
                if word == 0 || found.len() >= most {
                    return Ok(found);
                }
                found.push(word);
            }
            if found.len() == before {
                break;
            }
        }
        Ok(found)
    }

    /// As much as there is before the next page: that one may not be there.
    fn read(&self, at: u64, chunk: &mut [u8]) -> io::Result<usize> {
        let left_on_page = 4096 - at % 4096;
        let length = usize::try_from(left_on_page).unwrap_or(0).min(chunk.len());
        let chunk = chunk.get_mut(..length).unwrap_or_default();
        let length = read_memory(self.0, at, chunk)?;
        if length == 0 { Err(io::Error::from_raw_os_error(libc::EFAULT)) } else { Ok(length) }
    }
}

/// The rest of the line that begins so.
fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<u32> {
    word.to_str().ok()?.parse().ok()
}

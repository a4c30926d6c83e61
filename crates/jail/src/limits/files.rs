//! Small files of the kernel's: read whole, written at once.
#![expect(
    clippy::disallowed_methods,
    reason = "the kernel's own files about processes, not files of a project"
)]

use std::fs;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// Those files are short; one that never ends must not fill the memory.
const LONGEST: u64 = 4 << 20;
/// Most of them are shorter than that.
const USUAL: usize = 8 << 10;
/// The kernel makes the whole of such a file at once and gives as much as there is room for, at least a page: so less than half
/// of one is all of it, and need not be asked for the end.
const ALL_OF_IT: usize = 2 << 10;

pub fn read(path: impl AsRef<Path>) -> io::Result<BString> {
    read_open(&fs::File::open(path)?)
}

/// In one call, without making the file where there is none.
pub fn write(path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    write_open(&file, text)
}

pub fn write_open(file: &fs::File, text: &str) -> io::Result<()> {
    match rustix::io::pwrite(file, text.as_bytes(), 0)? {
        written if written == text.len() => Ok(()),
        _ => Err(Errno::IO.into()),
    }
}

/// Writes where there is such a file.
pub fn write_if_there(path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    match write(path, text) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// To be read again and again. For writing too, where that is allowed.
pub fn open(path: impl AsRef<Path>) -> io::Result<fs::File> {
    let path = path.as_ref();
    let both = fs::OpenOptions::new().read(true).write(true).open(path);
    both.or_else(|_| fs::File::open(path))
}

/// One in a directory that is open, to read it or to write to it.
pub fn open_in(directory: &OwnedFd, name: &str, access: OFlags) -> io::Result<fs::File> {
    Ok(openat(directory, name, access | OFlags::CLOEXEC, Mode::empty())?.into())
}

pub fn open_directory(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// From the beginning.
pub fn read_open(file: &fs::File) -> io::Result<BString> {
    let mut begun = [0; 2 * ALL_OF_IT];
    let count = loop {
        match rustix::io::pread(file, &mut begun, 0) {
            Err(Errno::INTR) => {}
            count => break count?,
        }
    };
    if count < ALL_OF_IT {
        return Ok(begun.get(..count).unwrap_or_default().into());
    }
    // The kernel writes such a file anew for each piece that is asked for.
    let mut content = Vec::with_capacity(USUAL);
    let mut file = file;
    file.seek(io::SeekFrom::Start(0))?;
    file.take(LONGEST).read_to_end(&mut content)?;
    Ok(content.into())
}

/// The number that is the whole content.
pub fn number(content: &BString) -> Option<u64> {
    words(content).next()?.to_str().ok()?.parse().ok()
}

/// The number in the line that begins with this word.
pub fn number_of(content: &BString, word: &str) -> Option<u64> {
    content.lines().find_map(|line| {
        let rest = line.strip_prefix(word.as_bytes())?;
        let rest = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b":"))?;
        words(rest).next()?.to_str().ok()?.parse().ok()
    })
}

/// What stands between blanks.
pub fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

pub fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Only an empty one: a group without processes and without groups below it.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

/// Of the control groups that a directory belongs to; `None`: it is no such directory.
pub fn groups_version(path: &Path) -> Option<u8> {
    const FIRST: i64 = 0x0027_e0eb;
    const SECOND: i64 = 0x6367_7270;
    match rustix::fs::statfs(path).ok()?.f_type {
        FIRST => Some(1),
        SECOND => Some(2),
        _ => None,
    }
}

/// The names in a directory; none when it cannot be read.
pub fn names(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into()).collect()
}

/// A path without links in it.
pub fn real(path: &str) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// What the kernel calls a file that is open somewhere.
pub fn target(path: &Path) -> Option<BString> {
    let target = fs::read_link(path).ok()?;
    Some(target.as_os_str().as_bytes().into())
}

/// The bytes of a file that is open somewhere, and what tells it from others.
pub fn size(path: &Path) -> Option<((u64, u64), u64)> {
    let found = fs::metadata(path).ok()?;
    // The kernel counts in half kilobytes, whatever the block size.
    Some(((found.dev(), found.ino()), found.blocks().saturating_mul(512)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_word() {
        let content: BString = "oom 1\noom_kill 23\nusage_usec 4 more\nPid:\t77\nempty\n".into();
        let cases = [
            ("oom", Some(1)),
            ("oom_kill", Some(23)),
            ("usage_usec", Some(4)),
            ("Pid", Some(77)),
            ("empty", None),
            ("missing", None),
            ("oom_", None),
        ];
        for (word, expected) in cases {
            assert_eq!(number_of(&content, word), expected, "{word}");
        }
    }
}

//! Is a file tracked by git? Read from git's own index, without git.
//!
//! A wrong "no" would let a repository allow its own commands. So whatever cannot be read or understood is a "yes".

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's repository, asked before anything runs; nothing is opened for a script"
)]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::filesystem::path;

/// Time stamps, device, inode, mode, owner and size in front of an entry's object name.
const STATUS: usize = 40;
/// Object names are SHA-1 or SHA-256.
const HASHES: [usize; 2] = [20, 32];
/// An entry with two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// A file of this many bytes is no index that anybody has.
const MAXIMUM_SIZE: u64 = 1 << 30;

/// Does any repository around `root` track `root/name`?
pub(crate) fn is_tracked(root: &Path, name: &str) -> bool {
    let Ok(root) = fs::canonicalize(root) else { return true };
    root.ancestors().any(|top| {
        let below = root.strip_prefix(top).unwrap_or(Path::new("")).join(name);
        is_tracked_in(top, below.as_os_str().as_bytes())
    })
}

fn is_tracked_in(top: &Path, name: &[u8]) -> bool {
    match git_directory(top) {
        Ok(Some(directory)) => index_names(&directory, "index", name),
        Ok(None) => false,
        Err(_) => true,
    }
}

/// `.git`, or where a file of that name points to (worktrees, submodules).
fn git_directory(top: &Path) -> io::Result<Option<PathBuf>> {
    let git = top.join(".git");
    let metadata = match fs::metadata(&git) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Ok(Some(git));
    }
    let content = read(&git)?;
    let target = content.strip_prefix(b"gitdir:").ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(top.join(OsStr::from_bytes(target.trim_ascii()))))
}

fn index_names(directory: &Path, file: &str, name: &[u8]) -> bool {
    let content = match read(&directory.join(file)) {
        Ok(content) => content,
        // Nothing was ever added. The other half of a split index must be there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return file != "index",
        Err(_) => return true,
    };
    for hash in HASHES {
        let mut found = false;
        let mut visit = |entry: &[u8]| found |= covers(entry, name);
        let Some(half) = parse(&content, hash, &mut visit) else { continue };
        return found
            || match half {
                Half::Of(shared) if file == "index" => index_names(directory, &shared, name),
                Half::Of(_) => true,
                Half::Whole => false,
            };
    }
    true
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAXIMUM_SIZE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    fs::read(path)
}

/// The entry is the file, or a directory of a sparse index or a link that stands for one of its parents. Spelled in
/// any way that a case-folding file system takes for the same.
fn covers(entry: &[u8], name: &[u8]) -> bool {
    let (mut entry, mut name) = (path::components(entry), path::components(name));
    loop {
        match (entry.next(), name.next()) {
            (None, _) => return true,
            (Some(one), Some(other)) if same(one, other) => {}
            _ => return false,
        }
    }
}

fn same(one: &[u8], other: &[u8]) -> bool {
    let both_hidden = path::is_hidden(one) && path::is_hidden(other);
    both_hidden || one.eq_ignore_ascii_case(other)
}

/// Is an index complete in itself?
#[derive(Debug, PartialEq, Eq)]
enum Half {
    Whole,
    /// It only changes the index in this file.
    Of(String),
}

/// Every path of an index of version 2 to 4. `None`: this is not one, or not with object names of this length.
fn parse(content: &[u8], hash: usize, visit: &mut dyn FnMut(&[u8])) -> Option<Half> {
    let mut reader = Reader { content: content.get(..content.len().checked_sub(hash)?)?, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = reader.number()?;
    let mut name = Vec::new();
    for _ in 0..count {
        reader.entry(version, hash, &mut name)?;
        visit(&name);
    }
    reader.extensions(hash)
}

struct Reader<'a> {
    /// Without the checksum at its end.
    content: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.content.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// Leaves the entry's path in `name`, which holds the path before it.
    fn entry(&mut self, version: u32, hash: usize, name: &mut Vec<u8>) -> Option<()> {
        let start = self.at;
        self.take(STATUS + hash)?;
        let flags = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        if flags & EXTENDED != 0 {
            if version == 2 {
                return None;
            }
            self.take(2)?;
        }
        if version == 4 {
            let dropped = usize::try_from(self.offset()?).ok()?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let rest = self.content.get(self.at..)?;
        let length = rest.iter().position(|&byte| byte == 0)?;
        name.extend_from_slice(self.take(length)?);
        if version == 4 {
            self.take(1)?;
        } else {
            // One to eight NULs, up to a multiple of eight from the start of the entry.
            let padding = 8 - (self.at - start) % 8;
            self.take(padding)?.iter().all(|&byte| byte == 0).then_some(())?;
        }
        (!name.is_empty()).then_some(())
    }

    /// A number as git packs it: seven bits in a byte, each continuation counting from one more.
    fn offset(&mut self) -> Option<u64> {
        let mut byte = self.byte()?;
        let mut value = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            value = value.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
        }
        Some(value)
    }

    /// What follows the entries must fill the file exactly: else the entries were misread.
    fn extensions(&mut self, hash: usize) -> Option<Half> {
        let mut half = Half::Whole;
        while self.at < self.content.len() {
            let kind = self.take(4)?;
            let length = usize::try_from(self.number()?).ok()?;
            let data = self.take(length)?;
            if kind != b"link" {
                continue;
            }
            let base = data.get(..hash)?;
            if base.iter().any(|&byte| byte != 0) {
                half = Half::Of(format!("sharedindex.{}", hexadecimal(base)));
            }
        }
        Some(half)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index as git writes it.
    fn index(version: u32, hash: usize, names: &[&str], extension: &[u8]) -> Vec<u8> {
        let mut content = b"DIRC".to_vec();
        content.extend(version.to_be_bytes());
        content.extend((names.len() as u32).to_be_bytes());
        let mut before = "";
        for name in names {
            let start = content.len();
            content.extend(vec![7; STATUS + hash]);
            let extended = version >= 3;
            content.extend((if extended { EXTENDED } else { 0 }).to_be_bytes());
            if extended {
                content.extend([0, 0]);
            }
            if version == 4 {
                let common = before.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
                content.push((before.len() - common) as u8);
                content.extend(&name.as_bytes()[common..]);
                content.push(0);
            } else {
                content.extend(name.as_bytes());
                let padding = 8 - (content.len() - start) % 8;
                content.extend(vec![0; padding]);
            }
            before = name;
        }
        content.extend(extension);
        content.extend(vec![9; hash]);
        content
    }

    fn names(content: &[u8], hash: usize) -> Option<Vec<String>> {
        let mut names = Vec::new();
        let mut visit = |name: &[u8]| names.push(String::from_utf8_lossy(name).into_owned());
        parse(content, hash, &mut visit)?;
        Some(names)
    }

    #[test]
    fn every_version_and_hash_is_read() {
        let expected = [".clada/commands.json", ".clada/x", "README.md", "src/main.rs"];
        let tree = [b"TREE".as_slice(), &3_u32.to_be_bytes(), b"abc"].concat();
        for version in 2..=4 {
            for hash in HASHES {
                let content = index(version, hash, &expected, &tree);
                assert_eq!(names(&content, hash).expect("an index"), expected, "{version} {hash}");
                for end in 0..content.len() {
                    // A torn file is never taken for a whole one with other names.
                    let torn = names(&content[..end], hash);
                    assert!(torn.is_none_or(|names| names == expected), "{version} {hash} {end}");
                }
            }
        }
    }

    #[test]
    fn an_entry_covers_the_file_in_every_spelling() {
        let file = b"sub/.clada/commands.json";
        for entry in ["sub/.clada/commands.json", "sub/.CLADA/Commands.JSON", "sub/.clada/", "sub"]
        {
            assert!(covers(entry.as_bytes(), file), "{entry}");
        }
        for entry in [".clada/commands.json", "sub/.clada/commands.json.old", "sub/x", "su"] {
            assert!(!covers(entry.as_bytes(), file), "{entry}");
        }
    }

    #[test]
    fn a_split_index_names_its_other_half() {
        let mut data = vec![0xab; 20];
        data.extend([1, 2, 3]);
        let link = [b"link".as_slice(), &23_u32.to_be_bytes(), &data].concat();
        let content = index(2, 20, &["a"], &link);
        let shared = parse(&content, 20, &mut |_| {}).expect("an index");
        assert_eq!(shared, Half::Of(format!("sharedindex.{}", "ab".repeat(20))));
    }
}

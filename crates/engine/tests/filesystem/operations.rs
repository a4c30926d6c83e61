//! A small language for file operations, so that a test is a table: `mv a b => ENOENT`.
//!
//! Paths are relative to the root unless they start with a slash; `~` is the root itself. `%s` is a space, `%0` a NUL.

use std::io::{self, Write as _};
use std::time::{Duration, SystemTime};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::filesystem::{
    Access, Directory, FileKind, FileSystem, Follow, MayMiss, Metadata, OpenOptions,
};

/// Every operation with its number of paths: for attacks that try them all.
pub const OPERATIONS: &[(&str, usize)] = &[
    ("read", 1),
    ("write", 1),
    ("append", 1),
    ("overwrite", 1),
    ("create", 1),
    ("nofollow", 1),
    ("stat", 1),
    ("lstat", 1),
    ("readlink", 1),
    ("real", 1),
    ("access", 1),
    ("execute", 1),
    ("list", 1),
    ("walk", 1),
    ("mkdir", 1),
    ("rmdir", 1),
    ("rm", 1),
    ("fifo", 1),
    ("chmod", 1),
    ("chown", 1),
    ("utime", 1),
    ("symlink", 1),
    ("mv", 2),
    ("mvn", 2),
    ("link", 2),
];

/// The last component is not followed by these.
pub const BY_NAME: &[&str] = &[
    "walk", "lstat", "readlink", "rm", "rmdir", "mkdir", "fifo", "symlink", "mv", "mvn", "link",
    "create", "nofollow",
];

/// Runs a line and gives what came out: a value, `ok`, or the name of an error.
pub fn run(files: &dyn FileSystem, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match perform(files, &words) {
        Ok(value) => value,
        Err(error) => error_name(&error),
    }
}

fn perform(files: &dyn FileSystem, words: &[&str]) -> io::Result<String> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let path = absolute(files, word(1));
    match look(files, word(0), path.as_bstr(), word(2)) {
        Some(result) => result,
        None => change(files, word(0), path.as_bstr(), word(2)).map(|()| "ok".to_owned()),
    }
}

fn look(
    files: &dyn FileSystem,
    operation: &str,
    path: &BStr,
    second: &str,
) -> Option<io::Result<String>> {
    let canonical = |missing| files.canonicalize(path, missing).map(|path| relative(files, &path));
    let stat = |follow| files.metadata(path, follow);
    Some(match operation {
        "read" => read(files, path, OpenOptions::reading()),
        "nofollow" => read(files, path, OpenOptions { no_follow: true, ..OpenOptions::reading() }),
        "stat" => stat(Follow::Yes).map(|found| describe(&found)),
        "lstat" => stat(Follow::No).map(|found| describe(&found)),
        "nlink" => stat(Follow::No).map(|found| found.links.to_string()),
        "mtime" => stat(Follow::No).map(|found| seconds(found.modified)),
        "readlink" => files.read_link(path).map(|text| text.to_string()),
        "real" => canonical(MayMiss::Nothing),
        "reale" => canonical(MayMiss::LastComponent),
        "realm" => canonical(MayMiss::Everything),
        "list" => list(files, path),
        "walk" => walk(files, path),
        "same" => same(files, path, absolute(files, second).as_bstr()),
        _ => return None,
    })
}

fn change(files: &dyn FileSystem, operation: &str, path: &BStr, second: &str) -> io::Result<()> {
    let other = || absolute(files, second);
    match operation {
        "write" => write(files, path, second, OpenOptions::writing(0o644)),
        "append" => write(files, path, second, OpenOptions::appending(0o644)),
        "overwrite" => {
            write(files, path, second, OpenOptions { write: true, ..OpenOptions::default() })
        }
        "create" => {
            let options = OpenOptions { exclusive: true, ..OpenOptions::writing(0o600) };
            write(files, path, second, options)
        }
        "access" => files.access(path, Access::Write),
        "execute" => files.access(path, Access::Execute),
        "mkdir" => files.create_directory(path, 0o755),
        "rmdir" => files.remove_directory(path),
        "rm" => files.trash(path),
        "fifo" => files.create_fifo(path, 0o600),
        "chmod" => files.set_mode(path, octal(second), Follow::Yes),
        "chown" => {
            let owner = files.metadata(files.root(), Follow::Yes)?;
            files.set_owner(path, Some(owner.user), Some(owner.group), Follow::Yes)
        }
        "utime" => {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second.parse().unwrap_or(7));
            files.set_times(path, Some(time), Some(time), Follow::Yes)
        }
        "symlink" => files.create_symlink(text(files, second).as_bstr(), path),
        "mv" => files.rename(path, other().as_bstr(), true),
        "mvn" => files.rename(path, other().as_bstr(), false),
        "link" => files.create_hard_link(path, other().as_bstr()),
        unknown => panic!("no such operation: {unknown}"),
    }
}

fn list(files: &dyn FileSystem, path: &BStr) -> io::Result<String> {
    let entries = files.open_directory(path, Follow::Yes)?.entries()?;
    let mut names: Vec<_> = entries.iter().map(|entry| plain(entry.name.as_bstr())).collect();
    names.sort();
    Ok(names.join(" "))
}

fn walk(files: &dyn FileSystem, path: &BStr) -> io::Result<String> {
    let mut names = Vec::new();
    descend(&*files.open_directory(path, Follow::No)?, "", &mut names)?;
    names.sort();
    Ok(names.join(" "))
}

fn same(files: &dyn FileSystem, one: &BStr, other: &BStr) -> io::Result<String> {
    let one = files.metadata(one, Follow::No)?;
    let other = files.metadata(other, Follow::No)?;
    Ok(((one.device, one.inode) == (other.device, other.inode)).to_string())
}

fn read(files: &dyn FileSystem, path: &BStr, options: OpenOptions) -> io::Result<String> {
    let mut bytes = Vec::new();
    files.open(path, options)?.read_to_end(&mut bytes)?;
    Ok(bytes.to_str_lossy().into_owned())
}

fn write(files: &dyn FileSystem, path: &BStr, text: &str, options: OpenOptions) -> io::Result<()> {
    let file = files.open(path, options)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

fn descend(directory: &dyn Directory, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in directory.entries()? {
        let found = directory.metadata(entry.name.as_bstr(), Follow::No)?;
        assert_eq!(found.kind, entry.kind, "{}", entry.name);
        assert_eq!(found.inode, entry.inode, "{}", entry.name);
        let path = format!("{prefix}{}", plain(entry.name.as_bstr()));
        match entry.kind {
            FileKind::Directory => {
                let below = directory.open_directory(entry.name.as_bstr(), Follow::No)?;
                descend(&*below, &format!("{path}/"), names)?;
                names.push(format!("{path}/"));
            }
            FileKind::Symlink => {
                names.push(format!("{path}@{}", directory.read_link(entry.name.as_bstr())?));
            }
            _ => {
                let mut bytes = Vec::new();
                directory.open_file(entry.name.as_bstr(), Follow::No)?.read_to_end(&mut bytes)?;
                names.push(format!("{path}={}", bytes.as_bstr()));
            }
        }
    }
    Ok(())
}

pub fn absolute(files: &dyn FileSystem, word: &str) -> BString {
    let mut path = Vec::new();
    let word = word.replace("%s", " ").replace("%0", "\0");
    match word.strip_prefix('~') {
        Some(rest) => write!(path, "{}{rest}", files.root()).unwrap(),
        None if word.starts_with('/') || word.is_empty() => path.extend_from_slice(word.as_bytes()),
        None => write!(path, "{}/{word}", files.root()).unwrap(),
    }
    path.into()
}

/// The text of a link: only `~` means something.
fn text(files: &dyn FileSystem, word: &str) -> BString {
    if word.starts_with('~') { absolute(files, word) } else { word.into() }
}

fn relative(files: &dyn FileSystem, path: &BString) -> String {
    let path = path.to_string();
    match path.strip_prefix(&files.root().to_string()) {
        Some(rest) => format!("~{rest}"),
        None => path,
    }
}

/// Names in the trash begin with the time.
fn plain(name: &BStr) -> String {
    let name = name.to_string();
    match name.split_once("Z_") {
        Some((time, rest)) if time.len() == 25 && time.starts_with("20") => format!("TIME_{rest}"),
        _ => name,
    }
}

fn describe(found: &Metadata) -> String {
    let size = match found.kind {
        FileKind::File | FileKind::Symlink => format!(" {}", found.size),
        _ => String::new(),
    };
    format!("{:?} {:o}{size}", found.kind, found.permissions)
}

fn seconds(time: SystemTime) -> String {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs().to_string()
}

fn octal(word: &str) -> u32 {
    u32::from_str_radix(word, 8).unwrap_or(0o700)
}

pub fn error_name(error: &io::Error) -> String {
    let names = [
        (1, "EPERM"),
        (2, "ENOENT"),
        (4, "EINTR"),
        (6, "ENXIO"),
        (9, "EBADF"),
        (13, "EACCES"),
        (16, "EBUSY"),
        (17, "EEXIST"),
        (18, "EXDEV"),
        (20, "ENOTDIR"),
        (21, "EISDIR"),
        (22, "EINVAL"),
        (27, "EFBIG"),
        (28, "ENOSPC"),
        (36, "ENAMETOOLONG"),
        (39, "ENOTEMPTY"),
        (40, "ELOOP"),
        (95, "EOPNOTSUPP"),
    ];
    let number = error.raw_os_error().unwrap_or(0);
    let found = names.iter().find(|(known, _)| *known == number);
    found.map_or_else(|| format!("{error:?}"), |(_, name)| (*name).to_owned())
}

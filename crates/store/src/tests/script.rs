//! The little language of direct changes: one operation a line, done plainly or with a recording, as builtins do it.
//!
//! Words are separated by blanks; `\xHH` is a byte, `\s` a blank. See `tests/shapes/direct.txt`.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, Timespec, Timestamps, XattrFlags};

use crate::{Recording, UndoError};

/// Runs operations until one cannot be recorded.
pub(super) fn run(
    root: &Path,
    script: &str,
    recording: Option<&Recording>,
) -> Result<(), UndoError> {
    let hand = Hand { root, recording };
    for line in script.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<Vec<u8>> = line.split_whitespace().map(unescape).collect();
        // The root is the empty path.
        let word = |word: &'_ Vec<u8>| if *word == b"." { Vec::new() } else { word.clone() };
        let words: Vec<Vec<u8>> = words.iter().map(word).collect();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        hand.operation(&words)?;
    }
    Ok(())
}

fn unescape(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        match (first, behind) {
            (b'\\', [b's', behind @ ..]) => {
                bytes.push(b' ');
                rest = behind;
            }
            (b'\\', [b'x', high, low, behind @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = behind;
            }
            _ => bytes.push(first),
        }
    }
    bytes
}

struct Hand<'a> {
    root: &'a Path,
    recording: Option<&'a Recording>,
}

fn number(word: &[u8], radix: u32) -> u64 {
    u64::from_str_radix(std::str::from_utf8(word).unwrap(), radix).unwrap()
}

impl Hand<'_> {
    fn at(&self, path: &[u8]) -> PathBuf {
        self.root.join(OsStr::from_bytes(path))
    }

    fn operation(&self, words: &[&[u8]]) -> Result<(), UndoError> {
        match words {
            [b"file", path, content @ ..] => {
                self.create(path)?;
                fs::write(self.at(path), content.join(&b' ')).unwrap();
            }
            [b"many", path, count] => {
                for index in 0..number(count, 10) {
                    let path = [*path, b"/", index.to_string().as_bytes()].concat();
                    self.create(&path)?;
                    fs::write(self.at(&path), index.to_string()).unwrap();
                }
            }
            [b"dir", path] => {
                self.create(path)?;
                fs::create_dir(self.at(path)).unwrap();
            }
            [b"symlink", target, path] => {
                self.create(path)?;
                symlink(OsStr::from_bytes(target), self.at(path)).unwrap();
            }
            [b"renew", path, content @ ..] => self.renew(path, &content.join(&b' '))?,
            [b"hard", existing, path] => {
                let link = |recording: &Recording| recording.link(existing, path).map(|_| ());
                self.recording.map_or(Ok(()), link)?;
                fs::hard_link(self.at(existing), self.at(path)).unwrap();
            }
            [b"fifo", path] => {
                self.create(path)?;
                let mode = Mode::from_raw_mode(0o644);
                rustix::fs::mkfifoat(CWD, self.at(path), mode).unwrap();
            }
            [b"sparse", path, size] => {
                self.create(path)?;
                fs::File::create(self.at(path)).unwrap().set_len(number(size, 10)).unwrap();
            }
            [b"fail", path] => {
                if let Some(recording) = self.recording {
                    let announced = recording.create(path)?;
                    recording.failed(announced)?;
                }
            }
            [b"rm" | b"trash" | b"mv" | b"replace", ..] => self.relocation(words)?,
            _ => self.change(words)?,
        }
        Ok(())
    }

    /// Written over as large files are.
    fn renew(&self, path: &[u8], content: &[u8]) -> Result<(), UndoError> {
        let new = match self.recording {
            Some(recording) => recording.renew(path)?,
            None => None,
        };
        match (new, self.recording) {
            (Some(new), _) => fs::File::from(new).write_all(content).unwrap(),
            (None, recording) => {
                recording.map_or(Ok(()), |recording| recording.before_write(path))?;
                fs::write(self.at(path), content).unwrap();
            }
        }
        Ok(())
    }

    fn create(&self, path: &[u8]) -> Result<(), UndoError> {
        self.recording.map_or(Ok(()), |recording| recording.create(path).map(|_| ()))
    }

    fn relocation(&self, words: &[&[u8]]) -> Result<(), UndoError> {
        match (words, self.recording) {
            ([b"rm", path], Some(recording)) => recording.delete(path)?,
            ([b"rm", path], None) => {
                let path = self.at(path);
                let is_dir = fs::symlink_metadata(&path).unwrap().is_dir();
                if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
            }
            ([b"trash", path], recording) => {
                let name = path.rsplit(|&byte| byte == b'/').next().unwrap();
                let to = [b".trash/1_", name].concat();
                if !self.at(b".trash").exists() {
                    self.create(b".trash")?;
                    fs::create_dir(self.at(b".trash")).unwrap();
                }
                recording.map_or(Ok(()), |recording| recording.trash(path, &to).map(|_| ()))?;
                fs::rename(self.at(path), self.at(&to)).unwrap();
            }
            ([b"mv", from, to], recording) => {
                recording.map_or(Ok(()), |recording| recording.moved(from, to).map(|_| ()))?;
                fs::rename(self.at(from), self.at(to)).unwrap();
            }
            ([b"replace", from, to], Some(recording)) => recording.replace(from, to)?,
            ([b"replace", from, to], None) => fs::rename(self.at(from), self.at(to)).unwrap(),
            _ => panic!("{words:?}"),
        }
        Ok(())
    }

    fn change(&self, words: &[&[u8]]) -> Result<(), UndoError> {
        let [verb, path, ..] = words else { panic!("{words:?}") };
        let is_write = matches!(*verb, b"over" | b"at" | b"truncate");
        if let Some(recording) = self.recording {
            match *verb {
                b"append" => recording.before_append(path)?,
                _ if is_write => recording.before_write(path)?,
                _ => recording.before_meta(path)?,
            }
        }
        let place = self.at(path);
        match words {
            [b"append", _, content] => {
                let mut file = OpenOptions::new().append(true).open(place).unwrap();
                file.write_all(content).unwrap();
            }
            [b"over", _, content] => {
                let options = OpenOptions::new().write(true).truncate(true).open(place);
                options.unwrap().write_all(content).unwrap();
            }
            [b"at", _, offset, content] => {
                let file = OpenOptions::new().write(true).open(place).unwrap();
                file.write_all_at(content, number(offset, 10)).unwrap();
            }
            [b"truncate", _, size] => {
                let file = OpenOptions::new().write(true).open(place).unwrap();
                file.set_len(number(size, 10)).unwrap();
            }
            [b"mode", _, mode] => {
                let mode = fs::Permissions::from_mode(number(mode, 8) as u32);
                fs::set_permissions(place, mode).unwrap();
            }
            [b"time", _, seconds, nanos] => {
                let time = Timespec {
                    tv_sec: number(seconds, 10) as i64,
                    tv_nsec: number(nanos, 10) as i64,
                };
                let times = Timestamps { last_access: time, last_modification: time };
                let nofollow = AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::utimensat(CWD, place, &times, nofollow).unwrap();
            }
            [b"xattr", _, name, value] => {
                rustix::fs::setxattr(place, *name, value, XattrFlags::empty()).unwrap();
            }
            [b"unxattr", _, name] => rustix::fs::removexattr(place, *name).unwrap(),
            _ => panic!("{words:?}"),
        }
        Ok(())
    }
}

/// A named case of a file of shapes: `## name`, what is there, `--`, what is done.
pub(super) struct Shape {
    pub name: &'static str,
    pub setup: &'static str,
    pub change: &'static str,
}

pub(super) fn shapes(text: &'static str) -> Vec<Shape> {
    let cases = text.split("\n## ").skip(1);
    let shape = |case: &'static str| {
        let (name, body) = case.split_once('\n').unwrap();
        let (setup, change) = body.split_once("--\n").unwrap();
        Shape { name, setup, change }
    };
    cases.map(shape).collect()
}

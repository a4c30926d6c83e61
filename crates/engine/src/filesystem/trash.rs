//! Soft deletion. `rm` inside the project is a rename to `.trash/{timestamp}_{name}`; in the private `/tmp` it is for
//! good.
//!
//! Where an entry came from is recorded before it moves, in `.clada/trash/<same name>.json`: nothing of ours is in the
//! visible `.trash`, and a crash leaves at worst a record without an entry.

use std::fmt::Write;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::cover;
use super::recorded::Recorder;
use super::resolve::Resolver;
use super::walk::{Arrival, Ending, Walked};
use super::{Handle, git_exclude, state, tree};

pub(crate) const TRASH: &str = ".trash";

/// A name on disk may have 255 bytes; the record is called the same with `.json` behind it.
const LONGEST: usize = 255 - ".json".len();

/// The clock has nanoseconds, so a second try is rare and a third almost impossible.
const TRIES: u32 = 100;

pub(crate) fn trash(resolver: &Resolver, recorder: &Recorder, path: &BStr) -> io::Result<()> {
    let Walked::At(arrival) = resolver.walk(path, Ending::Keep)? else {
        return Err(errno::error(errno::EPERM));
    };
    let (directory, project) = (arrival.place()?, resolver.mounts.is_project(arrival.mount));
    let name = deletable(&arrival)?;
    let stat = rustix::fs::statat(&directory, &**name, AtFlags::SYMLINK_NOFOLLOW)?;
    if arrival.slash && FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(errno::error(errno::ENOTDIR));
    }
    if !project {
        return tree::remove(&directory, name);
    }
    if is_trash(&arrival) {
        return Err(errno::error(errno::EPERM));
    }
    let original = super::path::join(arrival.names());
    let place = super::path::relative(arrival.names());
    let entry =
        Entry { directory: &directory, name, original: original.as_bstr(), place, recorder };
    let root = resolver.mounts.project().ok_or_else(super::missing)?;
    entry.move_into(&root, resolver)
}

/// The name to delete: not a mount itself, not `.` or `..`.
pub(crate) fn deletable<Place: Clone>(arrival: &Arrival<Place>) -> io::Result<&BStr> {
    match &arrival.last {
        Some(name) => Ok(name.as_bstr()),
        None if arrival.is_top() => Err(errno::error(errno::EBUSY)),
        None => Err(errno::error(errno::EINVAL)),
    }
}

/// What is in the trash has been deleted already.
pub(crate) fn is_trash<Place: Clone>(arrival: &Arrival<Place>) -> bool {
    arrival.names().next() == Some(TRASH.as_bytes())
}

struct Entry<'a> {
    directory: &'a Handle,
    name: &'a BStr,
    original: &'a BStr,
    /// The same for the undo journal.
    place: BString,
    recorder: &'a Recorder,
}

impl Entry<'_> {
    fn move_into(&self, root: &Handle, resolver: &Resolver) -> io::Result<()> {
        let trash = self.folder(root)?;
        let records = resolver.mounts.state().subdirectory("trash")?;
        for _ in 0..TRIES {
            let time = timestamp(SystemTime::now());
            let name = trash_name(&time, self.name);
            let record = Record { directory: &records, name: [&name[..], b".json"].concat() };
            match record.write(self.original, &time) {
                Err(error) if errno::is(&error, errno::EEXIST) => continue,
                result => result?,
            }
            match self.rename(&trash, &name) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    record.remove();
                    if !errno::is(&error, errno::EEXIST) {
                        return Err(error);
                    }
                }
            }
        }
        Err(errno::error(errno::EEXIST))
    }

    /// `.trash`, made if it is missing.
    fn folder(&self, root: &Handle) -> io::Result<OwnedFd> {
        match state::open_existing(root, TRASH) {
            Err(error) if errno::is(&error, errno::ENOENT) => {}
            opened => return opened,
        }
        let make = || state::ensure(root, TRASH);
        let (trash, made) = self.recorder.creating(Some(TRASH.into()), make)?;
        if made {
            git_exclude::exclude(root, self.recorder);
        }
        Ok(trash)
    }

    fn rename(&self, trash: &OwnedFd, name: &[u8]) -> io::Result<()> {
        let to = super::path::relative([TRASH.as_bytes(), name]);
        match self.recorder.at(Some(self.place.clone()))? {
            Some(announcing) => {
                match announcing.trash(to.as_bstr(), || self.try_rename(trash, name)) {
                    Err(error) if errno::is(&error, errno::EXDEV) => announcing.delete(),
                    done => done,
                }
            }
            None => cover::making(|| self.rename_plainly(trash, name)),
        }
    }

    fn rename_plainly(&self, trash: &OwnedFd, name: &[u8]) -> io::Result<()> {
        match self.try_rename(trash, name) {
            // On the layer of a request the deletion is recorded as such, and what it was is kept when the layer is applied.
            Err(error) if errno::is(&error, errno::EXDEV) && self.recorder.is_layered() => {
                tree::remove(self.directory, self.name)
            }
            Err(error) if errno::is(&error, errno::EXDEV) => self.copy_then_delete(trash, name),
            done => done,
        }
    }

    fn try_rename(&self, trash: &OwnedFd, name: &[u8]) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(self.directory, &**self.name, trash, name, flags) {
            // File systems without RENAME_NOREPLACE: the name carries nanoseconds and a record of its own.
            Err(Errno::INVAL | Errno::NOSYS) if !exists(trash, name) => {
                Ok(rustix::fs::renameat(self.directory, &**self.name, trash, name)?)
            }
            result => Ok(result?),
        }
    }

    /// Another file system is mounted inside the project. The original goes only when the copy is complete.
    fn copy_then_delete(&self, trash: &OwnedFd, name: &[u8]) -> io::Result<()> {
        if let Err(error) = tree::copy(self.directory, self.name, trash, name) {
            let _partial = tree::remove(trash, name);
            return Err(error);
        }
        tree::remove(self.directory, self.name)
    }
}

fn exists(directory: &OwnedFd, name: &[u8]) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

struct Record<'a> {
    directory: &'a OwnedFd,
    name: Vec<u8>,
}

impl Record<'_> {
    fn write(&self, original: &BStr, time: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(self.directory, &*self.name, flags, mode)?;
        let text = record_text(original, time);
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match rustix::io::retry_on_intr(|| rustix::io::write(&file, rest)) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) => {
                    self.remove();
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    fn remove(&self) {
        let _stray = rustix::fs::unlinkat(self.directory, &*self.name, AtFlags::empty());
    }
}

/// `path` is relative to the root, with a leading slash; bytes that are not UTF-8 are in `path_hex` exactly.
fn record_text(original: &BStr, time: &str) -> String {
    let mut text = String::from("{\"path\":\"");
    for character in original.to_str_lossy().chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            control if (control as u32) < 0x20 || control == '\u{7f}' => {
                let _infallible = write!(text, "\\u{:04x}", control as u32);
            }
            plain => text.push(plain),
        }
    }
    text.push('"');
    if original.to_str().is_err() {
        text.push_str(",\"path_hex\":\"");
        for byte in original.iter() {
            let _infallible = write!(text, "{byte:02x}");
        }
        text.push('"');
    }
    let _infallible = writeln!(text, ",\"deleted_at\":\"{time}\"}}");
    text
}

/// `{timestamp}_{name}`, shortened at its end if it is too long, never inside a character.
pub(crate) fn trash_name(time: &str, name: &BStr) -> Vec<u8> {
    let room = LONGEST - time.len() - 1;
    let mut end = name.len().min(room);
    if end < name.len() {
        // A byte of the form 10xxxxxx continues a character; four bytes are the longest there is.
        let is_inside = |end: usize| name.get(end).is_some_and(|byte| byte & 0xc0 == 0x80);
        end = (end.saturating_sub(3)..=end).rev().find(|&end| !is_inside(end)).unwrap_or(end);
    }
    [time.as_bytes(), b"_", name.get(..end).unwrap_or(name)].concat()
}

/// `YYYYMMDDTHHMMSS.nnnnnnnnnZ`, UTC.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil_date(days);
    format!(
        "{year:04}{month:02}{day:02}T{:02}{:02}{:02}.{:09}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_nanos(),
    )
}

/// Days since 1970 to a date, by counting from 1 March of a 400-year era, so that leap days come last.
/// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let at = |seconds, nanoseconds| {
            timestamp(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds))
        };
        assert_eq!(at(0, 0), "19700101T000000.000000000Z");
        assert_eq!(at(951_782_400, 5), "20000229T000000.000000005Z");
        assert_eq!(at(1_767_225_599, 999_999_999), "20251231T235959.999999999Z");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let time = timestamp(SystemTime::UNIX_EPOCH);
        for name in ["ä".repeat(127), "€".repeat(85), "x".repeat(255), "😀".repeat(63)] {
            let cut = trash_name(&time, BStr::new(&name));
            assert!(cut.len() <= LONGEST && cut.len() > LONGEST - 4, "{}", cut.len());
            assert!(cut.to_str().is_ok(), "{name}");
        }
        assert_eq!(trash_name(&time, BStr::new("a")), format!("{time}_a").as_bytes());
    }

    #[test]
    fn records_keep_every_byte() {
        let text = record_text(BStr::new(b"/a\"\n\xff"), "T");
        assert_eq!(
            text,
            "{\"path\":\"/a\\\"\\u000a\u{fffd}\",\"path_hex\":\"2f61220aff\",\"deleted_at\":\"T\"}\n"
        );
    }
}

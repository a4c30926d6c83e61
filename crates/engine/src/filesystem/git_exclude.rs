//! `.trash` in `.git/info/exclude`: git does not show what was deleted.

use std::io;
use std::os::fd::OwnedFd;

use bstr::ByteSlice;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::recorded::Recorder;
use super::trash::TRASH;
use super::{Handle, state};

const INFO: &str = ".git/info";
const EXCLUDE: &str = ".git/info/exclude";

/// Adds the line, once. Not being able to is no reason to refuse a deletion.
pub(crate) fn exclude(root: &Handle, recorder: &Recorder) {
    let _git_shows_the_trash = try_exclude(root, recorder);
}

fn try_exclude(root: &Handle, recorder: &Recorder) -> io::Result<()> {
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let git = rustix::fs::openat(root, ".git", directory, Mode::empty())?;
    let (info, _) = recorder.creating(Some(INFO.into()), || state::ensure(&git, "info"))?;
    let file = open(&info, recorder)?;
    let mut content = Vec::new();
    rustix::io::retry_on_intr(|| read_to_end(&file, &mut content))?;
    if content.lines().any(|line| line.trim_with(|character| character == '/') == TRASH.as_bytes())
    {
        return Ok(());
    }
    if let Some(announcing) = recorder.at(Some(EXCLUDE.into()))? {
        announcing.before_write(&rustix::fs::fstat(&file)?)?;
    }
    let start: &[u8] = if content.is_empty() || content.ends_with(b"\n") { b"" } else { b"\n" };
    rustix::io::write(&file, &[start, b"/.trash/\n"].concat())?;
    Ok(())
}

fn open(info: &OwnedFd, recorder: &Recorder) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = flags | OFlags::NONBLOCK;
    match rustix::fs::openat(info, "exclude", flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return Ok(opened?),
    }
    let mode = Mode::from_raw_mode(0o644);
    recorder.creating(Some(EXCLUDE.into()), || {
        Ok(rustix::fs::openat(info, "exclude", flags | OFlags::CREATE, mode)?)
    })
}

fn read_to_end(file: &OwnedFd, content: &mut Vec<u8>) -> Result<(), Errno> {
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(file, &mut buffer)? {
            0 => return Ok(()),
            count => content.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
    }
}

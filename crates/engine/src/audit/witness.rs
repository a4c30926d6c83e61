//! Looks on at what goes to the caller's own streams, and keeps head and tail of it for the record.
//!
//! A terminal is passed on as it is: programs ask what it is, and a person sees what they write. Everything else is
//! carried, so that what programs write is seen here too.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use exacta_shell::filesystem::{Metadata, OpenFile, Real, RealFiles};
use exacta_store::audit::Captured;

/// How much of a stream is kept for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Witnessing {
    Nothing,
    UpTo(usize),
}

pub(crate) struct Witness {
    file: Arc<dyn OpenFile>,
    limit: usize,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Witness {
    pub(crate) fn new(file: Arc<dyn OpenFile>, limit: usize) -> Self {
        Witness { file, limit, seen: Mutex::default() }
    }

    /// What was written.
    pub(crate) fn take(&self) -> Captured {
        let Seen { head, tail, total } =
            std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        joined(head, tail, total, self.limit)
    }

    fn see(&self, data: &[u8]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Seen { head, tail, total } = &mut *seen;
        *total += data.len() as u64;
        let half = self.limit / 2;
        let room = (self.limit - half).saturating_sub(head.len()).min(data.len());
        let (first, rest) = data.split_at(room);
        head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(half)..).unwrap_or(rest);
        let over = (tail.len() + rest.len()).saturating_sub(half);
        tail.drain(..over.min(tail.len()));
        tail.extend(rest);
    }
}

/// Head and tail with what is between them, or with a mark in its place.
fn joined(mut head: Vec<u8>, tail: VecDeque<u8>, total: u64, limit: usize) -> Captured {
    let whole = total <= limit as u64;
    if !whole {
        let left_out = total - head.len() as u64 - tail.len() as u64;
        head.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
    }
    head.extend(tail);
    Captured { bytes: head, total, whole }
}

/// Of output that was collected as a whole.
pub(crate) fn of_collected(bytes: &[u8], total: u64, cut: bool, limit: usize) -> Captured {
    if bytes.len() <= limit {
        return Captured { bytes: bytes.to_vec(), total, whole: !cut };
    }
    let half = limit / 2;
    let head = bytes.get(..limit - half).unwrap_or_default().to_vec();
    let tail = bytes.get(bytes.len() - half..).unwrap_or_default().iter().copied().collect();
    joined(head, tail, total, limit)
}

/// Both lead to one place: what is written to them must keep its order.
pub(crate) fn same_file(one: &dyn OpenFile, other: &dyn OpenFile) -> bool {
    let identity = |file: &dyn OpenFile| {
        let stat = rustix::fs::fstat(file.descriptor()?).ok()?;
        Some((stat.st_dev, stat.st_ino))
    };
    identity(one).is_some_and(|first| identity(other) == Some(first))
}

impl OpenFile for Witness {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        let count = self.file.write(data)?;
        self.see(data.get(..count).unwrap_or(data));
        Ok(count)
    }

    fn seek(&self, position: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        self.file.wait_readable(timeout)
    }

    fn is_terminal(&self) -> bool {
        self.file.is_terminal()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.descriptor()
    }

    fn real(&self, maker: &dyn RealFiles) -> io::Result<Real> {
        if self.file.is_terminal() { self.file.real(maker) } else { Ok(Real::No) }
    }

    fn is_source(&self) -> bool {
        self.file.is_source()
    }

    fn finish(&self) -> io::Result<()> {
        self.file.finish()
    }
}

#[cfg(test)]
mod tests {
    use exacta_shell::pipe::Capture;

    use super::*;

    #[test]
    fn head_and_tail_are_kept_and_everything_passes() {
        for parts in [
            &["abcdefghijklmnop"][..],
            &["ab", "cdefghijklmn", "op"],
            &["a", "bcdefghijklmno", "p"],
        ] {
            let target = Arc::new(Capture::default());
            let witness = Witness::new(Arc::clone(&target) as _, 8);
            for part in parts {
                witness.write(part.as_bytes()).expect("written");
            }
            let seen = witness.take();
            assert_eq!(seen.bytes, "abcd\n[… 8 bytes left out …]\nmnop".as_bytes());
            assert_eq!((seen.total, seen.whole), (16, false));
            assert_eq!(target.take(), b"abcdefghijklmnop");
        }
        let witness = Witness::new(Arc::new(Capture::default()), 8);
        witness.write(b"abcdefgh").expect("written");
        let seen = witness.take();
        assert_eq!((seen.bytes.as_slice(), seen.whole), (&b"abcdefgh"[..], true));
    }
}

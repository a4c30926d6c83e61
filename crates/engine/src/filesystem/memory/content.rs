//! The bytes of a file, counted against what the tree may hold.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use exacta_shell::errno;

/// How much a tree may hold, and how much it does.
pub(super) struct Budget {
    capacity: u64,
    used: AtomicU64,
}

impl Budget {
    pub(super) fn new(capacity: u64) -> Self {
        Budget { capacity, used: AtomicU64::new(0) }
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.capacity);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(_) => Err(errno::error(errno::ENOSPC)),
        }
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

pub(super) enum Content {
    Here(Blob),
    /// Still as it is in the lower tree.
    Lower,
}

/// Bytes that give their room back when they go.
pub(super) struct Blob {
    bytes: Vec<u8>,
    budget: Arc<Budget>,
}

impl Blob {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Blob { bytes: Vec::new(), budget: Arc::clone(budget) }
    }

    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut rest = self.bytes.get(start..).unwrap_or_default();
        io::Read::read(&mut rest, buffer).unwrap_or(0)
    }

    /// Writes all of `data`, or nothing if it does not fit.
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(data.len() as u64);
        let end = end.ok_or_else(|| errno::error(errno::EFBIG))?;
        if end > self.len() && !data.is_empty() {
            self.resize(end)?;
        }
        // It fits in memory now, so it fits in `usize`.
        let start = offset as usize;
        if let Some(room) = self.bytes.get_mut(start..start + data.len()) {
            room.copy_from_slice(data);
        }
        Ok(())
    }

    pub(super) fn resize(&mut self, length: u64) -> io::Result<()> {
        let before = self.len();
        if length > before {
            self.budget.take(length - before)?;
            let room = usize::try_from(length - before).unwrap_or(usize::MAX);
            if self.bytes.try_reserve(room).is_err() {
                self.budget.give_back(length - before);
                return Err(errno::error(errno::ENOSPC));
            }
        } else {
            self.budget.give_back(before - length);
        }
        self.bytes.resize(length as usize, 0);
        Ok(())
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes.len() as u64);
    }
}

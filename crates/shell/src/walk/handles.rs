//! Which handles of a deep walk stay open.
//!
//! The root, the innermost ones and every `stride`th on the way down; when these become too many the stride
//! doubles. A closed one that is needed again is found by walking down from the nearest that is open, and must
//! still be the same directory.

use std::io;
use std::sync::Arc;

use super::Walk;
use crate::errno;
use crate::filesystem::Directory;

/// Handles one walk may hold.
const MOST: usize = 64;

/// The innermost ones that are always kept.
const RECENT: usize = 16;

pub(super) const FIRST_STRIDE: usize = 2;

impl Walk<'_> {
    /// Closes handles if there are too many. What a closed directory was is remembered first.
    pub(super) fn close_some(&mut self) {
        if self.open <= MOST {
            return;
        }
        self.close_by_stride();
        while self.open > MOST / 2 && self.stride < self.frames.len() {
            self.stride *= 2;
            self.close_by_stride();
        }
    }

    fn close_by_stride(&mut self) {
        let recent = self.frames.len().saturating_sub(RECENT);
        for level in 1..recent {
            if !level.is_multiple_of(self.stride) {
                self.close(level);
            }
        }
    }

    fn close(&mut self, level: usize) {
        let Some(frame) = self.frames.get_mut(level) else { return };
        let Some(handle) = frame.handle.take() else { return };
        self.open -= 1;
        if frame.identity.is_none() {
            frame.identity =
                handle.own_metadata().ok().map(|metadata| (metadata.device, metadata.inode));
        }
    }

    /// The handle of a directory the walk is in, opened again if it was closed.
    pub(super) fn handle(&mut self, level: usize) -> io::Result<Arc<dyn Directory>> {
        if let Some(handle) = self.frames.get(level).and_then(|frame| frame.handle.as_ref()) {
            return Ok(Arc::clone(handle));
        }
        let above = self.frames.get(..level).unwrap_or_default();
        let nearest = above.iter().rposition(|frame| frame.handle.is_some()).unwrap_or(0);
        for missing in nearest + 1..=level {
            self.control.check().map_err(|_| errno::error(errno::EINTR))?;
            self.open_again(missing)?;
        }
        let frame = self.frames.get(level);
        let handle = frame.and_then(|frame| frame.handle.clone()).ok_or_else(gone)?;
        self.close_some();
        Ok(handle)
    }

    fn open_again(&mut self, level: usize) -> io::Result<()> {
        let follow = self.follow_here();
        let parent = self.frames.get(level.wrapping_sub(1)).and_then(|frame| frame.handle.clone());
        let frame = self.frames.get_mut(level).ok_or_else(gone)?;
        let parent = parent.ok_or_else(gone)?;
        let handle = parent.open_directory(frame.item.name.as_ref(), follow)?;
        let metadata = handle.own_metadata()?;
        if frame.identity != Some((metadata.device, metadata.inode)) {
            return Err(gone());
        }
        frame.handle = Some(handle);
        self.open += 1;
        // On the way down only the last few are of use.
        let passed = level.saturating_sub(RECENT);
        if passed > 0 && !passed.is_multiple_of(self.stride) {
            self.close(passed);
        }
        Ok(())
    }
}

fn gone() -> io::Error {
    errno::error(errno::ENOENT)
}

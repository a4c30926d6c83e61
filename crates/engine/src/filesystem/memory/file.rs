//! An open file of a tree in memory.

use std::io::{self, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bstr::BString;
use exacta_shell::errno;
use exacta_shell::filesystem::{Metadata, OpenFile, OpenOptions};

use super::content::Content;
use super::node::Node;
use super::tree::Tree;

pub(super) struct MemoryFile {
    tree: Arc<Tree>,
    node: Arc<Node>,
    options: OpenOptions,
    state: Mutex<State>,
}

struct State {
    offset: u64,
    written: u64,
    below: Option<Below>,
    undo: Undo,
}

/// The file in the lower tree, open for reading at some place.
struct Below {
    file: Arc<dyn OpenFile>,
    offset: u64,
}

/// What a failed write brings back; as [`crate::filesystem::preimage`] does on disk.
pub(super) enum Undo {
    Nothing,
    Created(BString),
    Content(Content),
    Length(u64),
    /// A write has failed, with this error; nothing more may be written.
    Failed(i32),
}

impl MemoryFile {
    pub(super) fn new(tree: &Arc<Tree>, node: Arc<Node>, options: OpenOptions, undo: Undo) -> Self {
        let state = Mutex::new(State { offset: 0, written: 0, below: None, undo });
        MemoryFile { tree: Arc::clone(tree), node, options, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writes(&self) -> bool {
        self.options.write || self.options.append
    }

    fn read_lower(&self, state: &mut State, buffer: &mut [u8]) -> io::Result<usize> {
        let offset = state.offset;
        let below = match &mut state.below {
            Some(below) => below,
            empty => empty.insert(Below { file: self.tree.open_lower(&self.node)?, offset: 0 }),
        };
        if below.offset != offset {
            below.file.seek(SeekFrom::Start(offset))?;
        }
        let count = below.file.read(buffer)?;
        below.offset = offset + count as u64;
        Ok(count)
    }

    fn write_here(&self, state: &mut State, data: &[u8]) -> io::Result<()> {
        let mut content = self.node.content()?;
        let blob = self.tree.copy_up(&self.node, &mut content)?;
        let offset = if self.options.append { blob.len() } else { state.offset };
        blob.write(offset, data)?;
        state.offset = offset + data.len() as u64;
        state.written += data.len() as u64;
        Ok(())
    }

    fn take_back(&self, state: &mut State, error: &io::Error) {
        let failed = Undo::Failed(error.raw_os_error().unwrap_or(errno::EIO));
        match std::mem::replace(&mut state.undo, failed) {
            Undo::Nothing | Undo::Failed(_) => {}
            Undo::Created(path) => Undo::remove_created(&self.tree, &self.node, &path),
            Undo::Content(old) => {
                if let Ok(mut content) = self.node.content() {
                    *content = old;
                }
            }
            Undo::Length(length) => self.cut_back(length, state.written),
        }
    }

    /// Only if nobody else has written meanwhile.
    fn cut_back(&self, length: u64, written: u64) {
        if let Ok(mut content) = self.node.content()
            && let Content::Here(blob) = &mut *content
            && blob.len() > length
            && blob.len() <= length + written
        {
            let _shrinking_needs_no_room = blob.resize(length);
        }
    }
}

impl OpenFile for MemoryFile {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.options.read {
            return Err(errno::error(errno::EBADF));
        }
        let mut state = self.state();
        if let Content::Here(blob) = &*self.node.content()? {
            let count = blob.read(state.offset, buffer);
            state.offset += count as u64;
            return Ok(count);
        }
        let count = self.read_lower(&mut state, buffer)?;
        state.offset += count as u64;
        Ok(count)
    }

    fn is_source(&self) -> bool {
        !self.writes()
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        if !self.writes() {
            return Err(errno::error(errno::EBADF));
        }
        let mut state = self.state();
        if let Undo::Failed(number) = state.undo {
            return Err(errno::error(number));
        }
        if let Err(error) = self.write_here(&mut state, data) {
            self.take_back(&mut state, &error);
            return Err(error);
        }
        self.tree.touch(&self.node)?;
        Ok(data.len())
    }

    fn seek(&self, position: SeekFrom) -> io::Result<u64> {
        let mut state = self.state();
        let offset = match position {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(change) => state.offset.checked_add_signed(change),
            SeekFrom::End(change) => self.metadata()?.size.checked_add_signed(change),
        };
        state.offset = offset.ok_or_else(|| errno::error(errno::EINVAL))?;
        Ok(state.offset)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.tree.metadata(&self.node)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        if !self.writes() {
            return Err(errno::error(errno::EINVAL));
        }
        let mut content = self.node.content()?;
        self.tree.copy_up(&self.node, &mut content)?.resize(length)?;
        drop(content);
        self.tree.touch(&self.node)
    }

    fn finish(&self) -> io::Result<()> {
        let mut state = self.state();
        if !matches!(state.undo, Undo::Failed(_)) {
            state.undo = Undo::Nothing;
        }
        Ok(())
    }
}

/// `cat < directory`: it opens, and every read fails.
pub(super) struct DirectoryFile {
    tree: Arc<Tree>,
    node: Arc<Node>,
}

impl DirectoryFile {
    pub(super) fn new(tree: &Arc<Tree>, node: Arc<Node>) -> Self {
        DirectoryFile { tree: Arc::clone(tree), node }
    }
}

impl OpenFile for DirectoryFile {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EISDIR))
    }

    fn write(&self, _data: &[u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn seek(&self, _position: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.tree.metadata(&self.node)
    }
}

//! Walking a tree of files through directory handles.
//!
//! A walk never goes back to a path: every step is relative to an open directory, so nothing that is renamed or
//! replaced meanwhile leads it elsewhere. It does not recurse, and holds few handles however deep the tree is.
//! Order is that of the file system, a directory before what is in it.

mod handles;
pub(crate) mod ordered;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use crate::control::Control;
use crate::errno;
use crate::filesystem::{Directory, DirectoryEntry, FileKind, FileSystem, Follow, Metadata};
use crate::status::Stop;

/// Which symbolic links stand for what they point to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symlinks {
    Never,
    CommandLine,
    Always,
}

/// What the walk has come to; the rest is asked of the [`Walk`].
#[derive(Debug)]
pub(crate) enum Visit {
    /// Something new. A directory is entered next unless [`Walk::skip`] is called.
    Entry,
    /// A directory is done, or was skipped.
    Leave,
    /// A directory could not be read, and is left next; or a link that is followed leads nowhere.
    Unreadable(io::Error),
    /// A symbolic link to a directory that the walk is in: its path as the walk knows it. Not entered.
    Loop(BString),
}

/// One entry: what the directory said of it, and what stat says when asked.
struct Item {
    name: BString,
    kind: FileKind,
    metadata: OnceCell<Metadata>,
}

struct Frame {
    /// The directory as an entry of its parent.
    item: Item,
    handle: Option<Arc<dyn Directory>>,
    rest: std::vec::IntoIter<DirectoryEntry>,
    /// Of the path of this directory.
    path_length: usize,
    /// Known while symbolic links are followed, and to find the same directory again.
    identity: Option<(u64, u64)>,
}

pub(crate) struct Walk<'a> {
    files: &'a dyn FileSystem,
    control: Arc<Control>,
    symlinks: Symlinks,
    /// The operand's absolute path.
    root: BString,
    /// The entry being visited, as it is shown.
    path: BString,
    /// Length of the operand as shown.
    shown: usize,
    frames: Vec<Frame>,
    current: Option<Item>,
    state: State,
    /// Directories the walk is in: only kept where links are followed.
    inside: HashSet<(u64, u64)>,
    /// Every `stride`th handle is kept open on the way down.
    stride: usize,
    open: usize,
    steps: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// The current item was handed out and may be entered.
    Visited {
        enter: bool,
    },
    /// A directory was left; the walk goes on in the one above.
    Left,
    Done,
}

impl<'a> Walk<'a> {
    /// `shown` is the operand as the user gave it, `root` its absolute path. Fails if there is nothing.
    pub(crate) fn new(
        files: &'a dyn FileSystem,
        control: Arc<Control>,
        symlinks: Symlinks,
        shown: &BStr,
        root: BString,
    ) -> io::Result<Self> {
        let metadata = root_metadata(files, symlinks, root.as_bstr())?;
        let name = last_component(shown).into();
        let item = Item { name, kind: metadata.kind, metadata: OnceCell::from(metadata) };
        Ok(Walk {
            files,
            control,
            symlinks,
            root,
            path: shown.into(),
            shown: shown.len(),
            frames: Vec::new(),
            current: Some(item),
            state: State::Start,
            inside: HashSet::new(),
            stride: handles::FIRST_STRIDE,
            open: 0,
            steps: 0,
        })
    }

    /// The next thing to look at; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Visit>, Stop> {
        loop {
            match self.state {
                State::Done => return Ok(None),
                State::Start => {
                    let enter = self.kind() == FileKind::Directory;
                    self.state = State::Visited { enter };
                    return Ok(Some(Visit::Entry));
                }
                State::Visited { enter: true } => {
                    self.control.check()?;
                    if let Some(problem) = self.enter() {
                        return Ok(Some(problem));
                    }
                }
                State::Visited { enter: false } => {
                    let was_directory = self.kind() == FileKind::Directory;
                    self.state = if self.frames.is_empty() { State::Done } else { State::Left };
                    if was_directory {
                        return Ok(Some(Visit::Leave));
                    }
                }
                State::Left => {
                    // A directory may have millions of entries.
                    self.steps = self.steps.wrapping_add(1);
                    if self.steps.is_multiple_of(256) {
                        self.control.check()?;
                    }
                    if let Some(visit) = self.advance() {
                        return Ok(Some(visit));
                    }
                }
            }
        }
    }

    /// Does not enter the directory just visited.
    pub(crate) fn skip(&mut self) {
        if let State::Visited { enter } = &mut self.state {
            *enter = false;
        }
    }

    /// As it is shown: the operand, and what follows.
    pub(crate) fn path(&self) -> &BStr {
        self.path.as_bstr()
    }

    /// From the root of all, for what only paths can do.
    pub(crate) fn absolute(&self) -> BString {
        let mut absolute = self.root.clone();
        let below = self.path.get(self.shown..).unwrap_or_default();
        if absolute.ends_with(b"/") && below.starts_with(b"/") {
            absolute.pop();
        }
        absolute.extend_from_slice(below);
        absolute
    }

    /// The last component. Of the operand itself: what `basename` says.
    pub(crate) fn name(&self) -> &BStr {
        self.current.as_ref().map_or(b"".as_bstr(), |item| item.name.as_bstr())
    }

    /// 0 for the operand.
    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// What it is, links followed as the walk does.
    pub(crate) fn kind(&self) -> FileKind {
        self.current.as_ref().map_or(FileKind::File, |item| item.kind)
    }

    /// stat, links followed as the walk does. Asked once.
    pub(crate) fn metadata(&mut self) -> io::Result<Metadata> {
        if let Some(known) = self.current.as_ref().and_then(|item| item.metadata.get()) {
            return Ok(*known);
        }
        let follows = self.symlinks == Symlinks::Always;
        let found = match self.metadata_with(Follow::No)? {
            link if link.is_symlink() && follows => self.metadata_with(Follow::Yes).unwrap_or(link),
            other => other,
        };
        if let Some(item) = &self.current {
            let _ = item.metadata.set(found);
        }
        Ok(found)
    }

    /// stat or lstat, whatever the walk does.
    pub(crate) fn metadata_with(&mut self, follow: Follow) -> io::Result<Metadata> {
        match self.parent()? {
            Some(parent) => parent.metadata(self.name(), follow),
            None => self.files.metadata(self.root.as_bstr(), follow),
        }
    }

    pub(crate) fn read_link(&mut self) -> io::Result<BString> {
        match self.parent()? {
            Some(parent) => parent.read_link(self.name()),
            None => self.files.read_link(self.root.as_bstr()),
        }
    }

    /// Opens the directory being visited, apart from the walk itself.
    pub(crate) fn open_directory(&mut self) -> io::Result<Arc<dyn Directory>> {
        let follow = self.follow_here();
        match self.parent()? {
            Some(parent) => parent.open_directory(self.name(), follow),
            None => self.files.open_directory(self.root.as_bstr(), follow),
        }
    }

    /// The directory that the entry is in; none for the operand.
    pub(crate) fn parent(&mut self) -> io::Result<Option<Arc<dyn Directory>>> {
        match self.frames.len() {
            0 => Ok(None),
            count => self.handle(count - 1).map(Some),
        }
    }

    fn follow_here(&self) -> Follow {
        match self.symlinks {
            Symlinks::Always => Follow::Yes,
            Symlinks::CommandLine if self.frames.is_empty() => Follow::Yes,
            Symlinks::CommandLine | Symlinks::Never => Follow::No,
        }
    }

    /// Goes into the current directory. Gives what is in the way, if anything.
    fn enter(&mut self) -> Option<Visit> {
        self.state = State::Visited { enter: false };
        let directory = match self.open_directory() {
            Ok(directory) => directory,
            Err(error) => return Some(Visit::Unreadable(error)),
        };
        let mut identity = None;
        if self.symlinks == Symlinks::Always {
            match directory.own_metadata() {
                Ok(metadata) => identity = Some((metadata.device, metadata.inode)),
                Err(error) => return Some(Visit::Unreadable(error)),
            }
        }
        if let Some(identity) = identity
            && !self.inside.insert(identity)
        {
            return Some(Visit::Loop(self.path_of(identity)));
        }
        match directory.entries() {
            Err(error) => {
                identity.inspect(|identity| {
                    self.inside.remove(identity);
                });
                Some(Visit::Unreadable(error))
            }
            Ok(entries) => {
                let item = self.current.take()?;
                self.frames.push(Frame {
                    item,
                    handle: Some(directory),
                    rest: entries.into_iter(),
                    path_length: self.path.len(),
                    identity,
                });
                self.open += 1;
                self.close_some();
                self.state = State::Left;
                None
            }
        }
    }

    fn path_of(&self, identity: (u64, u64)) -> BString {
        let frame = self.frames.iter().find(|frame| frame.identity == Some(identity));
        let length = frame.map_or(self.path.len(), |frame| frame.path_length);
        self.path.get(..length).unwrap_or_default().into()
    }

    /// The next entry of the innermost directory, or its end.
    fn advance(&mut self) -> Option<Visit> {
        let Some(frame) = self.frames.last_mut() else {
            self.state = State::Done;
            return None;
        };
        self.path.truncate(frame.path_length);
        let Some(entry) = frame.rest.next() else {
            let frame = self.frames.pop()?;
            self.open -= usize::from(frame.handle.is_some());
            if let Some(identity) = frame.identity.filter(|_| self.symlinks == Symlinks::Always) {
                self.inside.remove(&identity);
            }
            self.current = Some(frame.item);
            self.state = State::Visited { enter: false };
            return None;
        };
        if !self.path.ends_with(b"/") {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(&entry.name);
        let (kind, inode) = (entry.kind, entry.inode);
        self.current = Some(Item { name: entry.name, kind, metadata: OnceCell::new() });
        if self.symlinks == Symlinks::Always {
            let problem = match kind {
                FileKind::Symlink => self.resolve_link(),
                FileKind::Directory => self.find_loop(inode),
                _ => None,
            };
            if problem.is_some() {
                return problem;
            }
        }
        self.state = State::Visited { enter: self.kind() == FileKind::Directory };
        Some(Visit::Entry)
    }

    /// Below a link that leads up, a directory may be one that the walk is in.
    fn find_loop(&mut self, inode: u64) -> Option<Visit> {
        if !self.inside.iter().any(|(_, inside)| *inside == inode) {
            return None;
        }
        let found = self.metadata_with(Follow::No).ok()?;
        let identity = (found.device, found.inode);
        self.inside.contains(&identity).then(|| Visit::Loop(self.path_of(identity)))
    }

    /// A link that leads somewhere is what it leads to; one that leads to nothing is a link. Back up or round in
    /// circles it leads to trouble.
    fn resolve_link(&mut self) -> Option<Visit> {
        let found = match self.metadata_with(Follow::Yes) {
            Ok(found) => found,
            Err(error) if errno::is(&error, errno::ELOOP) => return Some(Visit::Unreadable(error)),
            Err(_) => return None,
        };
        let identity = (found.device, found.inode);
        if found.is_directory() && self.inside.contains(&identity) {
            return Some(Visit::Loop(self.path_of(identity)));
        }
        if let Some(item) = &mut self.current {
            item.kind = found.kind;
            item.metadata = OnceCell::from(found);
        }
        None
    }
}

fn root_metadata(files: &dyn FileSystem, symlinks: Symlinks, root: &BStr) -> io::Result<Metadata> {
    if symlinks == Symlinks::Never {
        return files.metadata(root, Follow::No);
    }
    files.metadata(root, Follow::Yes).or_else(|error| {
        if !errno::is(&error, errno::ENOENT) {
            return Err(error);
        }
        let link = files.metadata(root, Follow::No)?;
        if link.is_symlink() { Ok(link) } else { Err(error) }
    })
}

/// As `basename`: `a/b/` is `b`, `/` is `/`.
pub(crate) fn last_component(path: &BStr) -> &BStr {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let trimmed = path.get(..end).unwrap_or_default();
    if trimmed.is_empty() {
        return path.get(..path.len().min(1)).unwrap_or_default().as_bstr();
    }
    match trimmed.rfind_byte(b'/') {
        Some(slash) => trimmed.get(slash + 1..).unwrap_or_default().as_bstr(),
        None => trimmed.as_bstr(),
    }
}

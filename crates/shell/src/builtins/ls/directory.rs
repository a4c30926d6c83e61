//! Listing a directory, and with `-R` those inside.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::entry::Entry;
use super::options::{Dereference, Hidden, Indicator, Options, Show};
use super::{Listing, SERIOUS, ToolError, quote};
use crate::filesystem::{Directory, DirectoryEntry, FileKind, Follow};

/// A directory that is to be listed.
struct Pending {
    shown: BString,
    path: BString,
    /// Named on the command line.
    operand: bool,
}

enum Step {
    List(Pending),
    /// What was inside a directory is done.
    Leave((u64, u64)),
}

impl Listing<'_, '_> {
    /// Lists a directory; with `-R` also everything below it, without recursion of our own.
    pub(super) fn tree(&mut self, shown: BString, path: BString) -> Result<(), ToolError> {
        let mut steps = vec![Step::List(Pending { shown, path, operand: true })];
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave(identity) => {
                    self.inside.remove(&identity);
                }
                Step::List(pending) => {
                    let found = self.list(&pending, &mut steps)?;
                    // In the order in which they were listed; the stack is last in, first out.
                    steps.extend(found.into_iter().rev().map(Step::List));
                }
            }
        }
        Ok(())
    }

    /// Lists one directory and gives those inside that are to be listed too.
    fn list(
        &mut self,
        pending: &Pending,
        steps: &mut Vec<Step>,
    ) -> Result<Vec<Pending>, ToolError> {
        self.context.control().check()?;
        let (shown, path) = (pending.shown.as_bstr(), pending.path.as_bstr());
        let follows = pending.operand || self.options.dereference == Dereference::Always;
        let follow = if follows { Follow::Yes } else { Follow::No };
        let opened = self.context.files().open_directory(path, follow);
        let opened = opened.and_then(|directory| Ok((directory.entries()?, directory)));
        let (found, directory) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.context.interrupted(&error)?;
                self.cannot(shown, "open directory", &error, pending.operand);
                return Ok(Vec::new());
            }
        };
        if self.options.recursive && self.options.dereference == Dereference::Always {
            match directory.own_metadata().map(|metadata| (metadata.device, metadata.inode)) {
                Ok(identity) if !self.inside.insert(identity) => {
                    self.status = SERIOUS;
                    self.flush()?;
                    self.context
                        .complain(format_args!("{shown}: not listing already-listed directory"));
                    return Ok(Vec::new());
                }
                Ok(identity) => steps.push(Step::Leave(identity)),
                Err(_) => {}
            }
        }
        self.print_header(shown);
        let mut entries = self.entries(&directory, found, pending)?;
        self.sort(&mut entries);
        if self.options.show == Show::Long || self.options.blocks {
            self.print_total(&entries);
        }
        if !entries.is_empty() {
            self.print(&entries, &[])?;
        }
        self.printed = true;
        if !self.options.recursive {
            return Ok(Vec::new());
        }
        Ok(entries.iter().filter_map(|entry| pending.inner(entry)).collect())
    }

    fn print_header(&mut self, shown: &BStr) {
        if !self.headers && !self.options.recursive {
            return;
        }
        if self.printed {
            self.out.push(b'\n');
        }
        self.printed = true;
        let options = &self.options;
        let name = quote::quote_header(shown, options.style, options.question_marks);
        self.out.extend_from_slice(&name);
        self.out.extend_from_slice(b":\n");
    }

    fn print_total(&mut self, entries: &[Entry]) {
        let blocks: u64 =
            entries.iter().filter_map(|entry| entry.metadata).map(|metadata| metadata.blocks).sum();
        let total = self.options.block_scale.show(blocks.saturating_mul(512));
        self.out.extend_from_slice(format!("total {total}").as_bytes());
        self.out.push(self.options.end);
    }

    /// The entries that are shown, with what must be known of them.
    fn entries(
        &mut self,
        directory: &Arc<dyn Directory>,
        found: Vec<DirectoryEntry>,
        pending: &Pending,
    ) -> Result<Vec<Entry>, ToolError> {
        let mut entries = Vec::with_capacity(found.len() + 2);
        if self.options.hidden == Hidden::All {
            self.dots(directory, pending, &mut entries);
        }
        for (count, raw) in found.into_iter().enumerate() {
            if count % 64 == 63 {
                self.context.control().check()?;
            }
            if !self.options.shows(&raw.name) {
                continue;
            }
            let mut entry = Entry::new(raw.name, raw.kind);
            let asks = self.options.needs_metadata() || self.asks_more(raw.kind);
            if asks && let Err(error) = self.complete(directory, &mut entry) {
                self.context.interrupted(&error)?;
                let path = join(pending.shown.as_bstr(), entry.name.as_bstr());
                self.cannot(path.as_bstr(), "access", &error, false);
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// `.` and `..`, which the directory does not mention.
    fn dots(&self, directory: &Arc<dyn Directory>, pending: &Pending, entries: &mut Vec<Entry>) {
        let own = directory.own_metadata().ok();
        let above = join(pending.path.as_bstr(), b"..".as_bstr());
        // Above the root there is nothing: it is its own parent, as `/` is.
        let parent = self.context.files().metadata(above.as_bstr(), Follow::Yes).ok().or(own);
        for (name, metadata) in [(".", own), ("..", parent)] {
            let mut entry = Entry::new(name.into(), FileKind::Directory);
            entry.metadata = metadata;
            if self.options.shows_dot(name.as_bytes()) {
                entries.push(entry);
            }
        }
    }

    /// Is the kind alone not enough for what is shown?
    fn asks_more(&self, kind: FileKind) -> bool {
        let options = &self.options;
        match kind {
            FileKind::File => {
                options.indicator == Indicator::Classify || options.color || options.inode
            }
            FileKind::Symlink => {
                let typed = options.recursive || options.indicator != Indicator::None;
                let follows = options.dereference == Dereference::Always;
                options.needs_target() || options.inode || (typed && follows)
            }
            FileKind::Directory => options.color || options.inode,
            _ => options.inode,
        }
    }

    fn complete(&self, directory: &Arc<dyn Directory>, entry: &mut Entry) -> io::Result<()> {
        let name = entry.name.as_bstr();
        let metadata = directory.metadata(name, Follow::No)?;
        if metadata.kind != FileKind::Symlink {
            entry.kind = metadata.kind;
            entry.metadata = Some(metadata);
            return Ok(());
        }
        if self.options.dereference == Dereference::Always {
            let metadata = directory.metadata(name, Follow::Yes)?;
            entry.kind = metadata.kind;
            entry.metadata = Some(metadata);
            return Ok(());
        }
        if self.options.needs_target() {
            let target = directory.read_link(name).ok();
            entry.target_metadata = directory.metadata(name, Follow::Yes).ok();
            entry.target = target;
        }
        entry.metadata = Some(metadata);
        Ok(())
    }
}

impl Options {
    fn shows(&self, name: &BString) -> bool {
        let dot = name.starts_with(b".");
        match self.hidden {
            Hidden::Skip => {
                !dot && !self.hide.iter().any(|pattern| pattern.matches(name))
                    && !self.ignores(name)
            }
            Hidden::Almost | Hidden::All => !self.ignores(name),
        }
    }

    fn shows_dot(&self, name: &[u8]) -> bool {
        !self.ignores(name)
    }

    /// A leading dot is only matched by a dot.
    fn ignores(&self, name: &[u8]) -> bool {
        self.ignore.iter().any(|pattern| pattern.matches_hidden(name))
    }
}

impl Pending {
    /// A directory inside, unless it is `.` or `..`.
    fn inner(&self, entry: &Entry) -> Option<Pending> {
        if entry.kind != FileKind::Directory || entry.name == "." || entry.name == ".." {
            return None;
        }
        Some(Pending {
            shown: join(self.shown.as_bstr(), entry.name.as_bstr()),
            path: join(self.path.as_bstr(), entry.name.as_bstr()),
            operand: false,
        })
    }
}

fn join(directory: &BStr, name: &BStr) -> BString {
    let mut path = BString::from(directory);
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

//! The name of an entry as it is printed: quoted, coloured, with an indicator.

use std::fmt::Write;

use super::entry::Entry;
use super::options::{Indicator, Show};
use super::{Listing, quote};
use crate::filesystem::{FileKind, Metadata};

/// A name ready to be printed.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: Vec<u8>,
    /// Columns on a terminal.
    pub(super) width: usize,
    /// Where its colour begins, if it has one.
    pub(super) color_at: Option<usize>,
}

/// Widths of what stands before names.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frills {
    inode: usize,
    blocks: usize,
}

impl Listing<'_, '_> {
    /// The names of one listing. Where some are quoted and some are not, the latter get a space in front.
    pub(super) fn names(&mut self, entries: &[Entry]) -> Vec<Name> {
        let options = &self.options;
        let quoted: Vec<(Vec<u8>, usize)> = entries
            .iter()
            .map(|entry| quote::quote(&entry.name, options.style, options.question_marks))
            .collect();
        let in_columns = options.width > 0 && matches!(options.show, Show::Down | Show::Across);
        let aligned = options.style.varies() && (options.show == Show::Long || in_columns);
        let is_quoted = |text: &[u8]| matches!(text.first(), Some(b'\'' | b'"'));
        let some = aligned
            && quoted
                .iter()
                .zip(entries)
                .any(|((text, _), entry)| is_quoted(text) && *text != *entry.name);
        let mut names = Vec::with_capacity(entries.len());
        for ((text, width), entry) in quoted.into_iter().zip(entries) {
            let padded = some && text == *entry.name;
            let mut out = if padded { vec![b' '] } else { Vec::new() };
            let colored = self.paint.name(&mut out, entry, &text);
            let color_at = colored.then_some(usize::from(padded));
            let mut width = width + usize::from(padded);
            let skips_link = self.options.show == Show::Long && entry.target.is_some();
            let unknown = self.options.needs_metadata() && entry.metadata.is_none();
            if !skips_link
                && !unknown
                && let Some(indicator) =
                    indicator(self.options.indicator, entry.kind, entry.metadata.as_ref())
            {
                out.push(indicator);
                width += 1;
            }
            names.push(Name { text: out, width, color_at });
        }
        names
    }

    /// Prints a text that has a colour from some place on.
    pub(super) fn push(&mut self, text: &[u8], color_at: Option<usize>) {
        let (plain, colored) = text.split_at(color_at.unwrap_or(text.len()).min(text.len()));
        self.out.extend_from_slice(plain);
        if color_at.is_some() {
            self.paint.begin(&mut self.out);
        }
        self.out.extend_from_slice(colored);
    }

    /// ` -> target` of a symbolic link in a long listing.
    pub(super) fn print_target(&mut self, entry: &Entry) {
        let Some(target) = &entry.target else { return };
        let options = &self.options;
        let (text, _) = quote::quote(target, options.style, options.question_marks);
        self.out.extend_from_slice(b" -> ");
        self.paint.target(&mut self.out, entry, &text);
        if let Some(metadata) = &entry.target_metadata
            && self.options.looks_behind_links()
        {
            let indicator = indicator(self.options.indicator, metadata.kind, Some(metadata));
            self.out.extend(indicator);
        }
    }

    /// The number and the blocks before a name, and how wide they are.
    pub(super) fn frills(&self, entry: &Entry, widths: Frills) -> String {
        let mut text = String::new();
        if self.options.inode {
            let inode =
                entry.metadata.map_or("?".to_owned(), |metadata| metadata.inode.to_string());
            let _ = write!(text, "{inode:>width$} ", width = widths.inode);
        }
        if self.options.blocks {
            let _ = write!(text, "{:>width$} ", self.blocks(entry), width = widths.blocks);
        }
        text
    }

    pub(super) fn blocks(&self, entry: &Entry) -> String {
        match &entry.metadata {
            Some(metadata) => self.options.block_scale.show(metadata.blocks.saturating_mul(512)),
            None => "?".to_owned(),
        }
    }

    /// The widest number and the widest count of blocks.
    pub(super) fn frill_widths<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Frills {
        let mut widths = Frills::default();
        if self.options.show == Show::Commas {
            return widths;
        }
        for entry in entries {
            if self.options.inode {
                let inode = entry.metadata.map_or(1, |metadata| metadata.inode.to_string().len());
                widths.inode = widths.inode.max(inode);
            }
            if self.options.blocks {
                widths.blocks = widths.blocks.max(self.blocks(entry).len());
            }
        }
        widths
    }
}

fn indicator(style: Indicator, kind: FileKind, metadata: Option<&Metadata>) -> Option<u8> {
    let executable = || metadata.is_some_and(|metadata| metadata.permissions & 0o111 != 0);
    match (style, kind) {
        (Indicator::None, _) => None,
        (_, FileKind::Directory) => Some(b'/'),
        (Indicator::Slash, _) => None,
        (_, FileKind::Symlink) => Some(b'@'),
        (_, FileKind::Fifo) => Some(b'|'),
        (_, FileKind::Socket) => Some(b'='),
        (Indicator::Classify, FileKind::File) if executable() => Some(b'*'),
        (_, FileKind::File | FileKind::BlockDevice | FileKind::CharacterDevice) => None,
    }
}

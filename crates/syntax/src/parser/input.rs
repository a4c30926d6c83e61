//! The bytes being read: where we are, where a position lies in the original source, and on which line.
//!
//! Text that replaces other text (an alias, the unescaped inside of backquotes, a here-document without its
//! tabs) is read from here like any other; only the mapping back to the source differs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use bstr::BString;

use crate::Span;

/// Free room in front of an owned text, so that alias values can be written before the unread part.
const FRONT_ROOM: usize = 64 << 10;

/// Alias values in one command, all together: aliases of aliases can double with each step.
const MOST_ALIAS_TEXT: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Input<'source> {
    bytes: Cow<'source, [u8]>,
    pub position: usize,
    /// Nothing at or after this position is seen.
    pub end: usize,
    /// Steps of the mapping to the source: from this position on, that offset. Empty: they are equal.
    offsets: Vec<(usize, u32)>,
    line_position: usize,
    line: u32,
    /// Alias values that are being read, outermost first.
    pub aliases: Vec<AliasText>,
    /// The word at or after this position may be an alias too: the value before it ended in a blank.
    pub alias_next: Option<usize>,
    /// Length of all values so far in this command.
    alias_text: usize,
    /// What was overwritten by alias values since the last checkpoint, for going back.
    overwritten: Vec<(usize, Vec<u8>)>,
    /// Where `((` turned out not to begin arithmetic, or `${` nothing that is valid.
    pub dead_ends: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct AliasText {
    pub name: BString,
    /// The value ends before this position.
    pub end: usize,
    /// The word in the source that was replaced.
    pub origin: Span,
}

/// The beginning of a node, in terms of the source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub start: u32,
    pub line: u32,
}

/// A point to come back to.
#[derive(Debug)]
pub(super) struct Checkpoint {
    position: usize,
    line_position: usize,
    line: u32,
    aliases: Vec<AliasText>,
    alias_next: Option<usize>,
    overwritten: usize,
}

impl<'source> Input<'source> {
    /// A whole source. Bash drops NUL bytes, so they are not even copied.
    pub fn new(source: &'source [u8], line: u32) -> Self {
        if source.contains(&0) {
            return Input::without_nul(source, line);
        }
        Input { end: source.len(), bytes: Cow::Borrowed(source), line, ..Input::default() }
    }

    fn without_nul(source: &[u8], line: u32) -> Self {
        let mut text = Vec::with_capacity(source.len());
        let mut offsets = Vec::new();
        let mut offset = 0;
        for piece in source.split(|byte| *byte == 0) {
            offsets.push((text.len(), offset as u32));
            text.extend_from_slice(piece);
            offset += piece.len() + 1;
        }
        Input::replaced(text, offsets, line)
    }

    /// Text that stands for another: `offsets` says where its pieces come from.
    pub fn replaced(text: Vec<u8>, offsets: Vec<(usize, u32)>, line: u32) -> Self {
        Input { end: text.len(), bytes: Cow::Owned(text), offsets, line, ..Input::default() }
    }

    pub fn set_first_line(&mut self, line: u32) {
        self.line = line;
    }

    pub fn byte_at(&self, position: usize) -> Option<u8> {
        if position < self.end { self.bytes.get(position).copied() } else { None }
    }

    pub fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.bytes.get(start..end.min(self.end)).unwrap_or_default()
    }

    /// Everything not read yet.
    pub fn rest(&self) -> &[u8] {
        self.slice(self.position, self.end)
    }

    /// The offset in the source of a position.
    pub fn offset(&self, position: usize) -> u32 {
        if self.offsets.is_empty() {
            return position as u32;
        }
        let step = self.offsets.partition_point(|(at, _)| *at <= position);
        match step.checked_sub(1).and_then(|index| self.offsets.get(index)) {
            Some((at, offset)) => offset + (position - at) as u32,
            None => 0,
        }
    }

    /// The steps of the mapping for a piece that is copied from `start`.
    pub fn offset_step(&self, at: usize, start: usize) -> (usize, u32) {
        (at, self.offset(start))
    }

    pub fn mark(&mut self) -> Mark {
        self.retire_aliases();
        match self.aliases.first() {
            Some(alias) => Mark { start: alias.origin.start, line: alias.origin.line },
            None => Mark { start: self.offset(self.position), line: self.line_at(self.position) },
        }
    }

    pub fn span_since(&self, mark: Mark) -> Span {
        let end = match self.aliases.first() {
            Some(alias) if self.position < alias.end => alias.origin.end,
            _ => self.offset(self.position),
        };
        Span { start: mark.start, end: end.max(mark.start), line: mark.line }
    }

    /// Counted from the last answer: nodes begin almost always further on.
    #[expect(clippy::naive_bytecount, reason = "the pieces are a few bytes long")]
    pub fn line_at(&mut self, position: usize) -> u32 {
        let position = position.min(self.bytes.len());
        let newlines = |from: usize, to: usize| {
            let piece = self.bytes.get(from..to).unwrap_or_default();
            piece.iter().filter(|byte| **byte == b'\n').count() as u32
        };
        if position >= self.line_position {
            self.line += newlines(self.line_position, position);
        } else {
            self.line = self.line.saturating_sub(newlines(position, self.line_position));
        }
        self.line_position = position;
        self.line
    }

    /// Forgets the aliases whose value has been read.
    pub fn retire_aliases(&mut self) {
        while self.aliases.last().is_some_and(|alias| alias.end <= self.position) {
            self.aliases.pop();
        }
    }

    /// Owned bytes with room in front. Only between commands: it moves every position.
    pub fn make_room(&mut self) {
        if self.position >= FRONT_ROOM && matches!(self.bytes, Cow::Owned(_)) {
            return;
        }
        let line = self.line_at(self.position);
        let rest = self.rest();
        let mut text = vec![b' '; FRONT_ROOM];
        text.extend_from_slice(rest);
        let mut offsets = vec![(0, 0), (FRONT_ROOM, self.offset(self.position))];
        for (at, offset) in &self.offsets {
            if *at > self.position {
                offsets.push((at - self.position + FRONT_ROOM, *offset));
            }
        }
        *self = Input {
            position: FRONT_ROOM,
            end: text.len(),
            bytes: Cow::Owned(text),
            offsets,
            line,
            line_position: FRONT_ROOM,
            ..Input::default()
        };
    }

    /// Puts `value` in front of the input at `end` (the end of the alias's name). False if there is no room.
    pub fn push_alias(&mut self, name: BString, value: &[u8], end: usize, origin: Span) -> bool {
        let Some(start) = end.checked_sub(value.len()) else { return false };
        self.alias_text += value.len();
        if self.alias_text > MOST_ALIAS_TEXT {
            return false;
        }
        if self.aliases.is_empty() {
            // The lines before are about to be overwritten, so they are counted now.
            self.line_at(end);
        }
        let Cow::Owned(bytes) = &mut self.bytes else { return false };
        let Some(room) = bytes.get_mut(start..end) else { return false };
        self.overwritten.push((start, room.to_vec()));
        room.copy_from_slice(value);
        self.dead_ends = self.dead_ends.split_off(&end);
        self.aliases.push(AliasText { name, end, origin });
        self.position = start;
        true
    }

    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            position: self.position,
            line_position: self.line_position,
            line: self.line,
            aliases: self.aliases.clone(),
            alias_next: self.alias_next,
            overwritten: self.overwritten.len(),
        }
    }

    pub fn go_back(&mut self, point: Checkpoint) {
        while self.overwritten.len() > point.overwritten {
            let Some((start, old)) = self.overwritten.pop() else { break };
            if let Cow::Owned(bytes) = &mut self.bytes
                && let Some(place) = bytes.get_mut(start..start + old.len())
            {
                place.copy_from_slice(&old);
            }
        }
        self.position = point.position;
        self.line_position = point.line_position;
        self.line = point.line;
        self.aliases = point.aliases;
        self.alias_next = point.alias_next;
    }

    /// Between commands there is nothing to go back to.
    pub fn forget_history(&mut self) {
        self.overwritten.clear();
        self.dead_ends.clear();
        self.alias_text = 0;
    }
}

//! What a word is between its parts and its arguments: text that remembers where each byte came from.
//!
//! Only what an unquoted expansion gave is split; only what was not quoted is a pattern. A quoted stretch makes
//! an argument exist even if it is empty.

use bstr::BString;

use super::pattern;
use crate::long::{self, Pace};
use crate::release::{self, Heavy, Weigh};
use crate::status::{Interrupt, LimitKind, Running, Stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Written or expanded inside quotes: neither split nor a pattern.
    Quoted,
    /// Written without quotes: not split, may be a pattern.
    Literal,
    /// From an expansion without quotes: split, and may be a pattern.
    Expanded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Text(Origin),
    /// Between two elements of `"$@"`: here an argument ends whatever `IFS` says.
    Break,
}

/// A stretch of text up to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub end: usize,
    pub mark: Mark,
}

#[derive(Debug)]
pub(super) struct Expansion {
    pub text: Heavy<Vec<u8>>,
    pub runs: Vec<Run>,
    /// A quoted list without elements was here: if nothing else is in these quotes, they are not an argument.
    pub vanished: bool,
    limit: u64,
    pace: Pace,
}

impl Expansion {
    pub fn new(limit: u64) -> Self {
        Expansion {
            text: Heavy::default(),
            runs: Vec::new(),
            vanished: false,
            limit,
            pace: Pace::default(),
        }
    }

    pub fn push(&mut self, origin: Origin, text: &[u8]) -> Running<()> {
        self.room_for(text.len())?;
        self.pace.walked(text.len())?;
        long::extend(&mut self.text, text)?;
        self.mark(origin);
        Ok(())
    }

    /// Refuses before the memory is used.
    pub fn room_for(&self, bytes: usize) -> Running<()> {
        check_limit(self.text.len() as u64 + bytes as u64, self.limit)
    }

    /// Everything since the last mark came from here.
    fn mark(&mut self, origin: Origin) {
        let end = self.text.len();
        let mark = Mark::Text(origin);
        match self.runs.last_mut() {
            Some(run) if run.mark == mark => run.end = end,
            last if last.as_ref().map_or(0, |run| run.end) < end => {
                self.runs.push(Run { end, mark });
            }
            _ => {}
        }
    }

    /// Quotes were here: there is an argument even if they are empty.
    pub fn exist(&mut self) {
        let mark = Mark::Text(Origin::Quoted);
        if self.runs.last().is_none_or(|run| run.mark != mark) {
            self.runs.push(Run { end: self.text.len(), mark });
        }
    }

    /// Text in quotes of its own.
    pub fn push_quoted(&mut self, text: &[u8]) -> Running<()> {
        self.push(Origin::Quoted, text)?;
        self.exist();
        Ok(())
    }

    pub fn push_break(&mut self) {
        self.runs.push(Run { end: self.text.len(), mark: Mark::Break });
    }

    /// The stretches of text in order.
    pub fn stretches(&self) -> impl Iterator<Item = (Mark, &[u8])> {
        let mut start = 0;
        self.runs.iter().map(move |run| {
            let text = self.text.get(start..run.end).unwrap_or_default();
            start = run.end;
            (run.mark, text)
        })
    }

    /// The one field this is, or none, if nothing in it can be split; else the expansion again.
    pub fn into_only_field(self) -> Result<Option<Field>, Expansion> {
        let divides = |run: &Run| matches!(run.mark, Mark::Break | Mark::Text(Origin::Expanded));
        if self.runs.iter().any(divides) {
            return Err(self);
        }
        if self.runs.is_empty() {
            return Ok(None);
        }
        let quoted = |run: &Run| (run.end, run.mark == Mark::Text(Origin::Quoted));
        Ok(Some(Field {
            runs: self.runs.iter().map(quoted).collect(),
            text: self.text.into_inner(),
        }))
    }

    /// All as one string.
    pub fn text_joined_by(self, separator: u8) -> BString {
        if self.runs.iter().all(|run| run.mark != Mark::Break) {
            return self.text.into_inner().into();
        }
        let mut all = Vec::with_capacity(self.text.len() + self.runs.len());
        for (mark, text) in self.stretches() {
            all.extend_from_slice(text);
            if mark == Mark::Break {
                all.push(separator);
            }
        }
        all.into()
    }

    /// All as one pattern: what was quoted stands for itself.
    pub fn into_pattern(self, separator: u8) -> BString {
        let mut all = Vec::with_capacity(self.text.len() + 8);
        for (mark, text) in self.stretches() {
            match mark {
                Mark::Text(Origin::Quoted) => pattern::push_escaped(&mut all, text),
                Mark::Text(_) => all.extend_from_slice(text),
                Mark::Break => all.push(separator),
            }
        }
        all.into()
    }
}

/// What a word costs beside its text: the word itself and what the allocator adds.
pub(super) const WORD_BYTES: u64 = 40;

pub(super) fn check_limit(bytes: u64, limit: u64) -> Running<()> {
    if bytes > limit {
        return Err(Interrupt::Stopped(Stop::Limit(LimitKind::ExpansionBytes, limit)));
    }
    Ok(())
}

/// One argument before path name expansion.
#[derive(Debug, Default)]
pub(super) struct Field {
    pub text: Vec<u8>,
    /// Where quoted and unquoted text end, in turn.
    runs: Vec<(usize, bool)>,
}

/// What a field takes with its text and its runs.
const FIELD_BYTES: usize = 96;

impl Weigh for Vec<Field> {
    fn weight(&self) -> usize {
        self.len().saturating_mul(FIELD_BYTES)
    }

    fn shed(&mut self) -> bool {
        release::shorten(self)
    }
}

impl Weigh for std::vec::IntoIter<Field> {
    fn weight(&self) -> usize {
        self.len().saturating_mul(FIELD_BYTES)
    }

    fn shed(&mut self) -> bool {
        self.by_ref().take(release::ELEMENTS).for_each(drop);
        self.len() > 0
    }
}

impl Field {
    pub fn push(&mut self, text: &[u8], quoted: bool) {
        self.text.extend_from_slice(text);
        let end = self.text.len();
        match self.runs.last_mut() {
            Some(run) if run.1 == quoted => run.0 = end,
            _ => self.runs.push((end, quoted)),
        }
    }

    /// The field as a pattern for path names, if anything in it is active.
    pub fn pattern(&self, extglob: bool) -> Option<Vec<u8>> {
        if !pattern::looks_active(&self.text, extglob) {
            return None;
        }
        let mut start = 0;
        let mut active = false;
        let mut all = Vec::with_capacity(self.text.len() + 8);
        for &(end, quoted) in &self.runs {
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            if quoted {
                pattern::push_escaped(&mut all, text);
            } else {
                active |= pattern::looks_active(text, extglob);
                all.extend_from_slice(text);
            }
        }
        active.then_some(all)
    }
}

//! What a record changed, as a person reads it: kinds of change, renames, lines that differ.
//!
//! [`pair`] finds renames among all changes; [`compare`] looks at the contents of one, so that a long diff is shown while
//! it is made; [`patch`] is the text that `git apply` takes.

pub mod patch;
mod quote;
mod rename;
mod text;

pub use quote::quoted;
pub use text::{Hunk, Line, Mark, TextDiff};

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bstr::BString;
use exacta_store::{Change, Facts, Journal, Kind, Side, UndoError};

/// Larger files are not compared line by line.
pub const LARGEST: u64 = 16 << 20;

/// As git: who has a zero byte so early is no text.
const LOOKED_AT: usize = 8000;

/// One change before its contents are looked at.
#[derive(Debug, Clone)]
pub struct Found {
    pub kind: ChangeKind,
    pub path: BString,
    pub from: Option<BString>,
    /// Of contents, in percent, of what was moved.
    similarity: Option<u8>,
    before: Option<Side>,
    after: Option<Side>,
    changed_since: bool,
    /// Something else that was made, or deleted, lies in this directory.
    implied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Created,
    Deleted,
    Modified,
    Moved,
}

impl ChangeKind {
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Modified => "modified",
            ChangeKind::Moved => "moved",
        }
    }
}

/// One change with all that is known of it.
#[derive(Debug, Clone)]
pub struct FileDiff {
    pub kind: ChangeKind,
    pub path: BString,
    pub from: Option<BString>,
    pub similarity: Option<u8>,
    pub before: Option<Facts>,
    pub after: Option<Facts>,
    /// Somebody has changed it since, and it is shown as it is now.
    pub changed_since: bool,
    pub implied: bool,
    pub body: Body,
}

/// What differs in the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing, or there is no content.
    Same,
    Text(TextDiff),
    Binary,
    TooLarge,
}

/// How long may be thought about one diff in all. What is used up makes the rest coarser, never wrong.
#[derive(Debug)]
pub struct Patience {
    until: Instant,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { until: Instant::now() + Duration::from_secs(10) }
    }
}

impl Patience {
    fn deadline(&self) -> Instant {
        let now = Instant::now();
        self.until.min(now + Duration::from_secs(2)).max(now + Duration::from_millis(20))
    }
}

pub(super) fn pair(journal: &Journal, changes: Vec<Change>) -> Vec<Found> {
    let found = changes.into_iter().filter_map(|change| {
        let kind = match (&change.before, &change.after) {
            (None, None) => return None,
            (None, Some(_)) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) if change.moved_from.is_some() => ChangeKind::Moved,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        Some(Found {
            kind,
            path: change.path,
            from: change.moved_from,
            similarity: None,
            before: change.before,
            after: change.after,
            changed_since: change.changed_since,
            implied: false,
        })
    });
    let mut found: Vec<Found> = found.collect();
    mark_implied(&mut found);
    rename::find(journal, &mut found);
    found
}

/// A directory that comes or goes with what is in it need not be told.
fn mark_implied(found: &mut [Found]) {
    let holder = |path: &BString| {
        let at = path.iter().rposition(|byte| *byte == b'/')?;
        path.get(..at).map(BString::from)
    };
    let holders: HashSet<(ChangeKind, BString)> =
        found.iter().filter_map(|one| Some((one.kind, holder(&one.path)?))).collect();
    for one in found {
        one.implied = matches!(one.kind, ChangeKind::Created | ChangeKind::Deleted)
            && holders.contains(&(one.kind, one.path.clone()));
    }
}

pub(super) fn compare(
    journal: &Journal,
    found: &Found,
    patience: &Patience,
) -> Result<FileDiff, UndoError> {
    let mut diff = FileDiff {
        kind: found.kind,
        path: found.path.clone(),
        from: found.from.clone(),
        similarity: found.similarity,
        before: found.before.as_ref().map(|side| side.facts.clone()),
        after: found.after.as_ref().map(|side| side.facts.clone()),
        changed_since: found.changed_since,
        implied: found.implied,
        body: Body::Same,
    };
    if !has_content(diff.before.as_ref()) && !has_content(diff.after.as_ref()) {
        return Ok(diff);
    }
    let sides = (content(journal, found.before.as_ref())?, content(journal, found.after.as_ref())?);
    diff.body = match sides {
        (Content::Bytes(before), Content::Bytes(after)) => {
            body(&before, &after, patience.deadline())
        }
        _ => Body::TooLarge,
    };
    if found.kind == ChangeKind::Moved && diff.body == Body::Same {
        diff.similarity = Some(100);
    } else if let (ChangeKind::Moved, None, Body::Text(text)) =
        (found.kind, found.similarity, &diff.body)
    {
        diff.similarity = Some(text.similarity);
    }
    Ok(diff)
}

fn has_content(facts: Option<&Facts>) -> bool {
    facts.is_some_and(|facts| matches!(facts.kind, Kind::File | Kind::Symlink))
}

fn body(before: &[u8], after: &[u8], deadline: Instant) -> Body {
    let is_binary = |bytes: &[u8]| bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0);
    if before == after {
        Body::Same
    } else if is_binary(before) || is_binary(after) {
        Body::Binary
    } else {
        Body::Text(text::compare(before, after, deadline))
    }
}

enum Content {
    Bytes(Vec<u8>),
    TooLarge,
}

/// Nothing for what is not there or has no content; of a link it is its target.
fn content(journal: &Journal, side: Option<&Side>) -> Result<Content, UndoError> {
    let Some(side) = side else { return Ok(Content::Bytes(Vec::new())) };
    if let Some(target) = &side.facts.target {
        return Ok(Content::Bytes(target.to_vec()));
    }
    let Some(file) = journal.content(side)? else { return Ok(Content::Bytes(Vec::new())) };
    let bytes = file.read(LARGEST + 1)?;
    if bytes.len() as u64 > LARGEST { Ok(Content::TooLarge) } else { Ok(Content::Bytes(bytes)) }
}

//! What a record itself says of its paths: their facts on both sides, where looking would show a copy or today's.

use bstr::BString;

use super::steps::Steps;
use crate::facts::Facts;
use crate::path;
use crate::record::{Left, Numbered, Record, Step};

/// How the record left a path when its phase last changed; `None` when it does not say.
pub(super) fn left<'a>(record: &'a Record, path: &BString) -> Option<&'a Left> {
    let at = record.left.binary_search_by(|left| left.path.cmp(path)).ok()?;
    record.left.get(at)
}

/// What was at a path before the record, if one of its steps wrote that down.
pub(super) fn before(steps: &Steps<'_>, path: &BString) -> Option<Facts> {
    let (mut place, mut index) = (path.clone(), 0);
    while let Some((behind, Numbered { step, .. })) = steps.next(index, &place) {
        index = behind;
        match step {
            Step::Write { path, before, .. }
            | Step::Append { path, before, .. }
            | Step::Meta { path, before, .. }
            | Step::Delete { path, before }
            | Step::Replace { path, before }
                if *path == place =>
            {
                return Some(before.clone());
            }
            Step::Delete { path, .. } | Step::Replace { path, .. } | Step::Create { path }
                if path::below(&place, path).is_some() =>
            {
                return None;
            }
            Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                if let Some(rest) = path::below(&place, from) {
                    place = path::join(to, rest);
                }
            }
            _ => {}
        }
    }
    None
}

/// What was at a path after a record that is undone now, if it was only changed and not made.
pub(super) fn after(steps: &Steps<'_>, path: &BString) -> Option<Facts> {
    let (mut place, mut index) = (path.clone(), steps.count());
    while let Some((before, Numbered { number, step })) = steps.previous(index, &place) {
        index = before;
        match step {
            Step::Write { path, .. } | Step::Append { path, .. } | Step::Meta { path, .. }
                if *path == place =>
            {
                let made = &steps.record.made.attributes;
                let at = made.binary_search_by_key(number, |(number, ..)| *number).ok()?;
                return made.get(at).map(|(_, facts, _)| facts.clone());
            }
            Step::Create { path } | Step::Replace { path, .. }
                if path::below(&place, path).is_some() =>
            {
                return None;
            }
            Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                if let Some(rest) = path::below(&place, to) {
                    place = path::join(from, rest);
                }
            }
            _ => {}
        }
    }
    None
}

//! How many paths a record changes, counted from its steps alone: a list of records must not read trees.

use std::collections::BTreeMap;

use bstr::BString;

use crate::layer::LayerPlan;
use crate::record::{Record, Step};

/// Paths by what happened to them. A directory that went whole is one path; one that came whole out of a layer counts
/// with everything in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub created: usize,
    pub modified: usize,
    pub deleted: usize,
    pub moved: usize,
}

impl Record {
    pub fn tally(&self) -> Tally {
        let inside = self.made.manifests.iter().map(|(_, entries)| entries.len()).sum();
        tally(self.steps.iter().map(|one| &one.step), inside)
    }
}

impl LayerPlan {
    pub fn tally(&self) -> Tally {
        let manifests = self.steps.iter().filter_map(|planned| planned.manifest.as_ref());
        tally(self.steps.iter().map(|planned| &planned.step), manifests.map(Vec::len).sum())
    }
}

/// Whether something is at a path before the first step and after the last, and where it came from.
#[derive(Default)]
struct Life<'a> {
    before: bool,
    after: bool,
    origin: Option<&'a BString>,
}

fn tally<'a>(steps: impl Iterator<Item = &'a Step>, inside: usize) -> Tally {
    let mut lives: BTreeMap<&BString, Life<'_>> = BTreeMap::new();
    let mut see = |path: &'a BString, was: bool, is: bool, origin: Option<&'a BString>| {
        let life = lives.entry(path).or_insert(Life { before: was, ..Life::default() });
        life.after = is;
        life.origin = origin;
    };
    for step in steps {
        match step {
            Step::Create { path } | Step::Link { path, .. } => see(path, false, true, None),
            Step::Write { path, .. }
            | Step::Append { path, .. }
            | Step::Meta { path, .. }
            | Step::Replace { path, .. } => {
                see(path, true, true, None);
            }
            Step::Delete { path, .. } | Step::Trash { path, .. } => see(path, true, false, None),
            Step::Move { from, to, .. } => {
                see(from, true, false, None);
                see(to, false, true, Some(from));
            }
        }
    }
    let mut tally = Tally { created: inside, ..Tally::default() };
    for life in lives.values() {
        let gone =
            |origin: &&BString| lives.get(*origin).is_some_and(|one| one.before && !one.after);
        match (life.before, life.after, life.origin.as_ref().filter(|origin| gone(origin))) {
            (false, true, Some(_)) => tally.moved += 1,
            (false, true, None) => tally.created += 1,
            (true, true, _) => tally.modified += 1,
            (true, false, _) => tally.deleted += 1,
            (false, false, _) => {}
        }
    }
    tally.deleted = tally.deleted.saturating_sub(tally.moved);
    tally
}

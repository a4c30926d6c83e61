//! What a running request knows of the paths it has changed: what needs no more keeping.

use std::collections::{BTreeMap, HashSet};

use bstr::BString;

use crate::facts::Facts;
use crate::ground::Slots;
use crate::path;
use crate::record::file::RecordFile;

#[derive(Default)]
pub(super) struct Open {
    pub file: Option<RecordFile>,
    pub slots: Option<Slots>,
    /// Objects whose earlier state needs no more keeping, by their present path.
    pub covered: BTreeMap<BString, Covered>,
    /// Directories whose earlier time is known, by their present path.
    pub timed: HashSet<BString>,
    pub irreversible: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Covered {
    /// This request made it.
    Made,
    /// Its content and attributes are kept.
    Kept,
    /// Only its attributes are.
    Attributes,
}

impl Open {
    /// A new name of an old file is no new file: what changes through it is to be kept all the same.
    pub(super) fn is_covered(&self, path: &[u8], facts: &Facts, wanted: Covered) -> bool {
        match self.covered.get(path) {
            Some(Covered::Made) => facts.is_directory() || facts.links == 1,
            Some(Covered::Kept) => true,
            Some(Covered::Attributes) => wanted == Covered::Attributes,
            None => false,
        }
    }

    /// What was known of a path and what is below it says nothing of what comes there next.
    pub(super) fn forget(&mut self, path: &[u8]) {
        self.covered.retain(|known, _| path::below(known, path).is_none());
        self.timed.retain(|known| path::below(known, path).is_none());
    }

    pub(super) fn rebase(&mut self, from: &[u8], to: &[u8]) {
        let covered = std::mem::take(&mut self.covered);
        let moved = |known: BString| match path::below(&known, from) {
            Some(rest) => path::join(to, rest),
            None => known,
        };
        self.covered = covered.into_iter().map(|(known, how)| (moved(known), how)).collect();
        self.timed = std::mem::take(&mut self.timed).into_iter().map(moved).collect();
    }
}

//! What a running request knows of the paths it has changed: what needs no more keeping.

use std::collections::{BTreeMap, BTreeSet};

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
    pub timed: BTreeSet<BString>,
    pub irreversible: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Covered {
    /// This request made it.
    Made,
    /// Its content and attributes are kept.
    Kept,
    /// Its attributes are, and its length: what is behind that is new.
    Length,
    /// Only its attributes are.
    Attributes,
}

impl Open {
    /// A new name of an old file is no new file: what changes through it is to be kept all the same.
    pub(super) fn is_covered(&self, path: &[u8], facts: &Facts, wanted: Covered) -> bool {
        match self.covered.get(path) {
            Some(Covered::Made) => facts.is_directory() || facts.links == 1,
            Some(Covered::Kept) => true,
            Some(Covered::Length) => wanted != Covered::Kept,
            Some(Covered::Attributes) => wanted == Covered::Attributes,
            None => false,
        }
    }

    /// What was known of a path and what is below it says nothing of what comes there next.
    pub(super) fn forget(&mut self, path: &[u8]) {
        for known in self.covered_below(path) {
            self.covered.remove(&known);
        }
        for known in self.timed_below(path) {
            self.timed.remove(&known);
        }
    }

    pub(super) fn rebase(&mut self, from: &[u8], to: &[u8]) {
        let moved = |known: &BString| path::join(to, path::below(known, from).unwrap_or_default());
        for known in self.covered_below(from) {
            if let Some(how) = self.covered.remove(&known) {
                self.covered.insert(moved(&known), how);
            }
        }
        for known in self.timed_below(from) {
            self.timed.remove(&known);
            self.timed.insert(moved(&known));
        }
    }

    // Only what begins like the path is looked at: `mv` in a loop over many files must not look at all of them each time.

    fn covered_below(&self, path: &[u8]) -> Vec<BString> {
        let like = self.covered.range(BString::from(path)..).map(|(known, _)| known);
        below(like, path)
    }

    fn timed_below(&self, path: &[u8]) -> Vec<BString> {
        below(self.timed.range(BString::from(path)..), path)
    }
}

fn below<'a>(sorted: impl Iterator<Item = &'a BString>, path: &[u8]) -> Vec<BString> {
    let like = sorted.take_while(|known| known.starts_with(path));
    like.filter(|known| path::below(known, path).is_some()).cloned().collect()
}

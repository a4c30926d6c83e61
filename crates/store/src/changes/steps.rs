//! The steps of a record by the paths they name, so that one path is followed without reading all of them.

use std::collections::HashMap;

use crate::record::{Numbered, Record, ancestors};

pub(super) struct Steps<'a> {
    pub record: &'a Record,
    at: HashMap<&'a [u8], Vec<usize>>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(record: &'a Record) -> Self {
        let mut at: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (index, one) in record.steps.iter().enumerate() {
            for path in one.step.paths() {
                at.entry(path).or_default().push(index);
            }
        }
        Steps { record, at }
    }

    /// Whether a step names exactly this path.
    pub(super) fn name(&self, path: &[u8]) -> bool {
        self.at.contains_key(path)
    }

    /// The first step from an index on that names a path or what holds it, and the index behind it.
    pub(super) fn next(&self, index: usize, path: &[u8]) -> Option<(usize, &'a Numbered)> {
        let first = |path: &[u8]| {
            let steps = self.at.get(path)?;
            steps.get(steps.partition_point(|&step| step < index)).copied()
        };
        let found = ancestors(path).filter_map(first).min()?;
        Some((found + 1, self.record.steps.get(found)?))
    }

    /// The last step before an index that names a path or what holds it, and its index.
    pub(super) fn previous(&self, index: usize, path: &[u8]) -> Option<(usize, &'a Numbered)> {
        let last = |path: &[u8]| {
            let steps = self.at.get(path)?;
            let at = steps.partition_point(|&step| step < index);
            steps.get(at.checked_sub(1)?).copied()
        };
        let found = ancestors(path).filter_map(last).max()?;
        Some((found, self.record.steps.get(found)?))
    }

    pub(super) fn count(&self) -> usize {
        self.record.steps.len()
    }
}

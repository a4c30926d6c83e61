//! The steps of a record by the paths they name, so that one path is followed without reading all of them.

use crate::by_path::ByPath;
use crate::record::{Numbered, Record};

pub(super) struct Steps<'a> {
    pub record: &'a Record,
    at: ByPath<'a>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(record: &'a Record) -> Self {
        let steps = record.steps.iter().enumerate();
        let named = steps
            .flat_map(|(index, one)| one.step.paths().map(move |path| (path.as_slice(), index)));
        Steps { record, at: ByPath::new(named) }
    }

    /// Whether a step names exactly this path.
    pub(super) fn name(&self, path: &[u8]) -> bool {
        !self.at.at(path).is_empty()
    }

    /// The first step from an index on that names a path or what holds it, and the index behind it.
    pub(super) fn next(&self, index: usize, path: &[u8]) -> Option<(usize, &'a Numbered)> {
        let first =
            |steps: &[usize]| steps.get(steps.partition_point(|&step| step < index)).copied();
        let found = self.at.on_the_way(path).filter_map(first).min()?;
        Some((found + 1, self.record.steps.get(found)?))
    }

    /// The last step before an index that names a path or what holds it, and its index.
    pub(super) fn previous(&self, index: usize, path: &[u8]) -> Option<(usize, &'a Numbered)> {
        let last = |steps: &[usize]| {
            let at = steps.partition_point(|&step| step < index);
            steps.get(at.checked_sub(1)?).copied()
        };
        let found = self.at.on_the_way(path).filter_map(last).max()?;
        Some((found, self.record.steps.get(found)?))
    }

    pub(super) fn count(&self) -> usize {
        self.record.steps.len()
    }
}

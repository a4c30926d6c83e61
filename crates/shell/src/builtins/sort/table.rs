//! The lines to be sorted: one text, one index of it, sorted in runs that are then merged.
//!
//! Runs keep the work between two looks at the request's control short, and fit the processor's cache.

use std::cmp::Ordering;
use std::sync::Arc;

use memchr::memchr_iter;

use super::key::{Key, rank_bytes};
use crate::control::Control;
use crate::release::{Heavy, Weigh};
use crate::status::Stop;

/// How lines compare.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub keys: Vec<Key>,
    /// Of the comparison of whole lines.
    pub reverse: bool,
    /// Lines with equal keys are equal: `-s`, `-u`.
    pub keys_only: bool,
    pub tab: Option<u8>,
    /// Of `-R`.
    pub seed: u64,
}

impl Rules {
    pub fn compare(&self, one: &[u8], other: &[u8]) -> Ordering {
        self.compare_from(0, one, other)
    }

    /// Compares lines whose ranks are equal: some keys have nothing more to say then.
    fn compare_tied(&self, one: &[u8], other: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            // Their first eight bytes are equal: short lines need not be looked at again.
            let (first, second) = (one.get(8..), other.get(8..));
            let order = (first.unwrap_or_default().cmp(second.unwrap_or_default()))
                .then_with(|| one.len().cmp(&other.len()));
            return if self.reverse { order.reverse() } else { order };
        }
        let first = self.keys.first().is_some_and(Key::is_rank_exact);
        self.compare_from(usize::from(first), one, other)
    }

    fn compare_from(&self, first: usize, one: &[u8], other: &[u8]) -> Ordering {
        for key in self.keys.iter().skip(first) {
            let (first, second) = (key.of(one, self.tab), key.of(other, self.tab));
            let order = key.compare(first, second, self.seed);
            if order != Ordering::Equal {
                return order;
            }
        }
        if self.keys_only && !self.keys.is_empty() {
            return Ordering::Equal;
        }
        if self.reverse { other.cmp(one) } else { one.cmp(other) }
    }

    fn rank(&self, line: &[u8]) -> u64 {
        match self.keys.first() {
            Some(key) => key.rank(key.of(line, self.tab), self.seed),
            None if self.reverse => !rank_bytes(line),
            None => rank_bytes(line),
        }
    }
}

/// A line in the text, without its separator. Small, since there is one for every line: that is why no more than
/// [`LARGEST`] can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    rank: u64,
    start: u32,
    length: u32,
}

impl Entry {
    fn of<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let start = self.start as usize;
        text.get(start..start + self.length as usize).unwrap_or_default()
    }
}

/// Bytes of one entry of the index.
pub const ENTRY_SIZE: usize = size_of::<Entry>();

/// The longest text that can be sorted.
pub const LARGEST: usize = u32::MAX as usize;

pub struct Table {
    text: Heavy<Vec<u8>>,
    separator: u8,
    entries: Heavy<Vec<Entry>>,
}

impl Weigh for Vec<Entry> {
    fn weight(&self) -> usize {
        self.capacity().saturating_mul(ENTRY_SIZE)
    }
}

/// Lines that are sorted at a stretch: a few milliseconds. With keys a comparison takes several times as long.
const RUN: usize = 1 << 15;
const RUN_WITH_KEYS: usize = 1 << 12;
/// From this many lines on a second thread helps.
const WORTH_A_THREAD: usize = 1 << 17;
/// Lines merged between two looks at the control.
const STRIDE: usize = 1 << 14;

impl Table {
    /// Every line of the text ends with the separator. Room for the index is made at once: growing would copy it.
    pub fn new(text: Heavy<Vec<u8>>, separator: u8, lines: usize) -> Self {
        Table { text, separator, entries: Heavy::new(Vec::with_capacity(lines)) }
    }

    pub fn sort(&mut self, rules: &Rules, control: &Arc<Control>) -> Result<(), Stop> {
        self.index(rules, control)?;
        let text = self.text.as_slice();
        // Lines that compare equal keep their order; of lines equal to the last byte nobody can tell.
        let compare = |one: &Entry, other: &Entry| {
            (one.rank.cmp(&other.rank))
                .then_with(|| rules.compare_tied(one.of(text), other.of(text)))
                .then_with(|| one.start.cmp(&other.start))
        };
        let run = if rules.keys.is_empty() { RUN } else { RUN_WITH_KEYS };
        let entries = std::mem::take(&mut self.entries);
        self.entries = sort_in_parallel(entries, run, &compare, control)?;
        Ok(())
    }

    fn index(&mut self, rules: &Rules, control: &Arc<Control>) -> Result<(), Stop> {
        let mut start = 0;
        for (count, end) in memchr_iter(self.separator, &self.text).enumerate() {
            if count.is_multiple_of(STRIDE) {
                control.check()?;
            }
            let rank = rules.rank(self.text.get(start..end).unwrap_or_default());
            let entry = Entry { rank, start: start as u32, length: (end - start) as u32 };
            self.entries.push(entry);
            start = end + 1;
        }
        Ok(())
    }

    /// Gives the text back, in the order it came.
    pub fn into_text(self) -> Heavy<Vec<u8>> {
        self.text
    }

    /// Lines in order, without their separators.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| entry.of(&self.text))
    }
}

/// Two halves at a time when it is worth a thread; the halves are then one more merge.
fn sort_in_parallel(
    mut left: Heavy<Vec<Entry>>,
    run: usize,
    compare: &(impl Fn(&Entry, &Entry) -> Ordering + Sync),
    control: &Arc<Control>,
) -> Result<Heavy<Vec<Entry>>, Stop> {
    if left.len() < WORTH_A_THREAD {
        sort_entries(&mut left, run, compare, control)?;
        return Ok(left);
    }
    let half = left.len() / 2;
    let mut right = Heavy::new(left.split_off(half));
    let helped = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("sort".to_owned());
        let helper =
            builder.spawn_scoped(scope, || sort_entries(&mut right, run, compare, control));
        sort_entries(&mut left, run, compare, control)?;
        match helper.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(sorted)) => sorted.map(|()| true),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Ok(false),
        }
    })?;
    if !helped {
        // There was no thread to be had.
        sort_entries(&mut right, run, compare, control)?;
    }
    let mut merged = Heavy::new(Vec::with_capacity(left.len() + right.len()));
    merge(&left, &right, &mut merged, compare, control)?;
    Ok(merged)
}

fn sort_entries(
    entries: &mut Heavy<Vec<Entry>>,
    run: usize,
    compare: &impl Fn(&Entry, &Entry) -> Ordering,
    control: &Arc<Control>,
) -> Result<(), Stop> {
    for part in entries.chunks_mut(run) {
        control.check()?;
        part.sort_unstable_by(compare);
    }
    merge_runs(entries, run, compare, control)
}

/// Merges neighbouring sorted runs until there is one.
fn merge_runs(
    entries: &mut Heavy<Vec<Entry>>,
    mut run: usize,
    compare: &impl Fn(&Entry, &Entry) -> Ordering,
    control: &Arc<Control>,
) -> Result<(), Stop> {
    let mut merged = Heavy::<Vec<Entry>>::default();
    while run < entries.len() {
        merged.reserve(entries.len());
        for pair in entries.chunks(run * 2) {
            let (left, right) = pair.split_at(run.min(pair.len()));
            merge(left, right, &mut merged, compare, control)?;
        }
        std::mem::swap(entries, &mut merged);
        merged.clear();
        run *= 2;
    }
    Ok(())
}

fn merge(
    mut left: &[Entry],
    mut right: &[Entry],
    merged: &mut Vec<Entry>,
    compare: &impl Fn(&Entry, &Entry) -> Ordering,
    control: &Arc<Control>,
) -> Result<(), Stop> {
    control.check()?;
    // Input that is in order already needs no merging.
    let in_order = match (left.last(), right.first()) {
        (Some(last), Some(first)) => compare(last, first) != Ordering::Greater,
        _ => true,
    };
    let mut until_check = STRIDE;
    while let (false, Some(one), Some(other)) = (in_order, left.first(), right.first()) {
        if compare(one, other) == Ordering::Greater {
            merged.push(*other);
            right = right.get(1..).unwrap_or_default();
        } else {
            merged.push(*one);
            left = left.get(1..).unwrap_or_default();
        }
        until_check -= 1;
        if until_check == 0 {
            control.check()?;
            until_check = STRIDE;
        }
    }
    for part in left.chunks(STRIDE).chain(right.chunks(STRIDE)) {
        control.check()?;
        merged.extend_from_slice(part);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Limits;

    #[test]
    fn many_runs_are_merged_in_order() {
        let mut number = 1_u64;
        let mut text = Vec::new();
        for _ in 0..5 * RUN + 7 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.extend_from_slice(format!("{}\n", number % 100_000).as_bytes());
        }
        let mut expected: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        expected.pop();
        expected.sort_unstable();
        let mut table = Table::new(Heavy::new(text.clone()), b'\n', 0);
        table.sort(&Rules::default(), &Arc::new(Control::new(Limits::default()))).unwrap();
        assert!(table.lines().eq(expected));
    }
}

//! Two texts line by line. Lines are told apart once and compared as numbers; a deadline keeps two large texts that have
//! nothing in common from taking minutes.

use std::collections::HashMap;
use std::time::Instant;

use bstr::{BString, ByteSlice};
use similar::{Algorithm, DiffOp, DiffTag};

/// Lines around a change.
const AROUND: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextDiff {
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
    /// The time was over: right, but longer than it had to be.
    pub coarse: bool,
    /// How much is the same, in percent of the longer one.
    pub similarity: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first line, counted from one, and how many.
    pub before: (usize, usize),
    pub after: (usize, usize),
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub mark: Mark,
    /// Without its end.
    pub text: BString,
    /// Only the last line of a file may have none.
    pub ends: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Same,
    Removed,
    Added,
}

pub(super) fn compare(before: &[u8], after: &[u8], deadline: Instant) -> TextDiff {
    let old: Vec<&[u8]> = before.lines_with_terminator().collect();
    let new: Vec<&[u8]> = after.lines_with_terminator().collect();
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let mut numbered = Vec::with_capacity(old.len() + new.len());
    for line in old.iter().chain(&new) {
        let next = known.len() as u32;
        numbered.push(*known.entry(line).or_insert(next));
    }
    let (one, other) = numbered.split_at(old.len());
    let operations =
        similar::capture_diff_slices_deadline(Algorithm::Myers, one, other, Some(deadline));
    let mut diff = TextDiff { coarse: Instant::now() > deadline, ..TextDiff::default() };
    let same: usize = operations.iter().map(|operation| bytes_kept(operation, &old)).sum();
    diff.similarity = percent(same, before.len().max(after.len()));
    for group in similar::group_diff_ops(operations, AROUND) {
        diff.hunks.push(hunk(&group, &old, &new));
    }
    let count = |mark: Mark| {
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(|line| line.mark == mark).count()
    };
    (diff.added, diff.removed) = (count(Mark::Added), count(Mark::Removed));
    diff
}

pub(super) fn percent(part: usize, whole: usize) -> u8 {
    let percent = part.saturating_mul(100).checked_div(whole).unwrap_or(100);
    u8::try_from(percent).unwrap_or(100)
}

fn bytes_kept(operation: &DiffOp, old: &[&[u8]]) -> usize {
    if operation.tag() != DiffTag::Equal {
        return 0;
    }
    let lines = old.get(operation.old_range()).unwrap_or_default();
    lines.iter().map(|line| line.len()).sum()
}

fn hunk(group: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) -> Hunk {
    let mut lines = Vec::new();
    let mut push = |mark: Mark, from: &[&[u8]]| {
        lines.extend(from.iter().map(|line| Line {
            mark,
            text: line.strip_suffix(b"\n").unwrap_or(line).into(),
            ends: line.ends_with(b"\n"),
        }));
    };
    for operation in group {
        let before = old.get(operation.old_range()).unwrap_or_default();
        let after = new.get(operation.new_range()).unwrap_or_default();
        if operation.tag() == DiffTag::Equal {
            push(Mark::Same, before);
        } else {
            push(Mark::Removed, before);
            push(Mark::Added, after);
        }
    }
    let place = |range: fn(&DiffOp) -> std::ops::Range<usize>| {
        let start = group.first().map_or(0, |first| range(first).start);
        let end = group.last().map_or(0, |last| range(last).end);
        let count = end.saturating_sub(start);
        // Where nothing is, the line before it is named.
        (if count == 0 { start } else { start + 1 }, count)
    };
    Hunk { before: place(DiffOp::old_range), after: place(DiffOp::new_range), lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn three_lines_around() {
        let before: String = (1..=20).fold(String::new(), |text, line| text + &format!("{line}\n"));
        let after = before.replace("10\n", "ten\nand more\n");
        let diff = compare(before.as_bytes(), after.as_bytes(), soon());
        assert_eq!((diff.added, diff.removed, diff.coarse), (2, 1, false));
        let [hunk] = diff.hunks.as_slice() else { panic!("{diff:?}") };
        assert_eq!((hunk.before, hunk.after), ((7, 7), (7, 8)));
    }

    #[test]
    fn nothing_on_one_side() {
        let made = compare(b"", b"a\nb", soon());
        assert_eq!((made.hunks[0].before, made.hunks[0].after), ((0, 0), (1, 2)));
        assert!(!made.hunks[0].lines[1].ends);
        let gone = compare(b"a\n", b"", soon());
        assert_eq!((gone.hunks[0].before, gone.hunks[0].after), ((1, 1), (0, 0)));
    }

    #[test]
    fn what_has_nothing_in_common_does_not_take_for_ever() {
        let text = |seed: u64| -> Vec<u8> {
            let mut state = seed;
            let mut bytes = Vec::new();
            while bytes.len() < 10 << 20 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
                bytes.extend((state >> 45).to_string().bytes());
                bytes.push(b'\n');
            }
            bytes
        };
        let begun = Instant::now();
        let diff = compare(&text(1), &text(2), begun + Duration::from_secs(1));
        assert!(!diff.hunks.is_empty());
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }
}

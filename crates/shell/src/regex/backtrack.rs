//! The backtracking machine: for what no automaton can do. Its stack is its own, its budget is limited.

use std::ops::Range;

use super::program::{One, Program, Step};
use super::{Anchor, Error, Preference, RepeatMode, Set, is_word};

/// Steps for one search. PCRE stops at the same number of tries.
const BUDGET: u64 = 10_000_000;

/// How often the machine asks whether the request is over.
const PATIENCE: u64 = 1 << 16;

/// What is kept between searches.
#[derive(Debug, Default)]
pub(super) struct Memory {
    stack: Vec<Undo>,
    barriers: Vec<usize>,
    slots: Vec<Option<usize>>,
    counters: Vec<Counter>,
    /// The slots as they were at the longest match.
    longest: Vec<Option<usize>>,
}

impl Memory {
    /// Where the groups of the longest match are.
    pub(super) fn groups(&self) -> &[Option<usize>] {
        &self.longest
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    count: u32,
    /// Where the current round began.
    start: usize,
}

#[derive(Debug)]
enum Undo {
    Branch {
        step: usize,
        position: usize,
    },
    Slot {
        slot: usize,
        old: Option<usize>,
    },
    Counter {
        counter: usize,
        old: Counter,
    },
    /// A greedy run that can give back down to `low`.
    Run {
        step: usize,
        low: usize,
        position: usize,
    },
    /// A lazy run that can take one more, `left` times.
    LazyRun {
        step: usize,
        position: usize,
        left: u32,
    },
    Barrier {
        /// Where a negative look-around goes on when its inside fails.
        otherwise: Option<usize>,
        position: usize,
    },
}

pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) text: &'a [u8],
    pub(super) preference: Preference,
    pub(super) stopped: &'a dyn Fn() -> bool,
    pub(super) memory: &'a mut Memory,
    pub(super) used: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        program: &'a Program,
        text: &'a [u8],
        preference: Preference,
        stopped: &'a dyn Fn() -> bool,
        memory: &'a mut Memory,
    ) -> Self {
        Machine { program, text, preference, stopped, memory, used: 0 }
    }

    /// The leftmost match that begins at `from` or later.
    pub(super) fn search(&mut self, from: usize) -> Result<Option<Range<usize>>, Error> {
        let mut start = from;
        loop {
            if let Some(found) = self.match_at(start)? {
                return Ok(Some(found));
            }
            if start >= self.text.len() {
                return Ok(None);
            }
            start += self.width(start);
        }
    }

    fn width(&self, at: usize) -> usize {
        match self.text.get(at) {
            Some(0..0x80) | None => 1,
            Some(_) => bstr::decode_utf8(self.text.get(at..).unwrap_or_default())
                .0
                .map_or(1, char::len_utf8),
        }
    }

    fn match_at(&mut self, start: usize) -> Result<Option<Range<usize>>, Error> {
        let memory = &mut *self.memory;
        memory.stack.clear();
        memory.barriers.clear();
        memory.slots.clear();
        memory.slots.resize(self.program.slots, None);
        memory.counters.clear();
        memory.counters.resize(self.program.counters, Counter::default());
        let mut longest: Option<Range<usize>> = None;
        let mut at = Some((0, start));
        while let Some((step, position)) = at {
            self.spend()?;
            at = match self.program.steps.get(step) {
                None | Some(Step::Accept) => {
                    let begin = self.memory.slots.first().copied().flatten().unwrap_or(start);
                    let found = begin.min(position)..position;
                    if self.preference == Preference::First {
                        return Ok(Some(found));
                    }
                    if longest.as_ref().is_none_or(|longest| longest.end < found.end) {
                        self.memory.longest.clone_from(&self.memory.slots);
                        longest = Some(found);
                    }
                    if position == self.text.len() { None } else { self.fail() }
                }
                Some(step_here) => match self.run(step_here, step, position) {
                    Some(next) => Some(next),
                    None => self.fail(),
                },
            };
        }
        Ok(longest)
    }

    fn spend(&mut self) -> Result<(), Error> {
        self.used += 1;
        if self.used.is_multiple_of(PATIENCE) && (self.stopped)() {
            return Err(Error::Stopped);
        }
        if self.used > BUDGET { Err(Error::TooComplex) } else { Ok(()) }
    }

    /// One step; `None` if it does not match.
    fn run(&mut self, step: &Step, at: usize, position: usize) -> Option<(usize, usize)> {
        let next = at + 1;
        match step {
            Step::One(one) => Some((next, position + self.one(one, position)?)),
            Step::Anchor(anchor) => self.anchored(*anchor, position).then_some((next, position)),
            Step::Backreference { group, fold } => {
                Some((next, position + self.repeated_group(*group, *fold, position)?))
            }
            Step::Split { first, second } => {
                self.memory.stack.push(Undo::Branch { step: *second, position });
                Some((*first, position))
            }
            Step::Jump(target) => Some((*target, position)),
            Step::Save(slot) => {
                let old = self.memory.slots.get_mut(*slot)?.replace(position);
                self.memory.stack.push(Undo::Slot { slot: *slot, old });
                Some((next, position))
            }
            Step::Run { one, min, max, mode } => self.run_of(one, *min, *max, *mode, at, position),
            Step::CounterStart(counter) => {
                self.count(*counter, Counter { count: 0, start: position });
                Some((next, position))
            }
            Step::Loop { counter, min, max, lazy, exit } => {
                self.round(*counter, *min, *max, *lazy, *exit, next, position)
            }
            Step::Around { negative, exit } => {
                self.barrier(negative.then_some(*exit), position);
                Some((next, position))
            }
            Step::Atomic => {
                self.barrier(None, position);
                Some((next, position))
            }
            Step::AroundEnd => self.leave_around().map(|position| (next, position)),
            Step::AtomicEnd => {
                self.cut();
                Some((next, position))
            }
            Step::Back(count) => Some((next, self.back(position, *count)?)),
            Step::Accept => None,
        }
    }

    fn barrier(&mut self, otherwise: Option<usize>, position: usize) {
        self.memory.barriers.push(self.memory.stack.len());
        self.memory.stack.push(Undo::Barrier { otherwise, position });
    }

    /// Forgets the other ways inside the innermost barrier; gives back where it began.
    fn cut(&mut self) -> Option<(Option<usize>, usize)> {
        let at = self.memory.barriers.pop()?;
        let inside = self.memory.stack.split_off(at);
        let mut barrier = None;
        for undo in inside {
            match undo {
                Undo::Slot { .. } | Undo::Counter { .. } => self.memory.stack.push(undo),
                Undo::Barrier { otherwise, position } => barrier = Some((otherwise, position)),
                Undo::Branch { .. } | Undo::Run { .. } | Undo::LazyRun { .. } => {}
            }
        }
        barrier
    }

    /// The inside of a look-around has matched.
    fn leave_around(&mut self) -> Option<usize> {
        let at = *self.memory.barriers.last()?;
        if let Some(Undo::Barrier { otherwise: Some(_), .. }) = self.memory.stack.get(at) {
            while self.memory.stack.len() > at {
                let undo = self.memory.stack.pop()?;
                self.restore(&undo);
            }
            self.memory.barriers.pop();
            return None;
        }
        self.cut().map(|(_, position)| position)
    }

    fn restore(&mut self, undo: &Undo) {
        match undo {
            Undo::Slot { slot, old } => {
                if let Some(value) = self.memory.slots.get_mut(*slot) {
                    *value = *old;
                }
            }
            Undo::Counter { counter, old } => {
                if let Some(value) = self.memory.counters.get_mut(*counter) {
                    *value = *old;
                }
            }
            Undo::Branch { .. }
            | Undo::Run { .. }
            | Undo::LazyRun { .. }
            | Undo::Barrier { .. } => {}
        }
    }

    /// The last other way that is left.
    fn fail(&mut self) -> Option<(usize, usize)> {
        loop {
            let undo = self.memory.stack.pop()?;
            match undo {
                Undo::Branch { step, position } => return Some((step, position)),
                Undo::Slot { .. } | Undo::Counter { .. } => self.restore(&undo),
                Undo::Run { step, low, position } => {
                    let shorter = self.previous(position).unwrap_or(low).max(low);
                    if shorter > low {
                        self.memory.stack.push(Undo::Run { step, low, position: shorter });
                    }
                    return Some((step, shorter));
                }
                Undo::LazyRun { step, position, left } => {
                    if let Some(longer) = self.take_lazily(step, position, left) {
                        return Some(longer);
                    }
                }
                Undo::Barrier { otherwise, position } => {
                    self.memory.barriers.pop();
                    if let Some(step) = otherwise {
                        return Some((step, position));
                    }
                }
            }
        }
    }

    fn take_lazily(&mut self, step: usize, position: usize, left: u32) -> Option<(usize, usize)> {
        let Some(Step::Run { one, .. }) = self.program.steps.get(step) else { return None };
        let longer = position + self.one(one, position)?;
        if left > 1 {
            self.memory.stack.push(Undo::LazyRun { step, position: longer, left: left - 1 });
        }
        Some((step + 1, longer))
    }

    fn run_of(
        &mut self,
        one: &One,
        min: u32,
        max: Option<u32>,
        mode: RepeatMode,
        at: usize,
        position: usize,
    ) -> Option<(usize, usize)> {
        let mut end = position;
        for _ in 0..min {
            end += self.one(one, end)?;
        }
        let more = max.map_or(u32::MAX, |max| max.saturating_sub(min));
        if more == 0 {
            return Some((at + 1, end));
        }
        if mode == RepeatMode::Lazy {
            self.memory.stack.push(Undo::LazyRun { step: at, position: end, left: more });
            return Some((at + 1, end));
        }
        let low = end;
        let mut left = more;
        while left > 0
            && let Some(width) = self.one(one, end)
        {
            end += width;
            left -= 1;
            self.used += 1;
        }
        if end > low && mode == RepeatMode::Greedy {
            self.memory.stack.push(Undo::Run { step: at + 1, low, position: end });
        }
        Some((at + 1, end))
    }

    fn count(&mut self, counter: usize, value: Counter) {
        if let Some(slot) = self.memory.counters.get_mut(counter) {
            let old = std::mem::replace(slot, value);
            self.memory.stack.push(Undo::Counter { counter, old });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one step")]
    fn round(
        &mut self,
        counter: usize,
        min: u32,
        max: Option<u32>,
        lazy: bool,
        exit: usize,
        body: usize,
        position: usize,
    ) -> Option<(usize, usize)> {
        let Counter { count, start } = self.memory.counters.get(counter).copied()?;
        // A round that matched nothing would match nothing again.
        let idle = count > 0 && start == position && count >= min;
        if idle || max.is_some_and(|max| count >= max) {
            return Some((exit, position));
        }
        let again = Counter { count: count + 1, start: position };
        if count < min {
            self.count(counter, again);
            return Some((body, position));
        }
        if lazy {
            // The next round begins only when leaving has failed; the branch leads to a fresh look at the loop,
            // so the counter is changed now and put back by the branch's own undo.
            self.count(counter, again);
            self.memory.stack.push(Undo::Branch { step: body, position });
            return Some((exit, position));
        }
        self.memory.stack.push(Undo::Branch { step: exit, position });
        self.count(counter, again);
        Some((body, position))
    }

    fn previous(&self, position: usize) -> Option<usize> {
        let before = self.text.get(..position)?;
        let (character, length) = bstr::decode_last_utf8(before);
        let width = if character.is_some() { length } else { 1 };
        if before.is_empty() { None } else { Some(position - width) }
    }

    fn back(&self, position: usize, count: u32) -> Option<usize> {
        (0..count).try_fold(position, |position, _| self.previous(position))
    }

    /// How many bytes one character here has, if it is the right one.
    fn one(&self, one: &One, position: usize) -> Option<usize> {
        let rest = self.text.get(position..)?;
        let first = *rest.first()?;
        match one {
            One::Byte(byte) => (first == *byte).then_some(1),
            One::Char(character) => {
                let mut buffer = [0; 4];
                let bytes = character.encode_utf8(&mut buffer).as_bytes();
                rest.starts_with(bytes).then_some(bytes.len())
            }
            One::Set(set) => in_set(set, rest, first),
        }
    }

    fn repeated_group(&self, group: u32, fold: bool, position: usize) -> Option<usize> {
        let slot = 2 * group as usize;
        let start = self.memory.slots.get(slot).copied().flatten()?;
        let end = self.memory.slots.get(slot + 1).copied().flatten()?;
        let wanted = self.text.get(start..end)?;
        let rest = self.text.get(position..)?;
        if rest.starts_with(wanted) {
            return Some(wanted.len());
        }
        if fold { folded_prefix(wanted, rest) } else { None }
    }

    fn anchored(&self, anchor: Anchor, position: usize) -> bool {
        let before = bstr::decode_last_utf8(self.text.get(..position).unwrap_or_default()).0;
        let after = bstr::decode_utf8(self.text.get(position..).unwrap_or_default()).0;
        let unicode = |character: Option<char>| character.is_some_and(is_word);
        let ascii = |character: Option<char>| {
            character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        match anchor {
            Anchor::LineStart => position == 0,
            Anchor::LineEnd => position == self.text.len(),
            Anchor::InnerLineStart => position == 0 || before == Some('\n'),
            Anchor::InnerLineEnd => position == self.text.len() || after == Some('\n'),
            Anchor::WordStart => !unicode(before) && unicode(after),
            Anchor::WordEnd => unicode(before) && !unicode(after),
            Anchor::WordBoundary => unicode(before) != unicode(after),
            Anchor::NotWordBoundary => unicode(before) == unicode(after),
            Anchor::WordStartHalf => !unicode(before),
            Anchor::WordEndHalf => !unicode(after),
            Anchor::AsciiBoundary => ascii(before) != ascii(after),
            Anchor::NotAsciiBoundary => ascii(before) == ascii(after),
            Anchor::AsciiStartHalf => !ascii(before),
            Anchor::AsciiEndHalf => !ascii(after),
        }
    }
}

fn in_set(set: &Set, rest: &[u8], first: u8) -> Option<usize> {
    let character = if first < 0x80 { Some(char::from(first)) } else { bstr::decode_utf8(rest).0 };
    match character {
        Some(character) => {
            let ranges = set.characters.ranges();
            let at = ranges.partition_point(|range| range.end() < character);
            let found = ranges.get(at).is_some_and(|range| range.start() <= character);
            found.then(|| character.len_utf8())
        }
        None => set.bytes.contains(&first).then_some(1),
    }
}

/// Does the text begin with the same letters in any case? Then: how long is that beginning.
fn folded_prefix(wanted: &[u8], text: &[u8]) -> Option<usize> {
    let mut wanted = wanted;
    let mut length = 0;
    while !wanted.is_empty() {
        let rest = text.get(length..)?;
        let (one, other) = (bstr::decode_utf8(wanted), bstr::decode_utf8(rest));
        let (same, skip, width) = if let ((Some(one), skip), (Some(other), width)) = (one, other) {
            (one == other || one.to_lowercase().eq(other.to_lowercase()), skip, width)
        } else {
            (wanted.first() == rest.first(), 1, 1)
        };
        if !same {
            return None;
        }
        wanted = wanted.get(skip..)?;
        length += width;
    }
    Some(length)
}

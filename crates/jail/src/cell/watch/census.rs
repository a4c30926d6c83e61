//! How many processes a jail has, counted as they are made.
//!
//! Births are asked about, deaths are not told. So a number is kept that is never too low, and only where it reaches
//! the limit the processes are really counted. A birth that was allowed a moment ago may not be visible yet: until it
//! is, it counts as one more.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::SHORTEST_WAIT;
use super::processes::{Visible, children_of, is_gone};

/// After this long a birth is taken to have failed. Only then the limit could be passed, by a process whose making
/// takes longer, and only for as long as it takes.
const LONGEST_BIRTH: Duration = Duration::from_millis(50);
/// Counting for the record alone may cost this part of the time.
const SHARE: u32 = 50;

/// A process that was allowed.
struct Birth {
    /// Who makes it.
    thread: u32,
    /// What that one had made before.
    before: Vec<u32>,
    allowed: Instant,
}

pub struct Census {
    init: u32,
    limit: Option<u32>,
    /// Never lower than the truth.
    at_most: u32,
    peak: u32,
    births: Vec<Birth>,
    /// When it was last counted, and how long that took.
    counted: Instant,
    cost: Duration,
    /// When to count because there may be more than ever.
    owed: Option<Instant>,
}

impl Census {
    /// `init`, which does not count itself, as seen from here.
    pub fn new(init: u32) -> Self {
        Census {
            init,
            limit: None,
            at_most: 0,
            peak: 0,
            births: Vec::new(),
            counted: Instant::now(),
            cost: Duration::ZERO,
            owed: None,
        }
    }

    pub fn set_limit(&mut self, limit: Option<u32>) {
        self.limit = limit;
    }

    pub fn peak(&self) -> u32 {
        self.peak
    }

    /// From now on it is about what comes.
    pub fn forget_peak(&mut self) {
        self.peak = 0;
    }

    /// Whether this thread may make a process.
    pub fn admit(&mut self, thread: u32) -> bool {
        // It asks again, so what it was allowed before has been made, or has failed.
        self.births.retain(|birth| birth.thread != thread);
        let limit = self.limit.unwrap_or(u32::MAX);
        if self.at_most >= limit && !self.has_room(limit) {
            return false;
        }
        if self.limit.is_some() {
            let before = children_of(thread).unwrap_or_default();
            self.births.push(Birth { thread, before, allowed: Instant::now() });
        }
        self.at_most = self.at_most.saturating_add(1);
        // There may be more than ever. Counted in a moment, while nobody waits for us, and the new one is there.
        if self.at_most > self.peak && self.owed.is_none() {
            let rest = (self.cost * SHARE).saturating_sub(self.counted.elapsed());
            self.owed = Some(Instant::now() + rest.max(SHORTEST_WAIT));
        }
        true
    }

    /// When there is something to catch up on.
    pub fn due(&self) -> Option<Instant> {
        self.owed
    }

    /// Counts what was owed.
    pub fn catch_up(&mut self, now: Instant) {
        if self.owed.is_some_and(|due| due <= now) {
            self.owed = None;
            if let Ok((visible, unseen)) = self.count(Ended::Counted) {
                self.at_most = visible.saturating_add(unseen);
            }
        }
    }

    /// Counts, at the limit. What cannot be counted has no room.
    fn has_room(&mut self, limit: u32) -> bool {
        loop {
            let Ok((visible, unseen)) = self.count(Ended::LeftOut) else { return false };
            self.at_most = visible.saturating_add(unseen);
            if visible >= limit {
                return false;
            }
            if self.at_most < limit {
                return true;
            }
            // It depends on births that are under way: they are seen, or over, within a moment.
            std::thread::sleep(SHORTEST_WAIT);
        }
    }

    /// Those that can be seen, and those that cannot yet.
    fn count(&mut self, ended: Ended) -> io::Result<(u32, u32)> {
        let begun = Instant::now();
        // First those on their way: one that becomes visible between the two counts twice, never not at all.
        self.births.retain(|birth| !birth.is_over(begun));
        let unseen = u32::try_from(self.births.len()).unwrap_or(u32::MAX);
        let visible = count_below(self.init, ended);
        self.counted = Instant::now();
        self.cost = self.counted - begun;
        let visible = visible?;
        self.peak = self.peak.max(visible);
        Ok((visible, unseen))
    }
}

impl Birth {
    fn is_over(&self, now: Instant) -> bool {
        if now.saturating_duration_since(self.allowed) > LONGEST_BIRTH {
            return true;
        }
        match children_of(self.thread) {
            Ok(children) => children.iter().any(|child| !self.before.contains(child)),
            Err(error) => is_gone(&error),
        }
    }
}

/// Processes that have ended, and that nobody has asked for yet. To tell them from others takes another look at each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Counted,
    LeftOut,
}

/// Counts the processes below this one.
fn count_below(init: u32, ended: Ended) -> io::Result<u32> {
    let mut waiting = Visible::new(init)?.children(init)?;
    let mut known: HashSet<u32> = waiting.iter().copied().collect();
    let mut count = 0;
    while let Some(number) = waiting.pop() {
        let look = |process: Visible| {
            let counts = ended == Ended::Counted || process.lives()?;
            Ok((counts, process.children(number)?))
        };
        match Visible::new(number).and_then(look) {
            Ok((counts, children)) => {
                count += u32::from(counts);
                waiting.extend(children.into_iter().filter(|child| known.insert(*child)));
            }
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

//! How many processes a jail has, counted as they are made.
//!
//! Births are asked about, deaths are not told. So a number is kept that is never too low, and only where it reaches
//! the limit the processes are really counted. A birth that was allowed a moment ago may not be visible yet: until it
//! is, it counts as one more.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::SHORTEST_WAIT;
use super::processes::{Visible, is_gone};

/// After this long a birth is taken to have failed. Only then the limit could be passed, by a process whose making
/// takes longer, and only for as long as it takes.
const LONGEST_BIRTH: Duration = Duration::from_millis(50);
/// Counting for the record alone may cost this part of the time.
const SHARE: u32 = 20;

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
    /// There was no time to count when there may have been more than ever.
    owed: bool,
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
            owed: false,
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
            let before = Visible::new(thread).and_then(|it| it.children_of(thread));
            let before = before.unwrap_or_default();
            self.births.push(Birth { thread, before, allowed: Instant::now() });
        }
        self.at_most = self.at_most.saturating_add(1);
        self.note_peak();
        true
    }

    /// When there is something to catch up on.
    pub fn due(&self) -> Option<Instant> {
        self.owed.then(|| self.counted + (self.cost * SHARE).max(SHORTEST_WAIT))
    }

    /// Counts what was owed.
    pub fn catch_up(&mut self, now: Instant) {
        if self.due().is_some_and(|due| due <= now) {
            self.owed = false;
            if let Ok((visible, unseen)) = self.count() {
                self.at_most = visible.saturating_add(unseen);
            }
        }
    }

    /// Counts, at the limit. What cannot be counted has no room.
    fn has_room(&mut self, limit: u32) -> bool {
        loop {
            let Ok((visible, unseen)) = self.count() else { return false };
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

    /// With the process just allowed there may be more than ever: counted at once, or if that would take too much of
    /// the time, a little later.
    fn note_peak(&mut self) {
        if self.at_most <= self.peak {
            return;
        }
        if self.at_most == 1 {
            self.peak = 1;
        } else if self.counted.elapsed() < self.cost * SHARE {
            self.owed = true;
        } else if let Ok((visible, unseen)) = self.count() {
            // The one just allowed is among those unseen, where those are kept; it waits for our answer.
            let allowed = u32::from(self.limit.is_none());
            self.at_most = visible.saturating_add(unseen).saturating_add(allowed);
            self.peak = self.peak.max(self.at_most);
        }
    }

    /// Those that can be seen, and those that cannot yet.
    fn count(&mut self) -> io::Result<(u32, u32)> {
        let begun = Instant::now();
        // First those on their way: one that becomes visible between the two counts twice, never not at all.
        self.births.retain(|birth| !birth.is_over(begun));
        let unseen = u32::try_from(self.births.len()).unwrap_or(u32::MAX);
        let visible = living_below(self.init);
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
        match Visible::new(self.thread).and_then(|it| it.children_of(self.thread)) {
            Ok(children) => children.iter().any(|child| !self.before.contains(child)),
            Err(error) => is_gone(&error),
        }
    }
}

/// Counts the living processes below this one.
fn living_below(init: u32) -> io::Result<u32> {
    let mut waiting = Visible::new(init)?.children()?;
    let mut known: HashSet<u32> = waiting.iter().copied().collect();
    let mut living = 0;
    while let Some(number) = waiting.pop() {
        let process = Visible::new(number);
        let found = process.and_then(|it| Ok((it.lives()?, it.children()?)));
        match found {
            Ok((lives, children)) => {
                living += u32::from(lives);
                waiting.extend(children.into_iter().filter(|child| known.insert(*child)));
            }
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(living)
}

//! The engine's watch over its jails: a thread that looks at those in which something runs.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, pidfd_send_signal};

use super::group::Places;
use super::meter::{Figures, Meter};
use super::{OURS, all_tasks};
use crate::outcome::LimitHit;
use crate::plan::Limits;

/// Between two looks: by so much, for each processor, a limit of time may be passed.
const INTERVAL: Duration = Duration::from_millis(25);
/// How long the thread goes on looking for something to do, so that a row of short programs need not wake it each time.
const LINGER: Duration = Duration::from_secs(1);

/// What a jail has used since its limits were last set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub processor_time: Duration,
    pub memory_peak: u64,
    /// Threads counted.
    pub tasks_peak: u32,
    pub limits_hit: Vec<LimitHit>,
}

/// A jail that is looked at.
pub struct Watched {
    init: OwnedFd,
    places: Option<Places>,
    /// Something may run in it.
    busy: AtomicBool,
    /// It was ended, which takes the kernel a moment.
    over: AtomicBool,
    /// Twice the number of programs that were started, and one more when nothing is left of them.
    programs: AtomicU64,
    state: Mutex<State>,
}

struct State {
    meter: Meter,
    limits: Limits,
    before: Figures,
    latest: Figures,
    usage: Usage,
    refusing: bool,
}

impl Watched {
    /// Of its first process, the number and a handle. `refusing`: the kernel keeps to the number of tasks by itself.
    pub fn new(
        (process, init): (u32, OwnedFd),
        places: Option<Places>,
        limits: Limits,
        refusing: bool,
    ) -> io::Result<Self> {
        let (meter, before) = Meter::begin(places.as_ref(), process)?;
        let state =
            State { meter, limits, before, latest: before, usage: Usage::default(), refusing };
        Ok(Watched {
            init,
            places,
            busy: AtomicBool::new(false),
            over: AtomicBool::new(false),
            programs: AtomicU64::new(0),
            state: Mutex::new(state),
        })
    }

    /// Does what looking needs to be done once, when there is time.
    pub fn prepare(&self) {
        // If it cannot be done, whoever looks will find that out.
        let _it_shows = self.state().meter.open();
    }

    /// Looks once, and ends the jail when a limit is passed.
    pub fn look(&self) -> Usage {
        let mut state = self.state();
        let alive = self.is_alive();
        match state.meter.look(alive) {
            Ok(figures) => {
                state.latest = figures;
                if state.count(&figures) {
                    self.end();
                }
            }
            // What cannot be measured cannot be held.
            Err(_) if alive && self.is_alive() => self.end(),
            Err(_) => {}
        }
        state.usage.clone()
    }

    /// A program is about to be started. Which one it is.
    pub fn begin(&self) -> u64 {
        let next = |programs: u64| Some((programs | 1) + 1);
        let before = self.programs.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        (before.unwrap_or_else(|before| before) | 1) + 1
    }

    /// This one has ended, and nothing was left. That holds if none was started after it.
    pub fn note_empty(&self, turn: u64) {
        let _there_are_others =
            self.programs.compare_exchange(turn, turn | 1, Ordering::AcqRel, Ordering::Acquire);
    }

    /// It is known that nothing runs in it.
    pub fn is_empty(&self) -> bool {
        self.programs.load(Ordering::Acquire) % 2 == 1
    }

    /// What a process was told to have had, for programs that end before anybody looks.
    pub fn note_resident(&self, peak: u64) {
        let mut state = self.state();
        if let Meter::Sampled(sampler) = &mut state.meter {
            sampler.note_resident(peak);
        }
    }

    /// Other limits, and everything counted anew.
    pub fn set_limits(&self, limits: &Limits) -> io::Result<()> {
        let mut state = self.state();
        let same = state.limits == *limits;
        if let Some(places) = self.places.as_ref().filter(|_| !same) {
            places.set(limits)?;
        }
        state.meter.forget_peaks()?;
        // Nothing has run since somebody looked, when the last request ended.
        let unchanged = same && !self.busy.load(Ordering::Acquire);
        state.before = if unchanged { state.latest } else { state.meter.look(self.is_alive())? };
        state.latest = state.before;
        state.limits = limits.clone();
        state.usage = Usage::default();
        Ok(())
    }

    /// Ends everything inside, at once and for good.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
        let _it_may_be_gone = pidfd_send_signal(&self.init, Signal::KILL);
        if let Some(places) = &self.places {
            places.kill();
        }
    }

    /// Whether that has begun: what still waits in it for an answer must not have one.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub fn is_alive(&self) -> bool {
        let mut handle = [PollFd::new(&self.init, PollFlags::IN)];
        matches!(poll(&mut handle, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
    }

    /// Something may run in it.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// Nothing runs in it any more.
    pub fn rest(&self) {
        self.busy.store(false, Ordering::Release);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes over what was measured. `true`: it is too much.
    fn count(&mut self, figures: &Figures) -> bool {
        let State { limits, before, usage, meter, refusing, .. } = self;
        usage.processor_time = figures.processor_time.saturating_sub(before.processor_time);
        usage.memory_peak = figures.memory_peak;
        // The kernel counts one more for the moment in which it refuses it.
        let peak = u32::try_from(figures.tasks_peak).unwrap_or(u32::MAX).saturating_sub(OURS);
        usage.tasks_peak = limits.tasks.map_or(peak, |most| most.min(peak));
        let sampled = matches!(meter, Meter::Sampled(_));
        let time = limits.processor_time.is_some_and(|most| usage.processor_time >= most);
        let memory = figures.killed > before.killed
            || (sampled && limits.memory.is_some_and(|most| figures.memory > most));
        // Who was sent away is not known where it is only sampled: a full house must do.
        let full = all_tasks(limits).is_some_and(|most| figures.tasks >= u64::from(most));
        let tasks = figures.refused > before.refused || (sampled && full);
        let hits =
            [(time, LimitHit::ProcessorTime), (memory, LimitHit::Memory), (tasks, LimitHit::Tasks)];
        for (hit, limit) in hits {
            if hit && !usage.limits_hit.contains(&limit) {
                usage.limits_hit.push(limit);
            }
        }
        // Who can be refused nothing can only be ended.
        time || memory || (tasks && sampled && !*refusing)
    }
}

/// The thread, and what it looks at. Begins when there is something to look at, and ends when dropped.
#[derive(Default)]
pub struct Lookout {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    table: Mutex<Table>,
    changed: Condvar,
}

#[derive(Default)]
struct Table {
    jails: Vec<Weak<Watched>>,
    started: bool,
    asleep: bool,
    over: bool,
}

impl Lookout {
    pub fn add(&self, jail: &Arc<Watched>) {
        let mut table = self.shared.table();
        table.jails.retain(|it| it.strong_count() > 0);
        table.jails.push(Arc::downgrade(jail));
    }

    /// Something begins to run in this one. What is short is over before the first look: so as long as there is no thread, somebody
    /// else who has one may [`attend`](Self::attend) when that is due. `None`: that is not needed.
    pub fn attend_later(&self, jail: &Watched) -> Option<Instant> {
        jail.busy.store(true, Ordering::Release);
        let table = self.shared.table();
        if table.asleep {
            self.shared.changed.notify_one();
        }
        (!table.started).then(|| Instant::now() + INTERVAL)
    }

    /// Something runs in this one, or is about to.
    pub fn attend(&self, jail: &Watched) -> io::Result<()> {
        jail.busy.store(true, Ordering::Release);
        let mut table = self.shared.table();
        if !table.started {
            let theirs = Arc::clone(&self.shared);
            thread::Builder::new().name("limits".to_owned()).spawn(move || theirs.run())?;
            table.started = true;
        } else if table.asleep {
            self.shared.changed.notify_one();
        }
        Ok(())
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        self.shared.table().over = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut last_busy = Instant::now();
        let mut table = self.table();
        while !table.over {
            let busy: Vec<_> = table
                .jails
                .iter()
                .filter_map(Weak::upgrade)
                .filter(|jail| jail.is_busy())
                .collect();
            if !busy.is_empty() {
                last_busy = Instant::now();
                // Looking takes a while, and starting a program must not wait for it.
                drop(table);
                for jail in busy {
                    jail.look();
                    if !jail.is_alive() {
                        jail.rest();
                    }
                }
                table = self.table();
            }
            let idle = last_busy.elapsed() > LINGER;
            table.asleep = idle;
            table = if idle {
                self.changed.wait(table).unwrap_or_else(PoisonError::into_inner)
            } else {
                let waited = self.changed.wait_timeout(table, INTERVAL);
                waited.unwrap_or_else(PoisonError::into_inner).0
            };
            if table.asleep {
                last_busy = Instant::now();
            }
            table.asleep = false;
        }
    }
}

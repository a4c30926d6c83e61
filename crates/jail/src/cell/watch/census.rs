//! How many processes a jail may have, threads not counted.
//!
//! The kernel has a limit for the tasks of a user in a user namespace, and refuses what goes past it at once, but it
//! counts threads as well. So that limit is kept at the number of processes allowed *and* the threads there are: whoever
//! wants to make a thread is asked about it, and room is made first. To ask about processes instead would be exact in
//! one more case, but a signal that comes before the question is heard interrupts the call, and shells whose pipelines
//! begin and end processes all the time do not expect that of `fork`. Whoever makes a thread has blocked all signals.
//!
//! Threads that have ended leave room for processes until that is noticed, a moment later. Who has used it then is ended: there are
//! never more for longer than that.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, pidfd_open, pidfd_send_signal, prlimit,
};

use super::processes::{Visible, is_gone};

/// The warden and the init, which the kernel counts and the plan does not.
const OURS: u64 = 2;
/// A thread that was allowed is to be seen by then.
const LONGEST_BIRTH: Duration = Duration::from_millis(100);
/// Between two looks, while there is something to look at. The first comes after what is short is over: it would only be
/// slowed down.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Looking may cost this part of the time.
const SHARE: u32 = 50;

pub struct Census {
    init: u32,
    /// Of processes, and of all tasks.
    limit: Option<u32>,
    tasks: Option<u32>,
    /// The highest limit that may be set at all.
    highest: u64,
    /// What was told to the kernel.
    in_force: Option<u64>,
    peak: u32,
    reached: bool,
    /// Who was allowed a thread that may not be there yet, and when.
    allowed: Vec<(u32, Instant)>,
    due: Option<Instant>,
    pause: Duration,
    /// Not before.
    rested: Instant,
}

/// Those below init.
struct Population {
    processes: Vec<u32>,
    /// More than one for each process.
    threads: u64,
}

impl Census {
    /// `init`, which does not count itself, as seen from here.
    pub fn new(init: u32) -> Self {
        Census {
            init,
            limit: None,
            tasks: None,
            highest: getrlimit(Resource::Nproc).maximum.unwrap_or(u64::MAX),
            in_force: None,
            peak: 0,
            reached: false,
            allowed: Vec::new(),
            due: None,
            pause: SHORTEST_PAUSE,
            rested: Instant::now(),
        }
    }

    /// Puts limits in force in a jail in which nothing has run yet: there is nobody but init to tell.
    pub fn begin(&mut self, processes: Option<u32>, tasks: Option<u32>) -> io::Result<()> {
        (self.limit, self.tasks) = (processes, tasks);
        let wanted = self.wanted(0);
        tell(self.init, wanted.unwrap_or(self.highest), self.highest)?;
        self.in_force = wanted;
        Ok(())
    }

    /// Puts them in force for one that may have been made before, and has not executed anything yet.
    pub fn hold(&self, process: u32) -> io::Result<()> {
        tell(process, self.in_force.unwrap_or(self.highest), self.highest)
    }

    /// Puts limits in force, for all that run and all that will.
    pub fn set_limits(&mut self, processes: Option<u32>, tasks: Option<u32>) -> io::Result<()> {
        (self.limit, self.tasks) = (processes, tasks);
        let threads = self.population().map_or(0, |it| it.threads);
        self.put_in_force(threads)
    }

    pub fn peak(&self) -> u32 {
        self.peak
    }

    /// Whether there were as many as there may be, since this was last asked.
    pub fn take_reached(&mut self) -> bool {
        std::mem::take(&mut self.reached)
    }

    /// From now on it is about what comes.
    pub fn forget_peak(&mut self) {
        (self.peak, self.reached) = (0, false);
    }

    /// Makes room for a thread that is about to be made.
    pub fn make_room(&mut self, maker: u32) {
        if self.limit.is_none() {
            return;
        }
        let now = Instant::now();
        self.forget_births(now);
        // It asks again, so what it was allowed before is there, or has failed.
        self.allowed.retain(|(other, _)| *other != maker);
        self.allowed.push((maker, now));
        if let Ok(population) = self.population() {
            let wanted = self.wanted(population.threads);
            if wanted > self.in_force {
                // Where that fails the kernel refuses the thread, which is an answer too.
                let _it_is_refused = self.put_in_force(population.threads);
            }
        }
        self.attend();
    }

    /// Something has begun: it is worth a look soon.
    pub fn attend(&mut self) {
        self.peak = self.peak.max(1);
        self.pause = SHORTEST_PAUSE;
        let soon = (Instant::now() + self.pause).max(self.rested);
        self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
    }

    /// When to look next.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Looks, if it is time to.
    pub fn look(&mut self, now: Instant) {
        if self.due.is_none_or(|due| due > now) {
            return;
        }
        let population = self.population();
        self.rested = now + (now.elapsed() * SHARE).min(LONGEST_PAUSE);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        self.due = Some((now + self.pause).max(self.rested));
        let Ok(population) = population else { return };
        if population.processes.is_empty() {
            self.due = None;
        }
        let count = u32::try_from(population.processes.len()).unwrap_or(u32::MAX);
        self.peak = self.peak.max(count);
        self.reached |= self.limit.is_some_and(|limit| count >= limit);
        self.forget_births(now);
        // Room is taken away here, and given only to those who ask: of threads allowed a moment ago it is not known
        // whether they are among those seen.
        if self.wanted(population.threads) < self.in_force {
            let _next_time_again = self.put_in_force(population.threads);
        }
        if let Some(limit) = self.limit.filter(|limit| count > *limit) {
            let _next_time_again = self.end_surplus(population.processes, limit);
        }
    }

    /// Ends the latest, as far as numbers tell, until there are as many as there may be. The dead are not among them.
    fn end_surplus(&self, processes: Vec<u32>, limit: u32) -> io::Result<()> {
        let lives = |number: &u32| Visible::new(*number).and_then(|it| it.lives()).unwrap_or(false);
        let mut living: Vec<u32> = processes.into_iter().filter(lives).collect();
        living.sort_unstable();
        let surplus = living.split_off(living.len().min(limit as usize));
        let handle = |number: u32| {
            let process = Pid::from_raw(i32::try_from(number).ok()?)?;
            Some((number, pidfd_open(process, PidfdFlags::empty()).ok()?))
        };
        let handles: Vec<_> = surplus.into_iter().filter_map(handle).collect();
        // A number may have become another's before there was a handle: only who is still seen inside is meant.
        let inside: HashSet<u32> = self.population()?.processes.into_iter().collect();
        for (_, handle) in handles.iter().filter(|(number, _)| inside.contains(number)) {
            let _it_may_have_ended = pidfd_send_signal(handle, Signal::KILL);
        }
        Ok(())
    }

    fn forget_births(&mut self, now: Instant) {
        self.allowed.retain(|(_, since)| now.saturating_duration_since(*since) < LONGEST_BIRTH);
    }

    /// The kernel's limit for so many threads. `None`: there is none.
    fn wanted(&self, threads: u64) -> Option<u64> {
        let born = self.allowed.len() as u64;
        let processes = self.limit.map(|limit| u64::from(limit) + OURS + threads + born);
        let tasks = self.tasks.map(|tasks| u64::from(tasks) + OURS);
        Some(processes.into_iter().chain(tasks).min()?.min(self.highest))
    }

    /// Tells the kernel, for init, whose children inherit it, and for all below. Those that are made meanwhile may have
    /// inherited what was before, so it looks again until there are no new ones.
    fn put_in_force(&mut self, threads: u64) -> io::Result<()> {
        let wanted = self.wanted(threads);
        let current = wanted.unwrap_or(self.highest);
        let mut told = HashSet::new();
        tell(self.init, current, self.highest)?;
        loop {
            let processes = self.population()?.processes;
            let before = told.len();
            for process in processes.into_iter().filter(|process| told.insert(*process)) {
                match tell(process, current, self.highest) {
                    Ok(()) => {}
                    Err(error) if is_gone(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            if told.len() == before {
                self.in_force = wanted;
                return Ok(());
            }
        }
    }

    fn population(&self) -> io::Result<Population> {
        let mut waiting = Visible::new(self.init)?.children(self.init)?.0;
        let mut known: HashSet<u32> = waiting.iter().copied().collect();
        let mut population = Population { processes: Vec::new(), threads: 0 };
        while let Some(number) = waiting.pop() {
            match Visible::new(number).and_then(|it| it.children(number)) {
                Ok((children, threads)) => {
                    population.processes.push(number);
                    population.threads += threads.saturating_sub(1);
                    waiting.extend(children.into_iter().filter(|child| known.insert(*child)));
                }
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(population)
    }
}

/// Sets one process's limit for tasks. Nobody inside can change it: the filter of system calls sees to that.
fn tell(process: u32, current: u64, highest: u64) -> io::Result<()> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let some = |value: u64| (value != u64::MAX).then_some(value);
    let limit = Rlimit { current: some(current), maximum: some(highest) };
    prlimit(Some(process), Resource::Nproc, limit)?;
    Ok(())
}

//! Without control groups: a look at every process of a jail. What begins and ends between two looks is seen only by
//! what its parent was told when it buried it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use bstr::{BString, ByteSlice};

use super::files;
use super::meter::Figures;

/// A look stops here; more tasks than any limit allows.
const MOST_PROCESSES: usize = 1 << 16;
/// To look through all that is open takes a while.
const LOOKS_PER_SEARCH: u32 = 4;
/// What waits in a socket belongs to no process. So many of them hold little; of more it is taken that they are full.
const FEW_SOCKETS: u64 = 256;
const FULL_SOCKET: u64 = 208 << 10;
/// By so much an estimate has to be above what is known, before it counts.
const DOUBT: Duration = Duration::from_millis(300);

pub struct Sampler {
    /// As we see it. The caller knows whether it is still the one it was.
    init: u32,
    /// What each living process has used by itself, by its number and when it began.
    living: HashMap<(u32, u64), Seen>,
    /// What those used that have been seen and are gone.
    departed: u64,
    /// The same of those that were seen once: a guess, for most of them were never seen.
    guessed: Duration,
    last_look: Option<Instant>,
    /// What nameless files took when they were last looked for, and what else belongs to no process.
    nameless: u64,
    looks: u32,
    latest: Figures,
}

/// What is remembered of a process.
#[derive(Debug, Clone, Copy)]
struct Seen {
    own: u64,
    /// For one that was running when it was first seen: the time for which it stands. Whoever is met at a moment chosen
    /// by nobody stands for all those who came and went since the moment before.
    stands_for: Option<Duration>,
}

/// One process, from `/proc/N/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    running: bool,
    /// In ticks of the clock: by itself, and by children that it has buried.
    own: u64,
    buried: u64,
    tasks: u64,
    begun: u64,
    /// In pages.
    resident: u64,
}

impl Sampler {
    pub fn new(init: u32) -> Self {
        Sampler {
            init,
            living: HashMap::new(),
            departed: 0,
            guessed: Duration::ZERO,
            last_look: None,
            nameless: 0,
            looks: 0,
            latest: Figures::default(),
        }
    }

    pub fn look(&mut self) -> io::Result<Figures> {
        let processes = tree(self.init)?;
        self.latest.processor_time =
            self.latest.processor_time.max(self.processor_time(&processes));
        // The warden is above the init, and has one.
        self.latest.tasks = processes.iter().map(|(_, process)| process.tasks).sum::<u64>() + 1;
        self.latest.tasks_peak = self.latest.tasks_peak.max(self.latest.tasks);
        let page = rustix::param::page_size() as u64;
        let resident = |process: &Process| process.resident.saturating_mul(page);
        let resident_sum: u64 = processes.iter().map(|(_, process)| resident(process)).sum();
        if self.looks.is_multiple_of(LOOKS_PER_SEARCH) {
            self.nameless = nobodys(&processes);
        }
        self.looks = self.looks.wrapping_add(1);
        let at_most = resident_sum.saturating_add(self.nameless);
        self.latest.memory = if at_most <= self.latest.memory_peak {
            at_most
        } else {
            // What is shared was counted once for each: the exact figure is dear, and only needed for a new peak.
            let shares = processes.iter().map(|(number, process)| {
                Share::of(*number).unwrap_or(Share { all: resident(process), in_files: 0 })
            });
            shares.fold(Share::default(), Share::add).with(self.nameless)
        };
        self.latest.memory_peak = self.latest.memory_peak.max(self.latest.memory);
        Ok(self.latest)
    }

    /// A process had as much.
    pub fn note_resident(&mut self, peak: u64) {
        self.latest.memory_peak = self.latest.memory_peak.max(peak);
    }

    /// As it was when it was last looked at.
    pub fn latest(&self) -> Figures {
        self.latest
    }

    pub fn forget_peaks(&mut self) {
        self.latest.memory_peak = 0;
        self.latest.tasks_peak = 0;
    }

    /// By ways of counting of which each misses something: parents are not told of children whose end they ignore, and
    /// children that are never seen are known to their parents only. Where neither knows, there is a guess.
    fn processor_time(&mut self, processes: &[(u32, Process)]) -> Duration {
        let now = Instant::now();
        let elapsed = self.last_look.replace(now).map_or(Duration::ZERO, |last| now - last);
        let told: u64 = processes.iter().map(|(_, it)| it.own.saturating_add(it.buried)).sum();
        let mut living = HashMap::new();
        for (number, it) in processes {
            let key = (*number, it.begun);
            let new = !self.living.contains_key(&key);
            let stands_for = (new && it.running).then(|| elapsed.mul_f64(share_of_turns(*number)));
            living.insert(key, Seen { own: it.own, stands_for });
        }
        let mut alike = Duration::ZERO;
        for (_, gone) in self.living.iter().filter(|(key, _)| !living.contains_key(key)) {
            match gone.stands_for {
                Some(time) => alike = alike.saturating_add(time),
                None => self.departed = self.departed.saturating_add(gone.own),
            }
        }
        self.guessed = self.guessed.saturating_add(alike);
        self.living = living;
        let own: u64 = self.living.values().map(|it| it.own).sum();
        let known = time(told.max(own.saturating_add(self.departed)));
        let guess = time(own.saturating_add(self.departed)).saturating_add(self.guessed);
        if guess > known.mul_f64(1.25).saturating_add(DOUBT) { guess } else { known }
    }
}

/// From ticks of the clock.
fn time(ticks: u64) -> Duration {
    let milliseconds = ticks.saturating_mul(1000) / rustix::param::clock_ticks_per_second().max(1);
    Duration::from_millis(milliseconds)
}

/// How much of the time in which it wanted a processor a process had one.
fn share_of_turns(process: u32) -> f64 {
    let content = files::read(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let mut numbers =
        files::words(&content).filter_map(|word| word.to_str().ok()?.parse::<u64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(had), Some(waited)) if had.saturating_add(waited) > 0 => {
            had as f64 / had.saturating_add(waited) as f64
        }
        _ => 0.5,
    }
}

/// The process and all its descendants; in a jail's own process namespace nobody can become anybody else's child.
fn tree(init: u32) -> io::Result<Vec<(u32, Process)>> {
    let mut known: Option<HashMap<u32, Vec<u32>>> = None;
    let mut found = Vec::new();
    let mut open = vec![init];
    while let Some(number) = open.pop().filter(|_| found.len() < MOST_PROCESSES) {
        let content = files::read(format!("/proc/{number}/stat"));
        let Some(process) = content.ok().as_ref().and_then(parse) else {
            continue;
        };
        found.push((number, process));
        if known.is_none() {
            match children(number) {
                Some(children) => open.extend(children),
                None => known = Some(all_children()),
            }
        }
        open.extend(known.iter().filter_map(|it| it.get(&number)).flatten());
    }
    if found.is_empty() { Err(rustix::io::Errno::SRCH.into()) } else { Ok(found) }
}

/// The children of a process, those that wait to be buried included.
pub fn children_of(process: u32) -> Vec<u32> {
    children(process).or_else(|| all_children().remove(&process)).unwrap_or_default()
}

/// `None`: this kernel does not tell.
fn children(process: u32) -> Option<Vec<u32>> {
    let mut children = Vec::new();
    for thread in files::names(format!("/proc/{process}/task").as_ref()) {
        let path =
            std::path::Path::new("/proc").join(process.to_string()).join("task").join(&thread);
        match files::read(path.join("children")) {
            Ok(content) => children.extend(
                files::words(&content).filter_map(|it| it.to_str().ok()?.parse::<u32>().ok()),
            ),
            // The thread is there, the file is not.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if files::read(path.join("stat")).is_ok() {
                    return None;
                }
            }
            Err(_) => {}
        }
    }
    Some(children)
}

/// Who is whose child, of all processes there are.
fn all_children() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for name in files::names("/proc".as_ref()) {
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let content = files::read(format!("/proc/{number}/stat"));
        if let Some(process) = content.ok().as_ref().and_then(parse) {
            children.entry(process.parent).or_default().push(number);
        }
    }
    children
}

/// The name of the program is in parentheses, and may itself hold any of them.
fn parse(content: &BString) -> Option<Process> {
    let after = content.get(content.rfind(b")")? + 1..)?;
    let fields: Vec<&[u8]> = files::words(after).collect();
    let number = |place: usize| -> Option<u64> { fields.get(place)?.to_str().ok()?.parse().ok() };
    Some(Process {
        parent: u32::try_from(number(1)?).ok()?,
        running: fields.first() == Some(&&b"R"[..]),
        own: number(11)?.saturating_add(number(12)?),
        buried: number(13)?.saturating_add(number(14)?),
        tasks: number(17)?,
        begun: number(19)?,
        resident: number(21)?,
    })
}

/// The memory of processes, with what they share divided by those who share it.
#[derive(Default)]
struct Share {
    all: u64,
    /// Of that, what belongs to files in memory.
    in_files: u64,
}

impl Share {
    fn of(process: u32) -> Option<Self> {
        let content = files::read(format!("/proc/{process}/smaps_rollup")).ok()?;
        let kilobytes = |word: &str| files::number_of(&content, word).unwrap_or(0);
        let all = files::number_of(&content, "Pss")?.saturating_add(kilobytes("SwapPss"));
        let in_files = kilobytes("Pss_Shmem");
        Some(Share { all: all.saturating_mul(1024), in_files: in_files.saturating_mul(1024) })
    }

    fn add(self, other: Self) -> Self {
        let all = self.all.saturating_add(other.all);
        Share { all, in_files: self.in_files.saturating_add(other.in_files) }
    }

    /// Together with files of which a part may be counted already.
    fn with(self, nameless: u64) -> u64 {
        self.all.saturating_add(nameless.saturating_sub(self.in_files))
    }
}

/// Memory that belongs to no process and counts for none: files that are only in memory and have no name, what waits in
/// sockets, and the tables by which processes find their memory.
fn nobodys(processes: &[(u32, Process)]) -> u64 {
    let (mut known, mut sockets) = (HashMap::new(), HashSet::new());
    let mut tables: u64 = 0;
    for (number, _) in processes {
        let folder = std::path::PathBuf::from(format!("/proc/{number}/fd"));
        for name in files::names(&folder) {
            let path = folder.join(name);
            match files::target(&path) {
                Some(target) if target.starts_with(b"/memfd:") => known.extend(files::size(&path)),
                Some(target) if target.starts_with(b"socket:") => {
                    sockets.insert(target);
                }
                _ => {}
            }
        }
        let status = files::read(format!("/proc/{number}/status")).unwrap_or_default();
        let kilobytes = files::number_of(&status, "VmPTE").unwrap_or(0);
        tables = tables.saturating_add(kilobytes.saturating_mul(1024));
    }
    let waiting = (sockets.len() as u64).saturating_sub(FEW_SOCKETS).saturating_mul(FULL_SOCKET);
    let nameless = known.values().copied().fold(0, u64::saturating_add);
    nameless.saturating_add(waiting).saturating_add(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_are_no_fields() {
        let line = "77 (a) b (c) R 5 77 77 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 3 0 999 8000000 250 18446";
        let expected = Process {
            parent: 5,
            running: true,
            own: 30,
            buried: 70,
            tasks: 3,
            begun: 999,
            resident: 250,
        };
        assert_eq!(parse(&line.into()), Some(expected));
        assert_eq!(parse(&"77 (a".into()), None);
        assert_eq!(parse(&"77 (a) R 5".into()), None);
    }

    #[test]
    fn a_process_sees_itself() {
        let own = std::process::id();
        let mut sampler = Sampler::new(own);
        let figures = sampler.look().expect("we are here");
        assert!(figures.memory_peak > 100 << 10, "{figures:?}");
        assert!(figures.tasks >= 1);
        assert!(Sampler::new(u32::MAX).look().is_err());
        assert_eq!(all_children().values().flatten().filter(|it| **it == own).count(), 1);
    }

    #[test]
    fn time_of_the_dead_is_not_forgotten() {
        let process = |own, buried, begun| Process {
            parent: 1,
            running: false,
            own,
            buried,
            tasks: 1,
            begun,
            resident: 0,
        };
        let mut sampler = Sampler::new(1);
        let ticks = |count: u64| {
            Duration::from_millis(count * 1000 / rustix::param::clock_ticks_per_second())
        };
        assert_eq!(
            sampler.processor_time(&[(1, process(0, 0, 1)), (2, process(50, 0, 2))]),
            ticks(50)
        );
        // It ended, and its parent was told.
        assert_eq!(sampler.processor_time(&[(1, process(0, 60, 1))]), ticks(60));
        // Another has its number; nobody was told of its end.
        assert_eq!(
            sampler.processor_time(&[(1, process(0, 60, 1)), (2, process(70, 0, 3))]),
            ticks(130)
        );
        assert_eq!(sampler.processor_time(&[(1, process(0, 60, 1))]), ticks(120));
    }
}
